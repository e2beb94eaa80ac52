"""Families whose tiles of R are written out and multiplied: what Gaussian, sign and dense sparse-sign share."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from slimline._kernels import Rows, thread_count
from slimline.projections.base import FloatArray
from slimline.projections.kernel import KernelProjection

_CHUNK = 1 << 22


class RowDrawnProjection(KernelProjection):
    """A projection with an entry everywhere: n·d·r work, done by BLAS on tiles that are drawn and forgotten."""

    @cached_property
    @abstractmethod
    def _native(self) -> Rows: ...

    def rows(self, start: int = 0, stop: int | None = None, dtype: Any = np.float64) -> FloatArray | sp.csr_array:
        """Return R[start:stop] as an array."""
        stop = self.n_features if stop is None else stop
        self._check_range(start, stop)
        out: FloatArray = np.empty((stop - start, self.n_components), dtype=dtype)
        self._native.rows(start, out)
        out *= out.dtype.type(self.scale)
        return out

    def _apply_sparse(self, x: sp.csr_array | sp.csc_array, feature: int, out: FloatArray, accumulate: bool) -> None:
        # By columns, so that each feature's row of R is drawn once; a large CSR matrix is turned piece by piece.
        if x.format == "csc":
            self._native.apply_columns(
                x.indptr, x.indices, x.data, feature, self.scale, out, accumulate, thread_count()
            )
            return
        step = max(1, int(x.shape[0] * max(_CHUNK, x.nnz // 8) / max(x.nnz, 1)))
        for start in range(0, x.shape[0], step):
            rows = slice(start, min(start + step, x.shape[0]))
            part = x[rows].tocsc()
            self._native.apply_columns(
                part.indptr, part.indices, part.data, feature, self.scale, out[rows], accumulate, thread_count()
            )
