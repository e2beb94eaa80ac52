"""Recoveries other than the certified one: warnings about weights that nothing useful is proved about."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from slimline import CertifiedClassifier
from tests.estimators.certified import wide

PUBLISHED = ("iterative", "dual", "debiased_dual", "naive")


def fitted(recovery, X, y, **options):
    settings = {"method": "sketch", "n_components": 30, "max_passes": 30, "random_state": 0} | options
    return CertifiedClassifier(recovery=recovery, **settings).fit(X, y)


@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("recovery", PUBLISHED)
def test_a_certificate_that_says_nothing_is_a_warning(recovery, loss):
    X, y = wide()
    with pytest.warns(ConvergenceWarning, match=f'recovery="{recovery}".*weights of 0') as caught:
        model = fitted(recovery, 1e4 * X, y, loss=loss)
    assert not model.certificate_.relative_error[0] <= 1.0
    assert caught[0].filename == __file__


@pytest.mark.parametrize("recovery", ["iterative", "dual", "debiased_dual"])
def test_no_warning_about_weights_that_are_proved_to_be_near(recovery):
    X, y = wide()
    model = fitted(recovery, X, y, n_components=500)
    assert model.certificate_.relative_error[0] < 1.0


def test_an_error_above_that_of_no_weights_is_a_warning_too():
    X, y = wide()
    with pytest.warns(ConvergenceWarning, match="the certified relative error is"):
        model = fitted("naive", X, y, n_components=128)
    assert 1.0 < model.certificate_.relative_error[0] < np.inf


@pytest.mark.parametrize("scale, grows", [(1.3, False), (1.6, True)])
def test_iterations_that_settle_far_from_the_exact_weights(scale, grows):
    """They take turns between two points; the warning says so only if the certified distance grew."""
    X, y = wide()
    with pytest.warns(ConvergenceWarning) as caught:
        model = fitted("iterative", scale * X, y, loss="hinge")
    radii = [float(step.radius[0]) for step in model.history_]
    assert radii[-1] == pytest.approx(radii[-3], rel=1e-3) and (radii[-1] > radii[0]) == grows
    assert ("did not converge" in str(caught[0].message)) == grows


def test_with_several_classes_the_worst_counts():
    X, y = wide(classes=3)
    with pytest.warns(ConvergenceWarning, match="no error could be proved"):
        model = fitted("dual", 1e4 * X, y)
    assert np.isinf(model.certificate_.relative_error.max())


@pytest.mark.data
@pytest.mark.parametrize("recovery", PUBLISHED)
def test_raw_arcene(recovery, data_dir):
    X, y = (np.loadtxt(data_dir / "arcene" / f"arcene_train.{kind}") for kind in ("data", "labels"))
    with pytest.warns(ConvergenceWarning, match="no error could be proved") as caught:
        fitted(recovery, X, y, loss="squared", n_components=300, max_passes=50)
    assert ("did not converge" in str(caught[0].message)) == (recovery == "iterative")


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss, gain", [("squared", 2.0), ("squared_hinge", 1.5), ("hinge", 1.5), ("logistic", 1.5)])
def test_raw_arcene_without_the_bias(loss, gain, data_dir):
    """Twice as many components as samples: dual weights are more than twice too long, for the squared loss."""
    X, y = (np.loadtxt(data_dir / "arcene" / f"arcene_train.{kind}") for kind in ("data", "labels"))
    exact = CertifiedClassifier(method="gram", loss=loss).fit(X, y).coef_
    errors = {}
    for recovery in ("dual", "debiased_dual"):
        models = [fitted(recovery, X, y, loss=loss, n_components=200, random_state=k) for k in range(3)]
        errors[recovery] = np.mean([np.linalg.norm(model.coef_ - exact) for model in models])
    assert errors["dual"] > gain * errors["debiased_dual"]
