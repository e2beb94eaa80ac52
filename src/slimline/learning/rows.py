"""Rows of features as solvers use them: those of a sketch, of arrays in memory, and sparse ones."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native, thread_count

Floats = NDArray[np.float64]
#: Columns that are copied at a time.
_COLUMNS = 4096


class Rows:
    """[[Z, c] (I - Q Qᵀ), T]: n × (r + 1 + m) features, never made as an array unless asked for."""

    def __init__(
        self,
        Z: NDArray[Any],
        constant: float = 0.0,
        taken_out: Floats | None = None,
        beside: Floats | None = None,
    ) -> None:
        self.Z = Z
        self.constant = constant
        self._out = taken_out
        self._beside = np.zeros((Z.shape[0], 0)) if beside is None else beside

    @property
    def shape(self) -> tuple[int, int]:
        """Return samples and components."""
        return self.Z.shape[0], self.Z.shape[1] + 1 + self._beside.shape[1]

    def with_constant(self, constant: float) -> Self:
        """Return the same features with another constant column."""
        features = copy(self)
        features.constant = constant
        return features

    @property
    def root_mean_square(self) -> float:
        """Return the root mean square norm of the rows of Z."""
        return float(np.linalg.norm(self.Z)) / len(self.Z) ** 0.5 or 1.0

    @property
    def finest(self) -> float:
        """Return below what gradients are rounding."""
        return 1e-5 if self.Z.dtype == np.float32 else 1e-13

    def times(self, v: Floats) -> Floats:
        """Return the product with weights, in float64."""
        r = self.Z.shape[1]
        inside = self._without(v[: r + 1])
        product = (self.Z @ inside[:r].astype(self.Z.dtype, copy=False)).astype(np.float64, copy=False)
        return np.asarray(product + self.constant * inside[r] + self._beside @ v[r + 1 :])

    def transposed_times(self, g: Floats) -> Floats:
        """Return the product of the transpose with one number a sample, in float64."""
        return np.concatenate([self._without(self.images(g)), self._beside.T @ g])

    def images(self, g: Floats) -> Floats:
        """Return [Z, c]ᵀ g, nothing being taken out."""
        product = (self.Z.T @ g.astype(self.Z.dtype, copy=False)).astype(np.float64, copy=False)
        return np.concatenate([product, self.constant * g.sum(axis=0, keepdims=True)])

    def curvature_times(self, h: Floats, v: Floats) -> Floats:
        """Return the transpose times diag(h) times the product with weights, as precise as a direction has to be."""
        return Rows.transposed_times(self, h * Rows.times(self, v))  # in the precision of Z, whatever a subclass does

    def weighted_square(self, h: Floats) -> Floats:
        """Return the transpose times diag(h) times itself, in float64."""
        used = h > 0
        root = np.sqrt(h[used])
        part = self.array(used)
        part *= root.astype(part.dtype)[:, None]
        return np.asarray((part.T @ part).astype(np.float64, copy=False))

    def for_descent(self) -> tuple[NDArray[Any], float]:
        """Return the rows as coordinate descent takes them, and the constant behind them; Z itself where it will do."""
        if self._out is None and self._beside.shape[1] == 0:
            return self.Z, self.constant
        return self.array(), 0.0

    def gram(self, rows: NDArray[np.intp]) -> Floats:
        """Return the Gram matrix of some rows, in float64."""
        part = self.array(rows).astype(np.float64, copy=False)
        return np.asarray(part @ part.T)

    def array(self, rows: Any = slice(None)) -> NDArray[Any]:
        """Return the features of some rows as a new array."""
        part, width = self.Z[rows], self.Z.shape[1] + 1
        features = np.empty((part.shape[0], self.shape[1]), dtype=self.Z.dtype)
        features[:, : width - 1] = part
        features[:, width - 1] = self.constant
        if self._out is not None:
            out = self._out.astype(self.Z.dtype)
            features[:, :width] -= (features[:, :width] @ out) @ out.T
        features[:, width:] = self._beside[rows]
        return features

    def _without(self, v: Floats) -> Floats:
        return v if self._out is None else v - self._out @ (self._out.T @ v)


class ArrayRows(Rows):
    """[Z, c] of an array Z that is the data themselves; products are made in float64, by all threads.

    A step corrects what a sketch has lost, so that the rounding of float32 does no harm there. Here nothing is left to
    correct: the rounding of the products is what the certified error ends at.
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
        _native.block_dot(_native.Block(self.Z), _native.ColumnTransform(), right, out, thread_count())
        return out[:, 0]

    def transposed_times(self, g: Floats) -> Floats:
        """Return the product of the transpose with one number a sample."""
        out = np.zeros((self.shape[1], 1))
        right = np.ascontiguousarray(g[:, None])
        _native.block_tdot(_native.Block(self.Z), _native.ColumnTransform(), right, out[:-1], thread_count())
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


class SparseRows:
    """[Z, c] of a CSR matrix Z; products are made in float64, by all threads."""

    def __init__(self, Z: Any, constant: float = 0.0) -> None:
        self.Z = Z
        self.constant = constant

    @property
    def shape(self) -> tuple[int, int]:
        """Return samples and features, the constant included."""
        return self.Z.shape[0], self.Z.shape[1] + 1

    def with_constant(self, constant: float) -> SparseRows:
        """Return the same features with another constant column."""
        return SparseRows(self.Z, constant)

    @property
    def root_mean_square(self) -> float:
        """Return the root mean square norm of the rows of Z."""
        return float(np.linalg.norm(self.Z.data)) / self.Z.shape[0] ** 0.5 or 1.0

    @property
    def finest(self) -> float:
        """Return below what gradients are rounding."""
        return 1e-13

    def times(self, v: Floats) -> Floats:
        """Return the product with weights."""
        out = np.full((self.shape[0], 1), self.constant * v[-1])
        _native.compressed_gather(self._parts, np.ascontiguousarray(v[:-1, None]), None, None, out, thread_count())
        return out[:, 0]

    def transposed_times(self, g: Floats) -> Floats:
        """Return the product of the transpose with one number a sample."""
        out = np.zeros((self.shape[1], 1))
        _native.compressed_scatter(self._parts, np.ascontiguousarray(g[:, None]), None, None, out[:-1], thread_count())
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
    def _parts(self) -> _native.Compressed:
        return _native.Compressed(self.Z.indptr, self.Z.indices, self.Z.data)
