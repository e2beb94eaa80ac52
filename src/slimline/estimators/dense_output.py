"""Sparse results, for the families that can have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from slimline.errors import InvalidParameterError
from slimline.estimators.random_projection import RandomProjection, _require_finite
from slimline.projections.blocks import require_sound

#: Of rows of the result that are made dense at a time.
_BLOCK_BYTES = 8 << 20


class SparseOutputProjection(RandomProjection):
    """A projection whose result stays sparse for sparse data when `dense_output` is False."""

    dense_output: bool

    def _sketch(self, X: Any) -> Any:
        if self.dense_output or not sp.issparse(X):
            return super()._sketch(X)
        _require_finite(X, type(self).__name__)
        require_sound(X)
        matrix: Any = X
        rows = matrix.tocsr()  # CSR as it is; CSC is turned
        step = max(1, _BLOCK_BYTES // (self.n_components_ * 8))
        parts = [
            sp.csr_array(self.projection_.apply(rows[start : start + step])) for start in range(0, rows.shape[0], step)
        ]
        Z: Any = sp.vstack(parts, format="csr")
        return Z if isinstance(matrix, sp.sparray) else sp.csr_matrix(Z)

    def _check_dense_output(self) -> None:
        if not isinstance(self.dense_output, (bool, np.bool_)):
            raise InvalidParameterError(f"dense_output must be True or False; got {self.dense_output!r}.")
