"""The pilot run predicts how many steps the fit takes, on the public data sets."""

import os

import numpy as np
import pytest

from slimline import CertifiedClassifier, plan
from slimline.learning.regression_losses import REGRESSION_LOSSES
from slimline.planning._pilot import PilotRun
from tests.planning.real_plans import SETS, plan_and_fit, plan_and_fit_trait

FULL = os.environ.get("SLIMLINE_FULL") == "1"
LOSSES = ["squared_hinge", "logistic", "squared", "hinge"]
#: Quick to fit, and each with another reason to take more or fewer steps.
SHORT = ["arcene, rows of norm 1", "dorothea, rows of norm 1", "rcv1, rows of norm 1", "newsgroups", "singh", "hapmap3"]


@pytest.mark.data
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", [name for name in SETS if name != "digits"] if FULL else SHORT)  # too narrow to sketch
def test_steps_with_a_sketch_are_foretold_within_a_factor_of_two(data_dir, name, loss):
    if not FULL and loss == "hinge" and name == "singh":
        loss = "squared"  # the hinge takes seconds on data of such a scale
    made, model, _ = plan_and_fit(data_dir, name, method="sketch", loss=loss)
    assert model.route_.method == "sketch"
    assert 0.5 <= made.choice.steps / model.n_iter_ <= 2.0
    assert 0.5 <= made.choice.passes / model.n_passes_ <= 2.0


@pytest.mark.data
@pytest.mark.parametrize("name", SETS if FULL else SHORT)
def test_steps_of_what_is_advised_are_foretold_within_a_factor_of_two(data_dir, name):
    made, model, _ = plan_and_fit(data_dir, name)
    assert model.route_.method == made.choice.method
    assert 0.5 <= made.choice.steps / model.n_iter_ <= 2.0


@pytest.mark.data
@pytest.mark.parametrize("loss", REGRESSION_LOSSES if FULL else ["squared", "huber"])
@pytest.mark.parametrize("name", ["hapmap3 with 13 covariates", "gene expression"])
def test_steps_of_a_regression_are_predicted_within_a_factor_of_two(data_dir, name, loss):
    for method in ("sketch", "auto"):
        made, model = plan_and_fit_trait(data_dir, name, loss=loss, method=method)
        assert model.route_.method == made.choice.method
        assert 0.5 <= made.choice.steps / model.n_iter_ <= 2.0
        assert 0.5 <= made.choice.passes / model.n_passes_ <= 2.0
        if method == "sketch":
            reached = max(model.history_[0].relative_error)
            assert 0.2 <= made.errors[1] / reached <= 5.0


@pytest.mark.data
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("name", ["rcv1, rows of norm 1", "dorothea, rows of norm 1"])
def test_errors_after_steps_are_of_the_right_size(data_dir, name, loss):
    made, model, _ = plan_and_fit(data_dir, name, method="sketch", loss=loss, tol=1e-6)
    for steps, error in made.errors.items():
        reached = max(model.history_[steps - 1].relative_error)
        assert 0.2 <= error / reached <= 5.0


def test_fewer_rows_are_sketched_to_fewer_components():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 9000)) / 100
    y = rng.integers(0, 2, 1200)
    made = plan(X, y, method="sketch", n_components=2048)
    model = CertifiedClassifier(**made.parameters, random_state=0).fit(X, y)
    assert 0.5 <= made.choice.steps / model.n_iter_ <= 2.0


def test_a_pilot_run_that_was_cut_short_goes_on_at_its_pace():
    short = PilotRun((8.0, 4.0, 2.0, 1.0), 64, 1.0, 0.1, np.zeros((1, 1)))
    assert short.steps_to(1.0) == 4
    assert short.steps_to(0.25) == 6
    assert short.error_after(2) == 4.0 and short.error_after(9) == 1.0
    assert PilotRun((float("inf"),), 64, 1.0, 0.1, np.zeros((1, 1))).steps_to(0.1) > 10
    still = PilotRun((3.0, 3.0, 3.0), 64, 1.0, 0.1, np.zeros((1, 1))).steps_to(0.1)
    assert 3 < still < 100
