"""scikit-learn's own checks of an estimator, at default parameters and at some others."""

import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from slimline import GaussianProjection, OneParameterClassifier, ProjectedClassifier

# Some checks have data with fewer features than components, about which projections warn as scikit-learn's do.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataDimensionalityWarning")


@parametrize_with_checks(
    [
        ProjectedClassifier(),
        ProjectedClassifier("gaussian", 64, RidgeClassifier()),
        ProjectedClassifier(GaussianProjection(random_state=3), 64, LogisticRegression()),
        OneParameterClassifier(),
    ]
)
def test_classifier(estimator, check):
    check(estimator)
