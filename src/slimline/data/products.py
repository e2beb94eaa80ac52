"""What one block adds to each of the sums, whatever it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from slimline._kernels import _native, thread_count
from slimline.data.affine import Affine
from slimline.data.block import MISSING_CALL, Block, PackedGenotypes
from slimline.data.finite import missing_at_all, refuse_overflow, require_finite
from slimline.data.sparse_statistics import sparse_statistics, sums_at
from slimline.data.statistics import ColumnStats
from slimline.projections import Projection
from slimline.projections.blocks import require_sound, result_dtype

if TYPE_CHECKING:
    from slimline.data.matrix import Matrix

Floats = NDArray[np.float64]

#: Bytes of a panel of columns written out in float64, and of the rows that `gram_of_rows` holds.
_TILE_BYTES = 8 << 20
_HELD_BYTES = 32 << 20


def add_dot(block: Block, W: Floats, affine: Affine, out: Floats) -> None:
    """Add the product of a block with its rows of W to the sums of its rows."""
    W = W[block.columns]
    if affine.factor is not None:
        W = W * affine.factor[:, None]
    with _Rows(out, block.rows) as sums:
        if sp.issparse(block.values):
            _sparse_dot(block.values, W, affine, sums)
        else:
            x, samples = _raw(block)
            _native.block_dot(x, samples, block.missing, W, affine.centre, affine.fill, sums, thread_count())


def add_tdot(block: Block, A: Floats, affine: Affine, out: Floats) -> None:
    """Add the product of a block's transpose with its rows of A to the sums of its columns."""
    A = np.ascontiguousarray(A[block.rows])
    sums = out[block.columns] if affine.factor is None else np.zeros((block.values.shape[1], A.shape[1]))
    if sp.issparse(block.values):
        _sparse_tdot(block.values, A, affine, sums)
    else:
        x, samples = _raw(block)
        _native.block_tdot(x, samples, block.missing, A, affine.centre, affine.fill, sums, thread_count())
    if affine.factor is not None:
        out[block.columns] += sums * affine.factor[:, None]


def add_normal(block: Block, A: Floats, affine: Affine, W: Floats, out: Floats) -> None:
    """Write Xᵀ A of a panel of whole columns to its rows of W, and add X Xᵀ A to `out`."""
    if sp.issparse(block.values) or not isinstance(block.rows, slice):
        add_tdot(block, A, affine, W)
        add_dot(block, W, affine, out)
        return
    x, samples = _raw(block)
    parts = (affine.centre, affine.factor, affine.fill)
    _native.block_normal(x, samples, block.missing, A, *parts, W[block.columns], out, thread_count())


def add_sketch(block: Block, projection: Projection, affine: Affine, out: NDArray[Any]) -> None:
    """Add the sketch of a block to the sums of its rows."""
    first = block.columns.start
    with _Rows(out, block.rows) as sums:
        if sp.issparse(block.values):
            _sparse_sketch(block, projection, affine, sums)
        elif affine.trivial and not missing_at_all(block):
            values = block.values.unpack("C") if isinstance(block.values, PackedGenotypes) else block.values
            projection.apply(values, first_feature=first, out=sums)
        else:
            for columns, values in _tiles(_by_rows(block), affine, sums.dtype):
                projection.apply(values, first_feature=first + columns.start, out=sums)


def add_gram(block: Block, affine: Affine, out: Floats) -> None:
    """Add the lower triangle of X Xᵀ of a panel of whole columns to `out`, which is in Fortran order."""
    if not out.size:
        return
    if sp.issparse(block.values):
        _sparse_gram(block.values, affine, out)
        return
    for _, values in _tiles(block, affine, np.float64):
        if not isinstance(block.rows, slice):  # rows in another order than the storage's
            ordered = np.empty_like(values)
            ordered[block.rows] = values
            values = ordered
        if values.flags.f_contiguous:
            dsyrk(1.0, values, beta=1.0, c=out, overwrite_c=1, lower=1)
        else:
            dsyrk(1.0, values.T, beta=1.0, c=out, overwrite_c=1, lower=1, trans=1)


def mirrored(lower: Floats) -> Floats:
    """Write the lower triangle of a symmetric matrix over the upper one, and return it in C order; no copy is made."""
    step = 512
    for start in range(0, lower.shape[0], step):
        stop = start + step
        lower[start:stop, stop:] = lower[stop:, start:stop].T
        corner = lower[start:stop, start:stop]
        corner[...] = np.tril(corner) + np.tril(corner, -1).T
    return lower if lower.flags.c_contiguous else lower.T


def gram_of_rows(matrix: Matrix) -> Floats:
    """Return X Xᵀ of a stream of rows: some blocks are held while all go by, so there is a pass for each such group."""
    n = matrix.shape[0]
    out = np.zeros((n, n))
    first: int | None = 0 if n else None
    while first is not None:
        first = _gram_of_group(matrix, first, out)
    return mirrored(out)


