"""method="direct": rows of sparse data and of arrays solved as they are, every claim against the exact weights."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from slimline import CertifiedClassifier, CertifiedClassifierCV, open_matrix
from slimline.errors import DataError, InvalidParameterError
from tests.estimators.certified import NAMES, quiet
from tests.estimators.direct_claims import STORAGES, check_claims, thin
from tests.learning.exact import distance, exact_weights
from tests.pairwise import pairwise
from tests.refusals import refuses
from tests.tiers import pairs_then_all

FINE = {"method": "direct", "tol": 1e-4, "max_passes": 200}


def direct(C=1.0, **options):
    """Return a classifier of the problem of LIBLINEAR; test_free_effects.py has fits beside a free intercept."""
    return CertifiedClassifier(C, method="direct", intercept="penalised", **options)


class TestClaims:
    @pytest.mark.parametrize("storage, loss, C", pairs_then_all(STORAGES, NAMES, [1e-3, 1.0, 1e3]))
    def test_none_is_violated(self, storage, loss, C, global_random_seed):
        for intercept, scaling in ((False, 1.0), (True, 1.0), (True, 20.0)):
            X, y = thin(global_random_seed)
            stored = STORAGES[storage](X)
            X = (stored.toarray() if sp.issparse(stored) else stored).astype(np.float64)
            model = quiet(direct(C, loss=loss, fit_intercept=intercept, intercept_scaling=scaling), stored, y)
            assert model.route_.method == "direct" and model.route_.n_components == 0
            check_claims(model, X, y, loss, C, constant=scaling if intercept else 0.0)
            if C <= 1.0:
                assert model.certificate_.relative_error[0] <= 1e-2

    @pytest.mark.parametrize(
        "storage, loss, tol", pairwise(["csr", "array", "csr32", "array32"], NAMES, [1e-1, 1e-4, 1e-7])
    )
    def test_what_is_asked_for_is_reached(self, storage, loss, tol):
        X, y = thin(1)
        stored = STORAGES[storage](X)
        seen = (stored.toarray() if sp.issparse(stored) else stored).astype(np.float64)
        # the hinge is certified to the root of rounding, whatever the route
        tol = max(tol, 3e-6) if loss == "hinge" else tol
        model = direct(0.5, loss=loss, tol=tol).fit(stored, y)  # a warning would be an error
        assert model.certificate_.relative_error[0] <= tol
        check_claims(model, seen, y, loss, 0.5)

    @pytest.mark.parametrize("storage", list(STORAGES))
    @pytest.mark.parametrize("loss", NAMES)
    def test_a_large_C_is_no_harder_than_for_the_gram_matrix(self, loss, storage):
        X, y = thin(0)
        stored = STORAGES[storage](X)
        errors = [
            quiet(CertifiedClassifier(1e3, loss=loss, method=method), stored, y).certificate_.relative_error[0]
            for method in ("direct", "gram")
        ]
        assert errors[0] <= max(1e-2, 2 * errors[1])

    @pytest.mark.parametrize("storage", ["csr", "array"])
    @pytest.mark.parametrize("loss", NAMES)
    def test_three_classes(self, loss, storage):
        X, y = thin(2, classes=3)
        model = direct(loss=loss, tol=1e-3).fit(STORAGES[storage](X), y)
        assert model.certificate_.relative_error.max() <= 1e-3
        proved = check_claims(model, X, y, loss, 1.0)
        assert proved.any()

    @pytest.mark.parametrize("shape", [(400, 30), (30, 2000), (60, 900)])
    @pytest.mark.parametrize("loss", NAMES)
    def test_more_samples_than_features_and_fewer(self, loss, shape):
        X, y = thin(3, *shape)
        for storage in ("csr", "array32"):
            stored = STORAGES[storage](X)
            seen = X if storage == "csr" else stored.astype(np.float64)
            check_claims(direct(loss=loss).fit(stored, y), seen, y, loss, 1.0)

    @pytest.mark.parametrize("storage", ["csr", "array32"])
    @pytest.mark.parametrize("loss", NAMES)
    def test_counts_as_they_are(self, loss, storage):
        """Rows of very different length: good dual variables may have weights that prove little, and steps go on."""
        rng = np.random.default_rng(0)
        length = np.exp(rng.uniform(0, 7, (100, 1)))
        X = rng.poisson(length * rng.dirichlet(np.full(1500, 0.02), 100)).astype(float)
        y = rng.integers(0, 2, 100)
        model = direct(loss=loss).fit(STORAGES[storage](X), y)  # a warning would be an error
        assert model.certificate_.relative_error[0] <= 1e-2
        check_claims(model, X, y, loss, 1.0)

    def test_the_gram_matrix_agrees(self):
        X, y = thin(4)
        for loss in NAMES:
            found, truth = (
                CertifiedClassifier(method=method, loss=loss, tol=1e-3).fit(sp.csr_array(X), y).certificate_
                for method in ("direct", "gram")
            )
            assert np.linalg.norm(found.weights - truth.weights) <= found.radius[0] + truth.radius[0]
            middle, around = (
                found.interval_centre - truth.interval_centre,
                found.interval_radius + truth.interval_radius,
            )
            assert np.all(np.abs(middle) <= around)

    @pytest.mark.parametrize("loss", NAMES)
    @pytest.mark.parametrize("storage", ["csr32", "array32"])
    def test_values_whose_squares_leave_float32(self, loss, storage):
        X, y = thin(5, 20, 30)
        for scale in (1e-25, 1e25):
            stored = STORAGES[storage](scale * X)
            seen = (stored.toarray() if sp.issparse(stored) else stored).astype(np.float64)
            C = 1.0 / scale**2
            model = quiet(direct(C, loss=loss, fit_intercept=False), stored, y)
            check_claims(model, seen, y, loss, C, constant=0.0)
            assert model.certificate_.relative_error[0] <= 1e-2


class TestWeights:
    @pytest.mark.parametrize("storage", ["csr", "csc", "array"])
    @pytest.mark.parametrize("loss", NAMES)
    def test_a_weight_is_a_repetition_and_zero_is_absence(self, loss, storage):
        X, y = thin(6)
        s = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
        make = STORAGES[storage]
        weighted = direct(loss=loss, tol=1e-5).fit(make(X), y, sample_weight=s)
        often = np.repeat(np.arange(len(y)), s.astype(int))
        repeated = direct(loss=loss, tol=1e-5).fit(make(X[often]), y[often])
        for a, b in ((weighted, repeated), (repeated, weighted)):
            away = np.linalg.norm(a.certificate_.weights - b.certificate_.weights)
            assert away <= a.certificate_.radius[0] + b.certificate_.radius[0]
        assert weighted.route_.direct_seconds == pytest.approx(repeated.route_.direct_seconds, rel=0.5)
        used = s > 0
        check_claims(weighted, X[used], y[used], loss, 1.0, s[used])

    @pytest.mark.slow
    def test_auto_takes_the_same_route_for_weights_and_repetitions(self):
        X, y = thin(7, 500, 20000, share=0.01)
        once, twice = sp.csr_array(X), sp.csr_array(np.vstack([X, X]))
        a = CertifiedClassifier().fit(once, y, sample_weight=np.full(500, 2.0))
        b = CertifiedClassifier().fit(twice, np.tile(y, 2))
        assert a.route_.method == b.route_.method
        assert np.linalg.norm(a.certificate_.weights - b.certificate_.weights) <= (
            a.certificate_.radius[0] + b.certificate_.radius[0]
        )

    @pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 1: 0.25}])
    @pytest.mark.parametrize("loss", NAMES)
    def test_class_weights(self, loss, class_weight):
        X, y = thin(8)
        factor = len(y) / (2 * np.bincount(y)) if class_weight == "balanced" else np.array([3.0, 0.25])
        model = direct(loss=loss, class_weight=class_weight, tol=1e-3).fit(sp.csr_array(X), y)
        check_claims(model, X, y, loss, 1.0, factor[y])


class TestPasses:
    @pytest.mark.parametrize(
        "storage, of_a_step, loss",
        [("csr", 2, "hinge"), ("csc", 1, "squared_hinge"), ("array", 1, "logistic"), ("csr", 2, "squared")],
    )
    def test_they_are_counted_and_limited(self, storage, of_a_step, loss):
        X, y = thin(9)
        for most in (1, 2, 3, 5, 50):
            matrix = open_matrix(STORAGES[storage](X))
            model = quiet(direct(30.0, loss=loss, tol=1e-12, max_passes=most), matrix, y)
            assert model.n_passes_ == matrix.passes == model.history_[-1].passes == model.certificate_.passes
            assert model.n_passes_ == 1 + of_a_step * model.n_iter_
            assert model.n_passes_ <= max(most, 1 + of_a_step)  # a step is always taken
            assert [step.passes for step in model.history_] == list(
                range(1 + of_a_step, model.n_passes_ + 1, of_a_step)
            )
            assert model.n_iter_ == len(model.history_)
            for step in model.history_:
                assert step.dual[0] <= step.primal[0] * (1 + 1e-12)
                assert step.n_components == X.shape[1]
            errors = [step.relative_error[0] for step in model.history_]
            assert errors[-1] == model.certificate_.relative_error[0]

    def test_few_passes_do(self):
        """The rows are there: what is left to steps is to make sure, not to find."""
        X, y = thin(10, 200, 1000, share=0.02)
        for loss in NAMES:
            model = direct(loss=loss).fit(sp.csr_array(X), y)
            assert model.n_iter_ <= 3

    def test_what_was_not_reached_is_said(self):
        X, y = thin(9)
        with pytest.warns(ConvergenceWarning, match="3 passes"):
            direct(1e3, loss="logistic", tol=1e-16, max_passes=3).fit(sp.csr_array(X), y)


class TestRefused:
    @pytest.mark.parametrize("change", [
        lambda X: (X > 0).astype(np.int8),
        np.asfortranarray,
        lambda X: X.astype(np.float16),
    ], ids=["int8", "Fortran", "float16"])  # fmt: skip
    def test_arrays_that_do_not_lie_in_rows_of_floats(self, change):
        X, y = thin(0)
        with refuses("method"):
            direct().fit(open_matrix(change(X)), y)

    def test_mapped_files(self, tmp_path):
        X, y = thin(0)
        np.save(tmp_path / "x.npy", X)
        for mapped in (np.load(tmp_path / "x.npy", mmap_mode="r"), open_matrix(tmp_path / "x.npy")):
            with refuses("method"):
                direct().fit(mapped, y)

    @pytest.mark.parametrize("storage", ["csr", "array"])
    def test_standardised_columns(self, storage):
        X, y = thin(0)
        for estimator in (direct(standardize=True), CertifiedClassifierCV(method="direct", standardize=True, cv=2)):
            with pytest.raises(InvalidParameterError):
                estimator.fit(STORAGES[storage](X), y)

    @pytest.mark.parametrize("storage", list(STORAGES))
    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_what_is_not_finite(self, storage, bad):
        X, y = thin(0)
        X[4, 4] = bad
        with pytest.raises(DataError, match="row 4, column 4"):
            direct().fit(open_matrix(STORAGES[storage](X)), y)

    @pytest.mark.parametrize("storage", ["csr", "array"])
    def test_values_whose_squares_leave_float64(self, storage):
        X, y = thin(0)
        with pytest.raises(DataError):
            direct().fit(STORAGES[storage](1e160 * X), y)

    @pytest.mark.parametrize("recovery", ["dual", "debiased_dual", "iterative", "naive"])
    def test_published_ways_need_a_sketch(self, recovery):
        X, y = thin(0)
        with pytest.raises(InvalidParameterError):
            direct(recovery=recovery).fit(X, y)


class TestPath:
    @pytest.mark.parametrize("loss, storage, classes", pairs_then_all(NAMES, ["csc", "array32"], [2, 3]))
    def test_members_and_scores_are_those_of_single_fits(self, loss, storage, classes):
        X, y = thin(11, 60, 150, classes)
        stored = STORAGES[storage](X)
        seen = (stored.toarray() if sp.issparse(stored) else stored).astype(np.float64)
        folds = StratifiedKFold(3, shuffle=True, random_state=1)
        path = CertifiedClassifierCV(Cs=[10.0, 0.1, 1.0], cv=folds, loss=loss, **FINE).fit(stored, y)
        assert path.route_.method == "direct"
        for C, certificate in zip(path.Cs_, path.certificates_path_, strict=True):
            truth = CertifiedClassifier(C, loss=loss, method="gram").fit(seen, y).certificate_
            assert certificate.relative_error.max() <= 1e-4
            away = np.linalg.norm(certificate.weights - truth.weights, axis=1)
            assert np.all(away <= certificate.radius + truth.radius)
        for fold, (train, test) in enumerate(folds.split(X, y)):
            for number, C in enumerate(path.Cs_):
                alone = CertifiedClassifier(C, loss=loss, method="gram").fit(seen[train], y[train])
                # a row of the test part whose margin is below the tolerance may fall on either side
                values = alone.decision_function(seen[test])
                last = np.abs(values) if classes == 2 else np.diff(np.sort(values, axis=1)[:, -2:], axis=1)[:, 0]
                near = np.sum(last <= 1e-3 * np.linalg.norm(alone.certificate_.weights))
                right = alone.score(seen[test], y[test])
                assert abs(path.scores_[fold, number] - right) <= near / len(test) + 1e-12

    def test_grid_search_agrees(self):
        X, y = thin(12, 90, 200)
        stored, folds = sp.csr_array(X), StratifiedKFold(3)
        options = {"loss": "logistic", "tol": 1e-7, "method": "direct", "max_passes": 200}
        path = CertifiedClassifierCV(Cs=[0.1, 1.0, 10.0], cv=folds, scoring="neg_log_loss", **options).fit(stored, y)
        grid = GridSearchCV(
            CertifiedClassifier(**options), {"C": [0.1, 1.0, 10.0]}, cv=folds, scoring="neg_log_loss"
        ).fit(stored, y)
        expected = [[grid.cv_results_[f"split{fold}_test_score"][k] for k in range(3)] for fold in range(3)]
        np.testing.assert_allclose(path.scores_, expected, rtol=1e-5)
        assert grid.best_params_["C"] == path.C_

    @pytest.mark.parametrize("storage", ["csr", "array"])
    def test_groups_stay_together(self, storage):
        X, y = thin(13)
        groups = np.random.default_rng(0).integers(0, 7, len(y))
        stored = STORAGES[storage](X)
        options = {"Cs": [0.1, 10.0], **FINE}
        splits = list(GroupKFold(3).split(X, y, groups))
        path = CertifiedClassifierCV(cv=GroupKFold(3), **options).fit(stored, y, groups=groups)
        given_splits = CertifiedClassifierCV(cv=splits, **options).fit(stored, y)
        np.testing.assert_array_equal(path.scores_, given_splits.scores_)
        np.testing.assert_array_equal(path.coefs_path_, given_splits.coefs_path_)
        other = CertifiedClassifierCV(cv=GroupKFold(3), **options).fit(stored, y, groups=np.roll(groups, 1))
        assert not np.array_equal(path.scores_, other.scores_)

    def test_groups_with_rows_of_weight_zero(self):
        X, y = thin(14)
        rng = np.random.default_rng(1)
        groups, s = rng.integers(0, 7, len(y)), rng.integers(0, 3, len(y)).astype(float)
        options = {"Cs": [0.1, 10.0], **FINE}
        splits = list(GroupKFold(3).split(X, y, groups))
        path = CertifiedClassifierCV(cv=GroupKFold(3), **options).fit(sp.csr_array(X), y, s, groups=groups)
        for fold, (train, test) in enumerate(splits):
            for number, C in enumerate(path.Cs_):
                alone = CertifiedClassifier(C, method="gram").fit(X[train], y[train], s[train])
                right = np.average(alone.predict(X[test]) == y[test], weights=s[test])
                assert path.scores_[fold, number] == pytest.approx(right, abs=1e-12)

    def test_groups_are_needed_by_their_splitter(self):
        X, y = thin(13)
        with pytest.raises(ValueError, match="groups"):
            CertifiedClassifierCV(cv=GroupKFold(3), **FINE).fit(X, y)


@pytest.mark.parametrize("storage", ["csr", "array"])
def test_scikit_learn_tools(storage):
    X, y = thin(15)
    stored = STORAGES[storage](X)
    model = make_pipeline(MaxAbsScaler(), direct(loss="logistic")).fit(stored, y)
    assert model[-1].route_.method == "direct"
    again = clone(model).fit(stored, y)
    np.testing.assert_array_equal(again[-1].coef_, model[-1].coef_)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict_proba(stored), model.predict_proba(stored))
    np.testing.assert_array_equal(back[-1].certified(stored), model[-1].certified(stored))
    scaled = X / np.maximum(np.abs(X).max(axis=0), 1e-300)
    check_claims(model[-1], scaled, y, "logistic", 1.0)


def test_the_data_are_left_as_they_were():
    X, y = thin(16)
    for make in STORAGES.values():
        stored = make(X)
        before = stored.copy()
        for loss in NAMES:
            direct(loss=loss).fit(stored, y)
        same = (stored != before).nnz == 0 if sp.issparse(stored) else np.array_equal(stored, before)
        assert same
        assert not sp.issparse(stored) or np.array_equal(stored.indices, before.indices)


@st.composite
def small_problems(draw):
    n, d = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.3, 0.7, 1.0])))
    y = np.array([0, 1, *rng.integers(0, 2, n - 2)])
    for change in draw(st.lists(st.sampled_from(["row", "column", "opposite", "empty", "separable", "scale", "all"]))):
        if change == "row":
            X[-1], y[-1] = X[0], y[-1] if n == 2 else y[0]
        elif change == "opposite":
            X[1] = X[0]
        elif change == "column":
            X[:, -1] = X[:, 0]
        elif change == "empty":
            X[0], X[:, 0] = (0.0, X[:, 0]) if n > 2 else (X[0], 0.0)
        elif change == "separable":
            X[:, 0] = (2 * y - 1) * rng.uniform(1.0, 1.0 + 1e-6, n)
        elif change == "scale":
            X = X * 10.0 ** draw(st.lists(st.integers(-30, 30), min_size=d, max_size=d).map(np.array)).astype(float)
        else:
            X = X * 10.0 ** draw(st.integers(-20, 20))
    s = rng.uniform(0.1, 3.0, n) if draw(st.booleans()) else np.ones(n)
    C = 10.0 ** draw(st.floats(-6, 6))
    constant = draw(st.sampled_from([0.0, 1.0, 10.0]))
    return X, y, s, C, constant, draw(st.sampled_from(NAMES)), draw(st.sampled_from(["csr", "csc", "array"]))


# The same examples every time: the exact optimum of some of them takes long.
@settings(max_examples=40, deadline=None, derandomize=True)
@given(small_problems())
def test_small_problems_against_rational_numbers(problem):
    X, y, s, C, constant, loss, storage = problem
    penalty = 1.0 / C
    whole = np.column_stack([X, np.full(len(y), constant)])
    model = direct(C, loss=loss, fit_intercept=constant > 0, intercept_scaling=constant or 1.0, max_passes=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(STORAGES[storage](X), y, s)
    optimum = exact_weights(loss, whole, np.where(y == 1, 1.0, -1.0), s, penalty)
    certificate = model.certificate_
    away = distance(optimum, certificate.weights[0])
    assert np.isfinite(certificate.weights).all()
    assert away <= certificate.radius[0] * (1 + 1e-14)
    size = distance(optimum, np.zeros(len(optimum)))
    if size > 0:
        assert away / size <= certificate.relative_error[0] * (1 + 1e-14)
    for j in range(X.shape[1]):
        one = optimum[j : j + 1]
        assert distance(one, certificate.interval_centre[0, j : j + 1]) <= certificate.interval_radius[0, j] * (
            1 + 1e-14
        )
        assert distance(one, certificate.weights[0, j : j + 1]) <= certificate.coordinate_radius[0, j] * (1 + 1e-14)
