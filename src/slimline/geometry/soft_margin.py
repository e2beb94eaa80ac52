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


def soft_separator(points: SignedPoints, found: Nearest, C: float) -> tuple[Floats, float]:
    """Return the weights and the intercept of the soft-margin machine with the hinge, over the working set of a search.

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
    K = found.Q
    size = float(np.trace(K)) / len(K)
    if size == 0.0:
        return np.zeros(points.data.shape[1]), 0.0
    K /= size
    if points.intercept:
        signs = points.signs[found.index]
        for row, own in zip(K, signs, strict=True):
            row += own * signs
    n = len(K)
    problem = SmallProblem(LOSSES["hinge"], np.ones(n), np.ones(n), 1.0 / C, np.zeros(n))
    solution = solve_gram(K, problem, target_gap=_GAP * n)
    coefficients = np.zeros(points.data.shape[0])
    coefficients[found.index] = points.factor[found.index] * solution.dual
    intercept = size * float(points.signs[found.index] @ solution.dual) if points.intercept else 0.0
    return np.asarray(points.data.matrix.tdot(coefficients)), intercept
