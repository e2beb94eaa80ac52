"""Views of some rows or some columns of a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline.data._blocks import ALL_BLOCKS, MISSING_CALL, Block, BlockRequest, PackedGenotypes
from slimline.data._files import digest
from slimline.data._matrix import Matrix
from slimline.data._names import Variants
from slimline.data._passes import PassCounter
from slimline.errors import InvalidParameterError


class View(Matrix):
    """View of another matrix, which provides all that the view does not define itself."""

    def __init__(self, base: Matrix, shape: tuple[int, int]) -> None:
        super().__init__(shape, base.dtype, base.name)
        self.base = base
        self.traits = base.traits
        self._counter = base._counter

    def _with_counter(self, counter: PassCounter) -> Self:
        same = super()._with_counter(counter)
        same.base = self.base._with_counter(counter)
        return same

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield the blocks of the matrix."""
        return self.base.blocks(request)

    def require_unchanged(self) -> None:
        """Raise if the storage can tell that the data have changed."""
        self.base.require_unchanged()

    @property
    def feature_names(self) -> Sequence[str] | None:
        """Return the names of the columns."""
        return self.base.feature_names

    @property
    def sample_ids(self) -> Sequence[str] | None:
        """Return the names of the rows."""
        return self.base.sample_ids

    @property
    def labels(self) -> NDArray[Any] | None:
        """Return the labels of the rows."""
        return self.base.labels

    @property
    def variants(self) -> Variants | None:
        """Return chromosome, position and alleles of each column, if the data are genotypes that name them."""
        return self.base.variants

    def _original_row(self, row: int) -> int:
        return self.base._original_row(row)

    def _original_column(self, column: int) -> int:
        return self.base._original_column(column)


class RowView(View):
    """View of some rows of a matrix; only these are copied from each block."""

    def __init__(self, base: Matrix, index: Any) -> None:
        self.index = row_numbers(index, base.shape[0])
        super().__init__(base, (self.index.size, base.shape[1]))
        ascending = bool((np.diff(self.index) > 0).all())
        # packed genotypes are read to be cut; rows in another order are unpacked
        self.traits = replace(
            base.traits,
            prefetch=base.traits.prefetch or base.traits.packed,
            packed=base.traits.packed and ascending,
        )
        # positions in the view, sorted by the row that they show
        self._order = np.argsort(self.index, kind="stable")
        self._sorted = self.index[self._order]

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield the blocks of the matrix without the rows that are not seen.

        A block without any is yielded, too: otherwise the reader would write the next one over a block in use.
        """
        for block in self.base.blocks(replace(request, size="small")):
            yield self._cut(block)

    def _cut(self, block: Block) -> Block:
        if not isinstance(block.rows, slice):  # a view of a view
            where = np.full(self.base.shape[0], -1, dtype=np.intp)
            where[block.rows] = np.arange(block.rows.size)
            local = where[self.index]
            positions = np.flatnonzero(local >= 0)
            local = local[positions]
        else:
            first, last = np.searchsorted(self._sorted, [block.rows.start, block.rows.stop])
            positions = np.sort(self._order[first:last])
            local = self.index[positions] - block.rows.start
        values, missing = block.values, block.missing
        if isinstance(values, PackedGenotypes) and local.size and (local[1:] > local[:-1]).all():
            if local.size < values.n_samples:
                values = values.select(local.astype(np.int64))
            return Block(_rows(positions), block.columns, values)
        if isinstance(values, PackedGenotypes):
            values, missing = values.unpack("F"), MISSING_CALL
        rows = _rows(positions)
        if local.size == values.shape[0] and np.array_equal(local, np.arange(local.size)):
            return Block(rows, block.columns, values, missing)
        if isinstance(values, np.ndarray):
            # in the same order in memory
            by_columns = abs(values.strides[0]) < abs(values.strides[1])
            values = np.take(values.T, local, axis=1).T if by_columns else np.take(values, local, axis=0)
        else:
            values = values[local]
        return Block(rows, block.columns, values, missing)

    def rows(self, index: Any) -> RowView:
        """Return a view of some of these rows."""
        return RowView(self.base, self.index[row_numbers(index, self.shape[0])])

    @property
    def sample_ids(self) -> Sequence[str] | None:
        """Return the names of these rows."""
        ids = self.base.sample_ids
        return None if ids is None else [ids[i] for i in self.index]

    @property
    def labels(self) -> NDArray[Any] | None:
        """Return the labels of these rows."""
        labels = self.base.labels
        return None if labels is None else labels[self.index]

    @property
    def fingerprint(self) -> str:
        """Return a digest of the data and of the row numbers."""
        return digest("rows", self.base.fingerprint, self.index.astype(np.int64).tobytes())

    def _original_row(self, row: int) -> int:
        return self.base._original_row(int(self.index[row]))


def _rows(positions: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """Return ascending positions, as a slice if they have no gaps."""
    if positions.size == 0:
        return slice(0, 0)
    if positions[-1] - positions[0] + 1 == positions.size:
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions


def row_numbers(index: Any, n: int) -> NDArray[np.intp]:
    """Return the numbers of the rows that an index or a mask names, or raise."""
    if isinstance(index, slice):
        try:
            return np.arange(n, dtype=np.intp)[index]
        except (TypeError, ValueError):
            raise InvalidParameterError(
                f"a slice of rows has whole numbers, and a step that is not 0; got {index}."
            ) from None
    try:
        index = np.asarray(index)
    except ValueError as error:
        raise InvalidParameterError(f"cannot be chosen by that: {error}", "rows") from error
    if index.dtype == np.bool_:
        if index.shape != (n,):
            raise InvalidParameterError(f"a mask of rows must have one entry for each of {n} rows; got {index.shape}.")
        return np.flatnonzero(index)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise InvalidParameterError("must be a vector of whole numbers, a boolean mask or a slice.", "rows")
    index = np.asarray(index, dtype=np.intp)
    if index.size and (index.min() < -n or index.max() >= n):
        raise InvalidParameterError(f"must lie within 0:{n}; got numbers from {index.min()} to {index.max()}.", "rows")
    return np.asarray(np.where(index < 0, index + n, index), dtype=np.intp)


class ColumnView(View):
    """View of some columns of a matrix; only these are copied from each block, and the others are never used."""

    def __init__(self, base: Matrix, index: Any) -> None:
        self.index = column_numbers(index, base.shape[1])
        super().__init__(base, (base.shape[0], self.index.size))
        # packed genotypes are read to be cut
        self.traits = replace(base.traits, prefetch=base.traits.prefetch or base.traits.packed)

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield the blocks of the matrix without the columns that are not seen, if need be empty ones."""
        for block in self.base.blocks(replace(request, size="small")):
            yield self._cut(block)

    def _cut(self, block: Block) -> Block:
        first, last = (int(k) for k in np.searchsorted(self.index, [block.columns.start, block.columns.stop]))
        local = self.index[first:last] - block.columns.start
        columns = slice(first, last)
        if local.size == block.values.shape[1]:
            return Block(block.rows, columns, block.values, block.missing)
        return Block(block.rows, columns, _selected(block.values, local), block.missing)

    def columns(self, index: Any) -> ColumnView:
        """Return a view of some of these columns."""
        return ColumnView(self.base, self.index[column_numbers(index, self.shape[1])])

    @property
    def feature_names(self) -> Sequence[str] | None:
        """Return the names of these columns."""
        names = self.base.feature_names
        return None if names is None else [names[j] for j in self.index]

    @property
    def variants(self) -> Variants | None:
        """Return chromosome, position and alleles of these columns, if the data are genotypes that name them."""
        variants = self.base.variants
        return None if variants is None else variants.of(self.index)

    @property
    def fingerprint(self) -> str:
        """Return a digest of the data and of the column numbers."""
        return digest("columns", self.base.fingerprint, self.index.astype(np.int64).tobytes())

    def _original_column(self, column: int) -> int:
        return self.base._original_column(int(self.index[column]))


