"""Tests of the options of `slimline fit`."""

import os
from pathlib import Path

import pytest

from slimline.cli._fit_settings import FitSettings, Outputs, command_line
from slimline.errors import InvalidParameterError
from slimline.estimators import CertifiedClassifier, CertifiedClassifierCV
from slimline.model_files._checkpoints import CheckpointFolder

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
    intercept=False,
    holdout=0.1,
    seed=7,
    max_passes=9,
)


def test_every_setting_reaches_the_classifier():
    model = ALL.classifier(standardize=True, smallest_class=10)
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
    model, plain = FitSettings().classifier(False, 10), CertifiedClassifierCV()
    differ = {name for name, value in model.get_params().items() if value != plain.get_params()[name]}
    assert differ == {"cv", "search", "random_state"}
    assert model.cv.get_n_splits() == 5 and FitSettings().classifier(False, 3).cv.get_n_splits() == 3
    with pytest.raises(InvalidParameterError, match="--C auto"):
        FitSettings().classifier(False, 1)
    assert FitSettings(C=1.0).classifier(False, 1).C == 1.0


def test_the_code_makes_the_same_classifier():
    names = {"CertifiedClassifier": CertifiedClassifier, "CertifiedClassifierCV": CertifiedClassifierCV}
    for settings, standardize in ((ALL, True), (FitSettings(C=2.0), False)):
        assert eval(settings.code(standardize), names).get_params() == settings.classifier(standardize, 9).get_params()
    made = eval(FitSettings().code(True), names)
    assert type(made) is CertifiedClassifierCV and made.search == "sketch" and made.standardize


def test_the_command_names_what_is_not_a_default():
    assert command_line(["my data.bed"], FitSettings(), None) == "slimline fit 'my data.bed' --seed 0"
    said = command_line(["x.npy", "--labels", "y.npy"], ALL, 2).split()
    some = ("--C 0.5", "--loss logistic", "--method sketch", "--recovery dual", "--projection cw", "--tol 0.001")
    for word in (*some, "--components 64"):
        assert word.split()[1] == said[said.index(word.split()[0]) + 1]
    assert {"--standardize", "--no-intercept", "--class-weight", "--holdout", "--max-passes", "--threads"} <= set(said)
    exact = FitSettings(C=1.23456789e-7, holdout=1 / 3)
    assert command_line(["x"], exact, None) == "slimline fit x --C 1.23456789e-07 --holdout 0.3333333333333333 --seed 0"
    assert "--no-standardize" in command_line(["x"], FitSettings(standardize=False), None)


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
