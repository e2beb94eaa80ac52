"""Whole rows in memory, and genotypes that the kernels read by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import _native
from slimline.data._blocks import MISSING_CALL, PLAIN, BlockRequest, PackedGenotypes, scaled_values, tiles
from slimline.data._files import OpenFile
from slimline.data._matrix import Matrix
from slimline.data._passes import Buffers, Pass
from slimline.data._products import Squares, add_dot, statistics
from slimline.data._standardised import Standardised, standardised_with
from slimline.data._statistics import ColumnStats, RunningStats
from slimline.data._views import ColumnView, RowView
from slimline.data.formats._dense import DenseMatrix
from slimline.data.formats._sparse import SparseMatrix


def to_dense(matrix: Matrix, squares: Squares | None = None) -> NDArray[np.float64]:
    """Return the values of a matrix, centred, scaled and filled as it is seen, in one pass."""
    out = np.empty(matrix.shape)
    for block, transform in matrix._pass(Pass("copy", in_memory=True), squares):
        for columns, values in tiles(block, transform, np.float64):
            first = block.columns.start
            out[block.rows, first + columns.start : first + columns.stop] = values
        matrix._require_finite(out[block.rows], slice(None), block, transform)
    return out


class _DenseCopy(DenseMatrix):
    """A copy of some rows, whose errors name the rows as the original does."""

    original: Matrix

    def _original_row(self, row: int) -> int:
        return self.original._original_row(row)


class _SparseCopy(SparseMatrix):
    """A copy of some sparse rows, whose errors name the rows as the original does."""

    original: Matrix

    def _original_row(self, row: int) -> int:
        return self.original._original_row(row)


def in_memory(matrix: Matrix) -> Matrix:
    """Return a copy of a matrix in memory, as it is stored, in one pass."""
    if isinstance(matrix, Standardised):
        return standardised_with(in_memory(matrix.base), matrix.transform)
    if matrix.density is not None:
        sparse = _SparseCopy(_sparse_rows(matrix, None), matrix.name)
        sparse.original = matrix
        return sparse
    out = np.empty(matrix.shape, matrix.dtype, order="F" if matrix.traits.packed else "C")
    missing: int | None = None
    for block, _ in matrix._pass(Pass("copy")):
        values, code = block.values, block.missing
        if isinstance(values, PackedGenotypes):
            values, code = values.unpack("F"), MISSING_CALL
        out[block.rows, block.columns], missing = values, code
    dense = _DenseCopy(out, matrix.name, missing=missing)
    dense.original = matrix
    return dense


def column_stats_and_values(matrix: Matrix, columns: NDArray[np.intp]) -> tuple[ColumnStats, NDArray[np.float64]]:
    """Return the statistics of all features, and the values of some in ascending order, in one pass."""
    running, view = RunningStats(*matrix.shape), ColumnView(matrix, columns)
    values = np.zeros((matrix.shape[0], len(columns)))
    request = BlockRequest(whole_columns=matrix.traits.products_by_column)
    work = Pass("column_stats", request, lambda: {**running.arrays(), "values": values}, {"columns": columns})
    for block, transform in matrix._pass(work):
        part = statistics(block, transform, None)
        matrix._require_finite(part.deviation, slice(None), block, transform, missing=False)
        running.add(block.columns, part)
        chosen = view._cut(block)
        if chosen.values.shape[1]:
            add_dot(chosen, np.eye(len(columns)), PLAIN, values)
    return matrix._sound(running.result()), values


def supports_row_access(matrix: Matrix) -> bool:
    """Return whether rows can be read as they are: sparse and not centred, or an array in memory as it is."""
    if isinstance(matrix, Standardised):
        return matrix.density is not None and matrix.only_scales
    return matrix.density is not None or _row_array(matrix) is not None


def stored_rows(matrix: Matrix, squares: Squares | None = None) -> Any:
    """Return the rows, in one pass that refuses values that are not finite.

    They are copied only if they do not lie in memory one after the other. A sparse row stores each place once.
    """
    array = _row_array(matrix)
    if array is None:
        return _sparse_rows(matrix, squares)
    matrix.dot(np.zeros((matrix.shape[1], 1)), squares)
    return array[matrix.index] if isinstance(matrix, RowView) else array


def _row_array(matrix: Matrix) -> NDArray[Any] | None:
    """Return the array behind a matrix, with all of its rows, if these lie in memory one after the other."""
    array = (matrix.base if isinstance(matrix, RowView) else matrix).array
    if array is None or array.dtype not in (np.float32, np.float64) or not array.dtype.isnative:
        return None
    by_rows = array.strides[1] == array.itemsize and array.strides[0] >= array.shape[1] * array.itemsize
    return array if by_rows and array.flags.aligned and not _is_mapped(array) else None


def _is_mapped(array: Any) -> bool:
    """Return whether an array is mapped to a file, which may be larger than memory."""
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


def _sparse_rows(matrix: Matrix, squares: Squares | None) -> Any:
    parts, rows = [], []
    for block, transform in matrix._pass(Pass("copy"), squares):
        assert sp.issparse(block.values)
        part = block.values.tocsr()  # type: ignore[attr-defined]
        if transform.factor is not None:
            part = scaled_values(part, transform)
        narrow = part.dtype == np.float32 or part.dtype.itemsize < 4
        part = part.astype(np.float32 if narrow else np.float64, copy=matrix.traits.prefetch)
        matrix._require_finite(part.data, slice(None), block, transform)
        parts.append(part)
        rows.append(np.arange(matrix.shape[0])[block.rows])
    if parts[0].shape[1] < matrix.shape[1]:
        whole, order = sp.hstack(parts, format="csr"), rows[0]
    else:
        whole, order = parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr"), np.concatenate(rows)
    return whole if (np.diff(order) == 1).all() else whole[np.argsort(order)]


class LazyGenotypes(PackedGenotypes):
    """Packed genotypes that are read at the first use, into memory that the blocks of a pass share.

    Kernels of products read them a few at a time, straight into the caches, and need no memory for them.
    """

    def __init__(self, file: OpenFile, offset: int, shape: tuple[int, int], memory: Buffers) -> None:
        self._file, self._offset, self._memory = file, offset, memory
        self._packed: NDArray[np.uint8] | None = None
        self.shape = shape

    @property
    def packed(self) -> NDArray[np.uint8]:
        """Return the genotypes in memory; the first call reads them."""
        if self._packed is None:
            n, variants = self.shape
            packed = self._memory.array((variants, -(-n // 4)), np.uint8)
            self._file.read_into(packed, self._offset)
            self._packed = packed
        return self._packed

    @contextmanager
    def streamed(self) -> Iterator[NDArray[np.uint8] | _native.FileRows]:
        """Yield the genotypes for a kernel that uses them once: in the file, unless they have been read."""
        if self._packed is not None or not _native.reads_genotypes():
            yield self.packed
            return
        with self._file.naming_errors(self._offset, self.nbytes):
            yield self._file.rows(self._offset, self.shape[1], -(-self.shape[0] // 4))
