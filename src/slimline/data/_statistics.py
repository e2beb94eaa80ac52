"""Statistics of columns, and checks that all values are finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.layout import require_sound
from slimline._kernels import _native, thread_count
from slimline.data._blocks import MISSING_CALL, Block, ColumnTransform, PackedGenotypes
from slimline.errors import NonFiniteError

if TYPE_CHECKING:
    from slimline.data._matrix import Matrix

Place = tuple[int, int]

#: Values that are compared at a time.
_PIECE = 1 << 20


def require_finite(matrix: Matrix, block: Block, transform: ColumnTransform, *, missing: bool = True) -> None:
    """Raise with row and column of the first value that is infinite, or missing with nothing to impute it."""
    infinite, absent = _first_places(block)
    if infinite is not None:
        _refuse(matrix, block, infinite, "is infinite: correct it, or leave the row out")
    if missing and transform.fill is None and absent is not None:
        _refuse(
            matrix,
            block,
            absent,
            "is missing (NaN, or no call)",
            "Impute it first, for instance with open_matrix(X).standardised(centre=None, scale=None, fill='mean').",
            "fill",
        )


def refuse_overflow(matrix: Matrix, dtype: Any) -> NoReturn:
    """Raise because a sum of finite values is not finite."""
    raise NonFiniteError(
        f"{matrix.name}: sums of its values, or of their squares, exceed the largest {dtype}: bring the columns to a "
        "common scale."
    )


def missing_at_all(block: Block) -> bool:
    """Return whether a block of whole numbers has a missing value; NaN shows in the sums."""
    return block.missing is not None and _any_equal(block.values, block.missing)


def _any_equal(values: NDArray[np.generic], number: int) -> bool:
    """Return whether a number is among the values, in little memory."""
    if values.dtype in (np.int8, np.uint8):
        return _native.holds_byte(values, number, thread_count())
    return any(bool((piece == number).any()) for _, _, piece in _pieces(_lines(values)))


def _lines(values: NDArray[Any]) -> NDArray[Any]:
    """Return rows that are contiguous in memory: the values or their transpose."""
    return values if abs(values.strides[0]) >= abs(values.strides[1]) else values.T


def _pieces(lines: NDArray[Any]) -> Iterator[tuple[int, int, NDArray[Any]]]:
    """Yield first line, first place and values of pieces of no more than so many values."""
    height = max(1, _PIECE // max(lines.shape[1], 1))
    for line, place in product(range(0, lines.shape[0], height), range(0, lines.shape[1], _PIECE)):
        yield line, place, lines[line : line + height, place : place + _PIECE]


def all_finite(sums: NDArray[Any]) -> bool:
    """Return whether all sums are finite, without a mask of their size."""
    if sums.flags.c_contiguous or sums.flags.f_contiguous:
        return _native.all_finite(sums.reshape(-1, order="A"), thread_count())
    return bool(np.isfinite(sums).all())


def _first_places(block: Block) -> tuple[Place | None, Place | None]:
    """Return row and column, within the block, of an infinite value and of a missing one, if there are such."""
    values, sentinel = block.values, block.missing
    if isinstance(values, PackedGenotypes):
        values, sentinel = values.unpack("F"), MISSING_CALL
    if sp.issparse(values):
        stored = values.tocoo()  # type: ignore[attr-defined]
        infinite, absent = _first_in(stored.data, sentinel)
        row, column = stored.coords

        def place(at: int | None) -> Place | None:
            return None if at is None else (int(row[at]), int(column[at]))

        return place(infinite), place(absent)
    lines = _lines(values)
    found: list[Place | None] = [None, None]
    for first_line, first_place, piece in _pieces(lines):
        for kind, at in enumerate(_first_in(piece, sentinel)):
            if at is not None and found[kind] is None:
                line, along = divmod(at, piece.shape[1])
                here = (first_line + line, first_place + along)
                found[kind] = here if lines is values else here[::-1]
        if found[0] is not None:
            break
    return found[0], found[1]


def _first_in(data: NDArray[Any], sentinel: int | None) -> tuple[int | None, int | None]:
    """Return where the first infinite and the first missing number is, counted through all of them."""
    absent = np.zeros(data.shape, dtype=bool) if sentinel is None else data == sentinel
    if data.dtype.kind != "f":
        return None, _first(absent)
    return _first(np.isinf(data)), _first(absent | np.isnan(data))


def _first(mask: NDArray[np.bool_]) -> int | None:
    at = int(mask.argmax()) if mask.size else 0
    return at if mask.size and mask.ravel()[at] else None


def _refuse(
    matrix: Matrix, block: Block, place: Place, what: str, remedy: str = "", parameter: str | None = None
) -> NoReturn:
    row, column = place
    row = block.rows.start + row if isinstance(block.rows, slice) else int(block.rows[row])
    column += block.columns.start
    names, ids = matrix.feature_names, matrix.sample_ids
    where = f"row {matrix._original_row(row):,}" + ("" if ids is None else f" ({ids[row]})")
    where += f", column {matrix._original_column(column):,}" + ("" if names is None else f" ({names[column]})")
    raise NonFiniteError(f"{matrix.name}: the value in {where}, counted from 0, {what}.", remedy, parameter)


#: Means of so many standard deviations: below, subtracting sums costs three bits at most.
_FAR = 8.0


def far_columns(stats: ColumnStats) -> NDArray[np.bool_]:
    """Return which columns have a mean so far above their spread that subtracting sums would cancel."""
    spread = stats.std
    spread *= _FAR
    return np.asarray(np.abs(stats.mean) > spread)


def shifted(block: Block, transform: ColumnTransform) -> tuple[Block, ColumnTransform]:
    """Return an equal block whose far columns are centred entry by entry, and the transform that is left.

    Such a column is stored nearly everywhere, so writing out all of it is no more than doubling it.
    """
    x: Any = block.values
    if transform.centre is None or not sp.issparse(block.values) or x.shape[0] == 0:
        return block, transform
    far = transform.far
    if far is None:
        require_sound(x)
        far = 2 * _stored(x) > x.shape[0]
        if transform.factor is not None:
            far &= np.abs(transform.centre * transform.factor) > _FAR
    far = far & (transform.centre != 0)
    if not far.any():
        return block, transform
    require_sound(x)
    left = ColumnTransform(np.where(far, 0.0, transform.centre), transform.factor, transform.fill, transform.far)
    return Block(block.rows, block.columns, _written_out(x, np.flatnonzero(far), transform), block.missing), left


def _stored(x: Any) -> NDArray[Any]:
    return np.asarray(np.diff(x.indptr) if x.format == "csc" else np.bincount(x.indices, minlength=x.shape[1]))


def _written_out(x: Any, columns: NDArray[np.intp], transform: ColumnTransform) -> sp.csr_array:
    n, width = x.shape
    entries = x.tocoo()
    row, column = entries.coords
    place = np.full(width, -1)
    place[columns] = np.arange(columns.size)
    inside = place[column] >= 0
    whole = np.zeros((n, columns.size))
    whole[row[inside], place[column[inside]]] = entries.data[inside]
    if transform.fill is not None:
        whole = np.where(np.isnan(whole), transform.fill[columns], whole)
    assert transform.centre is not None
    whole -= transform.centre[columns]
    rows = np.concatenate([row[~inside], np.repeat(np.arange(n), columns.size)])
    places = np.concatenate([column[~inside], np.tile(columns, n)])
    values = np.concatenate([entries.data[~inside].astype(np.float64), whole.ravel()])
    return sp.csr_array((values, (rows, places)), shape=x.shape)


Floats = NDArray[np.float64]


def sparse_statistics(x: Any, transform: ColumnTransform, weights: Floats | None) -> ColumnStats:
    """Return the statistics of the columns of a CSR or CSC block, standardised, without writing it out."""
    require_sound(x)
    n, width = x.shape
    parts = (_native.Compressed(x.indptr, x.indices, x.data), x.format == "csr", n, transform.native)
    coarse, rest = (None, None) if weights is None else _in_two(weights)
    of_weights = None if weights is None else np.zeros((width, 3))
    sums, zeros, absent = np.zeros((width, 2)), np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    totals = _native.Totals(sums, of_weights, zeros, absent)
    _native.compressed_totals(*parts, _native.RowWeights(weights, coarse, rest), totals, thread_count())
    total, not_stored = sums[:, 0].copy(), n - sums[:, 1]
    nonzeros = sums[:, 1].astype(np.int64)
    nonzeros -= zeros + absent
    if coarse is None or rest is None or weights is None or of_weights is None:
        weight, weight_of_zeros = n - absent.astype(np.float64), not_stored
    else:
        weight = weights.sum() - of_weights[:, 0]
        left = (coarse.sum() - of_weights[:, 1]) + (rest.sum() - of_weights[:, 2])
        weight_of_zeros = np.where(not_stored == 0, 0.0, np.maximum(left, 0.0))
    nothing = _what_is_not_stored(transform)
    if nothing is not None:
        total += weight_of_zeros * nothing
        nonzeros += np.where(nothing != 0, not_stored, 0.0).astype(np.int64)
    mean = np.divide(total, weight, out=np.zeros(width), where=weight > 0)
    sums[:, 0], sums[:, 1] = mean, 0.0
    _native.compressed_deviations(*parts, weights, sums, thread_count())
    with np.errstate(invalid="ignore", over="ignore"):  # who uses the statistics refuses what comes of it
        away = mean if nothing is None else nothing - mean
        deviation = sums[:, 1] + weight_of_zeros * away**2
    return ColumnStats(weight, total, mean, deviation, nonzeros, absent, n)


def _what_is_not_stored(transform: ColumnTransform) -> Floats | None:
    """Return the transformed value of each column where nothing is stored; None: zeros."""
    if transform.centre is None:
        return None
    return -transform.centre if transform.factor is None else -transform.centre * transform.factor


def _in_two(weights: Floats) -> tuple[Floats, Floats]:
    """Return a coarse part of the weights whose sums are exact in float64, and the small rest.

    All weights less those of stored values are those of the zeros: with rounded sums the difference would be off by
    something of the size of all, which counts where few or none are zero and the mean is large.
    """
    limits = np.finfo(np.float64)
    largest = min(max(len(weights) * float(weights.max(initial=0.0)), float(limits.tiny)), float(limits.max))
    unit = 2.0 ** (np.ceil(np.log2(largest)) - 52)
    coarse = np.round(weights / unit) * unit
    return coarse, weights - coarse


def sums_at(places: Any, values: Floats, size: int) -> Floats:
    """Return the sums of the values that belong to each of so many places."""
    # whole numbers come back where there is nothing to add
    return np.bincount(places, values, minlength=size).astype(np.float64, copy=False)


Vector = NDArray[np.float64]
#: Columns that are processed together, so that intermediate vectors stay short.
_AT_A_TIME = 1 << 16


@dataclass(frozen=True)
class ColumnStats:
    """Statistics of each column; missing values enter their own count only.

    Parameters
    ----------
    weight : array of shape (d,)
        Sum of the sample weights of the values that are present (their number, without weights).
    sum : array of shape (d,)
        Weighted sum.
    mean : array of shape (d,)
        Weighted mean; 0 for a column without a value.
    deviation : array of shape (d,)
        Weighted sum of squared deviations from the mean.
    nonzeros : array of shape (d,), int64
        Number of values that are present and differ from 0.
    missing : array of shape (d,), int64
        Number of values that are missing.
    n_samples : int
        Number of rows.
    """

    weight: Vector
    sum: Vector
    mean: Vector
    deviation: Vector
    nonzeros: NDArray[np.int64]
    missing: NDArray[np.int64]
    n_samples: int

    @property
    def variance(self) -> Vector:
        """Return the weighted mean of the squared deviations (0 where a column has no value)."""
        return np.divide(self.deviation, self.weight, out=np.zeros_like(self.deviation), where=self.weight > 0)

    @property
    def std(self) -> Vector:
        """Return the standard deviation of each column."""
        variance = self.variance
        return np.sqrt(variance, out=variance)

    @property
    def scale(self) -> Vector:
        """Return the standard deviation, and 1 where a column is constant up to rounding."""
        scale = self.std
        for start in range(0, len(scale), _AT_A_TIME):
            some = slice(start, start + _AT_A_TIME)
            std, mean = scale[some], self.mean[some]
            # what adding up so many values can lose; their weights do not matter, which may be of any size
            lost = (self.n_samples - self.missing[some]) * float(np.finfo(np.float64).eps)
            noise = np.hypot(np.sqrt(lost) * std, lost * mean)  # no squares: they overflow
            std[std <= noise] = 1.0
        return scale

    @property
    def sum_of_squares(self) -> Vector:
        """Return the weighted sum of the squared values."""
        return np.asarray(self.deviation + self.sum * self.mean)


class RunningStats:
    """Statistics of the rows seen so far, for every column."""

    def __init__(self, n_samples: int, n_features: int) -> None:
        self._n_samples = n_samples
        self._weight = np.zeros(n_features)
        self._mean = np.zeros(n_features)
        self._deviation = np.zeros(n_features)
        self._nonzeros = np.zeros(n_features, dtype=np.int64)
        self._missing = np.zeros(n_features, dtype=np.int64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that are added to."""
        return {
            "weight": self._weight,
            "mean": self._mean,
            "deviation": self._deviation,
            "nonzeros": self._nonzeros,
            "missing": self._missing,
        }

    def add(self, columns: slice, part: ColumnStats) -> None:
        """Add the statistics of further rows of some columns (Chan, Golub and LeVeque 1983: two means merged)."""
        seen = (self._weight, self._nonzeros, self._missing)
        if len(part.mean) == len(self._mean) and not any(numbers.any() for numbers in seen):  # nothing to merge with
            self._weight, self._mean, self._deviation = part.weight, part.mean, part.deviation
            self._nonzeros, self._missing = part.nonzeros, part.missing
            return
        weight, mean = self._weight[columns], self._mean[columns].copy()
        total = weight + part.weight
        share = np.divide(part.weight, total, out=np.zeros_like(total), where=total > 0)
        step = np.where(weight > 0, part.mean - mean, 0.0)  # nothing to merge with at first, and step² may overflow
        with np.errstate(over="ignore"):  # shows as an infinite deviation
            self._deviation[columns] += part.deviation + step * step * weight * share
        self._mean[columns] = np.where(weight > 0, mean, part.mean)
        self._mean[columns] += step * share
        self._weight[columns] = total
        self._nonzeros[columns] += part.nonzeros
        self._missing[columns] += part.missing

    def result(self) -> ColumnStats:
        """Return the statistics of all rows that were added."""
        total = self._mean * self._weight
        return ColumnStats(
            self._weight, total, self._mean, self._deviation, self._nonzeros, self._missing, self._n_samples
        )
