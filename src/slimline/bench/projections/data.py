"""The data of the cases: their values do not matter to the time, only their size, type and storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_SEED = 20130501
_BLOCK = 1 << 24


@dataclass(frozen=True)
class Shape:
    """Size and type of a projection: n × d to n × r.

    Parameters
    ----------
    n, d, r : int
        Rows, features and components.
    dtype : str
        Type of the entries: "f4", "f8" or "i1".
    per_row : int, optional
        Non-zeros a row of a CSR matrix; None is dense.
    """

    n: int
    d: int
    r: int
    dtype: str
    per_row: int | None = None

    @property
    def itemsize(self) -> int:
        """Bytes of an entry."""
        return np.dtype(self.dtype).itemsize

    @property
    def input_bytes(self) -> int:
        """Size of X: entries, and for CSR the 32-bit column numbers."""
        if self.per_row is None:
            return self.n * self.d * self.itemsize
        return self.n * self.per_row * (self.itemsize + 4) + 4 * (self.n + 1)

    @property
    def output_dtype(self) -> str:
        """Type of the result: float64 for float64, else float32."""
        return "f8" if self.dtype == "f8" else "f4"

    @property
    def output_bytes(self) -> int:
        """Size of the result."""
        return self.n * self.r * np.dtype(self.output_dtype).itemsize

    @property
    def gigaflop(self) -> float:
        """Work of the product with a stored R, in 10⁹ operations."""
        return 2e-9 * self.n * self.d * self.r

    def make(self) -> Any:
        """Return X."""
        return self._dense() if self.per_row is None else self._csr(self.per_row)

    def _dense(self) -> NDArray[Any]:
        rng = np.random.default_rng(_SEED)
        X = np.empty((self.n, self.d), dtype=self.dtype)
        flat = X.reshape(-1)
        for start in range(0, flat.size, _BLOCK):
            part = flat[start : start + _BLOCK]
            if self.dtype == "i1":
                part[:] = rng.integers(0, 3, size=part.size, dtype=np.int8)
            else:
                rng.random(dtype=X.dtype.type, out=part)
                part -= X.dtype.type(0.5)
        return X

    def _csr(self, per_row: int) -> sp.csr_array:
        rng = np.random.default_rng(_SEED)
        indices = np.sort(rng.integers(0, self.d, size=(self.n, per_row), dtype=np.int32), axis=1).reshape(-1)
        values = rng.standard_normal(indices.size).astype(self.dtype)
        pointer = np.arange(0, indices.size + 1, per_row, dtype=np.int32)
        X = sp.csr_array((values, indices, pointer), shape=(self.n, self.d))
        X.sum_duplicates()
        return X
