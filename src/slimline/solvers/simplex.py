"""Quadratics over simplices: nearest points of convex hulls, smallest balls.

minimise over a ≥ 0, with Σ a = 1 over each group:  ½ aᵀQa - cᵀa

Descent by pairs finds which coordinates are above 0, Newton's method on their face finds their values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native
from slimline.errors import InvalidParameterError
from slimline.solvers.simplex_face import is_large, point_inside, settle_simplex_face, times

Floats = NDArray[np.float64]
Groups = NDArray[np.uint8]

#: Rounds of descent and Newton, at most; each asks for gradients so many times closer than they are. Steps are cheap
#: beside a face: the next one should have all coordinates that belong to it.
_MOST_ROUNDS, _FINER = 40, 1e-4
#: Steps of a round, a coordinate; up to the second number descent is quicker than Newton's method on a large face.
_STEPS, _QUICK = 20, 4
#: Rounds without a smaller gap.
_MOST_IDLE = 3


@dataclass(frozen=True)
class SimplexSolution:
    """A point of the simplices, and how far its objective can be from the least one.

    Parameters
    ----------
    weights : array of shape (n,)
        a.
    gradient : array of shape (n,)
        Qa - c.
    objective : float
        ½ aᵀQa - cᵀa, and the offset.
    gap : float
        The objective is above its minimum by at most that.
    steps : int
        Pairs that were moved.
    rounds : int
        Times that Newton's method took over.
    """

    weights: Floats
    gradient: Floats
    objective: float
    gap: float
    steps: int
    rounds: int


def solve_simplex(
    Q: Floats,
    c: Floats,
    group: Groups,
    start: Floats | None = None,
    *,
    tol: float = 1e-10,
    floor: float = 0.0,
    offset: float = 0.0,
) -> SimplexSolution:
    """Return a point whose objective is within `tol` times its size of the minimum, or as near as rounding lets it be.

    Parameters
    ----------
    Q : array of shape (n, n)
        Symmetric and positive semi-definite up to rounding, in C order; left as it is.
    c : array of shape (n,)
        Linear term.
    group : array of shape (n,), uint8
        Number of the simplex that each coordinate belongs to: 0, 1, …, each with a coordinate at least.
    start : array of shape (n,), optional
        Where to begin; it is scaled to sums of 1. None: all coordinates of a group alike.
    tol : float
        Gap, as a part of the size of the objective.
    floor : float
        An objective this small in size is as good as 0, and not lowered any more; 0: none is.
    offset : float
        Added to the objective, whose size `tol` and `floor` are about.

    Returns
    -------
    solution : SimplexSolution
        With its gap, reached or not.
    """
    _require_problem(Q, c, group)
    weights = on_simplices(np.ones(len(Q)) if start is None else start, group)
    best = here = _at(Q, c, group, weights)
    if is_large(weights) and (inside := point_inside(Q, here.gradient, group, weights)) is not None:
        best = here = _at(Q, c, group, on_simplices(inside, group))
    tolerance = _FINER * _violation(best, group)
    steps = idle = rounds = 0
    for rounds in range(1, _MOST_ROUNDS + 1):  # noqa: B007 - told to the caller
        size = abs(best.objective + offset)
        if best.gap <= tol * size or size <= floor > 0.0:  # without a floor an objective of 0 is like any other
            break
        if is_large(here.weights):  # there is no Newton to gain more than what is asked for: violations this small do
            tolerance = max(tolerance, 0.5 * tol * size / (int(group.max()) + 1))
        weights, gradient = here.weights.copy(), here.gradient.copy()
        done, violation = _native.descend_simplex(Q, group, weights, gradient, _STEPS * len(Q), tolerance)
        steps += done
        here = _at(Q, c, group, on_simplices(weights, group))
        if not (is_large(here.weights) and violation <= tolerance and done <= _QUICK * len(Q)):
            settled = _at(Q, c, group, settle_simplex_face(Q, here.gradient, group, here.weights))
            here = settled if settled.objective <= here.objective or settled.gap < here.gap else here
        idle = 0 if here.gap < 0.9 * best.gap else idle + 1
        if here.gap < best.gap:
            best = here
        if idle > _MOST_IDLE:
            break
        tolerance = _FINER * min(tolerance, _violation(here, group))
    return SimplexSolution(best.weights, best.gradient, best.objective + offset, best.gap, steps, rounds)


def on_simplices(weights: Floats, group: Groups) -> Floats:
    """Return weights with a sum of 1 over each group; a group without weight has all alike.

    Parameters
    ----------
    weights : array of shape (n,)
        Not negative.
    group : array of shape (n,), uint8
        Number of each coordinate's group.

    Returns
    -------
    weights : array of shape (n,)
        A new array.
    """
    sums = np.bincount(group, weights)
    empty = sums <= 0.0
    if empty.any():
        weights = np.where(empty[group], 1.0, weights)
        sums = np.bincount(group, weights)
    return np.asarray(weights / sums[group])


@dataclass(frozen=True)
class _Point:
    weights: Floats
    gradient: Floats
    objective: float
    gap: float


def _at(Q: Floats, c: Floats, group: Groups, weights: Floats) -> _Point:
    free = np.flatnonzero(weights)
    gradient = times(Q, free, weights[free]) - c
    objective = 0.5 * float(weights @ (gradient - c))
    # a linear function is least at a corner: by convexity no point is lower than this one by more (Frank and Wolfe)
    ends = np.array([gradient[group == s].min() for s in range(int(group.max()) + 1)])
    gap = float(weights @ (gradient - ends[group]))
    return _Point(weights, gradient, objective, gap)


def _violation(point: _Point, group: Groups) -> float:
    inside = point.weights > 0.0
    return max(
        float(point.gradient[inside & (group == s)].max() - point.gradient[group == s].min())
        for s in range(int(group.max()) + 1)
    )


def _require_problem(Q: Floats, c: Floats, group: Groups) -> None:
    n = len(c)
    if Q.shape != (n, n) or Q.dtype != np.float64 or not n:
        raise InvalidParameterError(f"Q must be a square float64 matrix, as long as c; got {Q.shape} and {n}.")
    if group.shape != (n,) or group.dtype != np.uint8 or not np.all(np.bincount(group)):
        raise InvalidParameterError("group must number the simplex of each coordinate, as uint8, none without one.")
