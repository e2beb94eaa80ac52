"""X Xᵀ, by panels of whole columns or by groups of rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.layout import require_sound
from slimline._kernels import add_product
from slimline.data._blocks import Block, ColumnTransform, PackedGenotypes, scaled_values, tile_width, tiles, to_float64
from slimline.data._passes import Pass, resumed
from slimline.data._statistics import refuse_overflow, require_finite

if TYPE_CHECKING:
    from slimline.data._matrix import Matrix

Floats = NDArray[np.float64]
Places = slice | NDArray[np.intp]

#: Bytes of the rows that `gram_of_rows` holds, and of a product that is made before it is added.
_HELD_BYTES = _PRODUCT_BYTES = 32 << 20
#: Parts in which the lower triangle of the product of a block with itself is made: each takes a transposed copy.
_BANDS = 4
#: Whole numbers below this are exact in float32, so sums that stay below are, too.
_EXACT = 1 << 24
#: Rows and columns of the squares that are transposed at a time: they stay in the cache.
_TILE = 256
#: Most rows for which there is a second matrix of sums.
_MOST_ROWS = 8192


class GramSum:
    """Lower triangle of X Xᵀ, to which panels of whole columns are added.

    Bytes that are neither centred nor scaled are multiplied in float32, twice as fast as in float64 and just as exact:
    the sums are whole numbers, and before one could reach 2**24 they are added to those in float64.
    """

    def __init__(self, n_samples: int) -> None:
        self._sums = np.zeros((n_samples, n_samples), order="F")
        self._whole: NDArray[np.float32] | None = None
        self._most = 0.0  # no whole sum is larger

    def add(self, block: Block, transform: ColumnTransform) -> None:
        """Add a panel."""
        if not self._sums.size:
            return
        if sp.issparse(block.values):
            _sparse_gram(block.values, transform, self._sums)
        elif not (self._has_whole_numbers(block, transform) and self._add_whole_numbers(block, transform)):
            for _, values in tiles(block, transform, np.float64):
                add_product(_in_order(values, block.rows), self._sums)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the sums, all of them in one matrix."""
        self._carry()
        return {"sums": self._sums}

    @property
    def diagonal(self) -> Floats:
        """Return the squared norms of the rows so far, NaN where a value was missing."""
        whole = 0.0 if self._whole is None else np.diagonal(self._whole).astype(np.float64)
        return np.asarray(np.diagonal(self._sums) + whole)

    def result(self) -> Floats:
        """Return the whole matrix, in C order."""
        self._carry()
        self._whole = None
        return mirrored(self._sums)

    def _has_whole_numbers(self, block: Block, transform: ColumnTransform) -> bool:
        bytes_ = isinstance(block.values, PackedGenotypes) or block.values.dtype.itemsize == 1
        fits = self._sums.shape[0] <= _MOST_ROWS and transform.centre is None and transform.factor is None
        return bytes_ and fits and (transform.fill is None or bool((transform.fill == np.rint(transform.fill)).all()))

    def _add_whole_numbers(self, block: Block, transform: ColumnTransform) -> bool:
        """Add a panel, or return False if its values are too large."""
        largest = _largest(block, transform)
        if largest * largest * min(tile_width(block, np.float32), block.values.shape[1]) >= _EXACT:
            return False
        for _, values in tiles(block, transform, np.float32):
            most = largest * largest * values.shape[1]
            if self._most + most >= _EXACT:
                self._carry()
            if self._whole is None:
                self._whole = np.zeros(self._sums.shape, dtype=np.float32, order="F")
            self._most += most
            add_product(_in_order(values, block.rows), self._whole)
        return True

    def _carry(self) -> None:
        if self._whole is not None:
            self._sums += self._whole
            self._whole[...] = 0
        self._most = 0.0


def _largest(block: Block, transform: ColumnTransform) -> float:
    """Return a bound for the size of the values of a block of bytes; those that are missing do not count."""
    fill = 0.0 if transform.fill is None else float(np.abs(transform.fill).max(initial=0.0))
    if isinstance(block.values, PackedGenotypes):
        return max(2.0, fill)
    values = block.values
    top, bottom = (float(v) for v in (values.max(initial=0), values.min(initial=0)))
    if block.missing is not None and block.missing in (top, bottom):
        values = values[values != block.missing]
        top, bottom = (float(v) for v in (values.max(initial=0), values.min(initial=0)))
    return max(top, -bottom, fill)


def _in_order(values: NDArray[Any], rows: slice | NDArray[np.intp]) -> NDArray[Any]:
    if isinstance(rows, slice):
        return values
    ordered = np.empty_like(values)  # rows in another order than the storage's
    ordered[rows] = values
    return ordered


def mirrored(lower: Floats) -> Floats:
    """Write the lower triangle of a symmetric matrix over the upper one, and return it in C order; no copy is made."""
    n, step = len(lower), _TILE
    for start in range(0, n, step):
        stop = start + step
        for left in range(stop, n, step):
            lower[start:stop, left : left + step] = lower[left : left + step, start:stop].T
        corner = lower[start:stop, start:stop]
        corner[...] = np.tril(corner) + np.tril(corner, -1).T
    return lower if lower.flags.c_contiguous else lower.T


