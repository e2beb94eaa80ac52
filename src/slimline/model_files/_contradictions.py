"""Contradictions between the numbers of a stored model and its claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import overflow_allowed, sum_error

if TYPE_CHECKING:
    from slimline.model_files._stored_model import StoredModel

Floats = NDArray[np.float64]
#: Values of the constant column that a fit can have, beside 0 for none.
_CONSTANTS = (1e-100, 1e100)
#: Features that are looked at together.
_COLUMNS = 1 << 16
#: What the last digits of another machine can differ by, and the smallest numbers that have all their digits.
_DIGITS, _TINY = 1e-12, 1e-300
#: Part of the sums of absolute values behind it that a product of data may lose.
_LOST = 1e-9


@overflow_allowed()
def contradiction(stored: StoredModel) -> str | None:
    """Return what is wrong with the numbers of a model whose arrays have the right shapes and no NaN.

    Notes
    -----
    A certificate says the same thing several times: the ball around the weights, their relative error, and an interval
    for each. A claim that is smaller than the other numbers allow is refused; one that is larger is still true. That
    the ball itself is right cannot be seen without the data.
    """
    constant = stored.constant
    if not (constant == 0.0 or _CONSTANTS[0] <= constant <= _CONSTANTS[1]):
        return f"constant is {constant!r}"
    if constant == 0.0 and stored.weights[:, -1].any():
        return "the constant column has a weight, and there is no such column"
    if stored.passes < 0:
        return f"passes is {stored.passes}"
    scaled = stored.centre is not None or stored.penalty_factor is not None
    if scaled != (stored.factor is not None) or (stored.fill is not None and stored.centre is None):
        return "of centre, factor and fill some are absent"
    checks = (_of_features, _of_scaling, _of_intercepts, _of_errors, _of_intervals, _of_effects)
    return next((what for check in checks if (what := check(stored)) is not None), None)


def _of_features(stored: StoredModel) -> str | None:
    """Compare the features that are said to be without a penalty with their factors."""
    told = (stored.covariates or {}).get("features", [])
    free = [] if stored.penalty_factor is None else np.flatnonzero(stored.penalty_factor == 0.0).tolist()
    return None if told == free else "the features without a penalty are not those of penalty_factor"


def _of_scaling(stored: StoredModel) -> str | None:
    if stored.factor is None:
        return None
    for columns in _blocks(stored):
        factor = stored.factor[columns]
        given = np.ones(len(factor)) if stored.penalty_factor is None else stored.penalty_factor[columns]
        used = (given > 0.0) & np.isfinite(given)  # the others are free or left out
        sound = np.isfinite(1.0 / factor[used]).all() and not factor[~used].any()
        if not sound or not np.isfinite(stored.weights[:, :-1][:, columns] * factor).all():
            return "factor has values that nothing can be scaled by"
    return None


def _of_intercepts(stored: StoredModel) -> str | None:
    found = stored.constant * stored.weights[:, -1]
    size = np.abs(found)
    told, free, transform = stored.covariates, stored.free_effects, stored.free_transform
    if told is not None and free is not None and transform is not None and told["intercept"] and told["kept"][0] == 0:
        found = found + free @ transform[0]
        size = size + np.abs(free) @ np.abs(transform[0])
    if stored.centre is not None and stored.factor is not None:
        for columns in _blocks(stored):
            each = stored.weights[:, :-1][:, columns] * (stored.centre[columns] * stored.factor[columns])
            found = found - each.sum(axis=1)
            size = size + np.abs(each, out=each).sum(axis=1)
    lost = sum_error(stored.n_features + 1) * size + _TINY
    if not np.isfinite(found).all() or not (np.abs(stored.intercept - found) <= lost).all():
        return "intercept is not what the weights give"
    return None


def _of_errors(stored: StoredModel) -> str | None:
    for weights, radius, error in zip(stored.weights, stored.radius, stored.relative_error, strict=True):
        rest = _norm(weights) - radius  # the exact weights are not shorter
        if not error >= (radius / rest * (1.0 - _DIGITS) if rest > 0.0 else np.inf):
            return "relative_error is less than radius and weights allow"
    return None


def _of_intervals(stored: StoredModel) -> str | None:
    """Compare the intervals of the weights with the ball, and with what is said of the coefficients."""
    ball = stored.radius[:, None]
    for columns in _blocks(stored):
        weight, around = stored.weights[:, :-1][:, columns], stored.coordinate_radius[:, columns]
        centre, radius = stored.interval_centre[:, columns], stored.interval_radius[:, columns]
        apart = np.abs(centre - weight)
        lost = _DIGITS * (np.abs(centre) + np.abs(weight)) + _TINY
        if not (apart - lost <= (ball + radius) * (1.0 + _DIGITS)).all():
            return "interval_centre is further from the weights than radius allows"
        least = np.fmin(ball, apart - lost + radius)
        if stored.factor is not None:
            least = least * np.abs(stored.factor[columns])
        if not (around >= least * (1.0 - _DIGITS) - _TINY).all():
            return "coordinate_radius is less than the intervals allow"
    return None


def _of_effects(stored: StoredModel) -> str | None:
    """Compare the bounds of scores beside covariates with each other."""
    square, reach, explained = stored.free_square, stored.free_reach, stored.free_explained
    if square is not None and (np.diagonal(square, axis1=1, axis2=2) < 0.0).any():
        return "free_square has a variance below 0"
    if explained is not None and reach is not None:
        norms = np.array([[_norm(row) for row in one] for one in explained])
        if not (norms <= reach * (1.0 + _LOST) + _TINY).all():
            return "free_reach is less than free_explained allows"
    return None


def _norm(weights: Floats) -> float:
    """Return the norm, also where squares overflow or vanish."""
    norm = float(np.linalg.norm(weights))
    if 1e-100 < norm < np.inf:
        return norm
    largest = float(np.abs(weights).max())
    return float(np.linalg.norm(weights / largest)) * largest if largest > 0.0 else 0.0


def _blocks(stored: StoredModel) -> list[slice]:
    d = stored.n_features
    return [slice(start, min(start + _COLUMNS, d)) for start in range(0, d, _COLUMNS)]
