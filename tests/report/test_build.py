"""`fit_report`: everything that the page of a fit shows, measured."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from slimline import CertifiedClassifier, CertifiedClassifierCV, open_matrix
from slimline.data.formats._dense import DenseMatrix
from slimline.errors import DataError
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