def gram_of_rows(matrix: Matrix) -> Floats:
    """Return X Xᵀ of a stream of rows, in one pass for each group of blocks that fits into memory."""
    n = matrix.shape[0]
    out, at = np.zeros((n, n)), np.zeros(2, dtype=np.int64)  # the next block (-1: none is left), and passes

    def groups(_: int = 0) -> Generator[int]:
        while n and at[0] >= 0:
            yield int(at[0])

    made, remaining, store = 0, groups(), matrix._counter.checkpoints
    if store is not None:
        inputs = {"data": matrix.fingerprint}
        remaining = resumed(store, "gram of rows", inputs, lambda: {"out": out, "at": at}, groups, each=True)
    for first in remaining:
        next_group = _gram_of_group(matrix, first, out)
        at[:] = -1 if next_group is None else next_group, at[1] + 1
        made += 1
    matrix._counter.add(int(at[1]) - made)  # passes of an earlier run
    return mirrored(out)


@dataclass(frozen=True)
class _Held:
    """Block that stays in memory: its place, its values in float64, and what is still to be subtracted."""

    rows: Places
    columns: slice
    values: Any
    middle: Floats | None

    def cut(self, left: int, right: int) -> tuple[Any, Floats | None]:
        """Return values and middle of the columns from `left` to `right`."""
        if (left, right) == (self.columns.start, self.columns.stop):
            return self.values, self.middle
        inside = slice(left - self.columns.start, right - self.columns.start)
        return self.values[:, inside], None if self.middle is None else self.middle[inside]


def _gram_of_group(matrix: Matrix, first: int, out: Floats) -> int | None:
    """Add the products of the blocks from number `first` on, as many as can be held, with all that come after them.

    Returns the number of the first block that could not be held, None if there is none.
    """
    held: list[_Held] = []
    size, next_group = 0, None
    for number, (block, transform) in enumerate(matrix._pass(Pass("gram"))):
        if number < first:
            continue
        values = to_float64(block, transform)
        this = _Held(block.rows, block.columns, values, _middle(values, transform))
        if next_group is None and (size < _HELD_BYTES or not held):
            held.append(this)
            size += values.data.nbytes + (values.indices.nbytes if sp.issparse(values) else 0)  # type: ignore[attr-defined]
        elif next_group is None:
            next_group = number
        for before in held:
            left, right = max(before.columns.start, block.columns.start), min(before.columns.stop, block.columns.stop)
            if left >= right:
                continue
            for rows, columns, product in _products(before, this, left, right):
                if not np.isfinite(product).all():  # what is held was looked at when it came by
                    require_finite(matrix, block, transform)
                    refuse_overflow(matrix, product.dtype)
                out[_places(rows, columns)] += product
                if before is not this:
                    out[_places(columns, rows)] += product.T
    return next_group


def _middle(values: Any, transform: ColumnTransform) -> Floats | None:
    """Return what must be subtracted from the rows of `values`, if it was not done: from sparse ones it is not."""
    return None if isinstance(values, np.ndarray) else transform.scaled_centre


def _products(before: _Held, this: _Held, left: int, right: int) -> Iterator[tuple[Places, Places, Floats]]:
    """Yield rows and columns of X Xᵀ, and what the columns of X from `left` to `right` add there, a few at a time.

    Of the product of a block with itself the upper triangle is left out, but for some of it near the diagonal.
    """
    a, a_middle = before.cut(left, right)
    b, b_middle = this.cut(left, right)
    whole = not (before is this and isinstance(this.rows, slice))
    height, width = a.shape[0], b.shape[0]
    band = height if whole else -(-height // _BANDS)
    step = max(1, _PRODUCT_BYTES // max(1, 8 * width))
    for top in range(0, height, max(1, band)):
        end = min(top + band, height)
        factor = _Factor(b if whole else b[:end], b_middle, a_middle)
        columns = _part(this.rows, 0, width if whole else end)
        for start in range(top, end, step):
            stop = min(start + step, end)
            yield _part(before.rows, start, stop), columns, factor.times(a[start:stop])


class _Factor:
    """(B - 1 bᵀ)ᵀ, by which (A - 1 aᵀ) is multiplied, some rows at a time."""

    def __init__(self, b: Any, b_middle: Floats | None, a_middle: Floats | None) -> None:
        self._transposed = b.T.tocsr() if sp.issparse(b) else b.T  # type: ignore[attr-defined]
        self._middle = None
        if a_middle is not None and b_middle is not None:
            self._middle, self._own, self._constant = b_middle, np.asarray(b @ a_middle), a_middle @ b_middle

    def times(self, a: Any) -> Floats:
        product: Any = a @ self._transposed
        product = product.toarray() if sp.issparse(product) else product  # type: ignore[attr-defined]
        if self._middle is None:
            return np.asarray(product)
        product -= np.asarray(a @ self._middle)[:, None] + self._own
        product += self._constant
        return np.asarray(product)


def _part(rows: Places, start: int, stop: int) -> Places:
    return slice(rows.start + start, rows.start + stop) if isinstance(rows, slice) else rows[start:stop]


def _places(rows: Places, columns: Places) -> Any:
    """Return an index of the rectangle of some rows and some columns, a view where both are ranges."""
    if isinstance(rows, slice) and isinstance(columns, slice):
        return rows, columns
    wide = [np.arange(part.start, part.stop) if isinstance(part, slice) else part for part in (rows, columns)]
    return np.ix_(*wide)


def _sparse_gram(x: Any, transform: ColumnTransform, out: Floats) -> None:
    require_sound(x)
    rows = scaled_values(x, transform).tocsr()
    middle = _middle(rows, transform)
    held = _Held(slice(0, x.shape[0]), slice(0, x.shape[1]), rows, middle)
    for places, columns, product in _products(held, held, 0, x.shape[1]):
        out[places, columns] += product
