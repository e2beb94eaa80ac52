"""The same margin and ball from every storage of the same values."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.geometry import enclosing_ball, margin
from tests.geometry.checks import MARGINS
from tests.geometry.exact import clarabel_margin, coordinates
from tests.learning.real_sets import as_dense, filled, real_set, some_rows

N, D = 24, 40


def values(dtype):
    """Return numbers that the type holds exactly, classes apart, a constant and an empty column."""
    rng = np.random.default_rng(3)
    y = np.arange(N) % 2
    X = rng.integers(0, 2, (N, D)) if dtype == "bool" else rng.integers(0, 6, (N, D))
    if np.dtype(dtype).kind in "if":
        X = X - 3
    X[:, 0], X[:, 1] = 1, 0
    return X.astype(dtype), y


def measured(X, y):
    found = [margin(X, y, normalised=normalised, intercept=intercept) for normalised, intercept in MARGINS]
    assert all(one.separable and one.relative_gap <= 1e-8 for one in found)
    ball = enclosing_ball(X)
    assert ball.relative_gap <= 1e-8
    return np.array([*(one.value for one in found), ball.value])


def assert_same(mine, X, y):
    # two brackets of width 1e-8 that hold the same number
    np.testing.assert_allclose(mine, measured(np.asarray(X, dtype=np.float64), y), rtol=2e-8)


TYPES = ["float64", "float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "bool"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_types(dtype, order):
    X, y = values(dtype)
    assert_same(measured(np.asarray(X, order=order), y), X, y)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint8", "int16"])
@pytest.mark.parametrize("storage", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_sparse_types(dtype, storage):
    X, y = values(dtype)
    assert_same(measured(storage(X), y), X, y)


def test_views_and_files(tmp_path):
    X, y = values("float64")
    np.save(tmp_path / "x.npy", X)
    assert_same(measured(tmp_path / "x.npy", y), X, y)
    assert_same(measured(str(tmp_path / "x.npy"), y), X, y)
    assert_same(measured(np.load(tmp_path / "x.npy", mmap_mode="r"), y), X, y)
    fixed = X.copy()
    fixed.flags.writeable = False
    assert_same(measured(fixed, y), X, y)
    assert_same(measured(pd.DataFrame(X), pd.Series(y)), X, y)
    assert_same(measured(np.repeat(X, 2, axis=0)[::2], y), X, y)
    assert_same(measured(np.repeat(X, 2, axis=1)[:, ::2], y), X, y)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, sp.csc_array])
def test_row_views(storage):
    X, y = values("float64")
    rows = np.random.default_rng(1).permutation(N)[:15]
    assert_same(measured(open_matrix(storage(X)).rows(rows), y[rows]), X[rows], y[rows])


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, sp.csc_array])
def test_standardised_views(storage):
    X, y = values("float64")
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    assert_same(measured(open_matrix(storage(X)).standardised(), y), Z, y)


@pytest.mark.data
def test_genotypes(data_dir):
    X, y = real_set(data_dir, "hapmap3")
    rows = some_rows(y, 60)
    dense = filled(as_dense(data_dir, "hapmap3", rows))
    part = X.rows(rows).standardised(None, None, "mean")
    Z, labels = coordinates(dense), y[rows]
    norms = np.linalg.norm(Z, axis=1)[:, None]
    for normalised, intercept in MARGINS:
        found = margin(part, labels, normalised=normalised, intercept=intercept)
        theirs = clarabel_margin(Z / norms if normalised else Z, labels, intercept)
        assert found.separable and found.value == pytest.approx(theirs, rel=1e-8)
    assert enclosing_ball(part).value == pytest.approx(enclosing_ball(Z).value, rel=2e-8)
