"""The lowest primal objective over the span of a few points: a problem of a few variables on n-vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from slimline.recovery.task import Point, Task, combination
from slimline.solvers import Loss, Rows
from slimline.solvers.losses import SmoothedHinge
from slimline.solvers.rows_form import solve_smooth_rows

Floats = NDArray[np.float64]
#: How near the lowest objective of the span is enough.
_PART_OF_THE_OBJECTIVE = 1e-16
#: How much of it the rounded corners of the hinge may take.
_PART_OF_THE_CORNERS = 1e-5
#: How much of its corners a hinge that leads to a sharper one may be off.
_PART_OF_A_LEAD = 0.1
#: Points nearer to each other than this, relative to their size, do not span anything.
_NOISE = 1e-5


def lowest_in_span(task: Task, points: list[Point]) -> Point:
    """Return a point of the span whose objective is not above that of any of the points.

    Parameters
    ----------
    task : Task
        The problem.
    points : list of Point
        Not empty.

    Returns
    -------
    point : Point
        One of them, or a combination.
    """
    objectives = [task.primal(point.weights, point.values) for point in points]
    best = int(np.argmin(objectives))
    usable = [point for point in points if point.norm > 0.0]
    if not usable:
        return points[best]
    factors = _minimise(task, usable, objectives[best])
    candidate = combination(usable, factors)
    # Nearly parallel points can have huge factors, which rounding then eats.
    sound = float(np.abs(factors) @ [point.norm for point in usable]) <= candidate.norm / _NOISE
    if sound and task.primal(candidate.weights, candidate.values) < objectives[best]:
        return candidate
    return points[best]


def _minimise(task: Task, points: list[Point], lowest: float) -> Floats:
    """Return the factors of the points in the combination of the lowest objective; theirs are not below `lowest`."""
    # Near the end all points are nearly the same: their differences to the first are what spans the rest.
    W, V = np.empty((len(points), len(points[0].weights))), np.empty((len(points), len(points[0].values)))
    W[0], V[0] = points[0].weights, points[0].values
    for row, point in enumerate(points[1:], 1):
        np.subtract(point.weights, points[0].weights, out=W[row])
        np.subtract(point.values, points[0].values, out=V[row])
    scale = np.array([np.linalg.norm(row, axis=0) for row in W])  # one at a time: a row is as long as the data are wide
    if not np.isfinite(scale).all():
        return np.asarray(np.eye(len(points))[0])
    apart = scale > _NOISE * scale[0]  # what is nearer is rounding, and would be blown up
    W, V, scale = _rows(W, apart), V[apart], scale[apart]
    W /= scale[:, None]
    V /= scale[:, None]
    # In orthonormal coordinates of the span the penalty is that of any small problem, with a handful of features.
    squares, vectors = np.linalg.eigh(W @ W.T)
    del W
    kept = squares > 1e-8 * squares[-1]
    change = vectors[:, kept] / np.sqrt(squares[kept])
    used = task.weights > 0
    features = np.ascontiguousarray((V.T @ change)[used])
    problem = task.small_problem(np.zeros(len(task.labels)))
    target = _PART_OF_THE_OBJECTIVE * lowest
    weights = None
    finest = min(_PART_OF_THE_CORNERS * lowest / float(task.weights.sum()), 0.1)
    rounded = float(task.weights.sum()) / 8.0  # what corners of width 1 take at most
    for loss in _losses(task.loss, max(finest, 1e-15)):
        # one that only leads to sharper ones need not be solved better than its corners are
        corners = loss.width * rounded if isinstance(loss, SmoothedHinge) and loss.width > finest else 0.0
        enough = max(target, _PART_OF_A_LEAD * corners)
        weights = solve_smooth_rows(Rows(features), replace(problem, loss=loss), weights, enough).weights
    assert weights is not None
    factors = np.zeros(len(points))
    factors[apart] = (change @ weights[: features.shape[1]]) / scale
    factors[0] -= factors[1:].sum()
    return factors


def _rows(W: Floats, kept: NDArray[np.bool_]) -> Floats:
    """Return some of the rows, moved up to the first ones of the same memory."""
    for place, row in enumerate(np.flatnonzero(kept)):
        if place != row:
            W[place] = W[row]
    return W[: int(kept.sum())]


def _losses(loss: Loss, finest: float) -> list[Loss]:
    """Return the loss itself, or, for one with a corner, ever sharper ones that lead to it."""
    if loss.smoothness is not None:
        return [loss]
    sharper, width = [], 1.0
    while width > finest:
        sharper.append(SmoothedHinge(width))
        width *= 0.1
    return [*sharper, SmoothedHinge(finest)]
