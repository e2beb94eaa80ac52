"""Sparse results, for the families that can have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from slimline.errors import InvalidParameterError
from slimline.estimators.random_projection import RandomProjection

_BLOCK_BYTES = 16 << 20


class SparseOutputProjection(RandomProjection):
    """A projection whose result stays sparse for sparse data when `dense_output` is False."""

    dense_output: bool

    def _sketch(self, X: Any) -> Any:
        if self.dense_output or not sp.issparse(X):
            return super()._sketch(X)
        X = X.tocsr()  # type: ignore[attr-defined]
        step = max(1, _BLOCK_BYTES // (8 * self.n_components_))
        blocks = [
            sp.csr_array(super(SparseOutputProjection, self)._sketch(X[i : i + step]))
            for i in range(0, X.shape[0], step)
        ]
        Z = sp.vstack(blocks, format="csr")
        return Z if isinstance(X, sp.sparray) else sp.csr_matrix(Z)

    def _check_dense_output(self) -> None:
        if not isinstance(self.dense_output, (bool, np.bool_)):
            raise InvalidParameterError(f"dense_output must be True or False; got {self.dense_output!r}.")
