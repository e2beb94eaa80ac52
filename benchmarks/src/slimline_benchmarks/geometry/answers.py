"""Answers of contenders, and their certified distance from the exact number.

Ours come with a proved bracket. Of a peer's answer only the witness counts: what its separator or its centre attains is
worked out anew, in float64 and outside the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline_benchmarks.labelled import Labelled

Floats = NDArray[np.float64]
Bracket = tuple[float, float]


@dataclass(frozen=True)
class Answer:
    """Answer of a contender.

    Parameters
    ----------
    witness : array of shape (n_features,), optional
        Normal of a separating plane, or centre of a ball.
    value : float, optional
        The number itself, where there is no witness.
    bracket : (float, float), optional
        Proved ends of the exact number: of ours.
    words : str
        How it was reached.
    """

    witness: NDArray[np.floating] | None = None
    value: float | None = None
    bracket: Bracket | None = None
    words: str = ""


@dataclass(frozen=True)
class Judgement:
    """Quality of an answer.

    Parameters
    ----------
    off : float
        It is away from the exact number by at most this part of it; infinite where no bracket is known.
    found : float
        Margin, radius or error that it attains.
    """

    off: float
    found: float


#: Takes the data and a witness, returns the number that it attains.
Attained = Callable[[Labelled, Floats], float]


class Referee:
    """Judges the answers of a case.

    Parameters
    ----------
    points : Labelled
        Data of the case.
    attained : callable, optional
        Number of a witness; None where answers are numbers.
    answers : mapping
        Where the answers of ours come in, which are there before a peer's: their narrowest bracket counts.
    """

    def __init__(self, points: Labelled, attained: Attained | None, answers: Mapping[str, Answer]) -> None:
        self._points, self._attained, self._answers = points, attained, answers

    def judge(self, answer: Answer) -> Judgement:
        """Return what an answer is worth.

        Parameters
        ----------
        answer : Answer
            Of anyone.

        Returns
        -------
        judgement : Judgement
            In float64.
        """
        brackets = [known.bracket for known in self._answers.values() if known.bracket is not None]
        found = self._number(answer)
        narrowest = min(brackets, key=lambda ends: ends[1] - ends[0], default=(0.0, float("inf")))
        return Judgement(off(found, narrowest), found)

    def _number(self, answer: Answer) -> float:
        if answer.witness is None or self._attained is None:
            assert answer.value is not None
            return answer.value
        witness = np.asarray(answer.witness, dtype=np.float64)
        return self._attained(self._points, witness) if np.isfinite(witness).all() else float("nan")


def off(value: float, bracket: Bracket) -> float:
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
