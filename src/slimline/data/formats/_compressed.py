"""CSR and CSC matrices stored as three arrays: data, indices, indptr."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.layout import KERNEL_TYPES
from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest
from slimline.data._files import digest
from slimline.data._matrix import Matrix
from slimline.data._names import Names
from slimline.data._passes import BLOCK_BYTES, block_memory
from slimline.data._storage import StorageTraits
from slimline.data.formats._sparse import line_cuts, one_value_a_place
from slimline.data.formats._stores import Store, is_group, text
from slimline.errors import FileFormatError


class Stretches:
    """A one-dimensional array read from its beginning to its end, each chunk once."""

    def __init__(self, store: Store, array: Any, dtype: np.dtype[Any]) -> None:
        self._store, self._array, self._dtype = store, array, dtype
        self._chunk = max(store.chunk_of(array)[0], 1)
        self._held = np.empty(0, dtype=dtype)  # begins at self._first
        self._first = 0

    def read(self, first: int, last: int) -> NDArray[Any]:
        """Return the values from `first` to `last`; no read may begin before the one before it ended."""
        held = self._held[first - self._first :]
        if last > first + len(held):
            # to the end of a chunk: the next read has the rest of it already
            end = min(-(-last // self._chunk) * self._chunk, self._array.shape[0])
            known = first + len(held)
            into = block_memory(end - first, self._dtype)
            into[: len(held)] = held
            target = into[len(held) :]
            same = self._dtype == self._array.dtype
            raw = target if same else block_memory(end - known, self._array.dtype)
            with self._store.errors():
                self._store.fill(self._array, (slice(known, end),), raw)
            if not same:
                target[...] = raw
            held = into
        self._held, self._first = held, first
        return held[: last - first]


class CompressedMatrix(Matrix):
    """Sparse matrix in a store, read by rows (CSR) or by columns (CSC)."""

    def __init__(
        self, store: Store, key: str, group: Any, names: Names, *, by_row: bool, shape: tuple[int, int]
    ) -> None:
        where = f"{store}, group {key!r}"
        data, indices = group["data"], group["indices"]
        if data.dtype.kind not in "fiub" or indices.dtype.kind not in "iu" or group["indptr"].dtype.kind not in "iu":
            raise FileFormatError(
                f"{where} holds data of type {data.dtype} and indices of type {indices.dtype}; "
                "a sparse matrix has real numbers at whole places."
            )
        super().__init__(shape, data.dtype if data.dtype in KERNEL_TYPES else np.float64, store.source.path.name)
        self._store, self._key, self._by_row = store, key, by_row
        self._where = where
        self.names = names
        names.require_fit(self.shape, str(store))
        self._lines, self._width = self.shape if by_row else self.shape[::-1]
        indptr = store.whole(group["indptr"], (self._lines + 1,), "line ends")
        self._indptr = self._checked(indptr, data.shape, indices.shape)
        density = int(self._indptr[-1]) / max(shape[0] * shape[1], 1)
        self.traits = StorageTraits(whole_columns=not by_row, density=density)
        narrow = indices.dtype.itemsize < 4 or indices.dtype == np.int32
        self._index_type = np.dtype(np.int32 if narrow else np.int64)
        # half a block: what is read to the end of a chunk, and SciPy, hold some more
        self._block_values = max(BLOCK_BYTES // 2 // (self.dtype.itemsize + self._index_type.itemsize), 1)

    def _checked(self, indptr: NDArray[Any], data: tuple[int, ...], indices: tuple[int, ...]) -> NDArray[np.int64]:
        indptr = indptr.astype(np.int64)
        if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
            raise FileFormatError(f"{self._where} is damaged: indptr does not rise from 0.")
        if data != indices or len(data) != 1 or indptr[-1] != data[0]:
            raise FileFormatError(
                f"{self._where} is damaged or truncated: indptr ends at {indptr[-1]:,}, data have the shape {data}, "
                f"indices {indices}."
            )
        return indptr

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield rows (CSR) or whole columns (CSC), some megabytes at a time."""
        n, d = self.shape
        make = sp.csr_array if self._by_row else sp.csc_array
        with self._store.open() as root:
            with self._store.errors():
                group = root[self._key]
                data = Stretches(self._store, group["data"], self.dtype)
                indices = Stretches(self._store, group["indices"], self._index_type)
            for start, stop in pairwise(line_cuts(self._indptr, self._block_values)[request.start :]):
                begin, end = int(self._indptr[start]), int(self._indptr[stop])
                values = make((stop - start, d) if self._by_row else (n, stop - start), dtype=self.dtype)
                # assigned, so that SciPy does not check and copy them again
                values.data = data.read(begin, end)
                values.indices = indices.read(begin, end)
                values.indptr = (self._indptr[start : stop + 1] - begin).astype(self._index_type)
                self._require_inside(values, start)
                values = one_value_a_place(values, self._where)
                if self._by_row:
                    yield Block(slice(start, stop), slice(0, d), values)
                else:
                    yield Block(slice(0, n), slice(start, stop), values)
        self.require_unchanged()

    def _require_inside(self, values: Any, start: int) -> None:
        """Raise if an index leaves the matrix: the kernels would follow it."""
        indices = values.indices
        if len(indices) and (indices.min() < 0 or indices.max() >= self._width):
            at = int(np.flatnonzero((indices < 0) | (indices >= self._width))[0])
            line = start + int(np.searchsorted(values.indptr, at, side="right")) - 1
            lines, others = ("row", "columns") if self._by_row else ("column", "rows")
            raise FileFormatError(
                f"{self._where} is damaged: {lines} {line:,} (from 0) has a value at {indices[at]:,}, and there are "
                f"{self._width:,} {others}."
            )

    @property
    def fingerprint(self) -> str:
        """Return a digest of shape, type, name and pieces of the store."""
        return digest(self._store.kind, self.shape, self.dtype, self._key, self._store.source.fingerprint())

    def require_unchanged(self) -> None:
        """Raise if the store changed or is gone."""
        self._store.source.require_unchanged()


def is_compressed(node: Any) -> bool:
    """Return whether a node is a group that holds a sparse matrix."""
    return is_group(node) and all(part in node for part in ("data", "indices", "indptr"))


def layout(store: Store, group: Any, where: str) -> tuple[bool, tuple[int, int]]:
    """Return whether the lines of a sparse group are its rows, and its shape, or raise.

    AnnData says both in attributes; SciPy's names are `format` and `shape`; h5sparse put `h5sparse_` before them.
    """
    attributes = dict(group.attrs)
    size = next((attributes[name] for name in ("shape", "h5sparse_shape") if name in attributes), None)
    if size is None and "shape" in group:
        size = store.whole(group["shape"], (2,), "sizes")
    if size is None or len(size) != 2:
        raise FileFormatError(f"{where} holds a sparse matrix without its shape (rows, columns).")
    shape = int(size[0]), int(size[1])
    names = ("encoding-type", "h5sparse_format", "format")
    kind = next((text(attributes[name]) for name in names if name in attributes), None)
    if kind is None and "format" in group:
        kind = text(store.whole(group["format"], (), "names of a layout"))
    if kind is not None and kind[:3] in ("csr", "csc"):
        return kind[:3] == "csr", shape
    lines = group["indptr"].shape[0] - 1
    if kind is not None or shape[0] == shape[1] or lines not in shape:
        raise FileFormatError(
            f"{where} does not say whether it is CSR or CSC (format {kind!r}): give the group an attribute "
            "'encoding-type', 'csr_matrix' or 'csc_matrix'."
        )
    return lines == shape[0], shape
