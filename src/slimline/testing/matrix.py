"""All checks of a storage format in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from slimline._kernels.threads import number_of_threads
from slimline.data import Matrix
from slimline.projections.blocks import KERNEL_TYPES
from slimline.testing.matrix_blocks import block_bytes, check_blocks
from slimline.testing.matrix_explicit import Explicit, Floats
from slimline.testing.matrix_passes import check_passes
from slimline.testing.matrix_views import check_columns, check_rows, check_standardised

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
    block_bytes, check_projection

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
