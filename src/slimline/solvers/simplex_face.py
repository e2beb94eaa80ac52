"""The least point of a quadratic on a face of simplices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.blas import dsymv

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
#: What is added to the diagonal, as a part of its mean: far below anything that Q resolves.
_RIDGE = 1e-13


def settle_simplex_face(Q: Floats, gradient: Floats, group: Groups, weights: Floats) -> Floats:
    """Move weights to the least point of the face that they lie on, leaving for lower faces on the way.

    Parameters
    ----------
    Q : array of shape (n, n)
        Of the quadratic.
    gradient : array of shape (n,)
        Qa - c.
    group : array of shape (n,), uint8
        Number of each coordinate's simplex.
    weights : array of shape (n,)
        a: not negative, with a sum of 1 over each group.

    Returns
    -------
    weights : array of shape (n,)
        A new array; the objective has not grown, but for rounding.
    """
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


def is_large(weights: Floats) -> bool:
    """Say whether Newton's method on the face of these weights takes conjugate gradients."""
    return int(np.count_nonzero(weights)) > _MOST_FACTORED


def point_inside(Q: Floats, gradient: Floats, group: Groups, weights: Floats) -> Floats | None:
    """Return the least point of the face of some weights, if a few conjugate gradients find it inside the face.

    Parameters
    ----------
    Q : array of shape (n, n)
        Of the quadratic.
    gradient : array of shape (n,)
        Qa - c.
    group : array of shape (n,), uint8
        Number of each coordinate's simplex.
    weights : array of shape (n,)
        a: not negative, with a sum of 1 over each group.

    Returns
    -------
    weights : array of shape (n,), optional
        None as soon as a coordinate comes out negative.
    """
    free = np.flatnonzero(weights > 0.0)
    found = weights.copy()
    limits = _FIRST_ITERATIONS, _FIRST_RESIDUAL
    found[free] += _by_conjugate_gradients(Q, free, gradient[free], group[free], *limits, weights[free])
    return found if found.min() >= 0.0 else None


def times(Q: Floats, free: NDArray[np.intp], values: Floats) -> Floats:
    """Return the product of a symmetric matrix with a vector that is 0 but at some places.

    Parameters
    ----------
    Q : array of shape (n, n)
        The matrix.
    free : array of shape (m,)
        The places.
    values : array of shape (m,)
        What stands there.

    Returns
    -------
    product : array of shape (n,)
        Only the rows of the places are read, where they are few.
    """
    if 4 * free.size < len(Q):
        return np.asarray(values @ Q[free])
    padded = np.zeros(len(Q))
    padded[free] = values
    return np.asarray(dsymv(1.0, Q.T, padded))  # reads one triangle


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
