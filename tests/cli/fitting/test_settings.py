"""Tests of the options of `slimline fit`."""

import os
from pathlib import Path

import numpy as np
import pytest

from slimline.cli._fit_samples import LabelSource, samples_of
from slimline.cli._fit_settings import FitSettings, Outputs, command_line
from slimline.data.formats._dense import DenseMatrix
from slimline.errors import InvalidParameterError
from slimline.estimators import CertifiedClassifier, CertifiedClassifierCV, CertifiedRegressor, CertifiedRegressorCV
from slimline.model_files._checkpoints import CheckpointFolder
from tests.refusals import refuses

ALL = FitSettings(
    C=0.5,
    loss="logistic",
    method="sketch",
    recovery="dual",
    projection="cw",
    tol=1e-3,
    n_components=64,
    standardize=True,
    class_weight="balanced",
    intercept="none",
    holdout=0.1,
    seed=7,
    max_passes=9,
)


def test_every_setting_reaches_the_classifier():
    model = ALL.estimator(standardize=True, smallest_class=10)
    assert type(model) is CertifiedClassifier
    wanted = {
        "C": 0.5,
        "loss": "logistic",
        "method": "sketch",
        "recovery": "dual",
        "projection": "cw",
        "tol": 1e-3,
        "n_components": 64,
        "standardize": True,
        "class_weight": "balanced",
        "fit_intercept": False,
        "random_state": 7,
        "max_passes": 9,
    }
    assert {name: model.get_params()[name] for name in wanted} == wanted


def test_what_is_not_said_is_the_default_of_the_classifier():
    model, plain = FitSettings().estimator(False, 10), CertifiedClassifierCV()
    differ = {name for name, value in model.get_params().items() if value != plain.get_params()[name]}
    assert differ == {"cv", "search", "random_state"}
    assert model.cv.get_n_splits() == 5 and FitSettings().estimator(False, 3).cv.get_n_splits() == 3
    with pytest.raises(InvalidParameterError, match="--C auto"):
        FitSettings().estimator(False, 1)
    assert FitSettings(C=1.0).estimator(False, 1).C == 1.0


@pytest.mark.parametrize("loss", [None, "huber", "epsilon_insensitive", "quantile"])
def test_every_setting_reaches_the_regression(loss):
    settings = FitSettings(
        loss=loss, delta=2.0, epsilon=0.5, quantile=0.2, standardize_target=True, intercept="penalised", seed=3
    )
    model = settings.estimator(False, 30, is_regression=True)
    assert type(model) is CertifiedRegressorCV
    found = model.get_params()
    wanted = {"loss": loss or "squared", "delta": 2.0, "epsilon": 0.5, "quantile": 0.2, "standardize_target": True}
    wanted |= {"intercept": "penalised", "random_state": 3, "standardize": False}
    assert {name: found[name] for name in wanted} == wanted
    if loss is not None:
        assert found["cv"].get_n_splits() == 5 and found["cv"].shuffle
    model = FitSettings(C=2.0, intercept="none").estimator(True, 30, is_regression=True)
    assert type(model) is CertifiedRegressor and model.C == 2.0 and model.standardize and not model.fit_intercept


@pytest.mark.parametrize(
    ("parameter", "is_regression", "given"),
    [
        ("loss", True, {"loss": "logistic"}),
        ("loss", False, {"loss": "huber"}),
        ("class_weight", True, {"class_weight": "balanced"}),
        ("scoring", True, {"scoring": "accuracy"}),
        ("scoring", False, {"scoring": "r2"}),
        ("prevalence", True, {"prevalence": 0.1}),
        ("delta", True, {"delta": 1.0}),
        ("delta", False, {"delta": 1.0}),
        ("epsilon", True, {"loss": "huber", "epsilon": 0.1}),
        ("quantile", True, {"loss": "epsilon_insensitive", "quantile": 0.1}),
        ("standardize_target", False, {"standardize_target": True}),
        ("prevalence", False, {"prevalence": 0.1}),
        ("prevalence", False, {"prevalence": 1.0, "loss": "logistic"}),
        ("prevalence", False, {"prevalence": 0.1, "loss": "logistic", "intercept": "penalised"}),
        ("prevalence", False, {"prevalence": 0.1, "loss": "logistic", "class_weight": "balanced"}),
    ],
)
def test_settings_that_do_not_fit_the_task(parameter, is_regression, given):
    labels = np.linspace(0.0, 1.0, 40) if is_regression else np.arange(40) % 2
    samples = samples_of(DenseMatrix(np.eye(40), labels=labels), LabelSource(None, None, None), 0.0, 0)
    assert samples.is_regression == is_regression
    with refuses(parameter):
        FitSettings(**given).check(samples)


