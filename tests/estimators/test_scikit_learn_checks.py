"""scikit-learn's own checks of an estimator, with n_components=2 as scikit-learn does for its projections."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from slimline import GaussianProjection, HadamardProjection, SignProjection, SparseEmbedding, SparseSignProjection

# Some of the checks set n_components=1, so no SparseEmbedding with more than one entry a feature is among them;
# and some have data with a single feature, about which transformers warn as scikit-learn's do.
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
        SparseEmbedding(n_components=2, hash="independent"),
        SparseEmbedding(n_components=2, dense_output=False),
    ]
)
def test_estimator(estimator, check):
    check(estimator)
