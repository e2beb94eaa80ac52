"""Plain NumPy twins of the block kernels, with which the tests compare them.

A block is an array, or genotypes of two bits: then `x` holds the bytes of each variant and `samples` says how many
people there are. Missing values are NaN, the whole number `missing`, or the code 01; they count as `fill`, or as NaN
where there is none. Every value becomes (value - centre) * factor, column by column, before it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Maybe = Floats | None

_CALLS = np.array([2.0, np.nan, 1.0, 0.0])


def unpack_genotypes(x: NDArray[np.uint8], samples: int, out: NDArray[np.int8], threads: int = 1) -> None:
    """Write the copies of the first allele, -127 for a missing call."""
    calls = np.nan_to_num(_unpacked(x, samples), nan=-127.0)
    out[...] = calls.astype(np.int8)


def pick_genotypes(
    x: NDArray[np.uint8], samples: int, people: NDArray[np.int64], out: NDArray[np.uint8], threads: int = 1
) -> None:
    """Write the packed genotypes of some people."""
    codes = ((x[:, :, None] >> np.array([0, 2, 4, 6])) & 3).reshape(len(x), -1)[:, people]
    padded = np.zeros((len(x), 4 * out.shape[1]), dtype=np.uint8)
    padded[:, : len(people)] = codes
    out[...] = (padded.reshape(len(x), -1, 4) << np.array([0, 2, 4, 6])).sum(axis=2)


def widened(x: NDArray[Any], samples: int = 0, missing: int | None = None) -> Floats:
    """Return the values as float64, NaN where one is missing."""
    if samples:
        return _unpacked(x, samples)
    wide = x.astype(np.float64)
    if missing is not None:
        wide[x == missing] = np.nan
    return wide


def tile(
    x: NDArray[Any],
    samples: int,
    missing: int | None,
    centre: Maybe,
    factor: Maybe,
    fill: Maybe,
    out: NDArray[Any],
    threads: int = 1,
) -> None:
    """Write the standardised values."""
    values = widened(x, samples, missing)
    if fill is not None:
        values = np.where(np.isnan(values), fill, values)
    if centre is not None:
        values = values - centre
    out[...] = values if factor is None else values * factor


def dot(
    x: NDArray[Any],
    samples: int,
    missing: int | None,
    W: Floats,
    centre: Maybe,
    fill: Maybe,
    out: Floats,
    threads: int = 1,
) -> None:
    """Add X W to `out`."""
    out += _standardised(x, samples, missing, centre, None, fill) @ W


def tdot(
    x: NDArray[Any],
    samples: int,
    missing: int | None,
    A: Floats,
    centre: Maybe,
    fill: Maybe,
    out: Floats,
    threads: int = 1,
) -> None:
    """Add Xᵀ A to `out`."""
    out += _standardised(x, samples, missing, centre, None, fill).T @ A


def normal(
    x: NDArray[Any],
    samples: int,
    missing: int | None,
    A: Floats,
    centre: Maybe,
    factor: Maybe,
    fill: Maybe,
    W: Floats,
    out: Floats,
    threads: int = 1,
) -> None:
    """Write Xᵀ A to `W` and add X Xᵀ A to `out`; the block has all rows."""
    values = _standardised(x, samples, missing, centre, factor, fill)
    W[...] = values.T @ A
    out += values @ W


def squares(
    x: NDArray[Any],
    samples: int,
    missing: int | None,
    centre: Maybe,
    factor: Maybe,
    fill: Maybe,
    weight: Maybe,
    rows: Floats,
    columns: Floats,
    threads: int = 1,
) -> None:
    """Add the squares of each row to `rows`, and those of each column, times the weights of the rows, to `columns`."""
    values = _standardised(x, samples, missing, centre, factor, fill) ** 2
    rows += values.sum(axis=1)
    columns += values.sum(axis=0) if weight is None else weight @ values


def statistics(
    x: NDArray[Any],
    samples: int,
    missing: int | None,
    weights: Maybe,
    weight: Floats,
    mean: Floats,
    deviation: Floats,
    nonzeros: NDArray[np.int64],
    absent: NDArray[np.int64],
    threads: int = 1,
) -> None:
    """Write weight, mean, sum of squared deviations, non-zeros and missing values of each column."""
    values = widened(x, samples, missing)
    there = ~np.isnan(values)
    row_weights = np.ones(len(values)) if weights is None else weights
    weight[...] = row_weights @ there
    total = row_weights @ np.where(there, values, 0.0)
    mean[...] = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    deviation[...] = row_weights @ np.where(there, (values - mean) ** 2, 0.0)
    nonzeros[...] = np.count_nonzero(there & (values != 0), axis=0)
    absent[...] = np.count_nonzero(~there, axis=0)


def gather(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    V: Floats,
    line_fill: Maybe,
    index_fill: Maybe,
    out: Floats,
    threads: int = 1,
) -> None:
    """Add, for each line of a compressed block, the sum of value · V[index] to `out`; NaN counts as the fill."""
    lines, values = _lines(indptr, indices, data, line_fill, index_fill)
    np.add.at(out, lines, values[:, None] * V[indices])


def scatter(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    V: Floats,
    line_fill: Maybe,
    index_fill: Maybe,
    out: Floats,
    threads: int = 1,
) -> None:
    """Add value · V[line] to out[index], for every value of a compressed block; NaN counts as the fill."""
    lines, values = _lines(indptr, indices, data, line_fill, index_fill)
    np.add.at(out, indices, values[:, None] * V[lines])


@dataclass(frozen=True)
class CompressedStatistics:
    """Sums of the stored values of each column of a compressed block; `total_size` is the sum of |terms|."""

    stored: NDArray[np.int64]
    zeros: NDArray[np.int64]
    absent: NDArray[np.int64]
    total: Floats
    total_size: Floats
    weights: Floats
    deviation: Floats


def compressed_statistics(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    by_row: bool,
    rows: int,
    weights: Maybe,
    coarse: Maybe,
    rest: Maybe,
    centre: Maybe,
    factor: Maybe,
    fill: Maybe,
    mean: Floats,
) -> CompressedStatistics:
    """Return what `compressed_totals` and `compressed_deviations` add up, deviations being those from `mean`."""
    lines, values = _lines(indptr, indices, data, None, None)
    row, column = (lines, indices) if by_row else (indices, lines)
    if fill is not None:
        values = np.where(np.isnan(values), fill[column], values)
    if centre is not None:
        values = values - centre[column]
    if factor is not None:
        values = values * factor[column]
    there = ~np.isnan(values)
    weight = np.ones(rows) if weights is None else weights
    parts = [weight * 0 if part is None else part for part in (coarse, rest)]

    def count(chosen: Any) -> NDArray[np.int64]:
        return np.bincount(column[chosen], minlength=mean.size).astype(np.int64)

    def add_up(numbers: Floats, chosen: Any = slice(None)) -> Floats:
        return np.bincount(column[chosen], numbers[chosen], minlength=mean.size).astype(np.float64)

    terms = weight[row] * values
    return CompressedStatistics(
        stored=count(slice(None)),
        zeros=count(values == 0),
        absent=count(~there),
        total=add_up(terms, there),
        total_size=add_up(np.abs(terms), there),
        weights=np.stack([add_up(weight[row], ~there), *(add_up(part[row]) for part in parts)], axis=1),
        deviation=add_up(weight[row] * (values - mean[column]) ** 2, there),
    )


def _lines(indptr: Any, indices: Any, data: Any, line_fill: Maybe, index_fill: Maybe) -> tuple[Any, Floats]:
    lines = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    values = data.astype(np.float64)
    if line_fill is not None:
        values = np.where(np.isnan(values), line_fill[lines], values)
    if index_fill is not None:
        values = np.where(np.isnan(values), index_fill[indices], values)
    return lines, values


def _standardised(x: Any, samples: int, missing: int | None, centre: Maybe, factor: Maybe, fill: Maybe) -> Floats:
    shape = (samples, x.shape[0]) if samples else x.shape
    out = np.empty(shape)
    tile(x, samples, missing, centre, factor, fill, out)
    return out


def _unpacked(x: NDArray[np.uint8], samples: int) -> Floats:
    codes = np.stack([x >> np.uint8(shift) & np.uint8(3) for shift in (0, 2, 4, 6)], axis=2)
    return np.ascontiguousarray(_CALLS[codes.reshape(len(x), -1)[:, :samples]].T)
