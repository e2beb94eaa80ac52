"""Features of an array in memory with a constant column behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native, thread_count
from slimline.solvers.rows_features import Rows

Floats = NDArray[np.float64]
#: Columns that are copied at a time.
_COLUMNS = 4096


class ArrayRows(Rows):
    """[Z, c] of an array Z that is the data themselves; products are made in float64, by all threads.

    A step corrects what a sketch has lost, so that the rounding of float32 does no harm there. Here nothing is left to
    correct: the rounding of the products is what the certified error ends at.

    Parameters
    ----------
    Z : array of shape (n_samples, n_features)
        float32 or float64, rows one after the other in memory.
    constant : float
        c: value of the constant column.
    """

    def __init__(self, Z: NDArray[Any], constant: float = 0.0) -> None:
        super().__init__(Z, constant)

    @property
    def finest(self) -> float:
        """Return below what gradients are rounding."""
        return 1e-13

    def times(self, v: Floats) -> Floats:
        """Return the product with weights."""
        out = np.full((self.shape[0], 1), self.constant * v[-1])
        right = np.ascontiguousarray(v[:-1, None])
        _native.block_dot(self.Z, 0, None, right, None, None, out, thread_count())
        return out[:, 0]

    def transposed_times(self, g: Floats) -> Floats:
        """Return the product of the transpose with one number a sample."""
        out = np.zeros((self.shape[1], 1))
        right = np.ascontiguousarray(g[:, None])
        _native.block_tdot(self.Z, 0, None, right, None, None, out[:-1], thread_count())
        out[-1] = self.constant * g.sum()
        return out[:, 0]

    def gram(self, rows: NDArray[np.intp]) -> Floats:
        """Return the Gram matrix of some rows; few columns are copied at a time."""
        out = np.full((len(rows), len(rows)), self.constant**2)
        for start in range(0, self.Z.shape[1], _COLUMNS):
            part = self.Z[rows, start : start + _COLUMNS].astype(np.float64)
            out += part @ part.T
        return out

    def array(self, rows: Any = slice(None)) -> Floats:
        """Return the features of some rows as a new array."""
        part = self.Z[rows]
        features = np.empty((part.shape[0], self.shape[1]))
        features[:, :-1] = part
        features[:, -1] = self.constant
        return features
