"""Sparse results, for the families that can have them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from slimline.errors import InvalidParameterError
from slimline.estimators.random_projection import RandomProjection, _require_finite
from slimline.projections.blocks import require_sound, result_dtype

#: Of rows of the result that are made dense at a time.
_BLOCK_BYTES = 8 << 20
#: Entries of R that are written out at a time, where it is multiplied as a sparse matrix.
_ENTRIES = 1 << 21
#: Numbers of a dense result that take as long as one entry of a sparse R or of a product with it (measured: 4 to 20).
_COST_OF_ENTRY = 8


class SparseOutputProjection(RandomProjection):
    """A projection whose result stays sparse for sparse data when `dense_output` is False."""

    dense_output: bool

    @abstractmethod
    def _entries_a_feature(self) -> float:
        """Return how many entries of R a feature has, on average."""

    def _sketch(self, X: Any) -> Any:
        if self.dense_output or not sp.issparse(X):
            return super()._sketch(X)
        _require_finite(X, type(self).__name__)
        require_sound(X)
        matrix: Any = X
        rows = matrix.tocsr()  # CSR as it is; CSC is turned
        entries = self._entries_a_feature() * (rows.shape[1] + rows.nnz)
        few = entries * _COST_OF_ENTRY < rows.shape[0] * self.n_components_
        Z = self._by_entries(rows) if few else self._by_rows(rows)
        return Z if isinstance(matrix, sp.sparray) else sp.csr_matrix(Z)

    def _by_rows(self, rows: Any) -> Any:
        """Return the sketch of CSR rows, some rows at a time, dense in between."""
        step = max(1, _BLOCK_BYTES // (self.n_components_ * 8))
        parts = [
            sp.csr_array(self.projection_.apply(rows[start : start + step])) for start in range(0, rows.shape[0], step)
        ]
        return sp.vstack(parts, format="csr")

    def _by_entries(self, rows: Any) -> Any:
        """Return the sketch of CSR rows by sparse products, some features at a time: nothing of size n r is made."""
        dtype = result_dtype(rows.dtype)
        X = sp.csr_array((rows.data.astype(dtype, copy=False), rows.indices, rows.indptr), shape=rows.shape)
        step = max(16, int(_ENTRIES / self._entries_a_feature()))
        Z: Any = sp.csr_array((X.shape[0], self.n_components_), dtype=dtype)
        for start in range(0, X.shape[1], step):
            stop = min(start + step, X.shape[1])
            part = X if stop - start == X.shape[1] else X[:, start:stop]
            if part.nnz:
                Z = Z + part @ sp.csr_array(self.projection_.rows(start, stop, dtype))
        Z.eliminate_zeros()
        Z.sort_indices()
        return Z

    def _check_dense_output(self) -> None:
        if not isinstance(self.dense_output, (bool, np.bool_)):
            raise InvalidParameterError(f"dense_output must be True or False; got {self.dense_output!r}.")
