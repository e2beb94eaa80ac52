"""A matrix with each column centred and scaled, and missing values filled: on the fly, never densifying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import sample_weights
from slimline.data import _products as products
from slimline.data._blocks import PLAIN, Block, ColumnTransform
from slimline.data._files import digest
from slimline.data._matrix import Matrix
from slimline.data._names import Variants
from slimline.data._passes import Checkpoint, give_back
from slimline.data._statistics import ColumnStats, RunningStats, far_columns, shifted
from slimline.data._views import ColumnView, RowView, column_numbers
from slimline.errors import InvalidParameterError

Vector = NDArray[np.float64]


class Standardised(Matrix):
    """(X - centre) / scale, with missing values filled before."""

    def __init__(self, base: Matrix, centre: Any, scale: Any, fill: Any, sample_weight: Any = None) -> None:
        super().__init__(base.shape, base.dtype, base.name)
        self._base = base
        self._counter = base._counter
        self.whole_columns, self.short_panels = base.whole_columns, base.short_panels
        self.products_by_column = base.products_by_column
        self.reads_ahead, self.packed = base.reads_ahead, base.packed
        self.density, self.io_bound = base.density, base.io_bound
        d = base.shape[1]
        self._centre = _rule(centre, "centre", ("mean",), d)
        self._scale = _rule(scale, "scale", ("std",), d)
        self._fill = _rule(fill, "fill", ("mean",), d, number=True)
        self._weight = sample_weights(sample_weight, base.shape[0])
        self._affine_of_all: ColumnTransform | None = None
        self._mean_square: float | None = None
        if not any(isinstance(rule, str) for rule in (self._centre, self._scale, self._fill)):
            self._affine_of_all = self._affine_from(None)

    @property
    def affine(self) -> ColumnTransform:
        """Return what is done to each column; computes the statistics, in a pass, if that has not been done."""
        if self._affine_of_all is None:
            self._learn(self._base.column_stats(self._weight))
        assert self._affine_of_all is not None
        return self._affine_of_all

    @property
    def knows_mean_square(self) -> bool:
        """Return whether the statistics tell the mean squared norm of the rows."""
        return all(isinstance(rule, str) for rule in (self._centre, self._scale, self._fill))

    @property
    def mean_square(self) -> float:
        """Return the weighted mean of the squared norms of the rows: about the number of columns that vary."""
        if not self.knows_mean_square:
            raise RuntimeError("the statistics tell it only where they centre, scale and impute.")
        _ = self.affine  # computed now, if it has not been
        assert self._mean_square is not None
        return self._mean_square

    def blocks(self, whole_columns: bool = False) -> Iterator[Block]:
        """Yield the blocks of the matrix as they are stored; the passes standardise them."""
        return self._base.blocks(whole_columns)

    def blocks_after(self, first: int, whole_columns: bool = False) -> Iterator[Block]:
        """Yield the blocks of the matrix but the first ones."""
        return self._base.blocks_after(first, whole_columns)

    def large_blocks(self, whole_columns: bool = False) -> Iterator[Block]:
        """Yield the large blocks of the matrix."""
        return self._base.large_blocks(whole_columns)

    def small_blocks(self, whole_columns: bool = False) -> Iterator[Block]:
        """Yield the small blocks of the matrix."""
        return self._base.small_blocks(whole_columns)

    def _pass(
        self,
        operation: str,
        whole_columns: bool = False,
        kept: Checkpoint | None = None,
        in_memory: bool = False,
        large: bool = False,
    ) -> Iterator[tuple[Block, ColumnTransform]]:
        in_memory = in_memory or operation == "column_stats" or self._weight is not None
        if self._affine_of_all is not None:
            yield from super()._pass(operation, whole_columns, kept, in_memory, large)
        elif self.whole_columns and operation != "column_stats":
            yield from self._measuring_pass(operation, kept, in_memory)
        else:
            _ = self.affine  # computed now
            yield from super()._pass(operation, whole_columns, kept, in_memory, large)

    def _measuring_pass(
        self, operation: str, kept: Checkpoint | None, in_memory: bool
    ) -> Iterator[tuple[Block, ColumnTransform]]:
        """Go through whole columns: what is needed to standardise one is known when it is at hand."""
        running = RunningStats(*self.shape)
        if kept is not None:
            kept = kept.beside(running.arrays)
        for block, _ in super()._pass(operation, True, kept, in_memory):
            with self._beside_the_reader():
                part = products.statistics(block, PLAIN, None if self._weight is None else self._weight[block.rows])
            self._require_finite(part.deviation, slice(None), block, PLAIN, missing=False)
            running.add(block.columns, part)
            yield shifted(block, self._affine_from(part, block.columns))
        self._learn(self._sound(running.result()))

    def _learn(self, stats: ColumnStats) -> None:
        """Keep what the statistics of all columns tell."""
        self._affine_of_all = self._affine_from(stats)
        if self.knows_mean_square:
            total = self.shape[0] if self._weight is None else self._weight.sum()
            # missing values are imputed with the mean: after centring they are 0
            squares = stats.std
            squares /= stats.scale
            squares *= squares
            self._mean_square = float(squares @ (stats.weight / total)) if total else 0.0
        give_back()  # some vectors as long as the data are wide lie in the way of the sketch's Gram matrix

    def _affine(self, block: Block) -> ColumnTransform:
        return PLAIN if self._affine_of_all is None else self._affine_of_all.of(block.columns)

    def _affine_from(self, stats: ColumnStats | None, columns: slice = slice(None)) -> ColumnTransform:
        def value(rule: str | Vector | None) -> Vector | None:
            if isinstance(rule, str):
                assert stats is not None
                return stats.mean if rule == "mean" else stats.scale
            return None if rule is None else rule[columns]

        centre, scale, fill = value(self._centre), value(self._scale), value(self._fill)
        with np.errstate(over="ignore"):  # products that overflow are refused
            factor = scale.copy() if isinstance(self._scale, np.ndarray) and scale is not None else scale
            if factor is not None:
                factor[factor == 0] = 1.0
                np.divide(1.0, factor, out=factor)
        return ColumnTransform(
            centre, factor, fill, far_columns(stats) if stats is not None and isinstance(self._centre, str) else None
        )

    def rows(self, index: Any) -> Any:
        """Return a view of some rows, standardised by the statistics of all of them."""
        affine = self.affine
        scale = None if affine.factor is None else 1.0 / affine.factor
        return Standardised(RowView(self._base, index), affine.centre, scale, affine.fill)

    def columns(self, index: Any) -> Any:
        """Return a view of some columns, standardised as they were."""
        affine, chosen = self.affine, column_numbers(index, self.shape[1])
        scale = None if affine.factor is None else 1.0 / affine.factor
        parts = (None if part is None else part[chosen] for part in (affine.centre, scale, affine.fill))
        return Standardised(ColumnView(self._base, chosen), *parts)

    def standardised(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: begin with the plain matrix."""
        raise InvalidParameterError(f"{self.name} is standardised already: standardise the matrix it was made from.")

    @property
    def feature_names(self) -> Sequence[str] | None:
        """Return the names of the columns."""
        return self._base.feature_names

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
        """Return chromosome, position and alleles of each column, where the data are genotypes that say so."""
        return self._base.variants

    @property
    def fingerprint(self) -> str:
        """Return a digest of the data and of how they are standardised."""
        rules = (self._centre, self._scale, self._fill, self._weight)
        texts = [rule.tobytes() if isinstance(rule, np.ndarray) else str(rule) for rule in rules]
        return digest("standardised", self._base.fingerprint, *texts)

    def _original_row(self, row: int) -> int:
        return self._base._original_row(row)

    def _original_column(self, column: int) -> int:
        return self._base._original_column(column)

    def require_unchanged(self) -> None:
        """Raise where the storage can tell that the data are not what they were."""
        self._base.require_unchanged()


def _rule(value: Any, name: str, words: tuple[str, ...], d: int, number: bool = False) -> str | Vector | None:
    if value is None or value is False:
        return None
    if isinstance(value, str):
        if value in words:
            return value
    else:
        array = np.asarray(value)
        if array.dtype.kind in "fiu":
            if number and array.ndim == 0:
                array = np.full(d, float(array))
            if array.shape == (d,) and np.isfinite(array).all():
                return np.ascontiguousarray(array, dtype=np.float64)
    choices = ", ".join([*(repr(word) for word in words), "None", *(["a number"] if number else [])])
    raise InvalidParameterError(
        f"must be {choices} or {d} finite numbers, one a column; got {value!r:.100}.", name, value
    )
