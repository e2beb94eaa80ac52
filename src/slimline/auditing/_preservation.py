"""Preservation of each quantity by the draws of a projection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.auditing._guarantees import (
    AuditSettings,
    embedding_theorem,
    frequency,
    largest_theorem,
    law_promise,
    margin_theorem,
    share_theorem,
    squared_theorem,
)
from slimline.auditing._measures import (
    ABOUT,
    CRAMMER_SINGER,
    DEFINITION_7,
    ERROR_ALLOWED,
    NORMALISED,
    ONE_PARAMETER,
    PLAIN,
    SAME_SEPARATOR,
    WITH_INTERCEPT,
    Before,
    Draw,
    room,
)
from slimline.auditing._records import PairsKept, Preservation, Promise, WrongSide
from slimline.bounds import (
    margin_dimension,
    margin_failure,
    multiclass_margin_dimension,
    multiclass_margin_failure,
    one_parameter_cosines,
)
from slimline.errors import InvalidParameterError, NoDimensionError
from slimline.geometry._distortion import LEVELS, Distortion
from slimline.geometry._inputs import Bracketed
from slimline.laws import cosine, inner_product, norm_failure


def number_kept(
    name: str,
    about: str,
    before: Bracketed,
    after: Sequence[Bracketed],
    eps: float,
    promises: Sequence[Promise],
    *,
    margin: bool,
) -> Preservation:
    """Return a number before and after, with what is counted of it."""
    values = [one.value for one in after]
    near = None
    if before.value > 0.0:
        near = frequency(abs(value / before.value - 1.0) <= eps for value in values)
    return Preservation(
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


def ball_kept(before: Before, draws: Sequence[Draw], asked: AuditSettings) -> Preservation:
    """Return what became of the smallest ball."""
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


def embedding_kept(draws: Sequence[Draw], asked: AuditSettings) -> Preservation:
    """Return the embedding errors."""
    errors = [draw.embedding for draw in draws]
    promise = embedding_theorem(asked, [error.lower for error in errors])
    return Preservation(
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


def embedded(name: str, asked: AuditSettings, values: Sequence[float], before: float) -> list[Promise]:
    """Return what follows from the embedding theorem of the family for a length of the data."""
    through = embedding_theorem(asked, [0.0])
    if through is None:
        return []
    sizes: dict[str, Any] = {"family": asked.family, "rank": asked.rank, "features": asked.features}
    return [squared_theorem(name, asked, values, before, through=through.bound, **sizes)]


def chance_of_distances(n_pairs: int, r: int, eps: float) -> float:
    """Return a bound of the chance that some squared distance changes by more than ε, by the exact law and a union."""
    return min(1.0, n_pairs * float(norm_failure(r, eps)))


def _sure(ball: Bracketed) -> Bracketed:
    """Return the ball, with radius 0 where all points are the same but for rounding."""
    return ball if ball.lower > 0.0 else Bracketed(0.0, 0.0, ball.upper, ball.reached)


def _decided(found: Bracketed) -> bool:
    """Return whether a margin of 0 is proved to be 0, as some records tell."""
    return found.value > 0.0 or getattr(found, "separable", False) is not None


#: Chance that a margin falls below a value.
_Law = Callable[[float], float]


def margins_kept(before: Before, draws: Sequence[Draw], asked: AuditSettings) -> tuple[Preservation, ...]:
    """Return what became of the margins."""
    if before.labels is None:
        return ()
    found = []
    for name, measured in before.margins.items():
        after = [draw.margins[name] for draw in draws]
        promises: Sequence[Promise] = ()
        if measured.value > 0.0:
            promises = _margin_promises(name, measured, [one.value for one in after], before, asked)
        found.append(number_kept(name, ABOUT[name], measured, after, asked.eps, promises, margin=True))
    found += _same_separator(before, draws, asked)
    found += _error_allowed(before, draws, asked)
    found += _one_parameter(before, draws, asked)
    return tuple(found)


def needed_dimension(before: Before, asked: AuditSettings) -> int | None:
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


def wrong_side(before: Before, draws: Sequence[Draw], asked: AuditSettings) -> WrongSide | None:
    """Return the points that a plane chosen before the projection loses; two classes only."""
    if before.labels is None or before.labels.n_classes > 2 or not before.separators.any():
        return None
    here = room(before.cosines, before.labels)
    expected = float(np.sum(cosine.cdf(0.0, asked.r, here)))
    return WrongSide(int(np.sum(here <= 0.0)), tuple(int(np.sum(draw.room <= 0.0)) for draw in draws), expected)


def _margin_promises(
    name: str, measured: Bracketed, values: list[float], before: Before, asked: AuditSettings
) -> Sequence[Promise]:
    if name in (PLAIN, WITH_INTERCEPT, CRAMMER_SINGER):
        found = embedded("paul2013.1", asked, values, measured.value)
        if name == CRAMMER_SINGER and asked.is_subgaussian:
            radius = float(np.sqrt(before.points.squares.max()))
            unnormalised = {"crammer_singer_margin": measured.value, "radius": radius}
            sizes = {"points": asked.points, "classes": asked.classes}
            found.append(
                margin_theorem("shi2012.8.unnormalised", asked, values, unnormalised, None, least=0.0, **sizes)
            )
        return found
    law = _law(before, asked.r)
    if name == NORMALISED:
        margin = {"margin": min(measured.value, 1.0)}
        ends: dict[str, Any] = {"least": 0.0, "most": 1.0, "points": asked.points}
        names = dict.fromkeys(map(asked.theorem, ("shi2012.6", "shi2012.6.sharp")))
        return [margin_theorem(one, asked, values, margin, law, **ends) for one in names]
    if name == DEFINITION_7:
        lead = {"multiclass_margin": min(measured.value, 2.0)}
        ends = {"least": 0.0, "most": 2.0, "points": asked.points, "classes": asked.classes}
        return [margin_theorem("shi2012.8", asked, values, lead, law, **ends)]
    return ()


def _law(before: Before, r: int) -> _Law:
    """Return the chance that the separators of before leave less than some margin, by the exact law and a union."""
    labels, cosines = before.labels, before.cosines
    assert labels is not None
    if labels.n_classes == 2:
        here = room(cosines, labels)
        return lambda low: float(margin_failure(here, r, low))
    return lambda low: float(multiclass_margin_failure(cosines, labels.codes, r, low))


def _by_law(said: str, here: float, values: Sequence[float], law: _Law, asked: AuditSettings) -> list[Promise]:
    """Return what the exact law says of a margin above 0, and of one that has lost eps of it at most."""
    levels = [
        (0.0, "a margin above 0"),
        ((1.0 - asked.eps) * here, f"at least {100.0 * (1.0 - asked.eps):.4g} % of the margin"),
    ]
    return [law_promise("laws.cosine", said + text, asked, values, law(low), low=low) for low, text in levels]


def _same_separator(before: Before, draws: Sequence[Draw], asked: AuditSettings) -> list[Preservation]:
    labels = before.labels
    assert labels is not None
    here = float(room(before.cosines, labels).min())
    if not here > 0.0:
        return []
    values = [float(draw.room.min()) for draw in draws]
    law, two = _law(before, asked.r), labels.n_classes == 2
    vectors, keep = ("the separator", "keeps") if two else ("the vectors", "keep")
    promises = _by_law(f"{vectors} chosen before, projected with the points, {keep} ", here, values, law, asked)
    if two:
        margin: dict[str, Any] = {"margin": min(here, 1.0)}
        ends: dict[str, Any] = {"least": -1.0, "most": 1.0, "points": asked.points}
        promises.append(margin_theorem("shi2012.6", asked, values, margin, law, **ends))
    else:
        margin = {"multiclass_margin": min(here, 2.0)}
        ends = {"least": -2.0, "most": 2.0, "points": asked.points, "classes": asked.classes}
        promises.append(margin_theorem("shi2012.8", asked, values, margin, law, **ends))
    after = [_exactly(value) for value in values]
    return [number_kept(SAME_SEPARATOR, ABOUT[SAME_SEPARATOR], _exactly(here), after, asked.eps, promises, margin=True)]


def _error_allowed(before: Before, draws: Sequence[Draw], asked: AuditSettings) -> list[Preservation]:
    after = [draw.error_allowed for draw in draws if draw.error_allowed is not None]
    labels, measured = before.labels, before.error_allowed
    if labels is None or measured is None:
        return []
    promises: list[Promise] = []
    if measured.value > 0.0:
        values = [one.value for one in after]
        here = room(before.cosines, labels)

        def law(low: float) -> float:
            return float(margin_failure(here, asked.r, low, asked.allowed))

        said = f"all points but {asked.allowed:,} of {asked.points:,} have, about the plane chosen before, "
        promises = _by_law(said, measured.value, values, law, asked)
        if float(here.min()) > 0.0:
            promises.append(share_theorem(asked, values, min(float(here.min()), 1.0), law))
    return [number_kept(ERROR_ALLOWED, ABOUT[ERROR_ALLOWED], measured, after, asked.eps, promises, margin=True)]


def _one_parameter(before: Before, draws: Sequence[Draw], asked: AuditSettings) -> list[Preservation]:
    after = [draw.one_parameter for draw in draws if draw.one_parameter is not None]
    labels, stacked = before.labels, before.stacked
    if labels is None or stacked is None:
        return []
    promises: list[Promise] = []
    lead = float(room(before.cosines, labels).min())
    if lead > 0.0:
        values = [one.value for one in after]
        cosines = one_parameter_cosines(before.cosines, labels.codes)

        def law(low: float) -> float:
            return float(margin_failure(cosines, asked.r, low))

        given = {"multiclass_margin": min(lead, 2.0), "classes": asked.classes}
        ends: dict[str, Any] = {"least": 0.0, "most": 1.0, "points": asked.points, "classes": asked.classes}
        promises = [
            margin_theorem("shi2012.9", asked, values, given, law, **ends),
            law_promise(
                "laws.cosine", "one vector for all classes has a margin above 0", asked, values, law(0.0), low=0.0
            ),
        ]
    return [number_kept(ONE_PARAMETER, ABOUT[ONE_PARAMETER], stacked, after, asked.eps, promises, margin=True)]


def _exactly(value: float) -> Bracketed:
    return Bracketed(value, value, value, "computed directly")


Floats = NDArray[np.float64]

#: Pairs that the law of each is evaluated for.
_MOST_PAIRS = 2000


def pairs_kept(draws: Sequence[Draw], asked: AuditSettings) -> tuple[PairsKept, ...]:
    """Return what became of the pairs of points."""
    return (
        _one(draws, "distances", asked, _distances, _about_distances),
        _one(draws, "angles", asked, _angles, _about_angles),
        _one(draws, "inner_products", asked, _products, _about_products),
    )


def _one(
    draws: Sequence[Draw],
    name: str,
    asked: AuditSettings,
    law: Callable[[Distortion, AuditSettings], float],
    about: Callable[[Sequence[float], int, AuditSettings], tuple[Promise, ...]],
) -> PairsKept:
    found = [draw.pairs[name] for draw in draws]
    first = found[0].record
    assert first is not None
    largest = [one.largest for one in found]
    any_pairs = first.n_pairs > 0
    return PairsKept(
        name=name.replace("_", " "),
        about=first.measures,
        n_pairs=first.n_pairs,
        largest=tuple(largest),
        share_within=tuple(one.share_within for one in found),
        predicted=law(first, asked) if any_pairs else None,
        all_within=frequency(value <= asked.eps for value in largest),
        promises=about(largest, first.n_pairs, asked) if any_pairs else (),
        quantiles=tuple(float(value) for value in first.quantiles),
        quantile_levels=tuple(LEVELS),
        sample_before=first.before,
        sample_after=first.after,
    )


def _distances(record: Distortion, asked: AuditSettings) -> float:
    return 1.0 - float(norm_failure(asked.r, asked.eps))


def _angles(record: Distortion, asked: AuditSettings) -> float:
    c = np.clip(_some(record.before), -1.0, 1.0)
    return float(np.mean(cosine.cdf(c + asked.eps, asked.r, c) - cosine.cdf(c - asked.eps, asked.r, c)))


def _products(record: Distortion, asked: AuditSettings) -> float:
    c = np.clip(_some(record.before), -1.0, 1.0)
    return float(np.mean(inner_product.cdf(c + asked.eps, asked.r, c) - inner_product.cdf(c - asked.eps, asked.r, c)))


def _some(values: Floats) -> Floats:
    return values[:: max(1, len(values) // _MOST_PAIRS)]


def _about_distances(largest: Sequence[float], n_pairs: int, asked: AuditSettings) -> tuple[Promise, ...]:
    def failure(eps: float) -> float:
        return chance_of_distances(n_pairs, asked.r, eps)

    said = f"all squared distances change by at most {100.0 * asked.eps:.4g} %"
    return (
        largest_theorem("uml2014.23.4", asked, largest, lambda eps: eps, share=1.0, failure=failure, vectors=n_pairs),
        law_promise("laws.norm", said, asked, largest, failure(asked.eps), high=asked.eps),
    )


def _about_angles(largest: Sequence[float], n_pairs: int, asked: AuditSettings) -> tuple[Promise, ...]:
    # κc ± 2ε/(1-ε), κ = (1+ε)/(1-ε), is off by at most 2ε(1+|c|)/(1-ε)
    def end(eps: float) -> float:
        return 4.0 * eps / (1.0 - eps)

    return (largest_theorem("shi2012.5.sharp", asked, largest, end, share=1.0 / n_pairs, most=2.0),)


def _about_products(largest: Sequence[float], n_pairs: int, asked: AuditSettings) -> tuple[Promise, ...]:
    n = asked.points
    return (largest_theorem("fard2012.1", asked, largest, lambda eps: eps, share=1.0 / n, vectors=max(n - 1, 1)),)
