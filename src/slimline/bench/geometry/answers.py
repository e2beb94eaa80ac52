"""What contenders answer, and the judge: how far an answer is from the exact number at most.

Ours come with a proved bracket. Of a peer's answer only the witness counts: what its separator or its centre attains is
worked out anew, in float64 and outside the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from slimline.bench.geometry.data_sets import Labelled

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """What a contender found.

    Parameters
    ----------
    witness : array of shape (n_features,), optional
        Normal of a separating plane, or centre of a ball.
    value : float, optional
        The number itself, where there is no witness.
    bracket : (float, float), optional
        Proved ends of the exact number: of ours.
    words : str
        Settings, or how it was reached.
    """

    witness: NDArray[np.floating] | None = None
    value: float | None = None
    bracket: tuple[float, float] | None = None
    words: str = ""


@dataclass(frozen=True)
class Finding:
    """A judged answer.

    Parameters
    ----------
    value : float
        Margin, radius or error that is attained.
    off : float, optional
        It is away from the exact number by at most this part of it; None without a bracket of ours.
    words : str
        Settings, or how it was reached.
    """

    value: float
    off: float | None
    words: str


#: Takes the data and a witness, returns the number that it attains.
Attained = Callable[[Labelled, Floats], float]


@dataclass
class Arena:
    """The answers of a case, and what the judge says of them.

    Parameters
    ----------
    attained : callable, optional
        Number of a witness; None where answers are numbers.
    answers : dict
        The last answer of each contender, by name.
    findings : dict
        Judgements, by name.
    """

    attained: Attained | None
    answers: dict[str, Answer] = field(default_factory=dict)
    findings: dict[str, Finding] = field(default_factory=dict)

    def judge(self, points: Labelled) -> None:
        """Judge all answers, and forget them.

        Parameters
        ----------
        points : Labelled
            Data of the case.
        """
        brackets = [answer.bracket for answer in self.answers.values() if answer.bracket is not None]
        bracket = min(brackets, key=lambda ends: ends[1] - ends[0], default=None)
        for name, answer in self.answers.items():
            value = self._value(points, answer)
            self.findings[name] = Finding(value, None if bracket is None else off(value, bracket), answer.words)
        self.answers.clear()

    def _value(self, points: Labelled, answer: Answer) -> float:
        if answer.witness is None or self.attained is None:
            assert answer.value is not None
            return answer.value
        witness = np.asarray(answer.witness, dtype=np.float64)
        return self.attained(points, witness) if np.isfinite(witness).all() else float("nan")


def off(value: float, bracket: tuple[float, float]) -> float:
    """Return how far a number is from one inside a bracket at most, as a part of the latter.

    Parameters
    ----------
    value : float
        The number.
    bracket : (float, float)
        Ends of the exact one.

    Returns
    -------
    off : float
        Infinite if the value is no number.
    """
    lower, upper = bracket
    if not np.isfinite(value):
        return float("inf")
    distance = max(abs(value - lower), abs(value - upper))
    return distance / max(lower, np.finfo(float).tiny) if distance else 0.0


def margin_through_origin(points: Labelled, separator: Floats) -> float:
    """Return the least yᵢ⟨w, xᵢ⟩/‖w‖.

    Parameters
    ----------
    points : Labelled
        Data.
    separator : array of shape (n_features,)
        w.

    Returns
    -------
    margin : float
        Not above 0 where w does not separate the classes.
    """
    norm = max(float(np.linalg.norm(separator)), np.finfo(float).tiny)
    return float((points.labels * points.matrix.dot(separator)).min()) / norm


def margin_with_intercept(points: Labelled, separator: Floats) -> float:
    """Return the same with the best intercept that there is for w.

    Parameters
    ----------
    points : Labelled
        Data.
    separator : array of shape (n_features,)
        w.

    Returns
    -------
    margin : float
        Half the gap between the classes along w.
    """
    norm = max(float(np.linalg.norm(separator)), np.finfo(float).tiny)
    values = points.matrix.dot(separator)
    return 0.5 * float(values[points.labels > 0].min() - values[points.labels < 0].max()) / norm


def radius_around(points: Labelled, centre: Floats) -> float:
    """Return the distance of the farthest point.

    Parameters
    ----------
    points : Labelled
        Data.
    centre : array of shape (n_features,)
        c.

    Returns
    -------
    radius : float
        Never below that of the smallest ball, but for rounding.
    """
    squares = np.square(points.matrix.row_norms()) - 2.0 * points.matrix.dot(centre) + float(centre @ centre)
    return float(np.sqrt(max(float(squares.max()), 0.0)))
