"""Sums over compressed sparse blocks that are large enough for several threads, and statistics of their columns.

Sums are compared with γ · Σ|terms|, which holds for any order of summation.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline.testing._moments import accumulation_error, require_close
from tests._kernels import flat
from tests.reference import blocks as reference

KINDS = ["sorted", "shuffled", "repeated", "one column", "few lines"]


def _block(kind, index_type=np.int32, dtype=np.float64, seed=0):
    """Return (indptr, indices, data, n_places) of a block with about 400,000 values."""
    rng = np.random.default_rng(seed)
    lines, places = (7, 90_000) if kind == "few lines" else (2500, 1100)
    counts = rng.integers(0, 2 * min(places, 400_000 // lines), lines)
    counts = np.minimum(counts, places)
    counts[[0, lines // 2]] = 0
    pointer = np.concatenate([[0], np.cumsum(counts)])
    if kind == "one column":  # all places are cut at one and the same
        index = np.zeros(pointer[-1], dtype=np.int64) + 17
    elif kind == "repeated":
        index = np.concatenate([np.sort(rng.integers(0, places, c)) for c in counts])
    else:
        index = np.concatenate([rng.permutation(places)[:c] for c in counts])
        if kind != "shuffled":
            index = np.concatenate([np.sort(part) for part in np.split(index, pointer[1:-1])])
    value = rng.standard_normal(pointer[-1]).astype(dtype)
    value[::50] = 0.0
    return pointer.astype(index_type), index.astype(index_type), value, places


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_scattered_sums_with_several_threads(kind, index_type):
    pointer, index, value, places = _block(kind, index_type, np.float32)
    rng = np.random.default_rng(1)
    for k in (2, 5):
        V, begin = rng.standard_normal((len(pointer) - 1, k)), rng.standard_normal((places, k))
        x = sp.csr_array((value.astype(np.float64), index, pointer), shape=(len(pointer) - 1, places), copy=True)
        expected = begin + x.T @ V
        size = np.abs(begin) + abs(x).T @ np.abs(V)
        terms = np.bincount(index, minlength=places).max() + 2
        for threads in (1, 2, 3, 7):
            got = begin.copy()
            flat.compressed_scatter(pointer, index, value, V, None, None, got, threads)
            require_close(got, expected, 2 * accumulation_error(terms, np.float64) * size, f"{kind}, {threads} threads")


@pytest.mark.parametrize("harm", ["index", "negative", "pointer"])
@pytest.mark.parametrize("threads", [1, 3])
def test_damage_is_found_by_every_thread(harm, threads):
    pointer, index, value, places = _block("sorted")
    line = 2000
    if harm == "pointer":
        pointer[line] = pointer[line + 1] + 4
    else:
        index[pointer[line + 1] - 1 if harm == "index" else pointer[line]] = places if harm == "index" else -1
    V = np.ones((len(pointer) - 1, 3))
    with pytest.raises(ValueError, match="damaged"):
        flat.compressed_scatter(pointer, index, value, V, None, None, np.zeros((places, 3)), threads)
    statistics = _statistics_arguments(places, None)
    with pytest.raises(ValueError, match="damaged"):
        flat.compressed_totals(pointer, index, value, True, len(pointer) - 1, *(None,) * 6, *statistics[:4], threads)


def _statistics_arguments(columns, weights):
    """Return sums, sums of the weights, zeros, absent, and mean with deviation."""
    of_weights = None if weights is None else np.zeros((columns, 3))
    counts = (np.zeros(columns, np.int64), np.zeros(columns, np.int64))
    return np.zeros((columns, 2)), of_weights, *counts, np.zeros((columns, 2))


@pytest.mark.parametrize("by_row", [True, False], ids=["csr", "csc"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", ["as stored", "standardised"])
@pytest.mark.parametrize("weighted", [False, True])
def test_statistics(by_row, kind, change, weighted):
    pointer, index, value, places = _block(kind)
    value[::31] = np.nan
    lines = len(pointer) - 1
    rows, columns = (lines, places) if by_row else (places, lines)
    rng = np.random.default_rng(2)
    weights = rng.random(rows) if weighted else None
    halves = (None, None) if weights is None else (np.round(weights, 2), weights - np.round(weights, 2))
    affine = [rng.standard_normal(columns) for _ in range(3)] if change == "standardised" else [None] * 3
    if change == "standardised":
        affine[2][::2] = np.nan  # what is missing stays so in every other column
    mean = rng.standard_normal(columns)
    parts = (pointer, index, value, by_row, rows)
    expected = reference.compressed_statistics(*parts, weights, *halves, *affine, mean)
    for threads in (1, 3):
        sums, of_weights, zeros, absent, around = _statistics_arguments(columns, weights)
        flat.compressed_totals(*parts, weights, *halves, *affine, sums, of_weights, zeros, absent, threads)
        around[:, 0] = mean
        flat.compressed_deviations(*parts, weights, *affine, around, threads)
        terms = int(expected.stored.max()) + 4
        error = 2 * accumulation_error(terms, np.float64)
        assert np.array_equal(sums[:, 1], expected.stored)
        assert np.array_equal(zeros, expected.zeros) and np.array_equal(absent, expected.absent)
        require_close(sums[:, 0], expected.total, error * expected.total_size, f"sums, {threads} threads")
        require_close(around[:, 1], expected.deviation, error * expected.deviation, f"deviations, {threads} threads")
        assert np.array_equal(around[:, 0], mean)
        if of_weights is not None:
            size = np.broadcast_to(error * expected.stored[:, None], of_weights.shape)  # none of them exceeds 1
            require_close(of_weights, expected.weights, size, f"weights, {threads} threads")


def test_statistics_that_do_not_fit_together_are_refused():
    pointer, index, value, places = _block("sorted")
    rows, three = len(pointer) - 1, np.zeros((places, 3))

    def totals(rows, weights=(None,) * 3, of_weights=None, spared=0):
        sums, _, zeros, absent, _ = _statistics_arguments(places, None)
        head = (pointer, index, value, True, rows)
        flat.compressed_totals(*head, *weights, *(None,) * 3, sums, of_weights, zeros[spared:], absent, 1)

    with pytest.raises(ValueError, match="indptr does not fit"):
        totals(rows + 1)
    with pytest.raises(ValueError, match="one entry a row"):
        totals(rows, (np.ones(rows + 1),) * 3, three)
    with pytest.raises(ValueError, match="coarse part"):
        totals(rows, (np.ones(rows), None, None), three)
    with pytest.raises(ValueError, match="zeros must have"):
        totals(rows, spared=1)
    with pytest.raises(ValueError, match="mean and deviation"):
        flat.compressed_deviations(pointer, index, value, True, rows, *(None,) * 4, three, 1)
