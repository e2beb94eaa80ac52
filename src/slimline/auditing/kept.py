"""Each measured number before and after, with the statements about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.auditing.chances import frequency
from slimline.auditing.draws import Before, Draw
from slimline.auditing.measures import ABOUT, CRAMMER_SINGER, DEFINITION_7, NORMALISED, PLAIN, WITH_INTERCEPT, room
from slimline.auditing.promises import Asked, law_promise, theorem
from slimline.auditing.records import BracketCheck, Kept, Promise, WrongSide
from slimline.bounds import (
    margin_dimension,
    margin_failure,
    multiclass_margin_dimension,
    multiclass_margin_failure,
    one_parameter_cosines,
)
from slimline.errors import InvalidParameterError, NoDimensionError
from slimline.geometry.records import Bracketed
from slimline.laws import cosine

Floats = NDArray[np.float64]

#: Name of the margin that the vectors chosen before the projection have after it.
SAME_SEPARATOR = "normalised margin, same separator"
ONE_PARAMETER = "one-parameter margin"
#: What float64 may do to a ratio and, beside the size of the points, to a margin: the sketch is rounded, and what is
#: within 1e-10 of the span of the other points is not seen by the embedding error.
_ROUNDING = 1e-9


def margins_kept(before: Before, draws: Sequence[Draw], asked: Asked) -> tuple[Kept, ...]:
    """Return what became of the margins.

    Parameters
    ----------
    before : Before
        The data, with labels or without.
    draws : sequence of Draw
        After each draw.
    asked : Asked
        What theorems are asked with.

    Returns
    -------
    kept : tuple of Kept
        None without labels.
    """
    if before.labels is None:
        return ()
    found = []
    for name, measured in before.margins.items():
        after = [draw.margins[name] for draw in draws]
        promises: tuple[Promise, ...] = ()
        if measured.value > 0.0:
            promises = _margin_promises(name, measured, [one.value for one in after], before, asked)
        found.append(_kept(name, ABOUT[name], measured, after, asked.eps, promises, margin=True))
    return (*found, *_same_separator(before, draws, asked), *_one_parameter(before, draws, asked))


def ball_kept(before: Before, draws: Sequence[Draw], asked: Asked) -> Kept:
    """Return what became of the smallest ball."""
    ball, after = _sure(before.ball), [_sure(draw.ball) for draw in draws]
    values = [one.value for one in after]
    promises: list[Promise] = []
    if ball.value > 0.0:
        unit = _root_of(ball.value)
        promises.append(theorem("paul2013.2.distances", asked, values, unit=unit, points=asked.points))
        promises += _embedded("paul2013.2", asked, values, ball.value)
    about = "radius of the smallest ball around all points"
    return _kept("enclosing ball", about, ball, after, asked.eps, tuple(promises))


def embedding_kept(draws: Sequence[Draw], asked: Asked) -> Kept:
    """Return the embedding errors."""
    errors = [draw.embedding for draw in draws]
    promises = []
    if asked.family and asked.rank:
        promise = theorem(
            "paul2013.1", asked, [1.0 for _ in draws], gaussian=False,
            family=asked.family, rank=asked.rank, features=asked.features,
        )  # fmt: skip
        promises = [_about_error(promise, errors)]
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
        promises=tuple(promises),
    )


def bracket_checks(before: Before, draws: Sequence[Draw]) -> tuple[BracketCheck, ...]:
    """Hold paul2013's statements, which are certain once the embedding error is known, against every draw."""
    checks = []
    size = float(np.sqrt(before.points.squares.max()))
    for name in (PLAIN, WITH_INTERCEPT, CRAMMER_SINGER):
        if name in before.margins and before.margins[name].lower > 0.0:
            after = [draw.margins[name] for draw in draws]
            checks.append(_check("paul2013.1", name, before.margins[name], after, draws, size))
    if before.ball.lower > 0.0:
        checks.append(_check("paul2013.2", "enclosing ball", before.ball, [draw.ball for draw in draws], draws, size))
    return tuple(checks)


