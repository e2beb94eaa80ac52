"""The law of a projected norm: r ‖Rᵀx‖² / ‖x‖² has the χ² law with r degrees of freedom (Gaussian R)."""

from __future__ import annotations

from scipy.special import gammainc, gammaincc

from slimline.errors import InvalidParameterError


def norm_failure(n_components: int, eps: float) -> float:
    """Return the probability that a squared norm changes by more than the factor 1 ± eps.

    Parameters
    ----------
    n_components : int
        Columns of R, r ≥ 1.
    eps : float
        Distortion, above 0.

    Returns
    -------
    probability : float
        P(|‖Rᵀx‖² / ‖x‖² - 1| > eps), the same for every x ≠ 0; exact for Gaussian R.

    Examples
    --------
    >>> from slimline.laws import norm_failure
    >>> round(norm_failure(1000, 0.1), 5)
    0.02533
    """
    if n_components < 1 or not eps > 0:
        raise InvalidParameterError(f"n_components must be at least 1 and eps above 0; got {n_components!r}, {eps!r}.")
    half = n_components / 2.0
    below = gammainc(half, half * (1 - eps)) if eps < 1 else 0.0
    return float(below + gammaincc(half, half * (1 + eps)))


def norm_dimension(eps: float, delta: float, n_vectors: int = 1) -> int:
    """Return the smallest r for which `n_vectors` squared norms all stay within 1 ± eps, except with probability delta.

    Parameters
    ----------
    eps : float
        Distortion, in (0, 1).
    delta : float
        Failure probability, in (0, 1).
    n_vectors : int
        How many vectors; the distances of n points are n(n - 1)/2 of them.

    Returns
    -------
    n_components : int
        Smallest r with n_vectors · `norm_failure(r, eps)` ≤ delta: the exact law and a union bound.

    Examples
    --------
    >>> from slimline.laws import norm_dimension
    >>> norm_dimension(0.1, 0.05, n_vectors=1)
    768
    """
    if not 0 < eps < 1:
        raise InvalidParameterError(f"eps must lie in (0, 1); got {eps!r}.")
    if not 0 < delta < 1:
        raise InvalidParameterError(f"delta must lie in (0, 1); got {delta!r}.")
    if n_vectors < 1:
        raise InvalidParameterError(f"n_vectors must be at least 1; got {n_vectors!r}.")
    low, high = 0, 1
    while n_vectors * norm_failure(high, eps) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if n_vectors * norm_failure(middle, eps) > delta:
            low = middle
        else:
            high = middle
    return high
