"""Sums over columns, put together block by block without losing digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
#: Columns that are looked at together: what is between is short then, however wide the data are.
_AT_A_TIME = 1 << 16


@dataclass(frozen=True)
class ColumnStats:
    """What a pass learns about each column; missing values are left out of all but their own count.

    Parameters
    ----------
    weight : array of shape (d,)
        Sum of the sample weights of the values that are there (their number, without weights).
    sum : array of shape (d,)
        Weighted sum.
    mean : array of shape (d,)
        Weighted mean; 0 where a column has no value at all.
    deviation : array of shape (d,)
        Weighted sum of squared deviations from the mean.
    nonzeros : array of shape (d,), int64
        How many values are there and differ from 0.
    missing : array of shape (d,), int64
        How many are missing.
    n_samples : int
        How many rows there are.
    """

    weight: Vector
    sum: Vector
    mean: Vector
    deviation: Vector
    nonzeros: NDArray[np.int64]
    missing: NDArray[np.int64]
    n_samples: int

    @property
    def variance(self) -> Vector:
        """Return the weighted mean of the squared deviations (0 where a column has no value)."""
        return np.divide(self.deviation, self.weight, out=np.zeros_like(self.deviation), where=self.weight > 0)

    @property
    def std(self) -> Vector:
        """Return the standard deviation of each column."""
        variance = self.variance
        return np.sqrt(variance, out=variance)

    @property
    def scale(self) -> Vector:
        """Return the standard deviation, and 1 where a column is constant up to rounding."""
        scale = self.std
        for start in range(0, len(scale), _AT_A_TIME):
            some = slice(start, start + _AT_A_TIME)
            std, mean = scale[some], self.mean[some]
            # what adding up so many values can lose; their weights do not matter, which may be of any size
            lost = (self.n_samples - self.missing[some]) * float(np.finfo(np.float64).eps)
            noise = np.hypot(np.sqrt(lost) * std, lost * mean)  # no squares: they overflow
            std[std <= noise] = 1.0
        return scale

    @property
    def sum_of_squares(self) -> Vector:
        """Return the weighted sum of the squared values."""
        return np.asarray(self.deviation + self.sum * self.mean)


class RunningStats:
    """Statistics of the rows seen so far, for every column.

    Parameters
    ----------
    n_samples, n_features : int
        Number of rows that there will be, and of columns.
    """

    def __init__(self, n_samples: int, n_features: int) -> None:
        self._n_samples = n_samples
        self._weight = np.zeros(n_features)
        self._mean = np.zeros(n_features)
        self._deviation = np.zeros(n_features)
        self._nonzeros = np.zeros(n_features, dtype=np.int64)
        self._missing = np.zeros(n_features, dtype=np.int64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is written to."""
        return {
            "weight": self._weight,
            "mean": self._mean,
            "deviation": self._deviation,
            "nonzeros": self._nonzeros,
            "missing": self._missing,
        }

    def add(self, columns: slice, part: ColumnStats) -> None:
        """Add the statistics of further rows of some columns (Chan, Golub and LeVeque 1983: two means merged)."""
        seen = (self._weight, self._nonzeros, self._missing)
        if len(part.mean) == len(self._mean) and not any(numbers.any() for numbers in seen):  # nothing to merge with
            self._weight, self._mean, self._deviation = part.weight, part.mean, part.deviation
            self._nonzeros, self._missing = part.nonzeros, part.missing
            return
        weight, mean = self._weight[columns], self._mean[columns].copy()
        total = weight + part.weight
        share = np.divide(part.weight, total, out=np.zeros_like(total), where=total > 0)
        step = np.where(weight > 0, part.mean - mean, 0.0)  # nothing to merge with at first, and step² may overflow
        with np.errstate(over="ignore"):  # shows as an infinite deviation
            self._deviation[columns] += part.deviation + step * step * weight * share
        self._mean[columns] = np.where(weight > 0, mean, part.mean)
        self._mean[columns] += step * share
        self._weight[columns] = total
        self._nonzeros[columns] += part.nonzeros
        self._missing[columns] += part.missing

    def result(self) -> ColumnStats:
        """Return the statistics of all rows that were added."""
        total = self._mean * self._weight
        return ColumnStats(
            self._weight, total, self._mean, self._deviation, self._nonzeros, self._missing, self._n_samples
        )
