"""Dense arrays and data frames in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import missing_number
from slimline._base.layout import lies_in_order
from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest, block_type, with_missing
from slimline.data._files import digest
from slimline.data._matrix import Matrix
from slimline.data._names import Names
from slimline.data._storage import StorageTraits
from slimline.errors import InvalidParameterError

#: Bytes of a block: progress is reported between two of them, and a view may have to copy one.
_BLOCK_BYTES = 128 << 20
#: Bytes of a block that is not copied: after each of them threads wait for each other.
_LARGE_BYTES = 1 << 30
#: Rows of such a block: where they are written out after all, that is 16 columns at a time.
_LARGE_ROWS = 1 << 16
#: Of a panel of bytes that lie by columns: many short sums of them lose less to rounding than a few long ones.
_BYTE_PANEL_BYTES = 64 << 20
#: What is done once a column, such as scaling its sum, is done anew for each block: blocks of fewer rows are too low.
_LOW = 1024
#: Bytes of a block where it has to be copied.
_COPY_BYTES = 8 << 20
#: An array in C order with more rows than this has panels too narrow to be fast: two passes by rows take less time.
_TALL = 4096
#: Pieces in a fingerprint.
_SAMPLES = 64


class DenseMatrix(Matrix):
    """Array in memory; nothing is copied unless no kernel reads its type or layout."""

    def __init__(
        self,
        array: NDArray[Any],
        name: str = "array",
        *,
        feature_names: Sequence[str] | None = None,
        sample_ids: Sequence[str] | None = None,
        labels: Any = None,
        missing: int | None = None,
    ) -> None:
        array = np.asarray(array)
        if array.ndim != 2:
            raise InvalidParameterError(f"must have two dimensions; it has {array.ndim}.", name)
        if array.dtype.kind not in "fiub":
            raise InvalidParameterError(f"must hold real numbers; its element type is {array.dtype}.", name)
        self._array = array
        super().__init__(array.shape, block_type(array.dtype), name)
        low = _BLOCK_BYTES // max(self.shape[1] * array.itemsize, 1) < min(_LOW, self.shape[0])
        narrow = array.shape[0] > _TALL and not self._by_columns
        self.traits = StorageTraits(
            whole_columns=True,
            narrow_panels=narrow,
            products_by_column=low and not narrow and not self._by_columns,
            prefetch=False,
        )
        self._missing = missing_number(missing, array.dtype, name)
        self.names = Names.given(feature_names, sample_ids, labels, self.shape, name)

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield views of columns (Fortran order, or if whole columns are wanted) or of rows (C order)."""
        by_columns = request.whole_columns or self._by_columns
        return (self._panels if by_columns else self._stripes)(self._block_bytes(request), request.start)

    def _block_bytes(self, request: BlockRequest) -> int:
        if request.size == "small":
            return _COPY_BYTES
        if self._by_columns and self.dtype.itemsize == 1:
            return _BYTE_PANEL_BYTES if request.whole_columns else _BLOCK_BYTES
        if request.size == "normal":
            return _BLOCK_BYTES
        if request.whole_columns or self._by_columns:
            return _LARGE_BYTES
        return max(min(_LARGE_BYTES, _LARGE_ROWS * self.shape[1] * self._array.itemsize), _BLOCK_BYTES)

    def _panels(self, size: int, first: int) -> Iterator[Block]:
        """Yield whole columns, so many bytes of them at a time, from panel number `first` on."""
        n, d = self.shape
        size, least = (_COPY_BYTES, 1) if self._copied else (size, 16)
        step = panel_width(size // max(n * self._array.itemsize, 1), d, least)
        for start in range(first * step, d, step):
            columns = slice(start, min(start + step, d))
            yield Block(slice(0, n), columns, *with_missing(self._array[:, columns], self._missing))

    def _stripes(self, size: int, first: int) -> Iterator[Block]:
        """Yield whole rows, so many bytes of them at a time, from stripe number `first` on."""
        n, d = self.shape
        step = max(16, (_COPY_BYTES if self._copied else size) // max(d * self._array.itemsize, 1))
        for start in range(first * step, n, step):
            rows = slice(start, min(start + step, n))
            yield Block(rows, slice(0, d), *with_missing(self._array[rows], self._missing))

    @property
    def _copied(self) -> bool:
        """True if blocks have to be copied, because no kernel reads their layout."""
        if self.dtype != self._array.dtype or (self._missing is not None and self.dtype.kind == "f"):
            return True
        return not lies_in_order(self._array)

    @property
    def _by_columns(self) -> bool:
        return abs(self._array.strides[0]) < abs(self._array.strides[1])

    @property
    def array(self) -> NDArray[Any] | None:
        """Return the array, unless a number in it means a missing value."""
        return self._array if self._missing is None else None

    @property
    def fingerprint(self) -> str:
        """Return a digest of shape, type and 64 stretches of rows."""
        n, d = self.shape
        parts = []
        for k in range(min(_SAMPLES, n)):
            row = k * (n - 1) // max(min(_SAMPLES, n) - 1, 1)
            column = (k * 7919) % max(d - 1023, 1)
            parts.append(np.ascontiguousarray(self._array[row, column : column + 1024]).tobytes())
        return digest("dense", self.shape, self.dtype, self._missing, *parts)


def panel_width(columns: int, d: int, least: int = 16) -> int:
    """Return how many columns a panel has: at most so many, in round numbers, which suit the Hadamard transform."""
    columns = max(columns, least)
    for unit in (4096, 256, 16):
        if columns >= unit:
            return max(1, min(columns // unit * unit, d))
    return max(1, min(columns, d))


def read_frame(frame: Any) -> tuple[NDArray[Any], dict[str, Any]]:
    """Return the numbers of a frame, and options of `DenseMatrix`.

    Name, names of the columns, and those of the rows if pandas has an index that says more than their number.
    """
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if not _holds_numbers(dtype):
            raise InvalidParameterError(
                f"frame: column {name!r} does not hold numbers, but {dtype}: leave it out, or turn it into numbers."
            )
    index = getattr(frame, "index", None)  # polars has none
    array = frame.to_numpy()
    if array.dtype.kind == "O":  # numbers beside truth values, or pandas' own types with nulls
        array = array.astype(np.float64) if index is None else frame.to_numpy(dtype=np.float64, na_value=np.nan)
    options: dict[str, Any] = {"name": "frame", "feature_names": [str(name) for name in frame.columns]}
    if index is not None and not _only_counts(index):
        options["sample_ids"] = [str(name) for name in index]
    return array, options


def _holds_numbers(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "fiub"


def _only_counts(index: Any) -> bool:
    """Return whether an index of pandas is its default one, which counts from 0."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
