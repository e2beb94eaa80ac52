"""Checks of a storage format: blocks, names, fingerprints."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.layout import KERNEL_TYPES, lies_in_order, require_sound
from slimline._kernels.threads import number_of_threads
from slimline.data import Block, BlockRequest, Matrix, PackedGenotypes
from slimline.data._blocks import MISSING_CALL
from slimline.data._passes import read_blocks_ahead
from slimline.testing._explicit import Explicit, Floats
from slimline.testing._matrix_passes import check_columns, check_passes, check_rows, check_standardised

#: Names under which the modules of `slimline.data` keep the size of a block.
_SIZES = (
    *("BLOCK_BYTES", "_BLOCK_BYTES", "_COPY_BYTES", "_BLOCK_VALUES", "_STRETCH", "_TILE_BYTES", "_HELD_BYTES"),
    *("GROUP_BYTES", "_GROUP_VALUES", "PIECE_BYTES", "_PIECE_VALUES", "_PRODUCT_BYTES"),
    *("_PANEL_BYTES", "_BYTE_PANEL_BYTES", "_LARGE_BYTES"),
)


@contextmanager
def block_bytes(size: int, matrix: Matrix | None = None) -> Iterator[None]:
    """Make blocks of another size for a while: small ones, so that small data have many of them.

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
    """Check that blocks cover X once, hold its values, and stay valid while others are read ahead."""
    for whole_columns in (False, True) if matrix.whole_columns else (False,):
        for ahead in (False, True):
            blocks = matrix.blocks(BlockRequest(whole_columns=whole_columns))
            _check(matrix, X, read_blocks_ahead(blocks) if ahead else blocks, whole_columns, ahead)
        _check_later_blocks(matrix, whole_columns)
    unfinished = read_blocks_ahead(matrix.blocks())
    next(unfinished, None)
    unfinished.close()  # type: ignore[attr-defined]


def _check(matrix: Matrix, X: NDArray[np.float64], blocks: Iterator[Block], whole_columns: bool, ahead: bool) -> None:
    what = "blocks(BlockRequest(whole_columns=True))" if whole_columns else "blocks()"
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


