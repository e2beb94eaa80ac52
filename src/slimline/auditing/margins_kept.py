"""The margins before and after, with the statements about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from slimline.auditing.draws import Before, Draw
from slimline.auditing.kept import embedded, number_kept
from slimline.auditing.measures import (
    ABOUT,
    CRAMMER_SINGER,
    DEFINITION_7,
    ERROR_ALLOWED,
    NORMALISED,
    ONE_PARAMETER,
    PLAIN,
    SAME_SEPARATOR,
    WITH_INTERCEPT,
    room,
)
from slimline.auditing.promises import Asked, law_promise, margin_theorem, share_theorem
from slimline.auditing.records import Kept, Promise, WrongSide
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

#: Chance that a margin falls below a value.
_Law = Callable[[float], float]


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
        promises: Sequence[Promise] = ()
        if measured.value > 0.0:
            promises = _margin_promises(name, measured, [one.value for one in after], before, asked)
        found.append(number_kept(name, ABOUT[name], measured, after, asked.eps, promises, margin=True))
    found += _same_separator(before, draws, asked)
    found += _error_allowed(before, draws, asked)
    found += _one_parameter(before, draws, asked)
    return tuple(found)


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


def _margin_promises(
    name: str, measured: Bracketed, values: list[float], before: Before, asked: Asked
) -> Sequence[Promise]:
    if name in (PLAIN, WITH_INTERCEPT, CRAMMER_SINGER):
        return embedded("paul2013.1", asked, values, measured.value)
    law = _law(before, asked.r)
    if name == NORMALISED:
        margin = {"margin": min(measured.value, 1.0)}
        ends: dict[str, Any] = {"least": 0.0, "most": 1.0, "points": asked.points}
        return [margin_theorem(one, asked, values, margin, law, **ends) for one in ("shi2012.6", "shi2012.6.sharp")]
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


def _by_law(said: str, here: float, values: Sequence[float], law: _Law, asked: Asked) -> list[Promise]:
    """Return what the exact law says of a margin above 0, and of one that has lost eps of it at most."""
    levels = [
        (0.0, "a margin above 0"),
        ((1.0 - asked.eps) * here, f"at least {100.0 * (1.0 - asked.eps):.4g} % of the margin"),
    ]
    return [law_promise("laws.cosine", said + text, asked, values, law(low), low=low) for low, text in levels]


def _same_separator(before: Before, draws: Sequence[Draw], asked: Asked) -> list[Kept]:
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


def _error_allowed(before: Before, draws: Sequence[Draw], asked: Asked) -> list[Kept]:
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


def _one_parameter(before: Before, draws: Sequence[Draw], asked: Asked) -> list[Kept]:
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
