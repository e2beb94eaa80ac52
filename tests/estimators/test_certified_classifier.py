"""CertifiedClassifier as users meet it: inputs, weights, classes, claims, messages."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from slimline import CertifiedClassifier, open_matrix
from slimline.errors import DataError, InvalidParameterError
from tests.data.plink_files import random_genotypes, write_plink
from tests.estimators.certified import NAMES, ROUTE_NAMES, ROUTES, exact, quiet, wide
from tests.pairwise import pairwise
from tests.refusals import refuses


@pytest.mark.parametrize("loss, C, route", pairwise(NAMES, [1.0, 1e-2, 10.0], ROUTES), ids=str)
def test_weights_are_as_near_as_is_certified(loss, C, route):
    X, y = wide()
    model = quiet(CertifiedClassifier(C, loss=loss, intercept="penalised", random_state=0, **route), X, y)
    truth, slack = exact(X, y, loss, C)
    certificate = model.certificate_
    if loss != "hinge":
        assert certificate.relative_error[0] <= 1e-2
    assert np.linalg.norm(certificate.weights[0] - truth) <= certificate.radius[0] + slack
    assert np.all(np.abs(model.coef_[0] - truth[:-1]) <= certificate.coordinate_radius[0] + slack)
    assert abs(model.intercept_[0] - truth[-1]) <= certificate.radius[0] + slack
    np.testing.assert_array_equal(model.coef_, certificate.weights[:, :-1])
    assert certificate.passes == model.n_passes_ == model.history_[-1].passes
    assert model.n_iter_ == len(model.history_)


@pytest.mark.parametrize("loss", NAMES)
def test_scikit_learn_finds_the_same(loss):
    X, y = wide()
    C = 2.0
    if loss == "squared":
        peer = RidgeClassifier(alpha=1 / C, fit_intercept=False)
    elif loss == "logistic":
        peer = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=5000)
    else:
        peer = LinearSVC(C=C, loss=loss, dual=True, fit_intercept=False, tol=1e-10, max_iter=10**6, random_state=0)
    model = CertifiedClassifier(C, loss=loss, fit_intercept=False, tol=1e-4).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], np.ravel(peer.fit(X, y).coef_), atol=1e-6 * np.abs(model.coef_).max())


def test_the_intercept_is_a_penalised_column_as_in_liblinear():
    X, y = wide()
    peer = LinearSVC(C=1.5, dual=True, intercept_scaling=3.0, tol=1e-10, max_iter=10**6, random_state=0).fit(X, y)
    model = CertifiedClassifier(1.5, intercept="penalised", intercept_scaling=3.0, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-7)


class TestInputs:
    """The same numbers in any storage give the same model."""

    @pytest.fixture
    def whole_numbers(self):
        rng = np.random.default_rng(3)
        X = rng.integers(-2, 3, (30, 200)).astype(np.float64)
        X[rng.random(X.shape) < 0.5] = 0.0
        return X, np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")

    @pytest.mark.parametrize("route", ROUTES, ids=ROUTE_NAMES)
    @pytest.mark.parametrize("standardize", [False, True])
    def test_storages_agree(self, whole_numbers, route, standardize):
        X, y = whole_numbers
        model = CertifiedClassifier(C=0.01, tol=1e-3, standardize=standardize, random_state=1, **route)
        expected = clone(model).fit(X, y)
        frozen = X.copy()
        frozen.flags.writeable = False
        names = [f"g{j}" for j in range(200)]
        inputs = {
            "int8": X.astype(np.int8),
            "float16": X.astype(np.float16),
            "float32": X.astype(np.float32),
            "int64": X.astype(np.int64),
            "list": X.tolist(),
            "read-only": frozen,
            "by columns": np.asfortranarray(X),
            "csr": sp.csr_array(X),
            "csc": sp.csc_matrix(X),
            "pandas": pd.DataFrame(X, columns=names),
            "polars": pl.DataFrame(X, schema=names),
            "Matrix": open_matrix(X),
        }
        for name, data in inputs.items():
            got = clone(model).fit(data, y)
            gap = np.linalg.norm(got.coef_ - expected.coef_)
            scale = 1.0 if got._factor is None else np.abs(got._factor).max()
            limit = scale * (got.certificate_.radius[0] + expected.certificate_.radius[0])
            assert gap <= limit + 1e-12, name
            np.testing.assert_array_equal(got.predict(data), expected.predict(X))
            if name in ("pandas", "polars"):
                np.testing.assert_array_equal(got.feature_names_in_, names)
                assert set(got.top_features(5).name) <= set(names)

    def test_plink_files_with_missing_calls(self, tmp_path):
        genotypes = random_genotypes(40, 300, seed=2, missing=0.05)
        path = write_plink(tmp_path / "g", genotypes)
        y = np.where(genotypes[:, 0] > 0, "case", "control")
        X = np.where(genotypes == -127, np.nan, genotypes)
        # mean and deviation are those of the calls that are there
        seen = np.nan_to_num((X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0))
        X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
        truth, slack = exact(seen, (y == "control").astype(int), "squared_hinge", 0.01)
        matrix = open_matrix(path)
        for route in ROUTES:
            settings = {"standardize": True, "intercept": "penalised", "tol": 1e-4, **route}
            model = CertifiedClassifier(C=0.01, random_state=0, **settings).fit(matrix, y)
            off = np.linalg.norm(model.certificate_.weights[0] - truth)
            assert off <= model.certificate_.radius[0] + slack + 1e-12
            np.testing.assert_allclose(
                model.decision_function(matrix), X @ model.coef_[0] + model.intercept_[0], atol=1e-9
            )
            assert model.predict(matrix).shape == (40,)
            assert model.certified(matrix).shape == (40,)

    def test_labels_of_the_matrix_are_used(self):
        X, y = wide()
        matrix = open_matrix(X, labels=y)
        model = CertifiedClassifier().fit(matrix)
        np.testing.assert_array_equal(model.predict(matrix), CertifiedClassifier().fit(X, y).predict(X))
        with pytest.raises(DataError):
            CertifiedClassifier().fit(open_matrix(X))

    def test_a_standardised_matrix_is_not_standardised_again(self):
        X, y = wide()
        view = open_matrix(X).standardised()
        with pytest.raises(InvalidParameterError):
            CertifiedClassifier(standardize=True).fit(view, y)
        model = CertifiedClassifier(C=0.01).fit(view, y)
        assert model.predict(view).shape == y.shape

    def test_not_fitted(self):
        for name in ("predict", "certified", "decision_function"):
            with pytest.raises(NotFittedError):
                getattr(CertifiedClassifier(), name)(np.zeros((2, 3)))
        with pytest.raises(NotFittedError):
            CertifiedClassifier().top_features()


class TestWeights:
    """A weight of k is a row that comes k times, on the same route."""

    @pytest.mark.parametrize("loss, route, standardize", pairwise(NAMES, [{}, *ROUTES], [False, True]), ids=str)
    def test_weights_are_repetitions(self, loss, route, standardize):
        X, y = wide()
        times = np.random.default_rng(0).integers(0, 4, len(y))
        times[:2] = 1
        index = np.repeat(np.arange(len(y)), times)
        model = CertifiedClassifier(0.1, loss=loss, tol=1e-5, random_state=0, standardize=standardize, **route)
        weighted = quiet(clone(model), X, y, sample_weight=times)
        repeated = quiet(clone(model), X[index], y[index])
        assert weighted.route_.method == repeated.route_.method
        assert weighted.route_.n_components == repeated.route_.n_components
        off = np.linalg.norm(weighted.certificate_.weights - repeated.certificate_.weights)
        assert off <= weighted.certificate_.radius[0] + repeated.certificate_.radius[0]

    def test_rows_of_weight_zero_are_as_if_they_were_not_there(self):
        X, y = wide()
        weight = np.ones(len(y))
        weight[5:15] = 0
        spoilt = X.copy()
        spoilt[5:15] = 1e9
        for route in ROUTES:
            model = CertifiedClassifier(random_state=0, **route)
            a = clone(model).fit(spoilt, y, sample_weight=weight)
            b = clone(model).fit(X[weight > 0], y[weight > 0])
            np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9, atol=1e-12)
        labels = y.astype(object)
        labels[5] = 99
        assert set(CertifiedClassifier().fit(X, labels.astype(int), sample_weight=weight).classes_) == {0, 1}

    def test_class_weights_are_sample_weights(self):
        X, y = wide()
        for class_weight in ({0: 3.0, 1: 0.5}, "balanced"):
            factor = len(y) / (2 * np.bincount(y)) if class_weight == "balanced" else np.array([3.0, 0.5])
            a = CertifiedClassifier(class_weight=class_weight, tol=1e-6).fit(X, y)
            b = CertifiedClassifier(tol=1e-6).fit(X, y, sample_weight=factor[y])
            np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-7, atol=1e-9)

    @pytest.mark.parametrize("weight", [-np.ones(40), np.zeros(40), np.full(40, np.nan), np.ones((40, 2)), np.ones(3)])
    def test_weights_that_cannot_be(self, weight):
        X, y = wide()
        with pytest.raises(ValueError, match="sample_weight"):
            CertifiedClassifier().fit(X, y, sample_weight=weight)

    @pytest.mark.parametrize("class_weight", ["equal", 3, {0: -1.0}, {1: np.inf}])
    def test_class_weights_that_cannot_be(self, class_weight):
        X, y = wide()
        with refuses("class_weight"):
            CertifiedClassifier(class_weight=class_weight).fit(X, y)


class TestClasses:
    """More than two classes: one against the rest, in the same passes."""

    @pytest.mark.parametrize("loss", NAMES)
    def test_each_class_against_the_rest(self, loss):
        X, y = wide(classes=4)
        model = CertifiedClassifier(loss=loss, intercept="penalised", tol=1e-4).fit(X, y)
        assert model.coef_.shape == (4, 600)
        for k in range(4):
            truth, slack = exact(X, (y == k).astype(int), loss, 1.0)
            off = np.linalg.norm(model.certificate_.weights[k] - truth)
            assert off <= model.certificate_.radius[k] + slack

    def test_classes_share_passes(self):
        X, y = wide(n=60, classes=5)
        for route in ROUTES:
            model = CertifiedClassifier(tol=1e-2, random_state=0, **route)
            many = clone(model).fit(X, y)
            alone = [clone(model).fit(X, y == k).n_passes_ for k in range(5)]
            assert many.n_passes_ < sum(alone)
            if route["method"] == "gram":
                assert many.n_passes_ == 1 + many.n_iter_

    def test_probabilities_only_for_the_logistic_loss(self):
        X, y = wide(classes=3)
        model = CertifiedClassifier(loss="logistic").fit(X, y)
        probability = model.predict_proba(X)
        np.testing.assert_allclose(probability.sum(axis=1), 1.0)
        assert np.all(probability > 0)
        np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(X))
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probability)
        two = CertifiedClassifier(loss="logistic").fit(X, y == 1)
        scores = two.decision_function(X)
        np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(-scores)))
        for loss in NAMES:
            assert hasattr(CertifiedClassifier(loss=loss), "predict_proba") == (loss == "logistic")
        with pytest.raises(AttributeError):
            CertifiedClassifier(loss="hinge").fit(X, y).predict_proba(X)

    @pytest.mark.parametrize("standardize", [False, True])
    @pytest.mark.parametrize("classes", [2, 3])
    def test_scores_are_products_with_the_coefficients(self, standardize, classes):
        X, y = wide(classes=classes)
        X = X * 10.0 ** np.random.default_rng(0).uniform(-2, 2, X.shape[1]) + 3.0
        model = quiet(CertifiedClassifier(C=0.1, standardize=standardize), X, y)
        expected = X @ model.coef_.T + model.intercept_
        scores = model.decision_function(X)
        np.testing.assert_allclose(scores, expected[:, 0] if classes == 2 else expected, rtol=1e-9, atol=1e-9)


class TestClaims:
    """Predictions and features that are said to be proved."""

    @pytest.mark.parametrize("loss", NAMES)
    @pytest.mark.parametrize("classes", [2, 4])
    def test_certified_predictions_are_those_of_the_exact_model(self, loss, classes, global_random_seed):
        X, y = wide(global_random_seed, n=50, classes=classes)
        rng = np.random.default_rng(global_random_seed)
        fresh = np.vstack([X, X + 0.05 * rng.standard_normal(X.shape), 1e-3 * rng.standard_normal((50, 600))])
        proved_some = 0
        settings = {"intercept": "penalised", "method": "sketch", "n_components": 100, "random_state": 0}
        for tol, passes in ((0.5, 3), (1e-2, 20)):
            model = quiet(CertifiedClassifier(0.5, loss=loss, tol=tol, max_passes=passes, **settings), X, y)
            tasks = [1] if classes == 2 else range(classes)
            W, slack = zip(*(exact(X, (y == k).astype(int), loss, 0.5) for k in tasks), strict=True)
            scores = np.column_stack([fresh, np.ones(len(fresh))]) @ np.array(W).T
            truth = (scores[:, 0] > 0).astype(int) if classes == 2 else scores.argmax(axis=1)
            proved = model.certified(fresh)
            assert max(slack) < 1e-6
            np.testing.assert_array_equal(model.predict(fresh)[proved], truth[proved])
            proved_some += proved.sum()
        assert proved_some > 20

    def test_a_loose_certificate_proves_nothing_about_the_boundary(self):
        X, y = wide()
        model = CertifiedClassifier().fit(X, y)
        w = model.certificate_.weights[0, :-1]
        on_the_boundary = -model.intercept_[0] * w / (w @ w)
        assert not model.certified(on_the_boundary[None, :])[0]

    def test_top_features(self):
        X, y = wide()
        frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(600)])
        model = CertifiedClassifier(intercept="penalised", tol=1e-6).fit(frame, y)
        top = model.top_features(10)
        truth, slack = exact(X, y, "squared_hinge", 1.0)
        order = np.argsort(-np.abs(truth[:-1]))
        np.testing.assert_array_equal(top.index, order[:10])
        assert list(top.name) == [f"gene {j}" for j in order[:10]]
        assert top.proved.all()
        assert np.all(top.lower - slack <= truth[top.index])
        assert np.all(truth[top.index] <= top.upper + slack)
        assert len(top) == 10
        text = str(top)
        assert text.count("proved") == 10
        assert "gene" in text.splitlines()[1]
        assert model.top_features(600).proved.all()
        for k in (0, 601, 2.5, True, "3"):
            with refuses("k"):
                model.top_features(k)

    def test_top_features_of_a_class(self):
        X, y = wide(classes=3)
        model = CertifiedClassifier(tol=1e-6).fit(X, np.array(["a", "b", "c"])[y])
        for k, label in enumerate("abc"):
            top = model.top_features(5, label)
            np.testing.assert_array_equal(top.index, np.argsort(-np.abs(model.coef_[k]), kind="stable")[:5])
        largest = np.argsort(-np.abs(model.coef_).max(axis=0), kind="stable")[:5]
        np.testing.assert_array_equal(model.top_features(5).index, largest)
        with pytest.raises(DataError):
            model.top_features(5, "d")

    @pytest.mark.parametrize("recovery", ["certified", "dual", "debiased_dual", "iterative", "naive"])
    @pytest.mark.parametrize("classes", [2, 3])
    def test_every_recovery_fills_the_certificate(self, recovery, classes):
        X, y = wide(classes=classes)
        settings = {"method": "sketch", "n_components": 100, "recovery": recovery, "max_passes": 6, "random_state": 0}
        model = quiet(CertifiedClassifier(intercept="penalised", **settings), X, y)
        certificate, tasks = model.certificate_, 1 if classes == 2 else classes
        for name in ("gap", "radius", "relative_error"):
            assert getattr(certificate, name).shape == (tasks,)
        for name in ("coordinate_radius", "interval_centre", "interval_radius"):
            assert getattr(certificate, name).shape == (tasks, 600)
        for k in range(tasks):
            truth, slack = exact(X, (y == (1 if classes == 2 else k)).astype(int), "squared_hinge", 1.0)
            assert np.linalg.norm(certificate.weights[k] - truth) <= certificate.radius[k] + slack
            off = np.abs(certificate.weights[k, :-1] - truth[:-1])
            assert np.all(off <= certificate.coordinate_radius[k] + slack)
        assert model.n_passes_ == {"dual": 2, "debiased_dual": 2, "naive": 3}.get(recovery, model.n_passes_)


class TestPredictionsThatAreNotProved:
    """Rows whose norm is lost to rounding must not be taken for certain."""

    def test_tiny_rows(self):
        X, y = wide()
        model = CertifiedClassifier(method="sketch", n_components=64, tol=0.5, random_state=0).fit(X, y)
        shrunk = model.certified(X[:5] * 1e-170)
        model_without = CertifiedClassifier(fit_intercept=False, max_passes=2, tol=1.0).fit(X, y)
        assert shrunk.shape == (5,)
        scores = model_without.decision_function(X * 1e-170)
        radius = model_without.certificate_.radius[0]
        proved = model_without.certified(X * 1e-170)
        assert not np.any(proved & (np.abs(scores) <= radius * np.linalg.norm(X, axis=1) * 1e-170))

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_norms_that_cancel_in_sparse_standardised_data(self):
        rng = np.random.default_rng(0)
        X = sp.random_array((200, 50), density=0.2, format="csr", rng=0).toarray()
        X[:, 0] = 1e9 + rng.standard_normal(200)
        y = rng.random(200) < 0.5
        model = CertifiedClassifier(standardize=True, fit_intercept=False, tol=1e-2).fit(sp.csr_array(X), y)
        new = np.zeros((60, 50))
        new[:20] = X[:20]
        alone = model.certified(sp.csr_array(new[:20]))
        among = model.certified(sp.csr_array(new))[:20]
        dense = model.certified(new[:20])
        assert not np.any(among & ~dense)
        assert not np.any(alone & ~dense)

    def test_labels_of_top_features(self):
        X, y = wide()
        names = np.array(["no", "yes"])[y]
        model = CertifiedClassifier().fit(X, names)
        first, second = model.top_features(3, label="no"), model.top_features(3, label="yes")
        np.testing.assert_array_equal(first.weight, -second.weight)
        np.testing.assert_array_equal(first.lower, -second.upper)
        with pytest.raises(DataError):
            model.top_features(3, label="perhaps")


@pytest.mark.parametrize("parameters", [{"C": 1e300}, {"C": 1e-320}, {"intercept_scaling": 1e200}], ids=str)
def test_numbers_beyond_computing_are_refused(parameters):
    X, y = wide()
    with pytest.raises(InvalidParameterError):
        CertifiedClassifier(**parameters).fit(X, y)
    with pytest.raises(InvalidParameterError):
        CertifiedClassifier().fit(X, y, sample_weight=np.where(np.arange(len(y)) == 0, 1e300, 1.0))


def test_class_weights_of_no_class_are_refused():
    X, y = wide()
    with pytest.raises(InvalidParameterError):
        CertifiedClassifier(class_weight={"yes": 3.0}).fit(X, y)
