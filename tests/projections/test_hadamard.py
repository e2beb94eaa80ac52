"""The subsampled randomised Hadamard transform against an explicit matrix."""

import numpy as np
import pytest
from scipy.linalg import hadamard

from slimline._kernels import reference
from slimline.projections import SubsampledHadamard
from slimline.testing._moments import dense_rows, require_close, rounding_bound
from tests.refusals import refuses


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(
    "d, r", [(1, 1), (2, 2), (3, 4), (5, 3), (64, 64), (65, 100), (1000, 37), (1024, 600), (2049, 129)]
)
def test_against_the_explicit_matrix(d, r, replace):
    projection = SubsampledHadamard(d, r, 12, replace)
    size = projection.size
    assert size >= d and size & (size - 1) == 0 and size < 2 * d
    D = reference.hadamard_signs(12, 0, size).astype(float)[:, None]
    H = hadamard(size) / np.sqrt(size)
    S = reference.hadamard_samples(12, size, r, replace)
    R = (np.sqrt(size / r) * D * H[:, S])[:d]
    np.testing.assert_allclose(dense_rows(projection), R, rtol=1e-14)
    X = np.random.default_rng(0).standard_normal((3, d))
    require_close(projection.apply(X), X @ R, rounding_bound(X, R, np.float64), "sketch")


def test_all_columns_make_an_orthogonal_matrix():
    R = dense_rows(SubsampledHadamard(64, 64, 3))
    np.testing.assert_allclose(R @ R.T, np.eye(64), atol=1e-14)


@pytest.mark.parametrize("d", [2**32, 2**32 - 1, 2**32 - 7, 2**31 + 1])
def test_the_last_features_that_are_allowed(d):
    projection = SubsampledHadamard(d, 16, 1)
    expected = reference.hadamard_rows(1, d - 8, d, projection.samples) / 4 if d < 2**32 else None
    R = dense_rows(projection, d - 8, d)
    if expected is not None:
        np.testing.assert_array_equal(R, expected)
    X = np.random.default_rng(0).integers(0, 9, size=(2, 8)).astype(float)
    np.testing.assert_array_equal(projection.apply(X, first_feature=d - 8), X @ R)
    np.testing.assert_array_equal(projection.lift(np.eye(16), start=d - 8, stop=d), R.T)


def test_limits():
    with refuses("n_features"):
        SubsampledHadamard(2**32 + 1, 4, 0)
    with refuses("n_components"):
        SubsampledHadamard(100, 129, 0)
    assert SubsampledHadamard(100, 129, 0, replace=True).rows().shape == (100, 129)
    with refuses("replace"):
        SubsampledHadamard(100, 12, 0, replace="yes")
