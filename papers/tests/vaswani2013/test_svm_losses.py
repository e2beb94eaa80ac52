"""Recovery of weights with the losses of support vector machines."""

import numpy as np
import pytest

from papers.tests.replayed import replayed
from papers.tests.vaswani2013.changed import changed, verdicts
from slimline import CertifiedClassifier
from slimline_papers.vaswani2013.exact_models import distance, exact_weights

_NAME = "vaswani2013.svm_losses"


@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "hinge", "logistic"])
def test_independent_weights_are_the_optimum(loss):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 200)) / np.sqrt(200), rng.choice([-1.0, 1.0], 40)
    model = CertifiedClassifier(loss=loss, method="gram", fit_intercept=False, tol=1e-6).fit(X, y)
    assert distance(exact_weights(X, y, loss), model.coef_[0]) < 1e-5


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_every_loss_is_recovered_and_certified():
    table, findings = replayed(_NAME)
    assert [finding.holds for finding in findings] == [True, True, True]
    assert set(table.distinct("loss")) == {"squared", "squared_hinge", "hinge", "logistic"}


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_large_errors_and_open_certificates_are_seen():
    table, _ = replayed(_NAME)
    assert verdicts(_NAME, changed(table, "error", lambda row: 1.0)) == [False, True, False]
    assert verdicts(_NAME, changed(table, "proved", lambda row: float("inf"))) == [True, False, True]
