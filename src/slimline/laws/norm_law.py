"""The law of a projected norm: r ‖Rᵀx‖² / ‖x‖² has the χ² law with r degrees of freedom (Gaussian R)."""

from __future__ import annotations

from typing import Any

import numpy as np

from slimline.errors import InvalidParameterError
from slimline.laws.inner_product_law import inner_product
from slimline.laws.law import Law, Real, Values, require
from slimline.laws.search import smallest_dimension, whole


class NormLaw(Law):
    """The law of ‖Rᵀx‖² / ‖x‖²; its mean is 1.

    It is the law of the inner product of x with itself, so c is 1 and need not be given.

    Examples
    --------
    >>> from slimline.laws import norm
    >>> round(norm.sf(1.1, 1000), 5)
    0.01461
    """

    def _log_upper(self, value: Values, r: Values, c: Values) -> Values:
        return inner_product._log_upper(value, r, _with_itself(c))

    def _log_lower(self, value: Values, r: Values, c: Values) -> Values:
        return inner_product._log_lower(value, r, _with_itself(c))


def _with_itself(c: Values) -> Values:
    if np.any(c != 1):
        raise InvalidParameterError("A vector has cosine 1 with itself: the law of the norm knows no other c.")
    return c


norm = NormLaw()


def norm_failure(n_components: Real, eps: Real) -> Any:
    """Return the probability that a squared norm changes by more than the factor 1 ± eps.

    Parameters
    ----------
    n_components : array-like of int
        Columns of R, r ≥ 1.
    eps : array-like
        Distortion, above 0.

    Returns
    -------
    probability : float or ndarray
        The chance that ‖Rᵀx‖² / ‖x‖² is not within 1 ± eps, the same for every x ≠ 0; exact for Gaussian R.

    Examples
    --------
    >>> from slimline.laws import norm_failure
    >>> round(norm_failure(1000, 0.1), 5)
    0.02533
    """
    eps = np.asarray(eps, np.float64)
    require(eps > 0, eps, "eps must be above 0")
    return norm.cdf(1 - eps, n_components) + norm.sf(1 + eps, n_components)


def norm_dimension(eps: Real, delta: Real, n_vectors: Real = 1) -> Any:
    """Return the smallest r for which `n_vectors` squared norms all stay within 1 ± eps, except with probability delta.

    Parameters
    ----------
    eps : array-like
        Distortion, in (0, 1).
    delta : array-like
        Failure probability, in (0, 1).
    n_vectors : array-like of int
        How many vectors; the distances of n points are n(n - 1)/2 of them.

    Returns
    -------
    n_components : int or ndarray of int
        Smallest r with n_vectors · `norm_failure(r, eps)` ≤ delta: the exact law and a union bound.

    Examples
    --------
    >>> from slimline.laws import norm_dimension
    >>> norm_dimension(0.1, 0.05, n_vectors=1)
    768
    """
    eps, delta, count = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in (eps, delta, n_vectors)))
    require((eps > 0) & (eps < 1), eps, "eps must lie in (0, 1)")
    require((delta > 0) & (delta < 1), delta, "delta must lie in (0, 1)")
    require((count >= 1) & (count < np.inf), count, "n_vectors must be at least 1, and finite")
    # the sum of both tails falls with r from the start, though the upper one alone may rise
    return whole(smallest_dimension(lambda r: np.asarray(count * norm_failure(r, eps) <= delta), eps.shape))
