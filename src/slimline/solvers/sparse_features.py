"""Features of a sparse matrix with a constant column behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native, thread_count

Floats = NDArray[np.float64]


class SparseRows:
    """[Z, c] of a CSR matrix Z; products are made in float64, by all threads.

    Parameters
    ----------
    Z : sparse array of shape (n_samples, n_features)
        CSR, float32 or float64, no place stored twice.
    constant : float
        c: value of the constant column.
    """

    def __init__(self, Z: Any, constant: float = 0.0) -> None:
        self.Z = Z
        self.constant = constant

    @property
    def shape(self) -> tuple[int, int]:
        """Return samples and features, the constant included."""
        return self.Z.shape[0], self.Z.shape[1] + 1

    @property
    def finest(self) -> float:
        """Return below what gradients are rounding."""
        return 1e-13

    def times(self, v: Floats) -> Floats:
        """Return the product with weights."""
        out = np.full((self.shape[0], 1), self.constant * v[-1])
        _native.compressed_gather(*self._parts, np.ascontiguousarray(v[:-1, None]), None, None, out, thread_count())
        return out[:, 0]

    def transposed_times(self, g: Floats) -> Floats:
        """Return the product of the transpose with one number a sample."""
        out = np.zeros((self.shape[1], 1))
        _native.compressed_scatter(*self._parts, np.ascontiguousarray(g[:, None]), None, None, out[:-1], thread_count())
        out[-1] = self.constant * g.sum()
        return out[:, 0]

    def curvature_times(self, h: Floats, v: Floats) -> Floats:
        """Return the transpose times diag(h) times the product with weights."""
        return self.transposed_times(h * self.times(v))

    def weighted_square(self, h: Floats) -> Floats:
        """Return the transpose times diag(h) times itself."""
        d = self.Z.shape[1]
        weighted = self.Z.astype(np.float64)
        weighted.data *= np.repeat(h, np.diff(self.Z.indptr))
        out = np.empty((d + 1, d + 1))
        out[:d, :d] = (self.Z.T @ weighted).toarray()
        out[d, :d] = out[:d, d] = self.constant * np.asarray(weighted.sum(axis=0)).reshape(-1)
        out[d, d] = self.constant**2 * h.sum()
        return out

    def for_descent(self) -> tuple[Any, float]:
        """Return the rows as coordinate descent takes them, and the constant behind them."""
        return self.Z, self.constant

    def gram(self, rows: NDArray[np.intp]) -> Floats:
        """Return the Gram matrix of some rows."""
        part = self.Z[rows].astype(np.float64)
        return np.asarray((part @ part.T).toarray() + self.constant**2)

    @property
    def _parts(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        return self.Z.indptr, self.Z.indices, self.Z.data
