"""X Xᵀ of sparse rows, whose product with themselves is made a few rows at a time."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline._base.system import run_with_peak
from slimline.data import _gram as gram
from slimline.errors import DataError
from slimline.testing import block_bytes
from tests.pairwise import pairwise


def sparse_rows(n, d, per_row, seed=0):
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.integers(0, d, (n, per_row)), axis=1)
    X = sp.csr_array((rng.standard_normal(n * per_row), (np.repeat(np.arange(n), per_row), columns.ravel())), (n, d))
    X.sum_duplicates()
    return X


@pytest.mark.parametrize(
    "make, n, sizes",
    pairwise(
        [sp.csr_array, sp.csc_array], [37, 1, 2, 3, 5], [(200, 200), (1 << 20, 1), (1 << 20, 700), (1 << 20, 1 << 20)]
    ),
)
def test_parts_add_up(make, n, sizes, monkeypatch):
    block, product = sizes
    X = sparse_rows(n, 60, 9)
    exact = X.toarray()
    with block_bytes(block):
        monkeypatch.setattr(gram, "_PRODUCT_BYTES", product)
        matrix = open_matrix(make(X))
        np.testing.assert_allclose(matrix.gram(), exact @ exact.T, atol=1e-13)
        view = open_matrix(make(X)).standardised(np.full(60, 0.25), None)
        np.testing.assert_allclose(view.gram(), (exact - 0.25) @ (exact - 0.25).T, atol=1e-13)


def test_rows_in_another_order():
    X = sparse_rows(30, 40, 6)
    order = np.random.default_rng(1).permutation(30)
    with block_bytes(500):
        found = open_matrix(X).rows(order).gram()
    np.testing.assert_allclose(found, (X @ X.T).toarray()[np.ix_(order, order)], atol=1e-13)


def test_what_is_not_finite_is_found_in_any_part(monkeypatch):
    monkeypatch.setattr(gram, "_PRODUCT_BYTES", 300)
    for row in (0, 17, 29):
        X = sparse_rows(30, 40, 6)
        X.data[X.indptr[row]] = np.nan
        with pytest.raises(DataError, match=f"row {row}"):
            open_matrix(X).gram()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak is told by Linux only")
def test_memory_is_little_more_than_the_result():
    """A product that is as good as dense, 72 MB: all of it in CSR, and once more in full, would be 180 MB more."""
    X = sparse_rows(3000, 2000, 90)
    assert (X @ X.T[:, :50]).nnz > 0.9 * 3000 * 50
    K, extra = run_with_peak(open_matrix(X).gram)
    assert K.nbytes == 72_000_000
    assert extra < 110e6
