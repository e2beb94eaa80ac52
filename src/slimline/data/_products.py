"""Contribution of one block to a product, and accurate sums."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.checks import sample_weights
from slimline._base.layout import KERNEL_TYPES, require_sound, result_dtype
from slimline._kernels import _native, thread_count
from slimline.data._blocks import (
    Block,
    ColumnTransform,
    PackedGenotypes,
    by_rows,
    can_stay_int8,
    impute_int8,
    native_block,
    scaled_values,
    streamed_block,
    tiles,
)
from slimline.data._statistics import ColumnStats, missing_at_all, sparse_statistics, sums_at
from slimline.errors import InvalidParameterError
from slimline.projections import HashEmbedding, Projection

Floats = NDArray[np.float64]


class BlockedSum:
    """Sums over the columns of a panel, then over the panels: what rounding can do grows with either, not with both.

    A panel is a block of whole columns, or as many of them as have √n_features columns together: adding a panel to the
    result takes as long as several columns do. Blocks of part of the rows are added to the result at once: all their
    columns are there.
    """

    def __init__(self, out: Floats, n_features: int) -> None:
        self._out = out
        self._n_features = n_features
        self._part = np.zeros_like(out)
        self._enough = math.isqrt(max(n_features - 1, 0)) + 1
        # additions in the longest panel, panels, the longest chain, additions in this panel
        self._counts = np.zeros(4, dtype=np.int64)

    @property
    def terms(self) -> int:
        """Return the length of a chain of additions that loses at least as much to rounding as these sums did."""
        widest, panels, chain, _ = self._counts.tolist()
        return int(max(widest + panels, chain))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is written to: sums and counts."""
        return {"out": self._out, "part": self._part, "counts": self._counts}

    def of(self, block: Block, transform: ColumnTransform) -> Floats:
        """Return where the products of a block are added."""
        longest = longest_sum(block, transform)
        if not self._whole(block):
            self._counts[0] = max(self._counts[0], longest)
            if block.values.shape[1] < self._n_features:  # some rows, some columns: one after the other
                self._counts[2] += longest
            return self._out
        self._counts[3] += longest
        return self._part

    def add(self, block: Block) -> None:
        """Add the panel to the result, if the block filled it."""
        if self._whole(block) and self._counts[3] >= self._enough:
            self.finish()

    def finish(self) -> None:
        """Add the panel to the result, whatever it has, and begin another; to be called after the last block, too."""
        if self._counts[3]:
            with np.errstate(over="ignore"):  # who asked for the sums looks at them
                self._out += self._part
            self._part[...] = 0.0
            self._counts[:2] = max(self._counts[0], self._counts[3]), self._counts[1] + 1
            self._counts[3] = 0

    def _whole(self, block: Block) -> bool:
        return isinstance(block.rows, slice) and block.rows == slice(0, len(self._out))