def _selected(values: Any, local: NDArray[np.intp]) -> Any:
    """Return some columns of the values of a block, in the same order in memory."""
    together = local.size and local[-1] - local[0] + 1 == local.size
    if isinstance(values, PackedGenotypes):
        part = slice(int(local[0]), int(local[-1]) + 1) if together else local
        return PackedGenotypes(values.packed[part], values.n_samples)
    if not isinstance(values, np.ndarray):
        return values[:, local]
    if together:
        return values[:, local[0] : local[-1] + 1]
    if abs(values.strides[0]) < abs(values.strides[1]):  # by columns; indexing gives C order
        return np.take(values.T, local, axis=0).T
    return np.take(values, local, axis=1)


def column_numbers(index: Any, d: int) -> NDArray[np.intp]:
    """Return the numbers of the columns that an index or a mask names, or raise."""
    if isinstance(index, slice):
        try:
            index = np.arange(d, dtype=np.intp)[index]
        except (TypeError, ValueError):
            raise InvalidParameterError(
                f"a slice of columns has whole numbers, and a step that is not 0; got {index}."
            ) from None
    try:
        index = np.asarray(index)
    except ValueError as error:
        raise InvalidParameterError(f"cannot be chosen by that: {error}", "columns") from error
    if index.dtype == np.bool_:
        if index.shape != (d,):
            raise InvalidParameterError(
                f"a mask of columns must have one entry for each of {d} columns; got {index.shape}."
            )
        return np.flatnonzero(index)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise InvalidParameterError("must be a vector of whole numbers, a boolean mask or a slice.", "columns")
    index = np.asarray(index, dtype=np.intp)
    if index.size and (index.min() < -d or index.max() >= d):
        raise InvalidParameterError(
            f"must lie within 0:{d}; got numbers from {index.min()} to {index.max()}.", "columns"
        )
    index = np.where(index < 0, index + d, index)
    if (index[1:] <= index[:-1]).any():
        raise InvalidParameterError(
            "columns are seen in the order of the data, each once: give ascending numbers, and put the weights or "
            "whatever they are multiplied with into that order."
        )
    return np.asarray(index, dtype=np.intp)


class NamedColumns(ColumnView):
    """View of all columns of a matrix, under other names."""

    def __init__(self, base: Matrix, names: Sequence[str], where: str = "feature names") -> None:
        if len(names) != base.shape[1]:
            raise InvalidParameterError(
                f"{where}: {len(names):,} names, and {base.name} has {base.shape[1]:,} columns: give one a column."
            )
        super().__init__(base, slice(None))
        self._names = names

    @property
    def feature_names(self) -> Sequence[str]:
        """Return the names."""
        return self._names