def _check_later_blocks(matrix: Matrix, whole_columns: bool) -> None:
    """Check that a request which begins at a later block yields the same blocks from there on."""
    places = _places(matrix, BlockRequest(0, whole_columns))
    for start in sorted({1, len(places) // 2, len(places)}):
        if (later := _places(matrix, BlockRequest(start, whole_columns))) != places[start:]:
            raise AssertionError(
                f"blocks(BlockRequest(start={start}, whole_columns={whole_columns})) yields the blocks {later} instead "
                f"of {places[start:]}."
            )


def _places(matrix: Matrix, request: BlockRequest) -> list[tuple[Any, slice]]:
    def rows(block: Block) -> Any:
        return block.rows if isinstance(block.rows, slice) else block.rows.tolist()

    return [(rows(block), block.columns) for block in matrix.blocks(request)]


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


Opener = Callable[[], Matrix]


def check_matrix(
    open: Matrix | Opener,
    X: Any,
    *,
    feature_names: Sequence[str] | None = None,
    sample_ids: Sequence[str] | None = None,
    labels: Any = None,
    others: Sequence[Matrix | Opener] = (),
    small_block: int = 1024,
    brief: bool = False,
    seed: int = 0,
) -> None:
    """Check that a matrix is X: its blocks, every pass, every view, names, fingerprint and the count of passes.

    Parameters
    ----------
    open : callable or Matrix
        `open()` returns the matrix, opened afresh; a Matrix is used as it is.
    X : array of shape (n_samples, n_features)
        What it should hold, NaN where a value is missing; small, since everything is computed from it in float64.
    feature_names, sample_ids : sequences of str, optional
        Names that the matrix should have (default: none of them are looked at but for their number).
    labels : array of shape (n_samples,), optional
        Labels that it should have.
    others : sequence of callables or matrices
        Other data, whose fingerprints must differ.
    small_block : int
        Bytes of a block in the second round, small enough for X to have several.
    brief : bool
        Whether to try a few combinations of centring, scaling and filling instead of all, and a single round of
        views: for many matrices of one format, once the full check has passed on some.
    seed : int
        Seed of right-hand sides, projections and chosen rows.

    Raises
    ------
    AssertionError
        If something is not as it should be, saying what. No chance is involved: the bounds are those of rounding in
        float64, entry by entry (a sketch may keep its sums in float32), for every order of summation; counts are exact.

    See Also
    --------
    block_bytes : Small blocks, of which small data have many.
    check_projection : The checks of a projection.

    Notes
    -----
    Blocks must cover X once and stay valid until the next is asked for, also when others are read ahead. dot, tdot,
    normal, gram, column_stats, row_norms and sketch are compared with the explicit computation, on the matrix, on
    views of rows and of columns and on every combination of centring, scaling and filling, for several numbers of
    threads and sizes of blocks. A missing value that nothing fills must be refused with its row and column.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import open_matrix
    >>> from slimline.testing import check_matrix
    >>> X = np.arange(60, dtype=np.int8).reshape(3, 20)
    >>> check_matrix(lambda: open_matrix(X), X)
    """
    X = np.asarray(X, dtype=np.float64)
    opener = _opener(open)
    matrix = opener()
    _check_description(matrix, X, feature_names, sample_ids, labels)
    _check_fingerprint(matrix, opener(), [_opener(other)() for other in others])
    explicit = Explicit.plain(X)
    check_blocks(matrix, X)
    check_passes(matrix, explicit, "as stored", seed=seed)
    if not brief:
        check_rows(opener(), X, "as stored", seed=seed)
        check_standardised(opener(), X, "as stored", seed=seed)
    with block_bytes(small_block, matrix):
        small = opener()
        check_blocks(small, X)
        for threads in (3,) if brief else (1, 3):
            with number_of_threads(threads):
                what = f"blocks of {small_block} bytes, {threads} threads"
                check_passes(small, explicit, what, seed=seed + 1)
                check_standardised(small, X, what, every=False, seed=seed + 1)
        check_rows(small, X, f"blocks of {small_block} bytes", seed=seed + 1)
        check_columns(small, X, f"blocks of {small_block} bytes", seed=seed + 1)
    check_blocks(matrix, X)  # nothing was used up
    _check_fingerprint(matrix, opener(), [])


def _opener(source: Matrix | Opener) -> Opener:
    if isinstance(source, Matrix):
        matrix = source
        return lambda: matrix
    return source


def _check_description(matrix: Matrix, X: Floats, names: Any, ids: Any, labels: Any) -> None:
    if matrix.shape != X.shape:
        raise AssertionError(f"the shape is {matrix.shape} instead of {X.shape}.")
    if matrix.dtype not in KERNEL_TYPES:
        raise AssertionError(f"the element type {matrix.dtype} is none that the kernels read.")
    if matrix.name not in repr(matrix) or not matrix.name:
        raise AssertionError("the matrix does not say its name.")
    if matrix.array is not None and not np.array_equal(matrix.array, X, equal_nan=True):
        raise AssertionError("`array` is not X.")
    for kind, got, expected, size in (
        ("feature names", matrix.feature_names, names, X.shape[1]),
        ("sample ids", matrix.sample_ids, ids, X.shape[0]),
    ):
        if got is not None and (len(got) != size or not all(isinstance(text, str) for text in got)):
            raise AssertionError(f"{kind}: {len(got)} entries of type {type(got[0]).__name__}, not {size} of str.")
        if expected is not None and (got is None or list(got) != list(expected)):
            raise AssertionError(f"{kind} are not those that were given: {got!r:.200}.")
    if matrix.labels is not None and np.shape(matrix.labels) != (X.shape[0],):
        raise AssertionError(f"labels have shape {np.shape(matrix.labels)} for {X.shape[0]} samples.")
    if labels is not None and (matrix.labels is None or not np.array_equal(matrix.labels, labels)):
        raise AssertionError(f"labels are not those that were given: {matrix.labels!r:.200}.")


def _check_fingerprint(matrix: Matrix, again: Matrix, others: list[Matrix]) -> None:
    fingerprint = matrix.fingerprint
    if not isinstance(fingerprint, str) or not fingerprint:
        raise AssertionError(f"the fingerprint is {fingerprint!r}, not a text.")
    if again.fingerprint != fingerprint:
        raise AssertionError("the fingerprint changes from one opening to the next.")
    for one, two in ((matrix.feature_names, again.feature_names), (matrix.sample_ids, again.sample_ids)):
        if (one is None) != (two is None) or (one is not None and two is not None and list(one) != list(two)):
            raise AssertionError("the names change from one opening to the next.")
    views = [other.fingerprint for other in others]
    views.append(matrix.standardised().fingerprint)
    if matrix.shape[0] > 1:
        views += [matrix.rows([0]).fingerprint, matrix.rows([1]).fingerprint]
    if len({fingerprint, *views}) != len(views) + 1:
        raise AssertionError("other data, or a view, have the same fingerprint.")