class Squares:
    """Room for the squares that `dot`, `tdot` or `normal` of a matrix adds up beside its product, in the same pass.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import open_matrix
    >>> from slimline.data import Squares
    >>> squares = Squares(2, 3)
    >>> _ = open_matrix(np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]])).tdot(np.ones(2), squares=squares)
    >>> squares.rows, squares.columns
    (array([14.,  2.]), array([ 1.,  5., 10.]))
    """

    def __init__(self, n_samples: int, n_features: int, weight: Any = None) -> None:
        self.weight = sample_weights(weight, n_samples)
        self.rows = np.zeros(n_samples)
        self.columns = np.zeros(n_features)

    def begin(self, shape: tuple[int, int]) -> None:
        """Start from nothing, or raise if the matrix has another shape."""
        if shape != (self.rows.size, self.columns.size):
            raise InvalidParameterError(
                f"has room for {self.rows.size} samples and {self.columns.size} features, and the matrix has "
                f"{shape[0]} and {shape[1]}: make it with Squares(*matrix.shape).",
                "squares",
            )
        self.rows[:] = 0.0
        self.columns[:] = 0.0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is written to."""
        return {"squares of rows": self.rows, "squares of columns": self.columns}

    def add(self, block: Block, transform: ColumnTransform) -> None:
        """Add what a block holds."""
        weight = None if self.weight is None else np.ascontiguousarray(self.weight[block.rows])
        columns = self.columns[block.columns]
        whole = isinstance(block.rows, slice)
        rows = self.rows[block.rows] if whole else np.zeros(block.values.shape[0])
        if sp.issparse(block.values):
            _add_sparse(block.values, transform, weight, rows, columns)
        else:
            _native.block_squares(native_block(block), transform.native, weight, rows, columns, thread_count())
        if not whole:
            self.rows[block.rows] += rows


def require_squares(squares: Any) -> Squares:
    """Return an argument `squares`, or raise if it is something else."""
    if not isinstance(squares, Squares):
        raise InvalidParameterError(
            f"must be slimline.data.Squares(n_samples, n_features) or None; got {type(squares).__name__}.", "squares"
        )
    return squares


@np.errstate(over="ignore", invalid="ignore")  # whoever makes the pass refuses infinite sums
def _add_sparse(x: Any, transform: ColumnTransform, weight: Floats | None, rows: Floats, columns: Floats) -> None:
    require_sound(x)
    x = scaled_values(x, transform).tocsr()
    row = np.repeat(np.arange(rows.size), np.diff(x.indptr))
    squares = x.data * x.data
    of_rows, of_columns = np.zeros(rows.size), np.zeros(columns.size)
    if (middle := transform.scaled_centre) is not None:
        # (x - c)² = x (x - 2c) + c², and c² for what is not stored
        squares = x.data * (x.data - 2.0 * middle[x.indices])
        of_rows += middle @ middle
        of_columns += middle * middle * (rows.size if weight is None else weight.sum())
    of_rows += sums_at(row, squares, rows.size)
    of_columns += sums_at(x.indices, squares if weight is None else squares * weight[row], columns.size)
    # a difference of sums can come out below 0, where the truth is near it
    rows += np.maximum(of_rows, 0.0)
    columns += np.maximum(of_columns, 0.0)


def longest_sum(block: Block, transform: ColumnTransform) -> int:
    """Return how many additions, one after the other, lose as much as a row of the block's product with W, at most."""
    if sp.issparse(block.values) and block.values.format == "csr" and transform.centre is None:  # type: ignore[attr-defined]
        return int(np.diff(block.values.indptr).max(initial=0))  # type: ignore[attr-defined]
    values, columns = block.values, int(block.values.shape[1])
    if not isinstance(values, np.ndarray) or values.dtype not in KERNEL_TYPES:
        return columns
    if values.strides[1] == values.itemsize and values.strides[0] >= columns * values.itemsize:
        return _native.longest_row_sum(columns, values.itemsize == 1, thread_count())
    if values.strides[0] == values.itemsize:
        return _native.longest_line_sum(columns, values.itemsize == 1, thread_count())
    return columns


def add_dot(block: Block, W: Floats, transform: ColumnTransform, out: Floats) -> None:
    """Add the product of a block with its rows of W to the sums of its rows."""
    W = W[block.columns]
    if transform.factor is not None:
        W = W * transform.factor[:, None]
    with _Rows(out, block.rows) as sums:
        if sp.issparse(block.values):
            _sparse_dot(block.values, W, transform, sums)
        else:
            with streamed_block(block) as x:
                _native.block_dot(x, transform.native, W, sums, thread_count())


def add_tdot(block: Block, A: Floats, transform: ColumnTransform, out: Floats) -> None:
    """Add the product of a block's transpose with its rows of A to the sums of its columns."""
    A = np.ascontiguousarray(A[block.rows])
    sums = out[block.columns] if transform.factor is None else np.zeros((block.values.shape[1], A.shape[1]))
    if sp.issparse(block.values):
        _sparse_tdot(block.values, A, transform, sums)
    else:
        with streamed_block(block) as x:
            _native.block_tdot(x, transform.native, A, sums, thread_count())
    if transform.factor is not None:
        out[block.columns] += sums * transform.factor[:, None]


def add_normal(block: Block, A: Floats, transform: ColumnTransform, W: Floats, out: Floats) -> None:
    """Write Xᵀ A of a panel of whole columns to its rows of W, and add X Xᵀ A to `out`."""
    if sp.issparse(block.values) or not isinstance(block.rows, slice):
        add_tdot(block, A, transform, W)
        add_dot(block, W, transform, out)
        return
    with streamed_block(block) as x:
        _native.block_normal(x, transform.native, A, W[block.columns], out, thread_count())