def _gram_of_group(matrix: Matrix, first: int, out: Floats) -> int | None:
    """Add the products of the blocks from number `first` on, as many as can be held, with all that come after them.

    Returns the number of the first block that could not be held, None if there is none.
    """
    held: list[tuple[Block, Any]] = []
    size, next_group = 0, None
    for number, (block, affine) in enumerate(matrix._pass("gram")):
        if number < first:
            continue
        values = _exact(block, affine)
        if next_group is None and (size < _HELD_BYTES or not held):
            held.append((Block(block.rows, block.columns, None), values))
            size += values.data.nbytes + (values.indices.nbytes if sp.issparse(values) else 0)  # type: ignore[attr-defined]
        elif next_group is None:
            next_group = number
        for before, part in held:
            left, right = max(before.columns.start, block.columns.start), min(before.columns.stop, block.columns.stop)
            if left >= right:
                continue
            a = (
                part
                if left == before.columns.start and right == before.columns.stop
                else _cut(part, before, left, right)
            )
            b = (
                values
                if left == block.columns.start and right == block.columns.stop
                else _cut(values, block, left, right)
            )
            product: Any = a @ b.T
            product = product.toarray() if sp.issparse(product) else product  # type: ignore[attr-defined]
            product = _centred_product(
                a, b, product, affine.of(slice(left - block.columns.start, right - block.columns.start))
            )
            if not np.isfinite(product).all():  # what is held was looked at when it came by
                require_finite(matrix, block, affine)
                refuse_overflow(matrix, product.dtype)
            out[_places(before.rows, block.rows)] += product
            if part is not values:
                out[_places(block.rows, before.rows)] += product.T
    return next_group


def _cut(values: Any, block: Block, left: int, right: int) -> Any:
    return values[:, left - block.columns.start : right - block.columns.start]


def _places(rows: slice | NDArray[np.intp], columns: slice | NDArray[np.intp]) -> Any:
    """Return an index of the rectangle of some rows and some columns, a view where both are ranges."""
    if isinstance(rows, slice) and isinstance(columns, slice):
        return rows, columns
    wide = [np.arange(part.start, part.stop) if isinstance(part, slice) else part for part in (rows, columns)]
    return np.ix_(*wide)


def statistics(block: Block, affine: Affine, weights: Floats | None) -> ColumnStats:
    """Return the statistics of the columns of a block."""
    width = block.values.shape[1]
    weight, mean, deviation = np.zeros(width), np.zeros(width), np.zeros(width)
    nonzeros, absent = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)

    def fill_in(columns: slice, x: Any, samples: int, missing: int | None) -> None:
        _native.block_statistics(
            x,
            samples,
            missing,
            weights,
            weight[columns],
            mean[columns],
            deviation[columns],
            nonzeros[columns],
            absent[columns],
            thread_count(),
        )

    if sp.issparse(block.values):
        return sparse_statistics(block.values, affine, weights)
    if not affine.trivial:
        for columns, values in _tiles(block, affine, np.float64):
            fill_in(columns, values, 0, None)
    else:
        fill_in(slice(None), *_raw(block), block.missing)
    return ColumnStats(weight, mean * weight, mean, deviation, nonzeros, absent, block.values.shape[0])


def row_squares(block: Block, affine: Affine) -> Floats:
    """Return the sum of the squares of each row of a block."""
    out = np.zeros(block.values.shape[0])
    if sp.issparse(block.values):
        x = _scaled(block.values, affine).tocsr()
        rows = np.repeat(np.arange(out.size), np.diff(x.indptr))
        squares = x.data * x.data
        if affine.centre is not None:
            middle = affine.centre if affine.factor is None else affine.centre * affine.factor
            # (x - c)² = x (x - 2c) + c², and c² for what is not stored
            squares = x.data * (x.data - 2.0 * middle[x.indices])
            out += middle @ middle
        out += sums_at(rows, squares, out.size)
        return np.maximum(out, 0.0)
    for _, values in _tiles(block, affine, np.float64):
        out += np.einsum("ij,ij->i", values, values)
    return out


class _Rows:
    """The rows of a result that a block adds to: a view of them, or a copy that is added when it is done."""

    def __init__(self, out: NDArray[Any], rows: slice | NDArray[np.intp]) -> None:
        self._out, self._rows = out, rows
        scattered = not isinstance(rows, slice)
        self._sums = np.zeros((len(rows), out.shape[1]), dtype=out.dtype) if scattered else out[rows]  # type: ignore[arg-type]

    def __enter__(self) -> NDArray[Any]:
        return self._sums

    def __exit__(self, kind: Any, *error: object) -> None:
        if kind is None and not isinstance(self._rows, slice):
            self._out[self._rows] += self._sums


def _raw(block: Block) -> tuple[NDArray[Any], int]:
    """Return the array of a dense block, and the number of people if it holds packed genotypes."""
    if isinstance(block.values, PackedGenotypes):
        return block.values.packed, block.values.n_samples
    return block.values, 0


def _by_rows(block: Block) -> Block:
    """Return the block with packed genotypes unpacked row by row, as sketching likes them."""
    if not isinstance(block.values, PackedGenotypes):
        return block
    return Block(block.rows, block.columns, block.values.unpack("C"), MISSING_CALL)


