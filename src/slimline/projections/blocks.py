"""X as the kernels can take it: no copy where its memory layout allows, else block by block."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from slimline.errors import InvalidParameterError

#: Element types that the kernels read as they are.
KERNEL_TYPES = tuple(np.dtype(t) for t in (np.float64, np.float32, np.float16, np.int8, np.uint8, np.int16, np.bool_))

_BLOCK_BYTES = 8 << 20
_SPARSE_BLOCK = 1 << 21  # stored values of a converted sparse block


def result_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of a sketch of data of this type."""
    if dtype not in KERNEL_TYPES:
        raise InvalidParameterError(
            f"X has element type {dtype}; convert it to one of {', '.join(map(str, KERNEL_TYPES))}."
        )
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def as_kernel_blocks(X: Any) -> Iterator[tuple[Any, slice, int]]:
    """Yield (block, rows, first column) until X is covered: arrays, or CSR or CSC arrays with float values."""
    if sp.issparse(X):
        yield from _sparse_blocks(X)
        return
    X = np.asarray(X)
    if not X.dtype.isnative:
        yield from _copied_blocks(X, X.dtype.newbyteorder("="))
    elif _in_order(X):
        yield X, slice(None), 0
    else:
        yield from _copied_blocks(X, X.dtype)


def _in_order(X: np.ndarray[Any, Any]) -> bool:
    """Say whether rows or columns are contiguous and do not overlap."""
    (n, width), (row, column), item = X.shape, X.strides, X.itemsize
    if not X.flags.aligned:
        return False
    by_row = (width <= 1 or column == item) and (n <= 1 or (row >= width * item and row % item == 0))
    by_column = (n <= 1 or row == item) and (width <= 1 or (column >= n * item and column % item == 0))
    return by_row or by_column


def _copied_blocks(X: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Iterator[tuple[Any, slice, int]]:
    step = max(1, _BLOCK_BYTES // max(1, X.shape[1] * X.itemsize))
    for start in range(0, X.shape[0], step):
        rows = slice(start, min(start + step, X.shape[0]))
        yield np.ascontiguousarray(X[rows], dtype=dtype), rows, 0


def _sparse_blocks(X: Any) -> Iterator[tuple[Any, slice, int]]:
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    dtype = result_dtype(X.dtype)
    make = sp.csr_array if X.format == "csr" else sp.csc_array
    by_row = X.format == "csr"
    lines = X.shape[0] if by_row else X.shape[1]
    # values that are not floats are converted piece by piece
    cuts = [0, lines] if X.dtype == dtype and X.dtype.isnative else _cuts(X.indptr, lines)
    index_type = X.indices.dtype if X.indices.dtype == X.indptr.dtype else np.dtype(np.int64)
    for start, stop in pairwise(cuts):
        first, last = int(X.indptr[start]), int(X.indptr[stop])
        pointer = X.indptr if (start, stop) == (0, lines) else X.indptr[start : stop + 1] - X.indptr[start]
        shape = (stop - start, X.shape[1]) if by_row else (X.shape[0], stop - start)
        parts = (
            np.ascontiguousarray(X.data[first:last], dtype=dtype),
            np.ascontiguousarray(X.indices[first:last], dtype=index_type),
            np.ascontiguousarray(pointer, dtype=index_type),
        )
        block = make(shape, dtype=dtype)
        block.data, block.indices, block.indptr = parts  # assigned, so that nothing is checked or copied again
        yield block, (slice(start, stop) if by_row else slice(None)), (0 if by_row else start)


def _cuts(indptr: Any, lines: int) -> list[int]:
    wanted = np.arange(_SPARSE_BLOCK, max(int(indptr[-1]), 1), _SPARSE_BLOCK)
    inner = np.searchsorted(indptr, wanted)
    return [0, *(int(c) for c in np.unique(inner) if 0 < c < lines), lines]
