"""Certified classifiers with a free intercept and covariates, against exact fits of the same problem."""

import warnings

import numpy as np
import pytest
import sklearn
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from slimline import (
    CertifiedClassifier,
    CertifiedClassifierCV,
    CertifiedFeatureSelector,
    CertifiedRegressor,
    open_matrix,
)
from slimline.errors import CovariateWarning, DataError, InvalidParameterError, ModelFileError
from slimline.estimators import aligned_decisions
from slimline.estimators._persistence import stored_model
from slimline.learning import loss_named
from slimline.model_files import StoredModel
from tests.refusals import refuses

N, D, C = 90, 400, 0.02


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    U = np.column_stack([rng.uniform(20, 80, N), rng.integers(0, 2, N), 1e-3 * rng.standard_normal(N)])
    f = X[:, :15].sum(axis=1) * 0.6 + 0.05 * (U[:, 0] - 50) + U[:, 1] + 500 * U[:, 2] + 0.5
    return X, U, f + rng.standard_normal(N) > 0, np.digitize(f, [-1.5, 1.5])


def exact(loss, X, U, y, s):
    """Return weights and effects of the exact model by a general-purpose minimiser, in scaled coordinates."""
    loss = loss_named(loss)
    K = X @ X.T  # w = Xᵀβ
    columns = np.column_stack([np.ones(len(y)), U])
    scale = np.linalg.norm(columns, axis=0)
    V, sign = columns / scale, np.where(y, 1.0, -1.0)

    def objective(parameters):
        beta, b = parameters[: len(y)], parameters[len(y) :]
        values = K @ beta
        margin = sign * (values + V @ b)
        g = -C * sign * s * loss.dual(margin)
        gradient = np.concatenate([values + K @ g, V.T @ g])
        return 0.5 * beta @ values + C * s @ loss.value(margin), gradient

    start = np.zeros(len(y) + columns.shape[1])
    found = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 20_000})
    return X.T @ found.x[: len(y)], found.x[len(y) :] / scale


@pytest.mark.parametrize("method", ["sketch", "gram", "direct"])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "squared"])
def test_weights_effects_and_scores_are_those_of_the_exact_model(loss, method, samples):
    X, U, y, _ = samples
    s = np.random.default_rng(1).uniform(0.5, 2.0, N)
    w, b = exact(loss, X, U, y, s)
    for score_bounds in (False, True):
        model = CertifiedClassifier(C, loss=loss, method=method, intercept="free", score_bounds=score_bounds)
        model.set_params(random_state=0).fit(X, y, sample_weight=s, covariates=U)
        claim, effects = model.certificate_, model.covariate_effects()
        assert np.linalg.norm(claim.weights[0, :-1] - w) <= claim.radius[0] * (1 + 1e-6) + 1e-7 * np.linalg.norm(w)
        lost = 1e-6 * np.abs(b)  # of the minimiser
        assert (effects.lower[0] - lost <= b).all() and (b <= effects.upper[0] + lost).all()
        np.testing.assert_allclose(model.covariate_coef_[0], effects.effect[0, 1:])
        proved = model.decide(X, U)
        scores = X @ w + b[0] + U @ b[1:]
        assert ((scores > 0) == proved.labels)[proved.proved].all()
        assert proved.proved.mean() > 0.5
        np.testing.assert_allclose(model.decision_function(X, U), proved.scores, rtol=1e-10, atol=1e-10)


def test_score_bounds_are_sharper_for_one_pass_more(samples):
    X, U, y, _ = samples
    plain = CertifiedClassifier(C, intercept="free", method="sketch", random_state=0).fit(X, y, covariates=U)
    sharp = CertifiedClassifier(C, intercept="free", method="sketch", score_bounds=True, random_state=0)
    sharp.fit(X, y, covariates=U)
    assert sharp.n_passes_ == plain.n_passes_ + 1
    np.testing.assert_array_equal(sharp.coef_, plain.coef_)
    widths = [one.covariate_effects().upper - one.covariate_effects().lower for one in (plain, sharp)]
    assert (widths[1] < 0.7 * widths[0]).all()
    assert sharp.certified(X, U).sum() >= plain.certified(X, U).sum()