def needed_dimension(before: Before, asked: Asked) -> int | None:
    """Return the dimensions that keep the margin of the separators above 0, by the exact law; None where none do."""
    labels = before.labels
    if labels is None or not float(room(before.cosines, labels).min()) > 0.0:
        return None
    try:
        if labels.n_classes == 2:
            return int(margin_dimension(room(before.cosines, labels), asked.delta))
        return int(multiclass_margin_dimension(before.cosines, labels.codes, asked.delta))
    except (NoDimensionError, InvalidParameterError):  # a point lies on the boundary, but for rounding
        return None


def wrong_side(before: Before, draws: Sequence[Draw], asked: Asked) -> WrongSide | None:
    """Return the points that a plane chosen before the projection loses; two classes only."""
    if before.labels is None or before.labels.n_classes > 2 or not before.separators.any():
        return None
    here = room(before.cosines, before.labels)
    expected = float(np.sum(cosine.cdf(0.0, asked.r, here)))
    return WrongSide(int(np.sum(here <= 0.0)), tuple(int(np.sum(draw.room <= 0.0)) for draw in draws), expected)


def _kept(
    name: str,
    about: str,
    before: Bracketed,
    after: Sequence[Bracketed],
    eps: float,
    promises: tuple[Promise, ...],
    margin: bool = False,
) -> Kept:
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
        promises=promises,
    )


def _sure(ball: Bracketed) -> Bracketed:
    """Return the ball, with radius 0 where all points are the same but for rounding."""
    return ball if ball.lower > 0.0 else Bracketed(0.0, 0.0, ball.upper, ball.reached)


def _margin_promises(
    name: str, measured: Bracketed, values: list[float], before: Before, asked: Asked
) -> tuple[Promise, ...]:
    if name in (PLAIN, WITH_INTERCEPT, CRAMMER_SINGER):
        return tuple(_embedded("paul2013.1", asked, values, measured.value))
    if name == NORMALISED:
        margin = {"margin": min(measured.value, 1.0)}
        law = _law(before, asked.r)
        names = ("shi2012.6", "shi2012.6.sharp")
        return tuple(theorem(one, asked, values, before=margin, law=law, points=asked.points) for one in names)
    if name == DEFINITION_7:
        lead = {"multiclass_margin": min(measured.value, 2.0)}
        sizes: dict[str, Any] = {"points": asked.points, "classes": asked.classes}
        return (theorem("shi2012.8", asked, values, before=lead, law=_law(before, asked.r), **sizes),)
    return ()


def _embedded(name: str, asked: Asked, values: Sequence[float], before: float) -> list[Promise]:
    """Return what follows from the family's embedding, if one is known for it."""
    if not asked.family or not asked.rank:
        return []
    sizes: dict[str, Any] = {"family": asked.family, "rank": asked.rank, "features": asked.features}
    return [theorem(name, asked, values, unit=_root_of(before), gaussian=False, **sizes)]


def _root_of(before: float) -> Callable[[float], float]:
    """Return what makes a ratio of squares an end of the number itself."""
    return lambda ratio: before * float(np.sqrt(max(ratio, 0.0)))


def _law(before: Before, r: int) -> Callable[[float], float]:
    """Return the chance that the separators of before leave less than some margin, by the exact law and a union."""
    labels, cosines = before.labels, before.cosines
    assert labels is not None
    if labels.n_classes == 2:
        here = room(cosines, labels)
        return lambda low: float(margin_failure(here, r, low))
    return lambda low: float(multiclass_margin_failure(cosines, labels.codes, r, low))