def test_settings_that_fit_the_task():
    trait = samples_of(DenseMatrix(np.eye(40), labels=np.linspace(0.0, 1.0, 40)), LabelSource(None, None, None), 0.0, 0)
    for settings in (
        FitSettings(scoring="r2", loss="huber", delta=2.0, standardize_target=True),
        FitSettings(loss="squared_epsilon_insensitive", epsilon=0.0),
        FitSettings(loss="quantile", quantile=0.9, intercept="penalised"),
    ):
        settings.check(trait)
    classes = samples_of(DenseMatrix(np.eye(40), labels=np.arange(40) % 2), LabelSource(None, None, None), 0.0, 0)
    FitSettings(loss="logistic", prevalence=0.01).check(classes)
    three = samples_of(DenseMatrix(np.eye(40), labels=np.arange(40) % 3), LabelSource(None, None, None), 0.0, 0)
    with refuses("prevalence"):
        FitSettings(loss="logistic", prevalence=0.01).check(three)


def test_the_command_names_what_is_not_a_default():
    assert command_line(["my data.bed"], FitSettings(), None) == "slimline fit 'my data.bed' --seed 0"
    said = command_line(["x.npy", "--labels", "y.npy"], ALL, 2).split()
    some = ("--C 0.5", "--loss logistic", "--method sketch", "--recovery dual", "--projection cw", "--tol 0.001")
    for word in (*some, "--components 64"):
        assert word.split()[1] == said[said.index(word.split()[0]) + 1]
    assert {"--standardize", "--intercept", "none", "--class-weight", "--holdout", "--max-passes", "--threads"} <= set(
        said
    )
    exact = FitSettings(C=1.23456789e-7, holdout=1 / 3)
    assert command_line(["x"], exact, None) == "slimline fit x --C 1.23456789e-07 --holdout 0.3333333333333333 --seed 0"
    assert "--no-standardize" in command_line(["x"], FitSettings(standardize=False), None)
    assert "--no-refit" in command_line(["x"], FitSettings(refit=False), None)
    trait = FitSettings(loss="huber", delta=0.1, standardize_target=True)
    assert command_line(["x"], trait, None) == "slimline fit x --loss huber --delta 0.1 --standardize-target --seed 0"


def test_files_that_could_not_be_written_are_refused_before_the_work(tmp_path):
    model, page = tmp_path / "m.slim", tmp_path / "m.html"
    Outputs(model, page, False).check()
    page.touch()
    with pytest.raises(InvalidParameterError, match=r"--report .*m\.html exists.*--force"):
        Outputs(model, page, False).check()
    Outputs(model, page, True).check()
    checkpoint = CheckpointFolder(tmp_path / "m.slim.resume")
    checkpoint.begin("key")
    with pytest.raises(InvalidParameterError, match=r"m\.html exists"):
        Outputs(model, page, False).check()  # of a run that was stopped, but this is not its page
    checkpoint.note_result("key", page)
    Outputs(model, page, False).check()
    Outputs(model, page, False).check("key")
    with pytest.raises(InvalidParameterError, match=r"m\.html exists"):
        Outputs(model, page, False).check("key of another job")
    with pytest.raises(InvalidParameterError):
        Outputs(tmp_path / "no" / "m.slim", None, False).check()
    with pytest.raises(InvalidParameterError):
        Outputs(tmp_path, None, True).check()
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/full"), Path("/dev/stdout")):
        with pytest.raises(InvalidParameterError, match="not a device or a pipe"):
            Outputs(path, None, True).check()
    with pytest.raises(InvalidParameterError):
        Outputs(model, model, True).check()
