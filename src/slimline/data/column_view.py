"""Some columns of a matrix, in its own order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.block import Block, PackedGenotypes
from slimline.data.digest import digest
from slimline.data.matrix import Matrix
from slimline.data.variants import Variants
from slimline.errors import InvalidParameterError


class ColumnView(Matrix):
    """Columns of another matrix; of each block only these are copied, and what the others hold is never looked at.

    Parameters
    ----------
    base : Matrix
        Where the columns come from.
    index : array of ascending column numbers, boolean mask, or slice
        Which.
    """

    def __init__(self, base: Matrix, index: Any) -> None:
        self._index = column_numbers(index, base.shape[1])
        super().__init__((base.shape[0], self._index.size), base.dtype, base.name)
        self._base = base
        self._counter = base._counter
        self.whole_columns, self.tall = base.whole_columns, base.tall
        self.products_by_column = base.products_by_column
        self.reads_ahead, self.packed = base.reads_ahead or base.packed, base.packed  # genotypes are read to be cut
        self.density, self.reads_lightly = base.density, base.reads_lightly

    def blocks(self, whole_columns: bool = False) -> Iterator[Block]:
        """Yield the blocks of the matrix, less the columns that are not seen.

        One without any is not left out: the reader would go on to the next and write over a block that is in use.
        """
        for block in self._base.small_blocks(whole_columns):
            yield self._cut(block)

    def blocks_after(self, first: int, whole_columns: bool = False) -> Iterator[Block]:
        """Yield the blocks of the matrix but the first ones, less the columns that are not seen."""
        for block in self._base.blocks_after(first, whole_columns):
            yield self._cut(block)

    def _cut(self, block: Block) -> Block:
        first, last = (int(k) for k in np.searchsorted(self._index, [block.columns.start, block.columns.stop]))
        local = self._index[first:last] - block.columns.start
        columns = slice(first, last)
        if local.size == block.values.shape[1]:
            return Block(block.rows, columns, block.values, block.missing)
        return Block(block.rows, columns, _selected(block.values, local), block.missing)

    def columns(self, index: Any) -> ColumnView:
        """Return a view of some of these columns."""
        return ColumnView(self._base, self._index[column_numbers(index, self.shape[1])])

    @property
    def feature_names(self) -> Sequence[str] | None:
        """Return the names of these columns."""
        names = self._base.feature_names
        return None if names is None else [names[j] for j in self._index]

    @property
    def sample_ids(self) -> Sequence[str] | None:
        """Return the names of the rows."""
        return self._base.sample_ids

    @property
    def labels(self) -> NDArray[Any] | None:
        """Return the labels of the rows."""
        return self._base.labels

    @property
    def variants(self) -> Variants | None:
        """Return chromosome, position and alleles of these columns, where the data are genotypes that say so."""
        variants = self._base.variants
        return None if variants is None else variants.of(self._index)

    @property
    def fingerprint(self) -> str:
        """Return a digest of the data and of the column numbers."""
        return digest("columns", self._base.fingerprint, self._index.astype(np.int64).tobytes())

    def _original_row(self, row: int) -> int:
        return self._base._original_row(row)

    def _original_column(self, column: int) -> int:
        return self._base._original_column(int(self._index[column]))

    def require_unchanged(self) -> None:
        """Raise where the storage can tell that the data are not what they were."""
        self._base.require_unchanged()


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
    """Return the numbers of the columns that an index or a mask names, or raise.

    Parameters
    ----------
    index : array of ascending column numbers, boolean mask, or slice
        Which.
    d : int
        How many there are.

    Returns
    -------
    columns : array of int
        Ascending, none of them twice.
    """
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
        raise InvalidParameterError(f"columns cannot be chosen by that: {error}") from error
    if index.dtype == np.bool_:
        if index.shape != (d,):
            raise InvalidParameterError(
                f"a mask of columns must have one entry for each of {d} columns; got {index.shape}."
            )
        return np.flatnonzero(index)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise InvalidParameterError("columns are chosen by a vector of whole numbers, a boolean mask or a slice.")
    index = np.asarray(index, dtype=np.intp)
    if index.size and (index.min() < -d or index.max() >= d):
        raise InvalidParameterError(f"there are {d} columns; got column numbers from {index.min()} to {index.max()}.")
    index = np.where(index < 0, index + d, index)
    if (index[1:] <= index[:-1]).any():
        raise InvalidParameterError(
            "columns are seen in the order of the data, each once: give ascending numbers, and put the weights or "
            "whatever they are multiplied with into that order."
        )
    return np.asarray(index, dtype=np.intp)
