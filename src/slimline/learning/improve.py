"""Better dual and primal points from the points of earlier passes: line search, span, corner of the hinge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import ROUNDOFF
from slimline.learning.certificate import gap_parts
from slimline.learning.line_search import smallest_along
from slimline.learning.losses import Loss
from slimline.learning.problem import BinaryProblem, DualPoint, Point, combination
from slimline.learning.rows import Rows
from slimline.learning.solve_features import solve_smooth_rows

Floats = NDArray[np.float64]
#: A margin within so many rounding errors of 1 is on the margin.
_NEAR = 16.0
#: Dual steps are no longer than so many times the one to the new point.
_LONGEST = 4.0
#: Beside covariates, a step that differs from 1 by less is the whole step.
_WHOLE = 1e-6
#: The lowest objective of the span is found to this part of it.
_PART_OF_THE_OBJECTIVE = 1e-16
#: The rounded corners of the hinge may take this part of it.
_PART_OF_THE_CORNERS = 1e-5
#: A hinge that leads to a sharper one is solved to this part of what its corners take.
_PART_OF_A_LEAD = 0.1
#: Points nearer to each other than this, relative to their size, do not span anything.
_NOISE = 1e-5


def dual_line_search(problem: BinaryProblem, old: DualPoint, new: DualPoint, row_bounds: Floats) -> DualPoint:
    """Return the point of the highest dual objective on the line from `old` through `new`, as far as it is feasible.

    Everything is linear in α, so no pass over the data is needed.
    """
    change = new.a - old.a
    longest = _longest_step(problem, old.a, change)
    direction = problem.weights * change
    margin, margin_change = problem.labels * (old.values + problem.offset), problem.labels * (new.values - old.values)

    def falling(step: float) -> float:
        """Return minus the derivative of D: Σ sᵢ pᵢ (margin - inverse(a))."""
        a = problem.loss.project(old.a + step * change)
        with np.errstate(invalid="ignore"):
            slopes = direction * (margin + step * margin_change - problem.loss.inverse(a))
        return float(np.sum(slopes[direction != 0.0]))

    step = smallest_along(falling, longest)
    if step == 0.0:
        return old
    if step == 1.0 or (abs(step - 1.0) < _WHOLE and not problem.is_plain):
        return new  # feasible to the last digit, which a combination is not
    exact = old.a + step * change
    a = problem.loss.project(exact)
    weights = old.weights + step * (new.weights - old.weights)
    values = old.values + step * (new.values - old.values)
    norms = (1.0 + step) * (old.norm + new.norm)
    values_error = abs(1.0 - step) * old.values_error + step * new.values_error + 8 * ROUNDOFF * norms
    moved = np.abs(a - exact) + 8 * ROUNDOFF * (1.0 + step) * (np.abs(old.a) + np.abs(new.a))
    weights_error = (
        abs(1.0 - step) * old.weights_error
        + step * new.weights_error
        + 8 * ROUNDOFF * norms
        + float((problem.weights * moved) @ row_bounds) / problem.penalty
    )
    effects = problem.refitted(values, new.effects) if problem.is_smooth else new.effects
    return DualPoint(weights, values, values_error, effects, a=a, weights_error=weights_error)


def _longest_step(problem: BinaryProblem, a: Floats, change: Floats) -> float:
    """Return how far one can go before a dual variable leaves its domain."""
    longest = _LONGEST
    with np.errstate(divide="ignore", invalid="ignore"):
        if np.isfinite(problem.loss.lower):
            down = change < 0.0
            if down.any():
                longest = min(longest, float(np.min((problem.loss.lower - a[down]) / change[down])))
        if np.isfinite(problem.loss.upper):
            up = change > 0.0
            if up.any():
                longest = min(longest, float(np.min((problem.loss.upper - a[up]) / change[up])))
    return max(longest, 1.0)  # both ends are feasible, whatever rounding says


def lowest_in_span(problem: BinaryProblem, points: list[Point]) -> Point:
    """Return a point of the span whose objective is not above that of any of the points."""
    objectives = [problem.objective(point) for point in points]
    best = int(np.argmin(objectives))
    usable = [point for point in points if point.norm > 0.0]
    if not usable:
        return points[best]
    factors, effects = _minimise(problem, usable, objectives[best], points[best].effects)
    candidate = combination(usable, factors)
    candidate.effects = effects
    # Nearly parallel points can have huge factors, which rounding then eats.
    sound = float(np.abs(factors) @ [point.norm for point in usable]) <= candidate.norm / _NOISE
    if sound and problem.objective(candidate) < objectives[best]:
        return candidate
    return points[best]


def _minimise(problem: BinaryProblem, points: list[Point], lowest: float, effects: Floats) -> tuple[Floats, Floats]:
    """Return the factors of the points, and the effects beside them, of the lowest objective; `lowest` is known."""
    # Near the end all points are nearly the same: their differences to the first are what spans the rest.
    W, V = np.empty((len(points), len(points[0].weights))), np.empty((len(points), len(points[0].values)))
    W[0], V[0] = points[0].weights, points[0].values
    for row, point in enumerate(points[1:], 1):
        np.subtract(point.weights, points[0].weights, out=W[row])
        np.subtract(point.values, points[0].values, out=V[row])
    scale = np.array([np.linalg.norm(row, axis=0) for row in W])  # one at a time: a row is as long as the data are wide
    if not np.isfinite(scale).all():
        return np.asarray(np.eye(len(points))[0]), points[0].effects
    apart = scale > _NOISE * scale[0]  # what is nearer is rounding, and would be blown up
    W, V, scale = _rows(W, apart), V[apart], scale[apart]
    W /= scale[:, None]
    V /= scale[:, None]
    # In orthonormal coordinates of the span the penalty is that of any small problem, with a handful of features.
    squares, vectors = np.linalg.eigh(W @ W.T)
    del W
    kept = squares > 1e-8 * squares[-1]
    change = vectors[:, kept] / np.sqrt(squares[kept])
    used = problem.weights > 0
    features = np.ascontiguousarray((V.T @ change)[used])
    small = problem.small(np.zeros(len(problem.labels)))
    target = _PART_OF_THE_OBJECTIVE * lowest
    weights = None
    finest = min(_PART_OF_THE_CORNERS * lowest / float(problem.weights.sum()), 0.1)
    rounded = float(problem.weights.sum()) / 8.0  # what corners of width 1 take at most
    widest = 1.0 if problem.loss.name == "hinge" else 10.0 * lowest / float(problem.weights.sum())
    for loss in _losses(problem.loss, widest, max(finest, 1e-15)):
        # one that only leads to sharper ones need not be solved better than its corners are
        width = getattr(loss, "width", 0.0)
        corners = width * rounded if width > finest else 0.0
        enough = max(target, _PART_OF_A_LEAD * corners)
        found = solve_smooth_rows(Rows(features), replace(small, loss=loss), weights, enough, effects)
        weights, effects = found.weights, found.effects
    assert weights is not None
    factors = np.zeros(len(points))
    factors[apart] = (change @ weights[: features.shape[1]]) / scale
    factors[0] -= factors[1:].sum()
    return factors, effects


def _rows(W: Floats, kept: NDArray[np.bool_]) -> Floats:
    """Return some of the rows, moved up to the first ones of the same memory."""
    for place, row in enumerate(np.flatnonzero(kept)):
        if place != row:
            W[place] = W[row]
    return W[: int(kept.sum())]


def _losses(loss: Loss, widest: float, finest: float) -> list[Loss]:
    """Return the loss itself, or, for one with a corner, ever sharper ones that lead to it."""
    if loss.smoothness is not None:
        return [loss]
    sharper: list[Loss] = []
    width = widest
    while width > finest:
        sharper.append(loss.smoothed(width))
        width *= 0.1
    return [*sharper, loss.smoothed(finest)]


def resolve_hinge_corner(problem: BinaryProblem, points: Sequence[Point], dual: DualPoint, row_bounds: Floats) -> Point:
    """Return the point, as it is or scaled up a little, whose proved gap is smallest.

    A sample on the margin costs 1 - a times what its margin may lack, and a times what it may have too much. With weak
    regularisation a is tiny, so a margin that is surely beyond 1 is far cheaper than one that may be either side of it.
    """
    choices = [*points, *(_beyond(problem, point, row_bounds) for point in points)]
    return min(choices, key=lambda point: gap_parts(problem, point, dual, row_bounds).gap)


def _beyond(problem: BinaryProblem, point: Point, row_bounds: Floats) -> Point:
    margin = problem.labels * problem.scores_of(point)
    error = point.values_error * row_bounds + problem.scores_error(point) + 16 * ROUNDOFF * (1.0 + np.abs(margin))
    near = (problem.weights > 0) & (np.abs(1.0 - margin) <= _NEAR * error) & (margin > 0.5)
    if not near.any():
        return point
    further = float(np.max((1.0 - margin[near] + 2.0 * error[near]) / margin[near]))
    return combination([point], np.array([1.0 + max(further, 0.0)]))
