"""scikit-learn's own checks of an estimator, with n_components=2 as scikit-learn does for its projections."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from slimline import GaussianProjection, HadamardProjection, SignProjection, SparseEmbedding, SparseSignProjection

# One of scikit-learn's data sets has a single feature, which two columns sampled without replacement do not suit:
# the Hadamard projection says so, and is checked where it can be.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataDimensionalityWarning")


@parametrize_with_checks(
    [
        GaussianProjection(n_components=2),
        SignProjection(n_components=2),
        SparseSignProjection(n_components=2),
        SparseSignProjection(n_components=2, density="achlioptas"),
        HadamardProjection(n_components=2),
        HadamardProjection(n_components=2, replace=True),
        SparseEmbedding(n_components=2),
        SparseEmbedding(n_components=2, nnz_per_feature=2),
        SparseEmbedding(n_components=2, bucket_width=2),
    ]
)
def test_estimator(estimator, check):
    check(estimator)
