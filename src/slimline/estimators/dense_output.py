"""Sparse results, for the families that can have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from slimline.errors import InvalidParameterError
from slimline.estimators.random_projection import RandomProjection, _require_finite
from slimline.projections.blocks import require_sound, result_dtype

#: Features whose rows of R are multiplied at a time.
_PANEL = 1 << 16


class SparseOutputProjection(RandomProjection):
    """A projection whose result stays sparse for sparse data when `dense_output` is False."""

    dense_output: bool

    def _sketch(self, X: Any) -> Any:
        if self.dense_output or not sp.issparse(X):
            return super()._sketch(X)
        _require_finite(X, type(self).__name__)
        require_sound(X)
        matrix: Any = X
        dtype = result_dtype(matrix.dtype)
        columns = sp.csc_array(matrix, dtype=dtype)
        n_samples, n_features = columns.shape
        Z: Any = sp.csr_array((n_samples, self.n_components_), dtype=dtype)
        for start in range(0, n_features, _PANEL):
            stop = min(start + _PANEL, n_features)
            Z = Z + columns[:, start:stop] @ self.projection_.rows(start, stop, dtype)
        Z = Z.tocsr()
        return Z if isinstance(matrix, sp.sparray) else sp.csr_matrix(Z)

    def _check_dense_output(self) -> None:
        if not isinstance(self.dense_output, (bool, np.bool_)):
            raise InvalidParameterError(f"dense_output must be True or False; got {self.dense_output!r}.")
