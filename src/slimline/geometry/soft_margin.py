"""A plane for classes that no plane separates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slimline.geometry.convex import Nearest
from slimline.solvers import LOSSES, SmallProblem, solve_gram

if TYPE_CHECKING:
    from slimline.geometry.margin import SignedPoints

Floats = NDArray[np.float64]

#: Gap of the soft-margin machine, as a part of its objective at w = 0.
_GAP = 1e-6
#: Points that it learns from, where the Gram matrix of all is not made.
_MOST_POINTS = 4000


def soft_separator(points: SignedPoints, found: Nearest, C: float) -> tuple[Floats, float]:
    """Return the weights and the intercept of the soft-margin machine with the hinge.

    It learns from all points or, where the Gram matrix of all is not made, from 4,000 that are spread over the classes.

    Parameters
    ----------
    points : SignedPoints
        All points.
    found : Nearest
        What the search found; its matrix is written over.
    C : float
        Penalty, for points of a mean squared norm of 1.

    Returns
    -------
    weights : array of shape (n_features,)
        Of any norm.
    intercept : float
        0 without one; else it is the weight of a constant feature as large as the points, and penalised like theirs.
    """
    index, K, n_points = found.index, found.Q, len(points.signs)
    if len(index) < n_points:  # those that the search chose are mostly wrong ones
        index = points.some(_MOST_POINTS)
        K = points.gram(index)
    size = float(np.trace(K)) / len(K)
    if size == 0.0:
        return np.zeros(points.data.shape[1]), 0.0
    K /= size
    if points.intercept:
        signs = points.signs[index]
        for row, own in zip(K, signs, strict=True):
            row += own * signs
    n = len(K)
    penalty = n / (n_points * C)  # each stands for as many
    problem = SmallProblem(LOSSES["hinge"], np.ones(n), np.ones(n), penalty, np.zeros(n))
    solution = solve_gram(K, problem, target_gap=_GAP * n)
    coefficients = np.zeros(points.data.shape[0])
    coefficients[index] = points.factor[index] * solution.dual
    intercept = size * float(points.signs[index] @ solution.dual) if points.intercept else 0.0
    return np.asarray(points.data.matrix.tdot(coefficients)), intercept