@pytest.mark.parametrize(
    "loss, peer",
    [
        ("logistic", LogisticRegression(C=C, tol=1e-10, max_iter=100_000)),
        ("hinge", SVC(C=C, kernel="linear", tol=1e-10)),
        ("squared", RidgeClassifier(1.0 / C)),
    ],
)
def test_a_free_intercept_is_that_of_scikit_learn(loss, peer, samples):
    X, _, y, _ = samples
    peer.fit(X, y)
    model = CertifiedClassifier(C, loss=loss, method="gram", intercept="free").fit(X, y)
    np.testing.assert_allclose(model.coef_[0], peer.coef_.ravel(), atol=1e-5 * np.abs(peer.coef_).max())
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-4)
    assert model.intercept_scaling_ == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_hinge_beside_covariates_is_certified(loss, samples):
    X, U, y, _ = samples
    exactly = CertifiedClassifier(C, loss=loss, method="gram", intercept="free").fit(X, y, covariates=U)
    sketched = CertifiedClassifier(C, loss=loss, method="sketch", intercept="free", random_state=0)
    sketched.fit(X, y, covariates=U)
    assert exactly.certificate_.relative_error[0] < 1e-5
    apart = np.linalg.norm(sketched.certificate_.weights - exactly.certificate_.weights)
    assert apart <= sketched.certificate_.radius[0] + exactly.certificate_.radius[0]


def test_taking_covariates_out_of_the_features_changes_no_weight(samples):
    X, U, y, _ = samples
    moved = X - np.column_stack([np.ones(N), U]) @ np.random.default_rng(2).standard_normal((4, D))
    one, other = (
        CertifiedClassifier(C, loss="logistic", method="gram", intercept="free").fit(data, y, covariates=U)
        for data in (X, moved)
    )
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6 * np.abs(one.coef_).max())
    np.testing.assert_allclose(one.decision_function(X, U), other.decision_function(moved, U), rtol=1e-5, atol=1e-5)


def test_several_classes_standardised(samples):
    X, U, _, y = samples
    model = CertifiedClassifier(C, intercept="free", standardize=True, random_state=0).fit(X, y, covariates=U)
    assert model.covariate_coef_.shape == (3, 3)
    exactly = CertifiedClassifier(C, intercept="free", standardize=True, method="gram").fit(X, y, covariates=U)
    decisions = model.decide(X, U)
    assert (decisions.labels == exactly.predict(X, U))[decisions.proved].all() and decisions.proved.any()


def test_frames_and_matrices(samples):
    pandas = pytest.importorskip("pandas")
    X, U, y, _ = samples
    frame = pandas.DataFrame(U, columns=["age", "sex", "pc1"])
    model = CertifiedClassifier(C, intercept="free", method="gram").fit(open_matrix(X), y, covariates=frame)
    assert model.covariate_effects().name.tolist() == ["intercept", "age", "sex", "pc1"]
    np.testing.assert_array_equal(model.predict(X, frame), model.predict(X, U))
    with refuses("covariates"):
        model.predict(X, frame[["sex", "age", "pc1"]])
    text = frame.assign(sex=np.where(U[:, 1] > 0, "f", "m"))
    with refuses("covariates"):
        CertifiedClassifier(intercept="free").fit(X, y, covariates=text)


def test_dependent_covariates_are_left_out_by_name(samples):
    pandas = pytest.importorskip("pandas")
    X, U, y, _ = samples
    frame = pandas.DataFrame(U, columns=["age", "sex", "pc1"]).assign(months=12.0 * U[:, 0] + 3.0, one=1.0)
    model = CertifiedClassifier(C, intercept="free", method="gram")
    with pytest.warns(CovariateWarning, match="months, one"):
        model.fit(X, y, covariates=frame)
    assert np.isnan(model.covariate_coef_[0]).tolist() == [False, False, False, True, True]
    less = CertifiedClassifier(C, intercept="free", method="gram").fit(X, y, covariates=U)
    np.testing.assert_allclose(model.decision_function(X, frame), less.decision_function(X, U))


def test_separating_covariates_are_refused(samples):
    X, U, y, _ = samples
    batch = np.where(np.arange(N) < 5, 1.0, 0.0)
    labels = np.where(np.arange(N) < 5, True, y)
    for classes, column in ((labels, batch), (y, y)):
        said = _refused(X, classes, np.column_stack([U, column]))
        assert said.parameter == "covariates"
        assert "u3" in str(said)
    assert "rows 0, 1, 2, 3, 4" in str(_refused(X, labels, np.column_stack([U, batch])))


