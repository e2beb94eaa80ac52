"""Exact error of recovered weights, for a Gaussian R and a penalty that is small beside the data.

Write w* = V c with an orthonormal basis V of the row space, and W = r VᵀRRᵀV, a Wishart matrix of r degrees of freedom.
Where λ is far below the squared singular values of X, both fits reproduce the labels, and

- dual recovery gives w̃ = r V W⁻¹ c: it stays in the row space and errs there;
- naive recovery gives ŵ = R Rᵀ w̃, which is right in the row space and has an independent part outside.

For a fixed unit vector u, 1/(uᵀW⁻¹u) is χ² with b = r - ρ + 1 degrees of freedom, and W⁻¹u is that times (1, -B) with
an independent B, ‖B‖² being the ratio of independent χ² of ρ - 1 and b + 1 degrees of freedom. Hence, with independent
χ² throughout,

- ‖ŵ - w*‖²/‖w*‖² = χ²(d-ρ)/χ²(b): an F law, whose mean is (d-ρ)/(r-ρ-1);
- ‖w̃ - w*‖²/‖w*‖² = (r/χ²(b) - 1)² + (r/χ²(b))² χ²(ρ-1)/χ²(b+1): about (ρ+1)/r for large r.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class Moments(NamedTuple):
    """Mean and standard deviation of a squared relative error.

    Parameters
    ----------
    mean, deviation : array
        One entry a number of projections; NaN where there are too few projections for them to be finite.
    """

    mean: Floats
    deviation: Floats


def naive_error(r: ArrayLike, rank: int, features: int) -> Moments:
    """Return the law of ‖ŵ - w*‖²/‖w*‖², naive recovery.

    Parameters
    ----------
    r : array-like
        Numbers of projections.
    rank, features : int
        ρ and d.

    Returns
    -------
    moments : Moments
        Of χ²(d-ρ)/χ²(r-ρ+1).
    """
    first, second = _inverse_moments(_freedom(r, rank), 2)
    outside = float(features - rank)
    return _moments(outside * first, outside * (outside + 2.0) * second)


def dual_error(r: ArrayLike, rank: ArrayLike) -> Moments:
    """Return the law of ‖w̃ - w*‖²/‖w*‖², dual recovery.

    Parameters
    ----------
    r, rank : array-like
        Numbers of projections, and ρ.

    Returns
    -------
    moments : Moments
        Of (r/χ²(b) - 1)² + (r/χ²(b))² χ²(ρ-1)/χ²(b+1), b = r - ρ + 1.
    """
    b, projections, p = _freedom(r, rank), np.asarray(r, dtype=np.float64), np.asarray(rank, dtype=np.float64)
    u1, u2, u3, u4 = (projections**k * moment for k, moment in enumerate(_inverse_moments(b, 4), 1))
    ratio1, ratio2 = _inverse_moments(b + 1.0, 2)
    side1, side2 = (p - 1.0) * ratio1, (p - 1.0) * (p + 1.0) * ratio2
    mean = u2 * (1.0 + side1) - 2.0 * u1 + 1.0
    square = u4 * (1.0 + 2.0 * side1 + side2) - 4.0 * u3 * (1.0 + side1) + u2 * (6.0 + 2.0 * side1) - 4.0 * u1 + 1.0
    return _moments(mean, square)


def _freedom(r: ArrayLike, rank: ArrayLike) -> Floats:
    return np.asarray(r, dtype=np.float64) - np.asarray(rank, dtype=np.float64) + 1.0


def _inverse_moments(freedom: Floats, count: int) -> list[Floats]:
    """Return E χ⁻², E χ⁻⁴, …; NaN where they are infinite."""
    factors = [np.where(freedom > 2.0 * k, 1.0 / np.where(freedom > 2.0 * k, freedom - 2.0 * k, 1.0), np.nan)
               for k in range(1, count + 1)]  # fmt: skip
    return [np.prod(factors[:k], axis=0) for k in range(1, count + 1)]


def _moments(mean: Floats, square: Floats) -> Moments:
    return Moments(mean, np.sqrt(np.maximum(square - mean**2, 0.0)))
