"""X written out in float64 beside how far a correct pass may lie from it: the yardstick of `check_matrix`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.projections import Projection
from slimline.testing._moments import accumulation_error, dense_rows

Floats = NDArray[np.float64]

#: Roundings beside the additions of a sum: products with weight and factor, merged blocks, a conversion.
_EXTRA = 32


@dataclass(frozen=True)
class Explicit:
    """The matrix that a pass should see.

    Every bound is componentwise, γ · (size @ |right-hand side|), and holds for any order of summation and any cut into
    blocks. It allows centring after the sum, as sparse data need it: size is (|x| + |centre|) · factor.
    """

    #: X, NaN where a value is missing; standardised, if it is; of shape (n, d).
    values: Floats
    #: What the roundings of a value are relative to; of shape (n, d).
    size: Floats
    #: How far the value may be off before anything is added up: mean and deviation are sums themselves; of shape
    #: (n, d).
    error: Floats

    @classmethod
    def plain(cls, X: Floats) -> Explicit:
        """Return data as they are."""
        return cls(X, np.abs(X), np.zeros(X.shape))

    def rows(self, index: Any) -> Explicit:
        """Return some of the rows."""
        return Explicit(self.values[index], self.size[index], self.error[index])

    def dot(self, W: Floats) -> tuple[Floats, Floats]:
        """Return X W and its bound."""
        bound = self.size @ np.abs(W) * _gamma(self.values.shape[1]) + self.error @ np.abs(W)
        return self.values @ W, bound

    def tdot(self, A: Floats) -> tuple[Floats, Floats]:
        """Return Xᵀ A and its bound."""
        bound = self.size.T @ np.abs(A) * _gamma(self.values.shape[0]) + self.error.T @ np.abs(A)
        return self.values.T @ A, bound

    def normal(self, A: Floats) -> tuple[Floats, Floats]:
        """Return X Xᵀ A and its bound: the error of Xᵀ A goes through X as well."""
        W, lost = self.tdot(A)
        largest = np.abs(W) + lost
        _, bound = self.dot(largest)
        return self.values @ W, bound + self.size @ lost

    def gram(self) -> tuple[Floats, Floats]:
        """Return X Xᵀ and its bound."""
        crossed = self.error @ self.size.T
        bound = self.size @ self.size.T * _gamma(self.values.shape[1]) + crossed + crossed.T + self.error @ self.error.T
        return self.values @ self.values.T, bound

    def row_norms(self) -> tuple[Floats, Floats]:
        """Return the norms of the rows and their bound."""
        squares = np.sum(self.values**2, axis=1)
        lost = np.sum(self.size**2, axis=1) * _gamma(self.values.shape[1])
        lost += np.sum((2 * self.size + self.error) * self.error, axis=1)
        norms = np.sqrt(squares)
        # |√a - √b| is at most √|a - b|, and |a - b| / √b
        bound = np.minimum(np.sqrt(lost), np.divide(lost, norms, out=np.full(norms.shape, np.inf), where=norms > 0))
        return norms, bound + norms * _gamma(0)

    def sketch(self, projection: Projection, dtype: Any) -> tuple[Floats, Floats]:
        """Return X R and its bound where sums are kept in `dtype`."""
        R = dense_rows(projection)
        operations = 2 * self.values.shape[1] + _EXTRA
        gamma = accumulation_error(operations, dtype) + accumulation_error(operations, np.float64)
        return self.values @ R, (self.size * gamma + self.error) @ np.abs(R)


@dataclass(frozen=True)
class ExplicitStats:
    """Statistics of the columns, with bounds."""

    #: As in `ColumnStats`; of shape (d,).
    weight: Floats
    mean: Floats
    deviation: Floats
    #: How far mean and sum of squared deviations may be off; of shape (d,).
    mean_error: Floats
    deviation_error: Floats
    #: Counts, exact; of shape (d,).
    nonzeros: NDArray[np.int64]
    missing: NDArray[np.int64]

    @classmethod
    def of(cls, X: Explicit, sample_weight: Floats | None = None) -> ExplicitStats:
        """Return the statistics of explicit data."""
        there = ~np.isnan(X.values)
        weights = np.ones(len(X.values)) if sample_weight is None else sample_weight
        values = np.where(there, X.values, 0.0)
        weight = weights @ there
        gamma = _gamma(len(values))

        def average(sums: Floats) -> Floats:
            return np.divide(sums, weight, out=np.zeros_like(weight), where=weight > 0)

        mean = average(weights @ values)
        # centred once more: the mean of the residuals is what the first mean was off
        mean = mean + average(weights @ np.where(there, values - mean, 0.0))
        size = average(weights @ np.where(there, X.size, 0.0))
        error = average(weights @ np.where(there, X.error, 0.0))
        mean_error = gamma * size + error
        distance = np.where(there, np.abs(values - mean), 0.0)
        deviation = weights @ distance**2
        # a deviation is off by what value, mean, and the means of the blocks that were merged are off
        off = np.where(there, 3 * mean_error + X.error, 0.0)
        deviation_error = gamma * deviation + weights @ ((2 * distance + off) * off)
        nonzeros = np.count_nonzero(there & (X.values != 0), axis=0)
        missing = np.count_nonzero(~there, axis=0)
        return cls(weight, mean, deviation, mean_error, deviation_error, nonzeros, missing)

    @property
    def scale(self) -> tuple[Floats, Floats]:
        """Return the standard deviation, 1 for a constant column, and how far it may be off, relatively."""
        varies = self.deviation > self.deviation_error
        variance = np.divide(self.deviation, self.weight, out=np.ones_like(self.weight), where=varies)
        relative = np.divide(self.deviation_error, self.deviation, out=np.zeros_like(self.weight), where=varies)
        return np.sqrt(variance), relative


def standardise(
    X: Floats, centre: Any = "mean", scale: Any = "std", fill: Any = None, sample_weight: Floats | None = None
) -> Explicit:
    """Return (X - centre) / scale, with missing values filled, written out."""
    n, d = X.shape
    stats = ExplicitStats.of(Explicit.plain(X), sample_weight)
    nothing = np.zeros(d)
    middle, middle_error = nothing, nothing
    if centre is not None:
        middle, middle_error = (stats.mean, stats.mean_error) if isinstance(centre, str) else (centre, nothing)
    width, width_error = np.ones(d), nothing
    if scale is not None:
        width, width_error = stats.scale if isinstance(scale, str) else (scale, nothing)
    filled, error = X, np.broadcast_to(middle_error, (n, d))
    if fill is not None:
        by, by_error = (stats.mean, stats.mean_error) if isinstance(fill, str) else (np.broadcast_to(fill, d), nothing)
        filled = np.where(np.isnan(X), by, X)
        error = error + np.where(np.isnan(X), by_error, 0.0)
    size = (np.abs(filled) + np.abs(middle)) / width
    return Explicit((filled - middle) / width, size, error / width + size * width_error)


def _gamma(terms: int) -> Any:
    # twice: the pass rounds, and so does what it is compared with
    return 2 * accumulation_error(2 * terms + _EXTRA, np.float64)
