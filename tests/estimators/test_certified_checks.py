"""scikit-learn's own checks of the certified classifier, at its default parameters and on both routes."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from slimline import CertifiedClassifier

# Some checks train on features of any scale, where the certificate is honest about what it cannot prove.
pytestmark = pytest.mark.filterwarnings("ignore:the certified relative error:sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks([CertifiedClassifier()])
def test_default_parameters(estimator, check):
    check(estimator)


@parametrize_with_checks([CertifiedClassifier(loss="logistic", standardize=True), CertifiedClassifier(loss="hinge")])
def test_other_parameters(estimator, check):
    check(estimator)
