"""Arrays and sparse matrices as the kernels read them: element types, memory layout, blocks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NoReturn

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
            f"has element type {dtype}; convert it to one of {', '.join(map(str, KERNEL_TYPES))}.", "X"
        )
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def as_kernel_blocks(X: Any) -> Iterator[tuple[Any, slice, int]]:
    """Yield (block, rows, first column) until X is covered: arrays, or CSR or CSC arrays with float values."""
    if sp.issparse(X):
        yield from _sparse_blocks(X)
        return
    X = np.asarray(X)
    if lies_in_order(X):
        yield X, slice(None), 0
    else:
        yield from _copied_blocks(X)


def lies_in_order(X: np.ndarray[Any, Any]) -> bool:
    """Return whether rows or columns are contiguous and do not overlap."""
    (n, width), (row, column), item = X.shape, X.strides, X.itemsize
    if not X.flags.aligned:
        return False
    by_row = (width <= 1 or column == item) and (n <= 1 or (row >= width * item and row % item == 0))
    by_column = (n <= 1 or row == item) and (width <= 1 or (column >= n * item and column % item == 0))
    return by_row or by_column


def _copied_blocks(X: np.ndarray[Any, Any]) -> Iterator[tuple[Any, slice, int]]:
    # Many rows at a time, so that a part of R that is drawn for a block is worth its while.
    height = min(X.shape[0], 2048)
    width = max(512, _BLOCK_BYTES // (height * X.itemsize))
    for top in range(0, X.shape[0], height):
        rows = slice(top, min(top + height, X.shape[0]))
        for left in range(0, X.shape[1], width):
            yield np.array(X[rows, left : left + width], order="C", copy=True), rows, left  # fresh, so aligned too


def _sparse_blocks(X: Any) -> Iterator[tuple[Any, slice, int]]:
    if X.format not in ("csr", "csc"):
        require_sound(X)
        X = without_wrapping(X).tocsr()
    dtype = result_dtype(X.dtype)
    if _is_plain(X, dtype):
        if not _parts_fit(X):
            _refuse_damaged()
        yield X, slice(None), 0  # what is in its parts the kernels look at themselves
        return
    require_sound(X)
    # values that are not floats are converted piece by piece
    by_row = X.format == "csr"
    lines = X.shape[0] if by_row else X.shape[1]
    index_type = X.indices.dtype if X.indices.dtype == X.indptr.dtype else np.dtype(np.int64)
    for start, stop in pairwise(_cuts(X.indptr, lines)):
        first, last = int(X.indptr[start]), int(X.indptr[stop])
        block = (sp.csr_array if by_row else sp.csc_array)(
            (stop - start, X.shape[1]) if by_row else (X.shape[0], stop - start), dtype=dtype
        )
        # assigned, so that nothing is checked or copied again
        block.data = np.require(X.data[first:last], dtype, ["C", "A"])
        block.indices = np.require(X.indices[first:last], index_type, ["C", "A"])
        block.indptr = np.ascontiguousarray(X.indptr[start : stop + 1] - X.indptr[start], dtype=index_type)
        yield block, (slice(start, stop) if by_row else slice(None)), (0 if by_row else start)


def _is_plain(X: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether the three vectors of a sparse matrix can be passed to a kernel."""
    if X.dtype != dtype or X.indices.dtype != X.indptr.dtype or X.indices.dtype not in (np.int32, np.int64):
        return False
    return all(part.flags.c_contiguous and part.flags.aligned for part in (X.data, X.indices, X.indptr))


def _cuts(indptr: Any, lines: int) -> list[int]:
    wanted = np.arange(_SPARSE_BLOCK, max(int(indptr[-1]), 1), _SPARSE_BLOCK)
    inner = np.searchsorted(indptr, wanted)
    return [0, *(int(c) for c in np.unique(inner) if 0 < c < lines), lines]


def without_wrapping(X: Any) -> Any:
    """Return X in a type that holds sums, if it is sparse, of a format that is turned, and holds whole numbers.

    Turning adds up entries that are stored twice, in the type that they have: twice 100 would be -56 in int8.
    """
    if not sp.issparse(X):
        return X
    matrix: Any = X
    if matrix.dtype.kind not in "biu" or matrix.format in ("csr", "csc"):
        return X
    return matrix.astype(result_dtype(matrix.dtype) if matrix.dtype in KERNEL_TYPES else np.float64)


def require_sound(X: Any) -> None:
    """Raise if the parts of a sparse matrix do not fit together: SciPy would read outside of them, and not say so."""
    damaged = False
    if X.format in ("csr", "csc"):
        width = X.shape[1] if X.format == "csr" else X.shape[0]
        indptr, indices = X.indptr, X.indices
        damaged = not _parts_fit(X) or indptr[-1] > len(indices) or bool(np.any(indptr[1:] < indptr[:-1]))
        damaged = damaged or (len(indices) > 0 and (indices.min() < 0 or indices.max() >= width))
    elif X.format == "coo":
        damaged = any(
            len(c) > 0 and (c.min() < 0 or c.max() >= size) for c, size in zip(X.coords, X.shape, strict=True)
        )
    if damaged:
        _refuse_damaged()


def _parts_fit(X: Any) -> bool:
    lines = X.shape[0] if X.format == "csr" else X.shape[1]
    return len(X.indptr) == lines + 1 and len(X.indices) == len(X.data) and X.indptr[0] == 0


def _refuse_damaged() -> NoReturn:
    raise InvalidParameterError("the sparse matrix is damaged: its indptr or indices do not fit its shape.")