def _refused(X, y, covariates):
    with pytest.raises(DataError) as caught:
        CertifiedClassifier(intercept="free").fit(X, y, covariates=covariates)
    return caught.value


@pytest.mark.parametrize(
    "covariates",
    [
        np.ones(N),
        np.ones((N - 1, 2)),
        np.full((N, 1), np.nan),
        np.full((N, 1), np.inf),
        np.random.default_rng(0).standard_normal((N, N)),
        np.array([["a"]] * N, dtype=object),
    ],
    ids=["flat", "too few rows", "NaN", "infinite", "as many as samples", "text"],
)
def test_bad_covariates(covariates, samples):
    X, _, y, _ = samples
    with refuses("covariates"):
        CertifiedClassifier(intercept="free", loss="squared").fit(X, y, covariates=covariates)


def test_what_does_not_go_together(samples):
    X, U, y, _ = samples
    with refuses("intercept"):
        CertifiedClassifier(intercept="penalised").fit(X, y, covariates=U)
    with refuses("intercept_scaling"):
        CertifiedClassifier(intercept="free", intercept_scaling=1.0).fit(X, y)
    with refuses("intercept"):
        CertifiedClassifier(intercept="none").fit(X, y)
    model = CertifiedClassifier(C, intercept="free").fit(X, y, covariates=U)
    for wrong in (None, U[:, :2]):
        with refuses("covariates"):
            model.predict(X, wrong)
    plain = CertifiedClassifier(C).fit(X, y)
    with refuses("covariates"):
        plain.predict(X, U)
    with pytest.raises(DataError):
        CertifiedClassifier(C, intercept="penalised").fit(X, y).covariate_effects()


def test_a_free_intercept_is_the_default(samples):
    X, _, y, _ = samples
    model = CertifiedClassifier(C, loss="squared", method="gram").fit(X, y)
    peer = RidgeClassifier(alpha=1 / C).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], peer.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-6)
    effects = model.covariate_effects()
    assert effects.name.tolist() == ["intercept"] and effects.lower[0, 0] <= peer.intercept_[0] <= effects.upper[0, 0]
    assert CertifiedClassifierCV().intercept == "free"


def test_scores_move_with_the_prevalence_by_the_difference_of_the_log_odds(samples, tmp_path):
    X, U, y, classes = samples
    s = np.random.default_rng(3).uniform(0.5, 2.0, N)
    model = CertifiedClassifier(C, loss="logistic", method="gram").fit(X, y, sample_weight=s, covariates=U)
    share = s[y].sum() / s.sum()
    np.testing.assert_allclose(model.class_prior_, [1 - share, share])
    shift = np.log(0.02 / 0.98) - np.log(share / (1 - share))
    assert model.prevalence_shift(0.02) == pytest.approx(shift, rel=1e-12)
    expected = 1 / (1 + np.exp(-model.decision_function(X, U) - shift))
    found = model.predict_proba(X, U, prevalence=0.02)
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X, U, prevalence=0.02)), found, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X, U, prevalence=share), model.predict_proba(X, U), rtol=1e-9)
    model.save(tmp_path / "m.slim")
    assert CertifiedClassifier.load(tmp_path / "m.slim").prevalence_shift(0.02) == model.prevalence_shift(0.02)
    for wrong in (0.0, 1.0, -1, "rare", np.nan):
        with refuses("prevalence"):
            model.prevalence_shift(wrong)
    for other, labels in (
        ({"intercept": "penalised"}, y), ({"class_weight": "balanced"}, y), ({"fit_intercept": False}, y), ({}, classes)
    ):  # fmt: skip
        with refuses("prevalence"):
            CertifiedClassifier(C, loss="logistic", method="gram", **other).fit(X, labels).prevalence_shift(0.1)
    with refuses("prevalence"):
        CertifiedClassifier(C, method="gram").fit(X, y).prevalence_shift(0.1)


