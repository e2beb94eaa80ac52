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
        Non-zeros a row of a sparse matrix; None is dense.
    by_column : bool
        Stored column by column: CSC instead of CSR, F order instead of C.
    """

    n: int
    d: int
    r: int
    dtype: str
    per_row: int | None = None
    by_column: bool = False

    @property
    def itemsize(self) -> int:
        """Bytes of an entry."""
        return np.dtype(self.dtype).itemsize

    @property
    def input_bytes(self) -> int:
        """Size of X: entries, and for sparse data the 32-bit indices and pointers."""
        if self.per_row is None:
            return self.n * self.d * self.itemsize
        lines = self.d if self.by_column else self.n
        return self.n * self.per_row * (self.itemsize + 4) + 4 * (lines + 1)

    @property
    def storage(self) -> str:
        """Storage of X, in words."""
        if self.per_row is None:
            return "dense, F order" if self.by_column else "dense"
        return f"{'CSC' if self.by_column else 'CSR'}, {self.per_row} a row"

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
        if self.per_row is None:
            return self._dense()
        return self._csr(self.per_row).tocsc() if self.by_column else self._csr(self.per_row)

    def _dense(self) -> NDArray[Any]:
        rng = np.random.default_rng(_SEED)
        X = np.empty((self.n, self.d), dtype=self.dtype, order="F" if self.by_column else "C")
        flat = X.reshape(-1, order="A")  # as it lies in memory
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
