"""Numbers before and after: the ball and the embedding error, with the statements about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from slimline.auditing.chances import frequency
from slimline.auditing.draws import Before, Draw
from slimline.auditing.promises import Asked, embedding_theorem, law_promise, squared_theorem
from slimline.auditing.records import Kept, Promise
from slimline.geometry.records import Bracketed
from slimline.laws import norm_failure


def number_kept(
    name: str,
    about: str,
    before: Bracketed,
    after: Sequence[Bracketed],
    eps: float,
    promises: Sequence[Promise],
    *,
    margin: bool,
) -> Kept:
    """Return a number before and after, with what is counted of it.

    Parameters
    ----------
    name, about : str
        What it is called, and what it is.
    before : Bracketed
        The number.
    after : sequence of Bracketed
        After each draw.
    eps : float
        What it may have changed by, as a part of it.
    promises : sequence of Promise
        Statements about it.
    margin : bool
        Whether it is one, which may be 0.

    Returns
    -------
    kept : Kept
        The record.
    """
    values = [one.value for one in after]
    near = None
    if before.value > 0.0:
        near = frequency(abs(value / before.value - 1.0) <= eps for value in values)
    return Kept(
        name=name,
        about=about,
        before=before.value,
        before_lower=before.lower,
        before_upper=before.upper,
        after=tuple(values),
        after_lower=tuple(one.lower for one in after),
        after_upper=tuple(one.upper for one in after),
        positive=frequency(value > 0.0 for value in values) if margin else None,
        within=near,
        promises=tuple(promises),
        decided=_decided(before),
        undecided=tuple(number for number, one in enumerate(after) if not _decided(one)),
    )


def ball_kept(before: Before, draws: Sequence[Draw], asked: Asked) -> Kept:
    """Return what became of the smallest ball.

    Parameters
    ----------
    before : Before
        The data.
    draws : sequence of Draw
        After each draw.
    asked : Asked
        What theorems are asked with.

    Returns
    -------
    kept : Kept
        Of its radius.
    """
    ball, after = _sure(before.ball), [_sure(draw.ball) for draw in draws]
    values = [one.value for one in after]
    promises: list[Promise] = []
    if ball.value > 0.0:

        def failure(eps: float) -> float:
            return chance_of_distances(asked.points * (asked.points - 1) // 2, asked.r, eps)

        distances: dict[str, Any] = {"failure": failure, "points": asked.points}
        promises.append(squared_theorem("paul2013.2.distances", asked, values, ball.value, **distances))
        low, high = (ball.value * float(np.sqrt(1.0 + side * asked.eps)) for side in (-1.0, 1.0))
        said = f"all distances, and so the ball, have a square within 1 ± {asked.eps:g} of what it was"
        promises.append(law_promise("laws.norm", said, asked, values, failure(asked.eps), low=low, high=high))
        promises += embedded("paul2013.2", asked, values, ball.value)
    about = "radius of the smallest ball around all points"
    return number_kept("enclosing ball", about, ball, after, asked.eps, promises, margin=False)


def embedding_kept(draws: Sequence[Draw], asked: Asked) -> Kept:
    """Return the embedding errors.

    Parameters
    ----------
    draws : sequence of Draw
        After each draw.
    asked : Asked
        What theorems are asked with.

    Returns
    -------
    kept : Kept
        Within, where an error is at most eps.
    """
    errors = [draw.embedding for draw in draws]
    promise = embedding_theorem(asked, [error.lower for error in errors])
    return Kept(
        name="embedding error",
        about="largest change of a squared length in the span of the points, ‖VᵀV - VᵀRRᵀV‖₂",
        before=0.0,
        before_lower=0.0,
        before_upper=0.0,
        after=tuple(error.value for error in errors),
        after_lower=tuple(error.lower for error in errors),
        after_upper=tuple(error.upper for error in errors),
        positive=None,
        within=frequency(error.value <= asked.eps for error in errors),
        promises=() if promise is None else (promise,),
    )


def embedded(name: str, asked: Asked, values: Sequence[float], before: float) -> list[Promise]:
    """Return what follows from the embedding theorem of the family for a length of the data.

    Parameters
    ----------
    name : str
        paul2013's theorem about that length.
    asked : Asked
        With the family.
    values : sequence of float
        The length after each draw.
    before : float
        And before, above 0.

    Returns
    -------
    promises : list of Promise
        One, or none where no theorem knows the family.
    """
    through = embedding_theorem(asked, [0.0])
    if through is None:
        return []
    sizes: dict[str, Any] = {"family": asked.family, "rank": asked.rank, "features": asked.features}
    return [squared_theorem(name, asked, values, before, through=through.bound, **sizes)]


def chance_of_distances(n_pairs: int, r: int, eps: float) -> float:
    """Return a bound of the chance that some squared distance changes by more than ε, by the exact law and a union.

    Parameters
    ----------
    n_pairs : int
        Distances.
    r : int
        Dimensions.
    eps : float
        ε.

    Returns
    -------
    chance : float
        At most 1.
    """
    return min(1.0, n_pairs * float(norm_failure(r, eps)))


def _sure(ball: Bracketed) -> Bracketed:
    """Return the ball, with radius 0 where all points are the same but for rounding."""
    return ball if ball.lower > 0.0 else Bracketed(0.0, 0.0, ball.upper, ball.reached)


def _decided(found: Bracketed) -> bool:
    """Say whether a margin of 0 is proved to be that, as some records tell."""
    return found.value > 0.0 or getattr(found, "separable", False) is not None
