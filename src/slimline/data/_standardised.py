"""A matrix with each column centred and scaled, and missing values imputed: on the fly, never densifying."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import sample_weights
from slimline.data import _products as products
from slimline.data._blocks import PLAIN, Block, BlockRequest, ColumnTransform
from slimline.data._files import digest
from slimline.data._matrix import Matrix
from slimline.data._passes import Pass, give_back
from slimline.data._statistics import ColumnStats, RunningStats, far_columns, shifted
from slimline.data._views import ColumnView, RowView, View, column_numbers
from slimline.errors import InvalidParameterError

Vector = NDArray[np.float64]


class _Learned:
    """Transform that follows from the statistics of the columns, shared with copies that count other passes."""

    #: Transform of all columns, and mean squared norm of the rows if the statistics determine it.
    value: tuple[ColumnTransform, float | None] | None = None


class Standardised(View):
    """(X - centre) / scale, with missing values imputed before; `factor` multiplies each column once more."""

    def __init__(
        self,
        base: Matrix,
        centre: Any,
        scale: Any,
        fill: Any,
        sample_weight: Any = None,
        factor: Vector | None = None,
    ) -> None:
        super().__init__(base, base.shape)
        d = base.shape[1]
        self._centre = _rule(centre, "centre", ("mean",), d)
        self._scale = _rule(scale, "scale", ("std",), d, infinite=True)
        self._fill = _rule(fill, "fill", ("mean",), d, number=True)
        self._weight = sample_weights(sample_weight, base.shape[0])
        self._factor = factor
        self._learned = _Learned()
        if not any(isinstance(rule, str) for rule in (self._centre, self._scale, self._fill)):
            self._learned.value = self._transform_from(None), None

    @property
    def transform(self) -> ColumnTransform:
        """Return the transform of the columns; computes their statistics, in a pass, if they are not known."""
        if self._learned.value is None:
            self._learn(self.base.column_stats(self._weight))
        assert self._learned.value is not None
        return self._learned.value[0]

    @property
    def only_scales(self) -> bool:
        """Return whether columns are multiplied by known numbers, and nothing else is done to them."""
        return self._learned.value is not None and self.transform.centre is None and self.transform.fill is None

    @property
    def knows_mean_square(self) -> bool:
        """Return whether the statistics determine the mean squared norm of the rows."""
        return all(isinstance(rule, str) for rule in (self._centre, self._scale, self._fill))

    @property
    def mean_square(self) -> float:
        """Return the weighted mean of the squared norms of the rows: about the number of columns that vary."""
        if not self.knows_mean_square:
            raise RuntimeError("the statistics tell it only where they centre, scale and impute.")
        _ = self.transform  # computed now, if it has not been
        assert self._learned.value is not None
        return self._learned.value[1] or 0.0

    def _iterate(self, work: Pass) -> Iterator[tuple[Block, ColumnTransform]]:
        if work.operation == "column_stats" or self._weight is not None:
            work = replace(work, in_memory=True)
        if self._learned.value is None and self.whole_columns and work.operation != "column_stats":
            return self._measuring_pass(work)
        _ = self.transform  # computed now, if it has not been
        return super()._iterate(work)

    def _measuring_pass(self, work: Pass) -> Iterator[tuple[Block, ColumnTransform]]:
        """Yield whole columns, and compute the statistics of each on the way."""
        running = RunningStats(*self.shape)
        sums = work.sums
        if sums is not None:
            work = replace(work, sums=lambda: {**sums(), **running.arrays()})
        for block, _ in super()._iterate(replace(work, request=BlockRequest(whole_columns=True))):
            with self._beside_the_reader():
                part = products.statistics(block, PLAIN, None if self._weight is None else self._weight[block.rows])
            self._require_finite(part.deviation, slice(None), block, PLAIN, missing=False)
            running.add(block.columns, part)
            yield shifted(block, self._transform_from(part, block.columns))
        self._learn(self._sound(running.result()))

    def _learn(self, stats: ColumnStats) -> None:
        """Store the results of the statistics of all columns."""
        mean_square = None
        if self.knows_mean_square:
            total = self.shape[0] if self._weight is None else self._weight.sum()
            # missing values are imputed with the mean: after centring they are 0
            squares = stats.std
            squares /= stats.scale
            if self._factor is not None:
                squares *= self._factor
            squares *= squares
            mean_square = float(squares @ (stats.weight / total)) if total else 0.0
        self._learned.value = self._transform_from(stats), mean_square
        give_back()  # freed vectors with one entry a column fragment memory that the Gram matrix needs

    def _transform(self, block: Block) -> ColumnTransform:
        return PLAIN if self._learned.value is None else self._learned.value[0].of(block.columns)

    def _transform_from(self, stats: ColumnStats | None, columns: slice = slice(None)) -> ColumnTransform:
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
        if self._factor is not None:
            own = self._factor[columns]
            factor = own if factor is None else factor * own
        return ColumnTransform(
            centre, factor, fill, far_columns(stats) if stats is not None and isinstance(self._centre, str) else None
        )

    def rows(self, index: Any) -> Any:
        """Return a view of some rows, standardised by the statistics of all of them."""
        return standardised_with(RowView(self.base, index), self.transform)

    def columns(self, index: Any) -> Any:
        """Return a view of some columns, standardised as they were."""
        chosen = column_numbers(index, self.shape[1])
        return standardised_with(ColumnView(self.base, chosen), self.transform.of(chosen))

    def standardised(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: begin with the plain matrix."""
        raise InvalidParameterError(f"{self.name} is standardised already: standardise the matrix it was made from.")

    @property
    def fingerprint(self) -> str:
        """Return a digest of the data and of how they are standardised."""
        rules = [self._centre, self._scale, self._fill, self._weight]
        rules += [] if self._factor is None else [self._factor]
        texts = [rule.tobytes() if isinstance(rule, np.ndarray) else str(rule) for rule in rules]
        return digest("standardised", self.base.fingerprint, *texts)


def standardised_with(base: Matrix, transform: ColumnTransform) -> Standardised:
    """Return a view with the transform of another matrix."""
    return Standardised(base, transform.centre, scale_of(transform.factor), transform.fill)


def scale_of(factor: Vector | None) -> Vector | None:
    """Return the scale of a factor, infinite where the factor is 0."""
    with np.errstate(divide="ignore"):
        return None if factor is None else 1.0 / factor


def _rule(
    value: Any, name: str, words: tuple[str, ...], d: int, *, number: bool = False, infinite: bool = False
) -> str | Vector | None:
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
            if array.shape == (d,) and (~np.isnan(array) if infinite else np.isfinite(array)).all():
                return np.ascontiguousarray(array, dtype=np.float64)
    choices = ", ".join([*(repr(word) for word in words), "None", *(["a number"] if number else [])])
    raise InvalidParameterError(
        f"must be {choices} or {d} finite numbers, one a column; got {value!r:.100}.", name, value
    )
