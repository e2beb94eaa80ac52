"""Columns that are nearly the same as those of the largest weights."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.report._leading import NEARLY_THE_SAME, n_looked_at, near_duplicates


def _data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 40)) + 3.0
    X[:, 7] = 2.0 * X[:, 3] + 0.1 * rng.standard_normal(80)
    X[:, 30] = 5.0 - X[:, 3] + 0.3 * rng.standard_normal(80)
    X[:, 11] = X[:, 3]
    X[:, 12] = 4.0  # constant
    return X


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("standardise", [False, True])
def test_the_same_as_numpy_finds(storage, standardise):
    X = _data()
    matrix = open_matrix(storage(X))
    deviation = None if standardise else matrix.column_stats().std
    seen = matrix.standardised("mean", "std") if standardise else matrix
    columns = np.array([30, 3, 12, 5])
    values = seen.columns(np.sort(columns)).dot(np.eye(4))[:, np.argsort(np.argsort(columns))]
    before = seen.passes
    found = near_duplicates(seen, columns, values, deviation)
    assert seen.passes == before + 1
    with np.errstate(invalid="ignore"):
        correlation = np.nan_to_num(np.corrcoef(X.T))
    for column, (count, neighbours) in zip(columns, found, strict=True):
        near = [j for j in range(40) if j != column and abs(correlation[column, j]) >= NEARLY_THE_SAME]
        assert count == len(near) and {j for j, _ in neighbours} == set(near)
        sizes = [abs(r) for _, r in neighbours]
        assert sizes == sorted(sizes, reverse=True)
        for j, r in neighbours:
            assert r == pytest.approx(correlation[column, j], abs=1e-12)
    assert [count for count, _ in found] == [3, 3, 0, 0]


def test_at_most_five_are_named():
    X = np.outer(np.arange(20.0), np.ones(9))
    matrix = open_matrix(X)
    ((count, neighbours),) = near_duplicates(matrix, np.array([4]), X[:, [4]], matrix.column_stats().std)
    assert count == 8 and [j for j, _ in neighbours] == [0, 1, 2, 3, 5]
    assert neighbours[0][1] == pytest.approx(1.0)


def test_wide_data_are_looked_at_for_fewer_columns():
    assert n_looked_at(1000) == 20
    assert n_looked_at(5_000_000) == 5
    assert n_looked_at(10**9) == 1