def add_sketch(block: Block, projection: Projection, transform: ColumnTransform, out: NDArray[Any]) -> None:
    """Add the sketch of a block to the sums of its rows."""
    first = block.columns.start
    as_stored = result_dtype(block.values.dtype) == out.dtype
    with _Rows(out, block.rows) as sums:
        if sp.issparse(block.values):
            _sparse_sketch(block, projection, transform, sums)
            return
        if _add_packed_sketch(block, projection, transform, sums):
            return
        for rows, part in by_rows(block, projection.draws_every_entry):
            into = sums[rows]
            inside = transform.of(slice(part.columns.start - first, part.columns.stop - first))
            if as_stored and inside.centre is None and inside.factor is None and not _anything_to_fill(part, inside):
                projection.apply(part.values, first_feature=part.columns.start, out=into)
                continue
            parts = (inside.centre, inside.factor, inside.fill)
            if isinstance(projection, HashEmbedding) and projection.add_standardised(
                part.values, part.missing, parts, part.columns.start, into
            ):
                continue
            whole = as_stored and can_stay_int8(part, inside)
            for columns, values in impute_int8(part, inside) if whole else tiles(part, inside, sums.dtype):
                projection.apply(values, first_feature=part.columns.start + columns.start, out=into)


def _add_packed_sketch(block: Block, projection: Projection, transform: ColumnTransform, sums: NDArray[Any]) -> bool:
    """Add the sketch of genotypes that stay packed; False: that cannot be done."""
    genotypes = block.values
    if not isinstance(genotypes, PackedGenotypes) or not isinstance(projection, HashEmbedding):
        return False
    parts = (transform.centre, transform.factor, transform.fill)
    return projection.add_genotypes(genotypes.packed, genotypes.n_samples, parts, block.columns.start, sums)


def _anything_to_fill(block: Block, transform: ColumnTransform) -> bool:
    """Return whether a dense block has missing values; NaN shows in the sums unless it is imputed."""
    if block.values.dtype.kind == "f":
        return transform.fill is not None
    return missing_at_all(block)


def statistics(block: Block, transform: ColumnTransform, weights: Floats | None) -> ColumnStats:
    """Return the statistics of the columns of a block."""
    width = block.values.shape[1]
    weight, mean, deviation = np.zeros(width), np.zeros(width), np.zeros(width)
    nonzeros, absent = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)

    def fill_in(columns: slice, x: _native.Block) -> None:
        results = (weight[columns], mean[columns], deviation[columns], nonzeros[columns], absent[columns])
        _native.block_statistics(x, weights, _native.Moments(*results), thread_count())

    if sp.issparse(block.values):
        return sparse_statistics(block.values, transform, weights)
    if not transform.trivial:
        for columns, values in tiles(block, transform, np.float64):
            fill_in(columns, _native.Block(values))
    else:
        with streamed_block(block) if weights is None else nullcontext(native_block(block)) as x:
            fill_in(slice(None), x)
    return ColumnStats(weight, mean * weight, mean, deviation, nonzeros, absent, block.values.shape[0])


class _Rows:
    """The rows of a result that a block adds to: a view of them, or a copy that is added when it is done."""

    def __init__(self, out: NDArray[Any], rows: slice | NDArray[np.intp]) -> None:
        self._out, self._rows = out, rows
        self._copied = not isinstance(rows, slice)
        self._sums = np.zeros_like(out[rows]) if self._copied else out[rows]

    def __enter__(self) -> NDArray[Any]:
        return self._sums

    def __exit__(self, kind: Any, *error: object) -> None:
        if kind is None and self._copied:
            self._out[self._rows] += self._sums


# Sparse blocks ---------------------------------------------------------------------------------------


def _sparse_dot(x: Any, W: Floats, transform: ColumnTransform, out: Floats) -> None:
    parts = _native.Compressed(x.indptr, x.indices, x.data)
    if x.format == "csr":
        _native.compressed_gather(parts, W, None, transform.fill, out, thread_count())
    else:
        _native.compressed_scatter(parts, W, transform.fill, None, out, thread_count())
    if transform.centre is not None:
        out -= transform.centre @ W


def _sparse_tdot(x: Any, A: Floats, transform: ColumnTransform, out: Floats) -> None:
    parts = _native.Compressed(x.indptr, x.indices, x.data)
    if x.format == "csr":
        _native.compressed_scatter(parts, A, None, transform.fill, out, thread_count())
    else:
        _native.compressed_gather(parts, A, transform.fill, None, out, thread_count())
    if transform.centre is not None:
        out -= np.outer(transform.centre, A.sum(axis=0))


def _sparse_sketch(block: Block, projection: Projection, transform: ColumnTransform, sums: NDArray[Any]) -> None:
    x, first = block.values, block.columns.start
    if transform.trivial and result_dtype(x.dtype) == sums.dtype:
        projection.apply(x, first_feature=first, out=sums)
        return
    require_sound(x)
    scaled = scaled_values(x, transform)
    scaled.data = scaled.data.astype(sums.dtype)
    projection.apply(scaled, first_feature=first, out=sums)
    if (middle := transform.scaled_centre) is not None:
        sums -= projection.apply(middle[None, :], first_feature=first).astype(sums.dtype)
