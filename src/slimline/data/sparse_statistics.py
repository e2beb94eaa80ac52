"""Sums over the columns of sparse blocks: what is stored counts one by one, what is not by its weight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.affine import Affine
from slimline.data.statistics import ColumnStats
from slimline.projections.blocks import require_sound

Floats = NDArray[np.float64]

#: Stored values that are looked at together: in float64, with their places and weights, they take ten times the room.
_PIECE_VALUES = 1 << 17


def sparse_statistics(x: Any, affine: Affine, weights: Floats | None) -> ColumnStats:
    """Return the statistics of the columns of a CSR or CSC block, standardised, without writing it out."""
    require_sound(x)
    n, width = x.shape
    row_weights = np.ones(n) if weights is None else weights
    nothing = np.zeros(width) if affine.centre is None else -affine.centre  # what stands where nothing is stored
    if affine.factor is not None:
        nothing = nothing * affine.factor
    stored, absent, nonzeros = (np.zeros(width, dtype=np.int64) for _ in range(3))
    total, lost, deviation = (np.zeros(width) for _ in range(3))
    parts = _in_two(row_weights)
    zeros = [np.full(width, part.sum()) for part in parts]
    for row, column, values in _pieces(x, affine):
        there = ~np.isnan(values)
        stored += np.bincount(column, minlength=width)
        absent += np.bincount(column[~there], minlength=width)
        nonzeros += np.bincount(column[there & (values != 0)], minlength=width)
        lost += sums_at(column[~there], row_weights[row[~there]], width)
        total += sums_at(column[there], (row_weights[row] * values)[there], width)
        for part, left in zip(parts, zeros, strict=True):
            left -= sums_at(column, part[row], width)
    weight = row_weights.sum() - lost
    weight_of_zeros = np.where(stored == n, 0.0, np.maximum(zeros[0] + zeros[1], 0.0))
    total += weight_of_zeros * nothing
    mean = np.divide(total, weight, out=np.zeros(width), where=weight > 0)
    with np.errstate(invalid="ignore"):  # inf - inf: who uses the statistics refuses what comes of it
        for row, column, values in _pieces(x, affine):
            squares = row_weights[row] * (values - mean[column]) ** 2
            there = ~np.isnan(values)
            deviation += sums_at(column[there], squares[there], width)
        deviation += weight_of_zeros * (nothing - mean) ** 2
    nonzeros += np.where(nothing != 0, n - stored, 0)
    return ColumnStats(weight, total, mean, deviation, nonzeros, absent, n)


def _pieces(x: Any, affine: Affine) -> Any:
    """Yield (rows, columns, standardised values) of what is stored, some at a time: they are wider than stored."""
    lines = len(x.indptr) - 1
    step = max(_PIECE_VALUES, *x.shape)
    for start in range(0, int(x.indptr[-1]), step):
        piece = slice(start, min(start + step, int(x.indptr[-1])))
        line = np.repeat(np.arange(lines), np.diff(np.clip(x.indptr, piece.start, piece.stop)))
        row, column = (line, x.indices[piece]) if x.format == "csr" else (x.indices[piece], line)
        values = x.data[piece].astype(np.float64)
        if affine.fill is not None:
            values = np.where(np.isnan(values), affine.fill[column], values)
        if affine.centre is not None:
            values -= affine.centre[column]
        if affine.factor is not None:
            values *= affine.factor[column]
        yield row, column, values


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
