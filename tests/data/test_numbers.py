"""Numbers that are hard to add up: large means, odd scales, weights of any size, and data too wide to write out."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.data._gram import mirrored
from slimline.data._standardised import Standardised
from slimline.errors import InvalidParameterError
from slimline.projections import Gaussian, HashEmbedding, RandomSign, SubsampledHadamard
from slimline.testing import block_bytes
from tests.pairwise import pairwise

MAKE = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array]


def _exact_std(column, weight=None):
    """The standard deviation in exact arithmetic, rounded once at the end."""
    values = [Fraction(float(v)) for v in column]
    weights = [Fraction(1)] * len(values) if weight is None else [Fraction(float(w)) for w in weight]
    total = sum(weights)
    mean = sum(w * v for w, v in zip(weights, values, strict=True)) / total
    return float(mean), float(sum(w * (v - mean) ** 2 for w, v in zip(weights, values, strict=True)) / total) ** 0.5


@pytest.mark.parametrize("make, block, factor", pairwise(MAKE, [400, 1 << 23], [None, 1.0, 1e-80, 1e80]))
def test_a_mean_far_above_the_deviation(make, block, factor):
    rng = np.random.default_rng(0)
    X = 1e8 + rng.standard_normal((300, 20))
    X[:, 1] = 0.1  # constant, and no binary fraction
    X[:, 2] = 1e8 + 0.1
    X[:, 3] = X[:, 0] * 1e-100
    X[:, 4] = 0.0
    X[7, 5] = 0.0  # one zero among large values
    weight = None if factor is None else rng.random(300) * factor
    if weight is not None:
        weight[7] = 0.0  # which does not count
    with block_bytes(block):
        stats = open_matrix(make(X)).column_stats(weight)
    for j in (0, 3, 5, 6):
        mean, std = _exact_std(X[:, j], weight)
        # mean: n roundings of its size; deviation: what the mean is off, squared, is far below
        assert abs(stats.mean[j] - mean) <= 600 * 2.3e-16 * abs(mean)
        assert abs(stats.std[j] / std - 1) <= 1e-6, (j, stats.std[j], std)
        assert stats.scale[j] == stats.std[j]
    assert np.array_equal(stats.scale[[1, 2, 4]], np.ones(3))
    assert np.array_equal(stats.nonzeros[[0, 4, 5]], [300, 0, 299])


@pytest.mark.parametrize("make", MAKE)
def test_weights_are_repetitions(make):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 30)) * (rng.random((40, 30)) < 0.5)
    repeats = rng.integers(0, 4, 40)
    one = open_matrix(make(X)).column_stats(repeats)
    two = open_matrix(make(np.repeat(X, repeats, axis=0))).column_stats()
    for name in ("weight", "sum", "mean", "std", "scale", "sum_of_squares"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("make", MAKE)
def test_columns_of_very_different_sizes(make):
    rng = np.random.default_rng(2)
    scale = 10.0 ** np.linspace(-140, 140, 30)
    base = rng.standard_normal((50, 30))
    view = open_matrix(make(base * scale)).standardised()
    plain = (base - base.mean(axis=0)) / base.std(axis=0)
    np.testing.assert_allclose(view.dot(np.eye(30)), plain, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(view.gram(), plain @ plain.T, rtol=0, atol=1e-11)


@pytest.mark.parametrize("make", MAKE)
def test_all_missing_and_one_value(make):
    X = np.full((5, 20), np.nan)
    X[:, 0] = [1.0, 2.0, np.nan, 4.0, 5.0]
    X[2, 1] = 3.0
    matrix = open_matrix(make(X))
    stats = matrix.column_stats()
    assert np.array_equal(stats.missing[:3], [1, 4, 5]) and np.array_equal(stats.mean[:3], [3.0, 3.0, 0.0])
    assert np.array_equal(stats.scale[1:3], [1.0, 1.0])
    filled = matrix.standardised(fill="mean").dot(np.eye(20))
    assert np.array_equal(filled[:, 1:], np.zeros((5, 19)))  # what nothing is known of says nothing


def test_many_right_hand_sides():
    rng = np.random.default_rng(3)
    X, W = rng.standard_normal((7, 5)), rng.standard_normal((5, 3001))
    for make in MAKE:
        matrix = open_matrix(make(X))
        np.testing.assert_allclose(matrix.dot(W), X @ W, rtol=0, atol=1e-13)
        assert matrix.dot(W[:, :0]).shape == (7, 0) and matrix.tdot(np.ones((7, 0))).shape == (5, 0)


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 700])
@pytest.mark.parametrize("order", ["C", "F"])
def test_mirrored_is_symmetric(size, order):
    full = np.random.default_rng(0).standard_normal((size, size))
    lower = np.array(np.tril(full), order=order)
    expected = np.tril(full) + np.tril(full, -1).T
    got = mirrored(lower)
    assert np.array_equal(got, expected) and got.flags.c_contiguous


def test_given_rules_are_looked_at():
    matrix = open_matrix(np.ones((3, 2)))
    for bad in (
        {"centre": "std"},
        {"scale": [1.0, np.nan]},
        {"fill": "median"},
        {"centre": np.ones(3)},
        {"scale": 2.0},
    ):
        with pytest.raises(InvalidParameterError):
            matrix.standardised(**bad)
    with pytest.raises(InvalidParameterError, match="already"):
        matrix.standardised().standardised()
    for bad in ([3], [-4], [0.5], np.ones((1, 1), int), [True, False]):
        with pytest.raises(InvalidParameterError):
            matrix.rows(bad)


@pytest.mark.parametrize("make", MAKE)
def test_an_infinite_scale_makes_a_column_0(make):
    X = np.random.default_rng(0).integers(-2, 3, (6, 4)).astype(float)
    view = open_matrix(make(X)).standardised(None, np.array([2.0, np.inf, 1.0, np.inf]))
    np.testing.assert_array_equal(view.dot(np.eye(4)), X * [0.5, 0.0, 1.0, 0.0])
    np.testing.assert_array_equal(view.rows([1, 2]).dot(np.eye(4)), (X * [0.5, 0.0, 1.0, 0.0])[1:3])


@pytest.mark.parametrize("make", MAKE)
def test_factors_multiply_standardised_columns(make):
    X = np.random.default_rng(0).integers(-2, 3, (30, 4)) * 1.0
    s, factor = np.random.default_rng(1).uniform(0.5, 2.0, 30), np.array([2.0, 0.0, 1.0, 1e-3])
    view = Standardised(open_matrix(make(X)), "mean", "std", "mean", s, factor)
    mean = np.average(X, axis=0, weights=s)
    expected = (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=s)) * factor
    np.testing.assert_allclose(view.dot(np.eye(4)), expected, atol=1e-14)
    assert view.mean_square == pytest.approx(np.average((expected**2).sum(axis=1), weights=s))
    plain = Standardised(open_matrix(make(X)), "mean", "std", "mean", s)
    assert view.fingerprint != plain.fingerprint


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_standardising_wide_sparse_data_never_writes_them_out(format):
    """20,000 × 1,000,000, dense 160 GB: a pass takes a few vectors of 8 MB and some of the stored values."""
    n, d, per = 20_000, 1_000_000, 20
    rng = np.random.default_rng(0)
    indices = (rng.integers(0, d // per, (n, per)) + np.arange(per) * (d // per)).astype(np.int32).ravel()
    X = sp.csr_array(
        (rng.random(n * per, dtype=np.float32), indices, np.arange(n + 1, dtype=np.int32) * per), shape=(n, d)
    )
    X = X.asformat(format)
    matrix = open_matrix(X)
    w, a = rng.standard_normal(d), rng.standard_normal(n)
    view = matrix.standardised()
    passes = {
        "stats": view.column_stats,
        "dot": lambda: view.dot(w),
        "tdot": lambda: view.tdot(a),
        "norms": view.row_norms,
        **{
            projection.family: lambda projection=projection: view.sketch(projection)
            for projection in (
                HashEmbedding(d, 16, 0),
                SubsampledHadamard(d, 16, 0),
                RandomSign(d, 4, 0),
                Gaussian(d, 4, 0),
            )
        },
    }
    results = {}
    for name, run in passes.items():
        tracemalloc.start()
        results[name] = run()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 300 << 20, (name, peak >> 20)
    mean = np.asarray(X.sum(axis=0)).ravel() / n
    std = matrix.column_stats().scale
    expected = X @ (w / std) - mean @ (w / std)
    # some 1e6 terms of size |w| mean / std
    np.testing.assert_allclose(results["dot"], expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    crossed = (X.T @ a - mean * a.sum()) / std
    np.testing.assert_allclose(results["tdot"], crossed, rtol=0, atol=1e-9 * np.abs(crossed).max())
