"""Quadratic problems over a simplex, one a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.blas import dsymv

from slimline._kernels import _native
from slimline.errors import InvalidParameterError

Floats = NDArray[np.float64]
Groups = NDArray[np.uint8]

#: Faces that are tried, at most.
_MOST_FACES = 60
#: Times that a single coordinate is taken out: descent by pairs does that faster.
_MOST_SINGLE = 4
#: Above so many free coordinates conjugate gradients take the place of a factor: they need no copy of Q.
_MOST_FACTORED = 3000
_MOST_ITERATIONS = 60
_RESIDUAL = 1e-5
#: The same for a first look at whether all coordinates are free, which is to end with a point that is good enough.
_FIRST_ITERATIONS, _FIRST_RESIDUAL = 12, 1e-9
#: A ridge on the diagonal, as a part of its mean: far below anything that Q resolves.
_RIDGE = 1e-13
#: Rounds of descent and Newton, at most; each asks for gradients so many times closer than they are. Steps are cheap
#: beside a face: the next one should have all coordinates that belong to it.
_MOST_ROUNDS, _FINER = 40, 1e-4
#: Steps of a round, a coordinate; up to the second number descent is quicker than Newton's method on a large face.
_STEPS, _QUICK = 20, 4
#: Rounds without a smaller gap.
_MOST_IDLE = 3


@dataclass(frozen=True)
class SimplexSolution:
    """A point of the simplices, and how far its objective can be from the least one."""

    #: a; of shape (n,).
    weights: Floats
    #: Qa - c; of shape (n,).
    gradient: Floats
    #: ½ aᵀQa - cᵀa, and the offset.
    objective: float
    #: The objective is above its minimum by at most that.
    gap: float
    #: Pairs that were moved.
    steps: int
    #: Times that Newton's method took over.
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
    """Return a point whose objective is within `tol` (relative) of the minimum, or as near as rounding allows."""
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
            settled = _at(Q, c, group, minimise_on_face(Q, here.gradient, group, here.weights))
            here = settled if settled.objective <= here.objective or settled.gap < here.gap else here
        idle = 0 if here.gap < 0.9 * best.gap else idle + 1
        if here.gap < best.gap:
            best = here
        if idle > _MOST_IDLE:
            break
        tolerance = _FINER * min(tolerance, _violation(here, group))
    return SimplexSolution(best.weights, best.gradient, best.objective + offset, best.gap, steps, rounds)


def on_simplices(weights: Floats, group: Groups) -> Floats:
    """Return weights with a sum of 1 over each group; a group without weight has all alike."""
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


def minimise_on_face(Q: Floats, gradient: Floats, group: Groups, weights: Floats) -> Floats:
    """Move weights to the least point of the face that they lie on, leaving for lower faces on the way."""
    weights, gradient = weights.copy(), gradient.copy()
    n_groups = int(group.max()) + 1
    single = 0
    for _ in range(_MOST_FACES):
        free = np.flatnonzero(weights > 0.0)
        if free.size <= n_groups:
            break
        change = _newton(Q, free, gradient[free], group[free])
        target = weights[free] + change
        if (target >= 0.0).all():
            weights[free] = target
            break
        target = np.maximum(target, 0.0)
        sums = np.bincount(group[free], target, minlength=n_groups)
        if (sums > 0.0).all():  # all that would be negative at once, where that is no step up
            target /= sums[group[free]]
            moved = target - weights[free]
            product = times(Q, free, moved)
            if float(moved @ (gradient[free] + 0.5 * product[free])) < 0.0:
                weights[free] = target
                gradient += product
                continue
        if single == _MOST_SINGLE:
            break
        single += 1
        room = np.where(change < 0.0, -weights[free] / np.where(change < 0.0, change, -1.0), np.inf)
        step = float(room.min())
        target = np.maximum(weights[free] + step * change, 0.0)
        target[room <= step * (1.0 + 1e-12)] = 0.0
        gradient += times(Q, free, target - weights[free])
        weights[free] = target
    return weights


def _newton(Q: Floats, free: NDArray[np.intp], gradient: Floats, group: Groups) -> Floats:
    """Return the change to the least point of the affine hull of a face; none where Q is 0 on it."""
    size = float(Q.diagonal()[free].mean())
    if not size > np.finfo(float).tiny:
        return np.zeros(free.size)
    if free.size > _MOST_FACTORED:
        return _by_conjugate_gradients(Q, free, gradient, group)
    part, gradient = Q[np.ix_(free, free)] / size, gradient / size  # else inverses of tiny numbers overflow
    part[np.diag_indices_from(part)] += _RIDGE
    members = (group[:, None] == np.unique(group)).astype(np.float64)
    # only differences within a group count, and rounding must not drown them
    solved = _solve(part, np.column_stack([-_balanced(gradient, members), members]))
    towards, levels = solved[:, 0], solved[:, 1:]
    # the level of the gradient in each group is what keeps the sum of the group
    change = towards - levels @ np.linalg.lstsq(members.T @ levels, members.T @ towards, rcond=None)[0]
    return np.asarray(_balanced(change, members))


def _solve(matrix: Floats, right: Floats) -> Floats:
    try:
        factor: Any = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        return np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))
    except np.linalg.LinAlgError:
        values, vectors = scipy.linalg.eigh(matrix, check_finite=False)
        kept = values > len(values) * np.finfo(float).eps * max(float(values[-1]), np.finfo(float).tiny)
        return np.asarray(vectors[:, kept] @ ((vectors[:, kept].T @ right) / values[kept][:, None]))


def _balanced(change: Floats, members: Floats) -> Floats:
    """Return a change whose sums over the groups are 0 to the last digit."""
    return np.asarray(change - members @ ((members.T @ change) / members.sum(axis=0)))


def _by_conjugate_gradients(
    Q: Floats,
    free: NDArray[np.intp],
    gradient: Floats,
    group: Groups,
    iterations: int = _MOST_ITERATIONS,
    reduction: float = _RESIDUAL,
    room: Floats | None = None,
) -> Floats:
    """Return the same by conjugate gradients among changes that keep the sums (Gould, Hribar and Nocedal, 2001).

    With some `room` they end as soon as a coordinate falls by more.
    """
    members = (group[:, None] == np.unique(group)).astype(np.float64)
    diagonal = Q.diagonal()[free]
    inverse = 1.0 / np.maximum(diagonal, _RIDGE * float(diagonal.mean()))
    sums = members.T @ inverse

    def conditioned(residual: Floats) -> Floats:
        return np.asarray(inverse * (residual - members @ ((members.T @ (inverse * residual)) / sums)))

    residual = -(gradient - members @ ((members.T @ (inverse * gradient)) / sums))
    change = np.zeros(free.size)
    direction = conditioned(residual)
    size = first = float(residual @ direction)
    for _ in range(iterations):
        if not size > reduction**2 * first:
            break
        product = times(Q, free, direction)[free]
        curvature = float(direction @ product)
        if not curvature > 0.0:
            break
        change += size / curvature * direction
        if room is not None and (change < -room).any():
            break
        residual = residual - size / curvature * product
        residual -= members @ ((members.T @ (inverse * residual)) / sums)
        steepest = conditioned(residual)
        size, before = float(residual @ steepest), size
        direction = steepest + size / before * direction
    return _balanced(change, members)


def point_inside(Q: Floats, gradient: Floats, group: Groups, weights: Floats) -> Floats | None:
    """Return the least point of the face of some weights, if a few conjugate gradients find it inside the face."""
    free = np.flatnonzero(weights > 0.0)
    found = weights.copy()
    limits = _FIRST_ITERATIONS, _FIRST_RESIDUAL
    found[free] += _by_conjugate_gradients(Q, free, gradient[free], group[free], *limits, weights[free])
    return found if found.min() >= 0.0 else None


def is_large(weights: Floats) -> bool:
    """Return whether Newton's method on the face of these weights takes conjugate gradients."""
    return int(np.count_nonzero(weights)) > _MOST_FACTORED


def times(Q: Floats, free: NDArray[np.intp], values: Floats) -> Floats:
    """Return the product of a symmetric matrix with a vector that is 0 but at some places."""
    if 4 * free.size < len(Q):
        return np.asarray(values @ Q[free])
    padded = np.zeros(len(Q))
    padded[free] = values
    return np.asarray(dsymv(1.0, Q.T, padded))  # reads one triangle


def _require_problem(Q: Floats, c: Floats, group: Groups) -> None:
    n = len(c)
    if Q.shape != (n, n) or Q.dtype != np.float64 or not n:
        raise InvalidParameterError(f"must be a square float64 matrix, as long as c; got {Q.shape} and {n}.", "Q")
    if group.shape != (n,) or group.dtype != np.uint8 or not np.all(np.bincount(group)):
        raise InvalidParameterError("must number the simplex of each coordinate, as uint8, none without one.", "group")
