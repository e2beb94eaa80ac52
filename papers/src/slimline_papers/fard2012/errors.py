"""Errors of inner products with one fixed vector, for all other vectors at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from slimline import laws
from slimline.projections import Gaussian

#: Failure probability of the theorems' promises.
DELTA = 0.05


def error_of_products(w: NDArray[np.float64], r: int, seed: int) -> NDArray[np.float64]:
    """Return the vector g with ⟨Rᵀw, Rᵀx⟩ - ⟨w, x⟩ = ⟨g, x⟩ for every x.

    Parameters
    ----------
    w : array of shape (d,)
        The fixed vector.
    r : int
        Columns of R.
    seed : int
        Of R.

    Returns
    -------
    g : array of shape (d,)
        RRᵀw - w: one sketch and one lift.
    """
    R = Gaussian(len(w), r, seed)
    return np.asarray(R.lift(R.apply(w[None, :]))[0] - w)


def largest_on_sparse(g: NDArray[np.float64], basis: NDArray[np.float64], k: int) -> float:
    """Return the largest |⟨g, x⟩| over all unit vectors x that are k-sparse in a basis.

    Parameters
    ----------
    g : array of shape (d,)
        A linear functional.
    basis : array of shape (d, d)
        Orthonormal, one vector a column.
    k : int
        Non-zero coordinates of x, at most.

    Returns
    -------
    supremum : float
        The norm of the k largest coordinates of g: x is made of these.
    """
    squares = np.sort((basis.T @ g) ** 2)
    return float(np.sqrt(squares[-k:].sum()))


def union_eps(r: int, cosines: NDArray[np.float64], delta: float = DELTA) -> float:
    """Return the ε that the union over exact laws promises.

    Parameters
    ----------
    r : int
        Columns of R.
    cosines : array
        Between w and each of the vectors.
    delta : float
        Failure probability.

    Returns
    -------
    eps : float
        No inner product of unit vectors is further off, except with probability δ.
    """

    def log_failure(eps: float) -> float:
        lower = laws.inner_product.cdf(cosines - eps, r, cosines)
        return float(np.log(np.sum(lower + laws.inner_product.sf(cosines + eps, r, cosines)) / delta))

    return float(brentq(log_failure, 0.5 / np.sqrt(r), 20 / np.sqrt(r) + 20 / r, xtol=1e-8))
