"""SciPy's sparse matrices in memory: CSR is read by rows, CSC by columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.layout import KERNEL_TYPES, require_sound, result_dtype, without_wrapping
from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest
from slimline.data._files import digest
from slimline.data._matrix import Matrix
from slimline.data._names import Names
from slimline.data._storage import StorageTraits
from slimline.errors import FileFormatError, InvalidParameterError

#: Stored values of a block: progress is reported and interrupts are handled between two of them.
_BLOCK_VALUES = 1 << 23


class SparseMatrix(Matrix):
    """CSR or CSC matrix in memory; other formats are converted to CSR first."""

    def __init__(
        self,
        array: Any,
        name: str = "sparse matrix",
        *,
        feature_names: Sequence[str] | None = None,
        sample_ids: Sequence[str] | None = None,
        labels: Any = None,
    ) -> None:
        if array.ndim != 2:
            raise InvalidParameterError(f"must have two dimensions; it has {array.ndim}.", name)
        if array.dtype.kind not in "fiub":
            raise InvalidParameterError(f"must hold real numbers; its element type is {array.dtype}.", name)
        require_sound(array)
        self._array = array if array.format in ("csr", "csc") else without_wrapping(array).tocsr()
        self._canonical = bool(self._array.has_canonical_format)
        dtype = self._array.dtype if self._array.dtype in KERNEL_TYPES else np.dtype(np.float64)
        # Several values for one place are one value: two of a type may have a sum that the type does not hold.
        super().__init__(array.shape, dtype if self._canonical else result_dtype(dtype), name)
        self.traits = StorageTraits(
            whole_columns=self._array.format == "csc",
            prefetch=False,
            density=self._array.nnz / max(self.shape[0] * self.shape[1], 1),
        )
        self.names = Names.given(feature_names, sample_ids, labels, self.shape, name)

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield rows of a CSR matrix, columns of a CSC matrix; copied only where a place may have several values."""
        n, d = self.shape
        by_row = self._array.format == "csr"
        for start, stop in pairwise(line_cuts(self._array.indptr, _BLOCK_VALUES)[request.start :]):
            part = lines_of(self._array, start, stop, self.dtype)
            if not self._canonical:  # squares and counts need one value for each place
                part = part.copy()
                part.sum_duplicates()
            if by_row:
                yield Block(slice(start, stop), slice(0, d), part)
            else:
                yield Block(slice(0, n), slice(start, stop), part)

    @property
    def fingerprint(self) -> str:
        """Return a digest of shape, type and samples of positions and values."""
        x = self._array
        step = max(1, x.nnz // 65536)
        parts = (np.ascontiguousarray(part[::step]) for part in (x.indices, x.data))
        lines = np.ascontiguousarray(x.indptr[:: max(1, len(x.indptr) // 65536)])
        return digest(x.format, self.shape, self.dtype, *(p.astype(p.dtype).tobytes() for p in (lines, *parts)))


def line_cuts(indptr: NDArray[Any], values: int) -> list[int]:
    """Return where to cut the lines of a compressed matrix, so that each piece has about so many values."""
    lines = len(indptr) - 1
    wanted = np.arange(values, max(int(indptr[-1]), 1), values)
    inner = np.searchsorted(indptr, wanted)
    return [0, *(int(c) for c in np.unique(inner) if 0 < c < lines), lines]


def one_value_a_place(block: Any, where: str) -> Any:
    """Return CSR or CSC lines of a file with one value for each place: several that are stored are added up."""
    if block.has_canonical_format:
        return block
    wide = block.astype(result_dtype(block.dtype), copy=False)
    wide.sum_duplicates()
    values = wide.data.astype(block.dtype)
    if not np.array_equal(values, wide.data, equal_nan=True):
        raise FileFormatError(
            f"{where}: the values that it has for one place add up to more than {block.dtype} holds. "
            "Save it again, as float32, after .sum_duplicates()."
        )
    wide.data = values
    return wide


def lines_of(x: Any, start: int, stop: int, dtype: np.dtype[Any]) -> Any:
    """Return lines of a sound CSR or CSC matrix, without copying what can be used as it is."""
    by_row = x.format == "csr"
    shape = (stop - start, x.shape[1]) if by_row else (x.shape[0], stop - start)
    first, last = int(x.indptr[start]), int(x.indptr[stop])
    index_type = x.indices.dtype if x.indices.dtype in (np.int32, np.int64) else np.dtype(np.int64)
    block = (sp.csr_array if by_row else sp.csc_array)(shape, dtype=dtype)
    # assigned, so that SciPy does not check and copy them again
    block.data = np.require(x.data[first:last], dtype, ["C", "A"])
    block.indices = np.require(x.indices[first:last], index_type, ["C", "A"])
    block.indptr = np.ascontiguousarray(x.indptr[start : stop + 1] - x.indptr[start], dtype=index_type)
    return block