def _same_separator(before: Before, draws: Sequence[Draw], asked: Asked) -> list[Kept]:
    labels = before.labels
    assert labels is not None
    here = float(room(before.cosines, labels).min())
    if not here > 0.0:
        return []
    values = [float(draw.room.min()) for draw in draws]
    law = _law(before, asked.r)
    levels = [
        (0.0, "a margin above 0"),
        ((1.0 - asked.eps) * here, f"at least {100.0 * (1.0 - asked.eps):.4g} % of the margin"),
    ]
    said = "the separator chosen before, projected with the points, keeps "
    promises = [law_promise("laws.cosine", said + text, asked, values, low, law) for low, text in levels]
    if labels.n_classes == 2:
        sizes: dict[str, Any] = {"points": asked.points}
        promises.append(theorem("shi2012.6", asked, values, before={"margin": min(here, 1.0)}, law=law, **sizes))
    else:
        sizes = {"points": asked.points, "classes": asked.classes}
        lead = {"multiclass_margin": min(here, 2.0)}
        promises.append(theorem("shi2012.8", asked, values, before=lead, law=law, **sizes))
    measured = _exactly(here)
    about = (
        "the margin of the separator that was chosen before and is projected like the points: what theorems speak of"
    )
    after = [_exactly(value) for value in values]
    return [_kept(SAME_SEPARATOR, about, measured, after, asked.eps, tuple(promises), margin=True)]


def _one_parameter(before: Before, draws: Sequence[Draw], asked: Asked) -> list[Kept]:
    found = [draw.one_parameter for draw in draws if draw.one_parameter is not None]
    labels = before.labels
    assert labels is not None
    here = float(room(before.cosines, labels).min()) if found else 0.0
    if not here > 0.0:
        return []
    values = [one.value for one in found]
    cosines = one_parameter_cosines(before.cosines, labels.codes)
    start = float(cosines.min())

    def law(low: float) -> float:
        return float(margin_failure(cosines, asked.r, low))

    sizes: dict[str, Any] = {"points": asked.points, "classes": asked.classes}
    lead = {"multiclass_margin": min(here, 2.0), "classes": asked.classes}
    promises = (
        theorem("shi2012.9", asked, values, before=lead, law=law, **sizes),
        law_promise("laws.cosine", "one vector for all classes has a margin above 0", asked, values, 0.0, law),
    )
    about = "least cosine of one vector v with R_yᵀx - R_y'ᵀx, each class with a projection of its own (shi2012, (6))"
    return [_kept(ONE_PARAMETER, about, _exactly(start), found, asked.eps, promises, margin=True)]


def _exactly(value: float) -> Bracketed:
    return Bracketed(value, value, value, "computed directly")


def _about_error(promise: Promise, errors: Sequence[Any]) -> Promise:
    if promise.eps is None:
        return promise
    held = frequency(error.lower <= promise.eps for error in errors)
    return Promise(
        promise.bound, "theorem", promise.statement, promise.eps, promise.delta, None, promise.eps, None, held, ""
    )


def _check(
    bound: str, about: str, before: Bracketed, after: Sequence[Bracketed], draws: Sequence[Draw], size: float
) -> BracketCheck:
    held, used, nearest = 0, 0, 0.0
    for one, draw in zip(after, draws, strict=True):
        eps = draw.embedding.upper
        low, high = _sure_ratio(before, one, _ROUNDING * size)
        held += low**2 <= (1.0 + eps) * (1.0 + _ROUNDING) and high**2 >= (1.0 - eps) * (1.0 - _ROUNDING)
        used += eps < 1.0
        beyond = max(low**2 - 1.0, 1.0 - high**2, 0.0)  # so far the square is from 1 for sure
        nearest = max(nearest, beyond / (eps + _ROUNDING))
    return BracketCheck(bound, about, held, len(draws), used, nearest)


def _sure_ratio(before: Bracketed, after: Bracketed, rounding: float) -> tuple[float, float]:
    """Return what after / before is at least and at most, if both may be off by rounding beside their brackets."""
    low = max(after.lower - rounding, 0.0) / (before.upper + rounding)
    high = (after.upper + rounding) / (before.lower - rounding) if before.lower > rounding else np.inf
    return low, float(high)
