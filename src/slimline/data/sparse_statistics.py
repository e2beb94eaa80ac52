"""Statistics of the columns of sparse blocks: what is stored counts one by one, what is not by its weight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native, thread_count
from slimline.data.affine import Affine
from slimline.data.statistics import ColumnStats
from slimline.projections.blocks import require_sound

Floats = NDArray[np.float64]


def sparse_statistics(x: Any, affine: Affine, weights: Floats | None) -> ColumnStats:
    """Return the statistics of the columns of a CSR or CSC block, standardised, without writing it out."""
    require_sound(x)
    n, width = x.shape
    parts = (x.indptr, x.indices, x.data, x.format == "csr", n)
    changes = (affine.centre, affine.factor, affine.fill)
    coarse, rest = (None, None) if weights is None else _in_two(weights)
    of_weights = None if weights is None else np.zeros((width, 3))
    sums, zeros, absent = np.zeros((width, 2)), np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    _native.compressed_totals(*parts, weights, coarse, rest, *changes, sums, of_weights, zeros, absent, thread_count())
    total, not_stored = sums[:, 0].copy(), n - sums[:, 1]
    nonzeros = sums[:, 1].astype(np.int64)
    nonzeros -= zeros + absent
    if coarse is None or rest is None or weights is None or of_weights is None:
        weight, weight_of_zeros = n - absent.astype(np.float64), not_stored
    else:
        weight = weights.sum() - of_weights[:, 0]
        left = (coarse.sum() - of_weights[:, 1]) + (rest.sum() - of_weights[:, 2])
        weight_of_zeros = np.where(not_stored == 0, 0.0, np.maximum(left, 0.0))
    nothing = _what_is_not_stored(affine)
    if nothing is not None:
        total += weight_of_zeros * nothing
        nonzeros += np.where(nothing != 0, not_stored, 0.0).astype(np.int64)
    mean = np.divide(total, weight, out=np.zeros(width), where=weight > 0)
    sums[:, 0], sums[:, 1] = mean, 0.0
    _native.compressed_deviations(*parts, weights, *changes, sums, thread_count())
    with np.errstate(invalid="ignore", over="ignore"):  # who uses the statistics refuses what comes of it
        away = mean if nothing is None else nothing - mean
        deviation = sums[:, 1] + weight_of_zeros * away**2
    return ColumnStats(weight, total, mean, deviation, nonzeros, absent, n)


def _what_is_not_stored(affine: Affine) -> Floats | None:
    """Return what stands in each column where nothing is stored, or None for zeros."""
    if affine.centre is None:
        return None
    return -affine.centre if affine.factor is None else -affine.centre * affine.factor


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
