"""Families with an entry everywhere: what Gaussian, sign and dense sparse-sign share."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import Rows, one_blas_thread, thread_count
from slimline.projections.base import FloatArray
from slimline.projections.blocks import require_sound
from slimline.projections.kernel import KernelProjection

#: Stored values of a copy in which rows are put in order.
_SORTED_AT_ONCE = 1 << 20


class RowDrawnProjection(KernelProjection):
    """A projection with an entry everywhere: n·d·r work, on tiles of R that are drawn and forgotten."""

    draws_every_entry = True

    @cached_property
    @abstractmethod
    def _native(self) -> Rows: ...

    def rows(self, start: int = 0, stop: int | None = None, dtype: Any = np.float64) -> FloatArray | sp.csr_array:
        """Return R[start:stop] as an array."""
        start, stop, dtype = self._row_range(start, stop, dtype)
        out: FloatArray = np.empty((stop - start, self.n_components), dtype=dtype)
        self._native.rows(start, out)
        out *= out.dtype.type(self.scale)
        return out

    def _apply_dense(self, x: NDArray[Any], feature: int, out: FloatArray, accumulate: bool) -> None:
        with self._own_threads():
            super()._apply_dense(x, feature, out, accumulate)

    def _lift(self, v: FloatArray, feature: int, out: FloatArray) -> None:
        with self._own_threads():
            super()._lift(v, feature, out)

    def _own_threads(self) -> AbstractContextManager[None]:
        return one_blas_thread if isinstance(self._native, Rows) else nullcontext()

    def _apply_sparse(self, x: Any, feature: int, out: FloatArray, accumulate: bool) -> None:
        if x.format == "csc":
            parts = (x.indptr, x.indices, x.data)
            self._native.apply_columns(*parts, feature, self.scale, out, accumulate, thread_count())
            return
        require_sound(x)
        # Tiles of features go by, so each row must be in order; rows that are not are copied, a few at a time.
        step = x.shape[0] if x.has_sorted_indices else max(1, _SORTED_AT_ONCE * x.shape[0] // max(x.nnz, 1))
        for start in range(0, x.shape[0], step):
            rows = slice(start, min(start + step, x.shape[0]))
            part = x
            if not x.has_sorted_indices:
                part = x[rows]
                part.sort_indices()
            parts = (part.indptr, part.indices, part.data)
            width = x.shape[1]
            self._native.apply_rows(*parts, width, feature, self.scale, out[rows], accumulate, thread_count())