def test_cases_and_controls_are_calibrated_for_the_population_that_they_were_chosen_from():
    """The mean probability in the population is the prevalence; fails with probability below 1e-6 (6 deviations)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 3))
    ill = rng.random(len(X)) < 1 / (1 + np.exp(5.0 - X @ [1.0, -0.5, 0.25]))
    share = ill.mean()
    controls = rng.choice(np.flatnonzero(~ill), ill.sum(), replace=False)
    rows = np.append(np.flatnonzero(ill), controls)
    model = CertifiedClassifier(10.0, loss="logistic", tol=1e-4).fit(X[rows], ill[rows])
    probability = model.predict_proba(X, prevalence=share)[:, 1]
    deviation = 2 * np.sqrt(share / len(X) + share**2 * 4 / len(rows))  # of the share, and of the fitted intercept
    assert abs(probability.mean() - share) < 6 * deviation
    assert model.predict_proba(X)[:, 1].mean() > 10 * share


def test_the_selector_takes_covariates(samples):
    X, U, y, _ = samples
    base = CertifiedClassifier(C, method="gram")
    chosen = CertifiedFeatureSelector(k=5, estimator=base).fit(X, y, covariates=U)
    top = base.fit(X, y, covariates=U).top_features(5)
    np.testing.assert_array_equal(chosen.ranking_, top.index)


def test_without_an_intercept_covariates_are_free_too(samples):
    X, U, y, _ = samples
    model = CertifiedClassifier(C, loss="squared", method="gram", fit_intercept=False).fit(X, y, covariates=U)
    assert model.intercept_[0] == 0.0
    a = 1.0 - np.where(y, 1.0, -1.0) * model.decision_function(X, U)
    beta = np.where(y, 1.0, -1.0) * a
    assert np.abs(U.T @ beta).max() <= 1e-8 * np.abs(U.T @ np.ones(N)).max()


@pytest.mark.parametrize("score_bounds", [False, True])
def test_the_order_of_the_features_changes_no_bound(score_bounds, samples):
    X, U, y, _ = samples
    X = X + 3.0 * np.random.default_rng(6).standard_normal(D)  # features that the intercept explains differently
    names = np.array([f"snp{j}" for j in range(D)])
    model = CertifiedClassifier(C, intercept="free", method="sketch", tol=1e-3, random_state=0)
    model.set_params(score_bounds=score_bounds).fit(open_matrix(X, feature_names=names.tolist()), y, covariates=U)
    order = np.random.default_rng(7).permutation(D)
    stored = stored_model(model)
    slacks = []
    for columns in (np.arange(D), order):
        # wider balls until each label is open: where a label stops being proved is its bound
        found = []
        for factor in np.geomspace(1e-3, 1e3, 60):
            wider = StoredModel(**dict(stored.__dict__) | {"radius": stored.radius * factor})
            turned = open_matrix(X[:, columns], feature_names=names[columns].tolist())
            found.append(aligned_decisions(wider, turned, U)[0].proved)
        slacks.append(np.sum(found, axis=0))
    np.testing.assert_array_equal(slacks[0], slacks[1])
    assert slacks[0].min() > 0 and slacks[0].max() < 60


@pytest.mark.parametrize("score_bounds", [False, True])
def test_files_keep_effects_and_bounds(score_bounds, samples, tmp_path):
    X, U, y, _ = samples
    path = tmp_path / "model.slim"
    model = CertifiedClassifier(C, intercept="free", standardize=True, score_bounds=score_bounds)
    model.fit(X, y, covariates=U).save(path)
    again = CertifiedClassifier.load(path)
    for one, other in zip(model.decide(X, U).__dict__.values(), again.decide(X, U).__dict__.values(), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(model.decision_function(X, U), again.decision_function(X, U))
    np.testing.assert_array_equal(model.covariate_effects().upper, again.covariate_effects().upper)
    stored = StoredModel.read(path)
    for name, change in {"free_linear": -1.0, "free_effects": np.nan}.items():
        broken = dict(stored.__dict__) | {name: np.full_like(getattr(stored, name), change)}
        StoredModel(**broken).write(path, overwrite=True)
        with pytest.raises(ModelFileError):
            StoredModel.read(path)


def test_a_search_fits_covariates_in_each_fold(samples):
    X, U, y, _ = samples
    Cs = [1e-3, 1e-2]
    folds = [(np.arange(30, N), np.arange(30)), (np.arange(60), np.arange(60, N))]
    settings = {"loss": "logistic", "intercept": "free", "method": "gram"}
    for search in ("certified", "sketch"):
        model = CertifiedClassifierCV(Cs, cv=folds, search=search, **settings).fit(X, y, covariates=U)
        for k, (train, test) in enumerate(folds):
            for j, one in enumerate(Cs):
                part = CertifiedClassifier(one, **settings).fit(X[train], y[train], covariates=U[train])
                score = (part.predict(X[test], U[test]) == y[test]).mean()
                assert model.scores_[k, j] == pytest.approx(score)


def test_routing_of_covariates(samples):
    X, U, y, _ = samples
    with sklearn.config_context(enable_metadata_routing=True):
        model = CertifiedClassifier(C, intercept="free", method="gram")
        model.set_fit_request(covariates=True).set_predict_request(covariates=True).set_score_request(
            sample_weight=False
        )
        pipe = make_pipeline(StandardScaler(), model).fit(X, y, covariates=U)
        direct = CertifiedClassifier(C, intercept="free", method="gram")
        direct.fit(StandardScaler().fit_transform(X), y, covariates=U)
        np.testing.assert_array_equal(
            pipe.predict(X, covariates=U), direct.predict(StandardScaler().fit_transform(X), U)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            CertifiedClassifierCV([C], cv=3, intercept="free").set_fit_request(covariates=True)
        found = cross_validate(CertifiedClassifier(C), X, y, cv=3)
        assert len(found["test_score"]) == 3


@pytest.mark.parametrize("kind", [CertifiedClassifier, CertifiedRegressor])
def test_scores_take_covariates(samples, kind):
    X, U, y, _ = samples
    y, s = y if kind is CertifiedClassifier else X[:, 0] + U[:, 0], np.linspace(0.5, 2.0, N)
    measure = accuracy_score if kind is CertifiedClassifier else r2_score
    model = kind(C, method="gram").fit(X, y, covariates=U)
    assert model.score(X, y, s, covariates=U) == pytest.approx(measure(y, model.predict(X, U), sample_weight=s))
    with sklearn.config_context(enable_metadata_routing=True):
        model = kind(C, method="gram").set_fit_request(covariates=True).set_score_request(covariates=True)
        folds = KFold(3)
        found = cross_validate(model, X, y, cv=folds, params={"covariates": U})["test_score"]
        for score, (train, test) in zip(found, folds.split(X), strict=True):
            part = kind(C, method="gram").fit(X[train], y[train], covariates=U[train])
            assert score == measure(y[test], part.predict(X[test], U[test]))
        search = GridSearchCV(model, {"C": [C, 2 * C]}, cv=folds).fit(X, y, covariates=U)
        assert search.cv_results_["mean_test_score"][0] == pytest.approx(found.mean())
        assert search.score(X, y, covariates=U) == search.best_estimator_.score(X, y, covariates=U)


@pytest.mark.parametrize(
    "covariates",
    [
        np.ones((N, 1)) + 1j,
        np.array([["2001-01-01"]] * N, dtype="datetime64[D]"),
        np.ma.masked_array(np.arange(N)[:, None], mask=np.arange(N)[:, None] == 3),
    ],
    ids=["complex", "dates", "masked"],
)
def test_covariates_that_are_no_plain_numbers_are_refused(samples, covariates):
    X, _, y, _ = samples
    with refuses("covariates"):
        CertifiedClassifier(C).fit(X, y, covariates=covariates)


def test_the_covariate_that_separates_by_itself_is_the_one_that_is_named(samples):
    X, U, y, _ = samples
    with pytest.raises(DataError, match=r"by u3: their"):
        CertifiedClassifier(C).fit(X, y, covariates=np.column_stack([U, 2 * y + 1]))
    rare = np.zeros(N)
    rare[np.flatnonzero(y)[:3]] = 1  # a value that only one class has
    with pytest.raises(DataError, match=r"in 3 samples .* by u0: their"):
        CertifiedClassifier(C).fit(X, y, covariates=np.column_stack([rare, U]))


def test_errors_of_models_without_covariates(samples):
    X, U, y, _ = samples
    model = CertifiedClassifier(C, method="gram").fit(X, y)
    with pytest.raises(InvalidParameterError, match="covariates must be None"):
        model.predict(X, U)
    with pytest.raises(DataError, match="1 sample is fitted exactly by a free intercept"):
        CertifiedRegressor(C).fit(X[:1], [1.0])


def test_zero_weights_leave_rows_out_of_covariates_too(samples):
    X, U, y, _ = samples
    s = np.ones(N)
    s[::7] = 0.0
    wild = U.copy()
    wild[::7] = 1e6
    one = CertifiedClassifier(C, intercept="free", method="gram").fit(X, y, sample_weight=s, covariates=wild)
    other = CertifiedClassifier(C, intercept="free", method="gram").fit(X[s > 0], y[s > 0], covariates=U[s > 0])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.covariate_coef_, other.covariate_coef_, rtol=1e-8)