def _tiles(block: Block, affine: Affine, dtype: Any) -> Any:
    """Yield (columns within the block, standardised values), a few megabytes at a time, in the block's own order."""
    by_row = isinstance(block.values, np.ndarray) and block.values.strides[1] == block.values.itemsize
    order: Any = "C" if by_row or sp.issparse(block.values) else "F"
    rows, width = block.values.shape
    step = max(16, _TILE_BYTES // (np.dtype(dtype).itemsize * max(rows, 1)))
    if step >= 4096:  # the Walsh-Hadamard transform likes whole powers of two
        step = step // 4096 * 4096
    step = min(step, width)
    whole: Any = block.values
    memory = np.empty(rows * step, dtype=dtype)
    for start in range(0, width, max(step, 1)):
        columns = slice(start, min(start + step, width))
        shape = (rows, columns.stop - start)
        values = memory[: shape[0] * shape[1]].reshape(shape, order=order)
        part = affine.of(columns)
        if sp.issparse(block.values):
            values[...] = _dense(whole[:, columns], part)
        else:
            x, samples = _raw(block)
            x = x[columns] if samples else x[:, columns]
            _native.block_tile(x, samples, block.missing, part.centre, part.factor, part.fill, values, thread_count())
        yield columns, values


# Sparse blocks ---------------------------------------------------------------------------------------


def _dense(x: Any, affine: Affine) -> Floats:
    values: Floats = x.toarray().astype(np.float64)
    if affine.fill is not None:
        values = np.where(np.isnan(values), affine.fill, values)
    if affine.centre is not None:
        values = values - affine.centre
    return values if affine.factor is None else values * affine.factor


def _scaled(x: Any, affine: Affine) -> Any:
    """Return a float64 copy with missing values filled and columns scaled; centring is left out."""
    x = x.astype(np.float64)
    columns = x.indices if x.format == "csr" else np.repeat(np.arange(x.shape[1]), np.diff(x.indptr))
    if affine.fill is not None:
        x.data = np.where(np.isnan(x.data), affine.fill[columns], x.data)
    if affine.factor is not None:
        x.data = x.data * affine.factor[columns]
    return x


def _sparse_dot(x: Any, W: Floats, affine: Affine, out: Floats) -> None:
    parts = (x.indptr, x.indices, x.data)
    if x.format == "csr":
        _native.compressed_gather(*parts, W, None, affine.fill, out, thread_count())
    else:
        _native.compressed_scatter(*parts, W, affine.fill, None, out, thread_count())
    if affine.centre is not None:
        out -= affine.centre @ W


def _sparse_tdot(x: Any, A: Floats, affine: Affine, out: Floats) -> None:
    parts = (x.indptr, x.indices, x.data)
    if x.format == "csr":
        _native.compressed_scatter(*parts, A, None, affine.fill, out, thread_count())
    else:
        _native.compressed_gather(*parts, A, affine.fill, None, out, thread_count())
    if affine.centre is not None:
        out -= np.outer(affine.centre, A.sum(axis=0))


def _sparse_sketch(block: Block, projection: Projection, affine: Affine, sums: NDArray[Any]) -> None:
    x, first = block.values, block.columns.start
    if affine.trivial:
        projection.apply(x, first_feature=first, out=sums)
        return
    require_sound(x)
    scaled = _scaled(x, affine)
    scaled.data = scaled.data.astype(result_dtype(x.dtype))
    projection.apply(scaled, first_feature=first, out=sums)
    if affine.centre is not None:
        middle = affine.centre if affine.factor is None else affine.centre * affine.factor
        sums -= projection.apply(middle[None, :], first_feature=first).astype(sums.dtype)


def _sparse_gram(x: Any, affine: Affine, out: Floats) -> None:
    require_sound(x)
    x = _scaled(x, affine)
    step = max(1, _HELD_BYTES // (8 * x.shape[0]))
    rows = x.tocsr()
    for start in range(0, x.shape[0], step):
        part = rows[start : start + step]
        product = (part @ rows.T).toarray()
        out[start : start + step] += _centred_product(part, rows, product, affine)


def _centred_product(a: Any, b: Any, product: Floats, affine: Affine) -> Floats:
    """Return (A - 1c)(B - 1c)ᵀ from A Bᵀ, both scaled; dense rows are centred before."""
    if affine.centre is None or isinstance(a, np.ndarray):
        return product
    middle = affine.centre if affine.factor is None else affine.centre * affine.factor
    left, right = (np.asarray(x @ middle) for x in (a, b))
    return np.asarray(product - (left[:, None] + right[None, :]) + middle @ middle)


def _exact(block: Block, affine: Affine) -> Any:
    """Return the values of a block in float64: sparse rows filled and scaled, dense rows standardised."""
    if sp.issparse(block.values):
        require_sound(block.values)
        return _scaled(block.values, affine).tocsr()
    values = np.empty(block.values.shape)
    for columns, part in _tiles(block, affine, np.float64):
        values[:, columns] = part
    return values
