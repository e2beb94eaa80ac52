"""A sketch in float64 of data that are stored in fewer digits."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from tests.families import FAMILIES
from tests.pairwise import pairwise

D = 300
TYPES = [np.float64, np.float32, np.float16, np.int8, np.uint8, np.int16, np.bool_]
VIEWS = {
    "plain": lambda matrix: matrix,
    "standardised": lambda matrix: matrix.standardised(),
    "filled": lambda matrix: matrix.standardised(None, None, 1),
    "some rows": lambda matrix: matrix.rows([3, 1, 7]),
}


def _exists(dtype, storage, view):
    """SciPy has no sparse matrices of float16."""
    return dtype != np.float16 or storage in ("array", "columns")


@pytest.mark.parametrize(
    "dtype, storage, view", pairwise(TYPES, ["array", "columns", "csr", "csc"], VIEWS, where=_exists)
)
def test_equals_the_product_with_r_to_the_digits_of_float64(dtype, storage, view):
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 3, (20, D)) * (rng.random((20, D)) < 0.3)).astype(dtype)
    if X.dtype.kind == "f":
        X = (X * rng.random(X.shape)).astype(dtype)
    stored = {"array": np.array, "columns": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}[storage](X)
    matrix = VIEWS[view](open_matrix(stored))
    values = matrix.dot(np.eye(D))
    for family in FAMILIES.values():
        projection = family(D, 64, 3)
        R = projection.rows()
        R = R.toarray() if sp.issparse(R) else R
        Z = matrix.sketch(projection, double=True)
        assert Z.dtype == np.float64
        np.testing.assert_allclose(Z, values @ R, rtol=0, atol=1e-13 * np.abs(values).sum(axis=1).max() * abs(R).max())
