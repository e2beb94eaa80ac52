"""Sums over blocks: what they lose is never more than as many additions in a row as `terms` says."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.data._blocks import PLAIN, Block
from slimline.data._products import BlockedSum
from slimline.data.formats import _dense as dense
from slimline.errors import SlimlineError
from tests.pairwise import pairwise


def test_whole_columns_are_summed_panel_by_panel(monkeypatch):
    monkeypatch.setattr(dense, "_LARGE_BYTES", 8 * 50 * 64)
    X = np.random.default_rng(0).standard_normal((50, 1000))
    matrix = open_matrix(X)
    *_, terms = matrix.normal(np.ones(50), return_terms=True)
    assert terms == 64 + 16  # columns of a panel, and panels


def test_rows_are_summed_as_they_are_long():
    X = np.random.default_rng(0).standard_normal((50, 1000))
    matrix = open_matrix(X)
    assert matrix.dot(np.ones(1000), return_terms=True)[1] >= 1000
    sparse = sp.random_array((50, 1000), density=0.01, format="csr", rng=0)
    matrix = open_matrix(sparse)
    assert matrix.dot(np.ones(1000), return_terms=True)[1] <= np.diff(sparse.indptr).max() + 1
    centred = matrix.standardised("mean", None)
    assert centred.dot(np.ones(1000), return_terms=True)[1] >= 1000  # what is subtracted is a sum over all columns


def test_a_view_of_rows_is_summed_panel_by_panel_too(monkeypatch):
    monkeypatch.setattr(dense, "_COPY_BYTES", 8 * 50 * 64)
    X = np.random.default_rng(0).standard_normal((50, 1000))
    view = open_matrix(X).rows([3, 1, 4])
    *_, terms = view.normal(np.ones(3), return_terms=True)
    assert terms == 64 + 16


def test_blocks_of_some_rows_and_some_columns_are_one_long_sum():
    X, out = np.ones((4, 6)), np.zeros((4, 1))
    sums = BlockedSum(out, 6)
    for columns in (slice(0, 4), slice(4, 6)):
        block = Block(slice(0, 2), columns, X[:2, columns])
        assert sums.of(block, PLAIN) is out
        sums.add(block)
    assert sums.terms == 6


def test_narrow_blocks_are_summed_together():
    n, d = 3, 100
    X, out = np.random.default_rng(0).standard_normal((n, d)), np.zeros((n, 1))
    sums = BlockedSum(out, d)
    added = []
    for column in range(d):
        block = Block(slice(0, n), slice(column, column + 1), X[:, column : column + 1])
        into = sums.of(block, PLAIN)
        assert into is not out
        into += X[:, column : column + 1]
        before = out.copy()
        sums.add(block)
        added.append(not np.array_equal(out, before))
    sums.finish()
    assert np.flatnonzero(added).tolist() == list(range(9, d, 10))  # ten of a hundred columns at a time
    assert sums.terms == 10 + 10
    np.testing.assert_allclose(out[:, 0], X.sum(axis=1), rtol=1e-13)


def test_an_unfinished_panel_is_kept_and_gone_on_with():
    n, d = 3, 100
    X = np.random.default_rng(0).standard_normal((n, d))

    def go(sums, columns):
        for column in columns:
            block = Block(slice(0, n), slice(column, column + 1), X[:, column : column + 1])
            sums.of(block, PLAIN).__iadd__(X[:, column : column + 1])
            sums.add(block)
        return sums

    whole = go(BlockedSum(np.zeros((n, 1)), d), range(d))
    cut = go(BlockedSum(np.zeros((n, 1)), d), range(47))
    again = BlockedSum(np.zeros((n, 1)), d)
    for name, values in again.arrays().items():
        values[...] = cut.arrays()[name]
    go(again, range(47, d))
    for sums in (whole, again):
        sums.finish()
    for name, values in whole.arrays().items():
        np.testing.assert_array_equal(values, again.arrays()[name])
    assert whole.terms == again.terms


def test_panels_that_overflow_together_are_refused(monkeypatch):
    monkeypatch.setattr(dense, "_LARGE_BYTES", 1)  # a column each
    matrix = open_matrix(np.full((2, 64), 1e307, order="F"))
    alternating = np.repeat([1.0, -1.0, 1.0, -1.0], 16)
    assert np.abs(matrix.dot(alternating)).max() < 1e294  # the sums of eight columns, and of sixteen, are finite
    with pytest.raises(SlimlineError, match="exceed the largest float64"):
        matrix.dot(np.ones(64))
    narrow = open_matrix(np.full((2, 64), 1e153, order="F"))
    assert np.isfinite(narrow.normal(np.ones(2))[0]).all()
    with pytest.raises(SlimlineError, match="exceed the largest float64"):
        narrow.normal(np.full(2, 5.0))


def test_cancelling_sums_are_within_the_bound():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 4096))
    w = rng.standard_normal(4096) * 10.0 ** rng.integers(-8, 8, 4096)
    matrix = open_matrix(X)
    exact = np.array(
        [float(sum(np.longdouble(a) * np.longdouble(b) for a, b in zip(row, w, strict=True))) for row in X]
    )
    product, terms = matrix.dot(w, return_terms=True)
    error = np.abs(product - exact)
    bound = (terms + 2) * 2.0**-53 * (np.abs(X) @ np.abs(w))
    assert np.all(error <= bound)


@pytest.mark.parametrize(
    "k, rows, dtype", pairwise([1, 3, 4, 5, 9], [1, 50], [np.float64, np.float32, np.float16, np.int16])
)
def test_long_rows_are_added_up_in_short_chains(k, rows, dtype):
    d = 50_000
    X = np.ones((rows, d), dtype=dtype)
    # What is added to a sum that holds the 1 is lost, one 2^-53 after the other; what is added elsewhere is not.
    w = np.full((d, k), 2.0**-53)
    matrix = open_matrix(X)
    worst = 0.0
    for place in (0, 1, 4095, 4096, d // 2, d - 1):
        w[place] = 1.0
        product, terms = matrix.dot(w, return_terms=True)
        lost = (1.0 - product) * 2.0**53 + (d - 1)
        w[place] = 2.0**-53
        worst = max(worst, lost.max())
    assert worst > 50  # the data do show chains
    assert worst <= terms < 3000


@pytest.mark.parametrize("k, rows, dtype", pairwise([1, 5], [1, 50, 9000], [np.float64, np.float32, np.int16]))
def test_columns_one_after_the_other_are_added_up_in_short_chains(k, rows, dtype):
    """In Fortran order, too, by places or by lines: as above, and `normal`, whose weights are sums of columns."""
    d = 20_000 if rows < 9000 else 5000
    X = np.ones((rows, d), dtype=dtype, order="F")
    matrix, worst = open_matrix(X), 0.0
    w = np.full((d, k), 2.0**-53)
    for place in (0, 31, 2047, 2048, d // 2, d - 1):
        w[place] = 1.0
        product, terms = matrix.dot(w, return_terms=True)
        lost = (1.0 - product) * 2.0**53 + (d - 1)
        w[place] = 2.0**-53
        worst = max(worst, lost.max())
    assert worst > 50  # the data do show chains
    assert worst <= terms < 2200
    matrix = open_matrix(X).standardised(None, 1 / np.where(np.arange(d) == 0, 1.0, 2.0**-27))
    _, product, terms = matrix.normal(np.full((rows, k), 1.0 / rows), return_terms=True)  # 1 + (d - 1) 2^-54
    assert np.all((1.0 - product) * 2.0**53 + (d - 1) / 2 <= terms + rows)
    assert terms < 2200


@pytest.mark.parametrize(
    "dtype, k, shape, spread",
    pairwise(
        [np.int8, np.uint8],
        [1, 3],
        [*((d, "C") for d in (2000, 1, 2, 8, 16, 30_000)), (1, "F"), (9, "F"), (2000, "F")],
        [0, 8, 50, 200],
    ),
)
def test_rows_of_bytes_lose_no_more_than_is_said(dtype, k, shape, spread):
    """Numbers of many sizes, and sums that all but cancel."""
    d, order = shape
    rng = np.random.default_rng(spread)
    n = 24
    X = rng.integers(0, 3, (n, d)).astype(dtype)
    missing = rng.random((n, d)) < 0.02
    X[missing] = 100
    X[:, 0] = 1
    whole = rng.integers(-(2**52), 2**52, (d, k))
    exponent = -rng.integers(0, spread + 1, (d, k))
    W = np.ldexp(whole.astype(np.float64), exponent)
    fill, centre = rng.integers(0, 200, d) / 64.0, rng.integers(0, 200, d) / 64.0
    # as Python's whole numbers, in units of 2^-(spread + 6)
    units = whole.astype(object) * (1 << (spread + exponent.astype(object)))
    values = X.astype(object) * 64
    for i, j in zip(*np.nonzero(missing & (np.arange(d) > 0)), strict=True):
        values[i, j] = int(fill[j] * 64)
    for view, subtracted in ((None, 0), (centre, (centre * 64).astype(int))):
        matrix = open_matrix(np.asarray(X, order=order), missing=100).standardised(view, None, fill)
        product, terms = matrix.dot(W, return_terms=True)
        exact = (values - np.asarray(subtracted).astype(object)) @ units
        sizes = (np.abs(values).astype(float) + np.abs(subtracted)) @ np.abs(units).astype(float)
        found = np.vectorize(lambda x: Fraction(x) * 2 ** (spread + 6), otypes=[object])(product)
        error = np.abs(found - exact).astype(float)
        assert d < 2000 or error.max() > 0
        assert np.all(error <= (terms + 2) * 2.0**-53 * sizes)
        assert terms < 20_000


@pytest.mark.slow
def test_a_tall_array_takes_two_passes_by_rows():
    X = np.random.default_rng(0).standard_normal((5000, 7))
    A = np.random.default_rng(1).standard_normal((5000, 2))
    for array, passes in ((X, 2), (np.asfortranarray(X), 1), (np.ascontiguousarray(X[:4096]), 1)):
        scaled = (array - array.mean(axis=0)) / array.std(axis=0)
        plain = open_matrix(array)
        for matrix, expected in ((plain, array), (plain.standardised("mean", "std"), scaled)):
            before = matrix.passes
            W, F = matrix.normal(A[: len(array)])
            assert matrix.passes - before == passes == matrix.normal_passes
            np.testing.assert_allclose(W, expected.T @ A[: len(array)], rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(F, expected @ W, rtol=1e-9, atol=1e-9)
    short_panels = open_matrix(X)
    assert short_panels.rows(np.arange(10)).normal_passes == 2
    before = short_panels.passes
    np.testing.assert_allclose(short_panels.gram(), X @ X.T, atol=1e-9)
    assert short_panels.passes - before == 1
