"""The blocks of a matrix: each value comes by once, where it should, and stays until the next block is asked for."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.data import Block, Matrix, PackedGenotypes
from slimline.data.block import MISSING_CALL
from slimline.data.passes import read_blocks_ahead
from slimline.projections.blocks import KERNEL_TYPES, lies_in_order, require_sound

#: Names under which the modules of `slimline.data` keep the size of a block.
_SIZES = (
    *("BLOCK_BYTES", "_BLOCK_BYTES", "_COPY_BYTES", "_BLOCK_VALUES", "_STRETCH", "_TILE_BYTES", "_HELD_BYTES"),
    *("GROUP_BYTES", "_GROUP_VALUES", "PIECE_BYTES", "_PIECE_VALUES", "_PRODUCT_BYTES"),
    *("_PANEL_BYTES", "_BYTE_PANEL_BYTES", "_LARGE_BYTES"),
)


@contextmanager
def block_bytes(size: int, matrix: Matrix | None = None) -> Iterator[None]:
    """Make blocks of another size for a while: small ones, so that small data have many of them.

    Parameters
    ----------
    size : int
        Bytes of a block; a format may round it up, to 16 rows or columns for instance.
    matrix : Matrix, optional
        One of a format outside of slimline: the module of its class is told too, if it has a `BLOCK_BYTES`.

    Yields
    ------
    None
        The old sizes come back afterwards.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import open_matrix
    >>> from slimline.testing import block_bytes
    >>> X = open_matrix(np.ones((1000, 8)))
    >>> with block_bytes(6400):
    ...     len(list(X.blocks()))
    10
    """
    modules = [m for name, m in list(sys.modules.items()) if name.startswith("slimline.data.") and m is not None]
    if matrix is not None and (own := sys.modules.get(type(matrix).__module__)) is not None and own not in modules:
        modules.append(own)
    before = [(module, name, getattr(module, name)) for module in modules for name in _SIZES if hasattr(module, name)]
    try:
        for module, name, _ in before:
            setattr(module, name, size)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def check_blocks(matrix: Matrix, X: NDArray[np.float64]) -> None:
    """Check that blocks cover X once, hold its values, and stay valid while others are read ahead.

    Parameters
    ----------
    matrix : Matrix
        What is checked.
    X : array of shape (n_samples, n_features), float64
        What it should hold, NaN where a value is missing.
    """
    for whole_columns in (False, True) if matrix.whole_columns else (False,):
        for ahead in (False, True):
            blocks = matrix.blocks(whole_columns)
            _check(matrix, X, read_blocks_ahead(blocks) if ahead else blocks, whole_columns, ahead)
    unfinished = read_blocks_ahead(matrix.blocks())
    next(unfinished, None)
    unfinished.close()  # type: ignore[attr-defined]


def _check(matrix: Matrix, X: NDArray[np.float64], blocks: Iterator[Block], whole_columns: bool, ahead: bool) -> None:
    what = "blocks(whole_columns=True)" if whole_columns else "blocks()"
    seen = np.zeros(X.shape, dtype=np.int64)
    for number, block in enumerate(blocks):
        where = f"{what}, block {number} ({block.rows}, {block.columns})"
        if ahead and number < 6:
            time.sleep(0.002)  # the reading thread goes on; what it does must not be seen here
        rows = _row_numbers(block, X.shape, where)
        if whole_columns and (len(rows) != X.shape[0] or not isinstance(block.rows, slice)):
            raise AssertionError(f"{where} has {len(rows)} of {X.shape[0]} rows.")
        values = _values(matrix, block, where)
        expected = X[np.ix_(rows, np.arange(block.columns.start, block.columns.stop))]
        if values.shape != expected.shape:
            raise AssertionError(f"{where} has shape {values.shape} instead of {expected.shape}.")
        wrong = ~((values == expected) | (np.isnan(values) & np.isnan(expected)))
        if wrong.any():
            i, j = (int(k[0]) for k in np.nonzero(wrong))
            raise AssertionError(
                f"{where}: row {rows[i]}, column {block.columns.start + j} is {values[i, j]} instead of "
                f"{expected[i, j]}{', once the next block is read ahead' if ahead else ''}."
            )
        seen[rows, block.columns] += 1
    if (seen != 1).any():
        i, j = (int(k[0]) for k in np.nonzero(seen != 1))
        raise AssertionError(f"{what}: row {i}, column {j} came by {seen[i, j]} times instead of once.")


def _row_numbers(block: Block, shape: tuple[int, int], where: str) -> NDArray[np.intp]:
    """Return the rows of a block, or raise where it reaches out of the matrix or names a row twice."""
    rows = np.arange(block.rows.start, block.rows.stop) if isinstance(block.rows, slice) else np.asarray(block.rows)
    inside = rows.size == 0 or (rows.min() >= 0 and rows.max() < shape[0])
    if not inside or not 0 <= block.columns.start <= block.columns.stop <= shape[1]:
        raise AssertionError(f"{where} reaches out of a matrix of shape {shape}.")
    if len(np.unique(rows)) != len(rows):
        raise AssertionError(f"{where} names a row twice: sums would lose one of them.")
    return rows


def _values(matrix: Matrix, block: Block, where: str) -> NDArray[np.float64]:
    """Return the values of a block in float64, NaN where one is missing, or raise where no kernel could read it."""
    values: Any = block.values
    if values.dtype != matrix.dtype or values.dtype not in KERNEL_TYPES:
        raise AssertionError(f"{where} holds {values.dtype}, and the matrix says {matrix.dtype}.")
    if isinstance(values, PackedGenotypes):
        values = values.unpack("C")
        return np.where(values == MISSING_CALL, np.nan, values.astype(np.float64))
    if sp.issparse(values):
        if values.format not in ("csr", "csc") or values.indices.dtype != values.indptr.dtype:  # type: ignore[attr-defined]
            raise AssertionError(f"{where}: sparse blocks are CSR or CSC, with indices of one type.")
        require_sound(values)
        coordinates = values.tocoo()  # type: ignore[attr-defined]
        if len(np.unique(coordinates.row.astype(np.int64) * matrix.shape[1] + coordinates.col)) != coordinates.nnz:
            raise AssertionError(f"{where} stores two values for one place: squares and counts would be wrong.")
        return np.asarray(values.toarray().astype(np.float64))  # type: ignore[attr-defined]
    if not isinstance(values, np.ndarray) or not lies_in_order(values):
        raise AssertionError(f"{where}: an array must lie in memory by rows or by columns (see as_kernel_array).")
    wide = values.astype(np.float64)
    return wide if block.missing is None else np.where(values == block.missing, np.nan, wide)
