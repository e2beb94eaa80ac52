"""`fit_report`: everything that the page of a fit shows, measured."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from slimline import CertifiedClassifier, CertifiedClassifierCV, CertifiedRegressor, CertifiedRegressorCV, open_matrix
from slimline.data.formats._dense import DenseMatrix
from slimline.errors import AccuracyWarning, CovariateWarning, DataError, InvalidParameterError
from slimline.estimators._decisions import Decisions
from slimline.report import Told, fit_page, fit_report


def _data(n=80, d=300, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array([f"k{c}" for c in range(classes)])[np.arange(n) % classes]
    X = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((classes, d))[np.arange(n) % classes]
    return X, y


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, pd.DataFrame, open_matrix])
@pytest.mark.parametrize("standardize", [False, True])
def test_any_data(storage, standardize):
    X, y = _data()
    if storage is pd.DataFrame:
        X = pd.DataFrame(X, columns=[f"gene {j}" for j in range(300)])
        train, test = X[:60], X[60:]
    else:
        train, test = storage(X[:60]), storage(X[60:])
    model = CertifiedClassifier(C=0.01, standardize=standardize, random_state=0).fit(train, y[:60])
    report = fit_report(model, train, y[:60], X_test=test, y_test=y[60:], measure_projection=False)
    assert report.held_out.accuracy == np.mean(model.predict(test) == y[60:])
    assert report.held_out.majority_label == "k0" and report.held_out.n_rows == 20
    top = model.top_features(50)
    assert [f.index for f in report.features] == top.index.tolist()
    assert [f.name for f in report.features] == top.name.tolist()
    assert np.array([f.lower for f in report.features]) == pytest.approx(top.lower)
    for k in (1, 7, 20):
        proved = model.top_features(k).proved
        assert {f.index for f in report.proved_among(k)} == set(model.top_features(k).index[proved].tolist())
    assert report.relative_error == model.certificate_.relative_error.max()
    assert report.history[-1].relative_error == max(model.history_[-1].relative_error)
    assert report.audit is None and report.search is None and report.cost.fit.passes == model.n_passes_
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["layout"] == 1
    assert report.features[0].name in fit_page(report)


def test_neighbours_are_looked_for_where_weights_are_largest():
    X, y = _data()
    X[:, 9] = X[:, 4] = 3.0 * np.where(y == "k0", 1.0, -1.0) + 0.1 * X[:, 4]
    model = CertifiedClassifier(C=0.01).fit(X, y)
    report = fit_report(model, X, y, measure_projection=False)
    first, second = report.features[:2]
    assert {first.index, second.index} == {4, 9}
    assert first.n_neighbours == second.n_neighbours == 1
    assert first.neighbours[0].name == f"x{second.index}" and first.neighbours[0].correlation == pytest.approx(1.0)
    assert report.features[19].n_neighbours is not None and report.features[20].n_neighbours is None
    assert report.held_out is None


@pytest.mark.parametrize("classes", [2, 3])
def test_the_projection_that_was_used_is_measured(classes):
    X, y = _data(n=90, d=2000, classes=classes)
    model = CertifiedClassifierCV(
        3, search="sketch", method="sketch", n_components=400, projection="cw", random_state=3
    ).fit(X, y)
    told = Told(title="A title", command="slimline fit …", seed=3, left_out=4, labels="by hand", notes=("look",))
    report = fit_report(model, X, y, told=told)
    assert report.audit.projections[0] == model.projections_[0] and report.audit.family == "cw"
    assert report.audit.repeats == 3 and report.audit.n_classes == classes
    assert report.model.method == "sketch" and report.model.projection.startswith("cw, seed ")
    assert report.model.n_components >= 400 and len(report.search.penalties) >= 3 and report.search.folds == 5
    assert report.model.C == model.C_ and report.plan.C == model.C_
    assert report.plan.margin == (None if classes > 2 else pytest.approx(report.audit.margins[1].before_lower))
    assert report.title == "A title" and report.data.left_out == 4 and report.notes == ("look",)
    assert {phase.name for phase in report.cost.phases} >= {"fit", "near-duplicate features", "projection audit"}


def test_data_too_small_for_a_projection():
    X, y = _data(n=40, d=30)
    report = fit_report(CertifiedClassifier().fit(X, y), X, y)
    assert report.audit is None and "too small" in report.notes[0] and len(report.features) == 30


def test_held_out_rows_of_classes_that_training_has_not():
    X, y = _data()
    model = CertifiedClassifier().fit(X[:60], y[:60])
    strange = np.where(np.arange(20) % 4 == 0, "other", y[60:])
    report = fit_report(model, X[:60], y[:60], X_test=X[60:], y_test=strange, measure_projection=False)
    assert (
        report.held_out.n_rows == 15
        and "5 held-out rows are of classes that training has not (other)" in report.notes[0]
    )
    report = fit_report(model, X[:60], y[:60], X_test=X[60:], y_test=["other"] * 20, measure_projection=False)
    assert report.held_out is None


def test_other_data_than_those_of_the_fit():
    X, y = _data()
    model = CertifiedClassifier().fit(X, y)
    with pytest.raises(DataError, match="was fitted to the classes"):
        fit_report(model, X, np.where(y == "k0", "a", "b"))
    with pytest.raises(DataError, match="y_test has the shape"):
        fit_report(model, X, y, X_test=X[:4], y_test=y[:3], measure_projection=False)
    with pytest.raises(ValueError, match="features"):
        fit_report(model, X[:, :20], y)


def test_held_out_rows_and_their_labels_belong_together():
    X, y = np.eye(6), np.arange(6) % 2
    with pytest.raises(NotFittedError):
        fit_report(CertifiedClassifier(), X, y)
    model = CertifiedClassifier().fit(X, y)
    for given in ({"X_test": X}, {"y_test": y}):
        with pytest.raises(DataError, match="give X_test and y_test, or neither"):
            fit_report(model, X, y, **given)
    labelled = open_matrix(X, labels=y)
    assert fit_report(model, labelled, X_test=labelled, measure_projection=False).held_out.n_rows == 6


class _Counting(DenseMatrix):
    """An array that notes each request for its blocks; so do its copies that count passes apart."""

    def __init__(self, array):
        super().__init__(array)
        self.requests = []

    def blocks(self, *arguments):
        self.requests.append(arguments)
        return super().blocks(*arguments)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("standardize", [False, True])
def test_the_report_makes_three_passes_and_says_so(order, standardize):
    X, y = _data()
    matrix = _Counting(np.asarray(X, order=order))
    model = CertifiedClassifier(C=0.01, standardize=standardize, random_state=0).fit(matrix.rows(np.arange(60)), y[:60])
    train, test = matrix.rows(np.arange(60)), matrix.rows(np.arange(60, 80))
    before = len(matrix.requests)
    report = fit_report(model, train, y[:60], X_test=test, y_test=y[60:], measure_projection=False)
    assert len(matrix.requests) - before == 3
    assert [(phase.name, phase.passes) for phase in report.cost.phases[1:]] == [
        ("held-out rows", 1), ("largest weights", 1), ("near-duplicate features", 1),
    ]  # fmt: skip
    assert report.plan is None


# Covariates and regressions ------------------------------------------------------------------------


def _cohort(n=120, d=200, targets=1, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    U = pd.DataFrame({"age": rng.uniform(20.0, 80.0, n), "sex": rng.integers(0, 2, n)})
    y = 160.0 + X[:, :targets] * 5.0 + 10.0 * U[["sex"]].to_numpy() + noise * rng.standard_normal((n, targets))
    return X, y[:, 0] if targets == 1 else y, U


def _halves(*tables):
    return [table[:80] for table in tables], [table[80:] for table in tables]


@pytest.mark.parametrize("loss", ["squared", "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "quantile"])
def test_a_regression(loss):
    (X, y, U), (X_test, y_test, U_test) = _halves(*_cohort())
    model = CertifiedRegressor(C=1e-2, loss=loss, random_state=0).fit(X, y, covariates=U)
    report = fit_report(
        model, X, pd.Series(y, name="height"), covariates=U, X_test=X_test, y_test=y_test, covariates_test=U_test,
        measure_projection=False,
    )  # fmt: skip
    (held,), (target,) = report.held_out_targets, report.data.targets
    found = model.certified_predictions(X_test, U_test)
    assert held.name == target.name == "height" and held.n_rows == 40 and held.trained_rows == 80
    assert held.r2.value == pytest.approx(r2_score(y_test, found.value))
    (bounds,) = model.certified_r2(X_test, y_test, covariates=U_test)
    assert (held.r2.lower, held.r2.upper) == pytest.approx((bounds.lower, min(1.0, bounds.upper)), rel=1e-6)
    assert (held.coverage is not None) == (loss == "quantile") and not held.worse_than_baseline
    if loss == "squared":
        null = LinearRegression().fit(U, y)
        assert held.baseline_r2 == pytest.approx(null.score(U_test, y_test))
    assert (target.mean, target.deviation) == pytest.approx((y.mean(), y.std()))
    assert target.quantiles == pytest.approx(np.quantile(y, [0, 0.25, 0.5, 0.75, 1]))
    assert report.held_out is None and report.data.classes == () and report.audit is None and report.plan is None
    assert [f.index for f in report.features] == model.top_features(50).index.tolist()
    assert report.features[0].label == "height" and report.features[0].index == 0
    effects = model.covariate_effects()
    assert [effect.name for effect in report.effects] == effects.name.tolist() == ["intercept", "age", "sex"]
    assert [effect.effect for effect in report.effects] == effects.effect[0].tolist()
    assert [effect.lower for effect in report.effects] == effects.lower[0].tolist()
    assert report.effects[0].deviation is None
    assert [effect.deviation for effect in report.effects[1:]] == pytest.approx(U.std(ddof=0).tolist())
    assert [effect.of_covariate for effect in report.effects] == [False, True, True]
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["held_out_targets"][0]["name"] == "height"
    assert "R²" in fit_page(report) if loss != "quantile" else "quantile of" in fit_page(report)


def test_several_targets():
    (X, y, U), (X_test, y_test, U_test) = _halves(*_cohort(targets=3))
    model = CertifiedRegressor(C=1e-2, random_state=0).fit(X, y, covariates=U)
    more = {"X_test": X_test, "y_test": y_test, "covariates_test": U_test, "measure_projection": False}
    report = fit_report(model, X, y, covariates=U, **more)
    assert [target.name for target in report.data.targets] == ["y0", "y1", "y2"]
    assert {feature.label for feature in report.features[:3]} == {"y0", "y1", "y2"}
    assert [effect.label for effect in report.effects] == [f"y{k}" for k in range(3) for _ in range(3)]
    for held, column, bounds in zip(
        report.held_out_targets, y_test.T, model.certified_r2(X_test, y_test, covariates=U_test), strict=True
    ):
        assert held.r2.value == pytest.approx(bounds.value) and held.observed == pytest.approx(column)
    named = fit_report(model, X, y, covariates=U, told=Told(targets=("a", "b", "c")), **more)
    assert [held.name for held in named.held_out_targets] == ["a", "b", "c"] == [t.name for t in named.data.targets]
    assert named.features[0].label == "abc"[int(report.features[0].label[1])]
    with pytest.raises(DataError, match="3 targets, and 2 names"):
        fit_report(model, X, y, covariates=U, told=Told(targets=("a", "b")), **more)
    with pytest.raises(DataError, match="fitted to 3 targets, and y has 1"):
        fit_report(model, X, y[:, 0], covariates=U, **more)


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_with_covariates(classes):
    (X, y, U), (X_test, y_test, U_test) = _halves(*_cohort(300, noise=9.0))
    cuts = np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1])
    y, y_test = (np.array(["k0", "k1", "k2"])[np.digitize(part, cuts)] for part in (y, y_test))
    model = CertifiedClassifier(C=1e-3, loss="logistic", intercept="free", random_state=0).fit(X, y, covariates=U)
    more = {"X_test": X_test, "y_test": y_test, "covariates_test": U_test, "measure_projection": False}
    report = fit_report(model, X, y, covariates=U, **more)
    assert report.held_out.accuracy == np.mean(model.predict(X_test, U_test) == y_test)
    labels = ["k1"] if classes == 2 else ["k0", "k1", "k2"]
    assert [one.label for one in report.held_out.calibration] == labels
    effects = model.covariate_effects().effect
    assert [(effect.label, effect.name) for effect in report.effects] == [
        (label, name) for label in labels for name in ("intercept", "age", "sex")
    ]
    assert [effect.effect for effect in report.effects] == effects.ravel().tolist()
    assert "Effects of covariates" in fit_page(report) and "Calibration of the" in fit_page(report)
    if classes == 3:
        with pytest.raises(InvalidParameterError, match="two classes"):
            fit_report(model, X, y, covariates=U, told=Told(prevalence=0.1), **more)
    else:
        moved = fit_report(model, X, y, covariates=U, told=Told(prevalence=0.1), **more)
        assert moved.prevalence.training_share == np.mean(y == "k1") and report.prevalence is None
        assert "was given as 10.0" in fit_page(moved)


def test_a_covariate_that_depends_on_others_is_said_to_be_left_out():
    X, y, U = _cohort()
    U["age in days"] = 365.0 * U["age"]
    with pytest.warns(CovariateWarning):
        model = CertifiedRegressor(C=1e-2).fit(X, y, covariates=U)
    report = fit_report(model, X, y, covariates=U, measure_projection=False)
    last = report.effects[-1]
    assert not last.known and report.to_dict()["effects"][-1]["effect"] is None
    assert "left out" in fit_page(report)


def test_a_regression_no_better_than_its_covariates_warns():
    (X, y, U), (X_test, y_test, U_test) = _halves(*_cohort())
    rng = np.random.default_rng(0)
    y, y_test = rng.standard_normal(80), rng.standard_normal(40)
    model = CertifiedRegressor(C=1.0).fit(X, y, covariates=U)
    more = {"X_test": X_test, "y_test": y_test, "covariates_test": U_test, "measure_projection": False}
    with pytest.warns(AccuracyWarning, match="the covariates alone .*: the features do not help"):
        report = fit_report(model, X, y, covariates=U, **more)
    assert report.held_out_targets[0].worse_than_baseline and "It is no better than the cov" in fit_page(report)


def test_a_regression_says_that_it_was_not_audited():
    X, y, U = _cohort()
    report = fit_report(CertifiedRegressor(C=1e-2).fit(X, y, covariates=U), X, y, covariates=U)
    assert report.audit is None and "margins between classes" in report.notes[0]
    assert report.plan.C == 1e-2 and (report.plan.n_samples, report.plan.n_features) == X.shape
    assert "--audit" not in fit_page(report)


def test_what_a_regression_refuses():
    (X, y, U), (X_test, y_test, U_test) = _halves(*_cohort())
    model = CertifiedRegressor(C=1e-2).fit(X, y, covariates=U)
    found, unknown = model.certified_predictions(X_test, U_test), np.where(y_test > 160, np.nan, y_test)
    labels = Decisions(y_test, y_test, y_test > 0)
    for given, words in (
        ({}, "are needed"),
        ({"covariates": U, "decisions": found, "y_test": y_test[:4]}, "y_test has the shape"),
        (
            {"covariates": U, "decisions": found, "y_test": unknown},
            "y_test contains NaN",
        ),
        (
            {"covariates": U, "decisions": labels, "y_test": y_test},
            "CertifiedPredictions",
        ),
        ({"covariates": U, "told": Told(prevalence=0.1)}, "two classes"),
    ):
        with pytest.raises((DataError, InvalidParameterError), match=words):
            fit_report(model, X, y, measure_projection=False, **given)


def test_features_of_penalty_factor_0_are_among_the_effects():
    X, y, U = _cohort()
    factors = np.ones(200)
    factors[3] = 0.0
    model = CertifiedRegressor(C=1e-2, penalty_factor=factors).fit(X, y, covariates=U)
    report = fit_report(model, X, y, covariates=U, measure_projection=False)
    assert [effect.name for effect in report.effects] == ["intercept", "age", "sex", "x3"]
    assert report.effects[2].deviation == pytest.approx(U["sex"].std(ddof=0)) and report.effects[3].deviation is None
    assert report.effects[3].effect == pytest.approx(model.coef_[3]) and "x3" in fit_page(report)


def test_a_page_tells_leaving_one_out_from_folds():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60))
    y = 5.0 * X[:, 0] + rng.standard_normal(40)
    for cv, words in ((None, "Leave-one-out cross-validation"), (4, "Cross-validation in 4 folds")):
        report = fit_report(CertifiedRegressorCV([0.01, 0.1], cv=cv).fit(X, y), X, y, measure_projection=False)
        page = fit_page(report)
        assert report.search.leave_one_out == (cv is None)
        assert words in page and ("standard deviation over the folds" in page) == (cv is not None)
