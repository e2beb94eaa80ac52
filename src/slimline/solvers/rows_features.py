"""Features of a sketch with known directions taken out and exact columns put beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Rows:
    """[[Z, c] (I - Q Qᵀ), T]: n × (r + 1 + m) features, never made as an array unless asked for.

    Parameters
    ----------
    Z : array of shape (n_samples, n_components)
        float32 or float64; products are made in its own precision.
    constant : float
        c: value of a constant column after those of Z.
    taken_out : array of shape (n_components + 1, m), optional
        Q, with orthonormal columns.
    beside : array of shape (n_samples, m), optional
        T.
    """

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
        """Return the features of some rows as a new array.

        Parameters
        ----------
        rows : slice, mask or row numbers
            Which rows.

        Returns
        -------
        features : array
            In the precision of Z.
        """
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
