"""The certified regression against scikit-learn's, and its certificates against exact fits."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor, QuantileRegressor, Ridge, RidgeCV
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneOut
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from slimline import CertifiedRegressor, CertifiedRegressorCV, open_matrix
from slimline.errors import AccuracyWarning, CovariateWarning, DataError, ModelFileError
from slimline.estimators import _certified_regressor_cv, aligned_decisions
from slimline.model_files import StoredModel
from slimline.projections import Projection
from tests.learning.real_sets import as_dense, standardised
from tests.refusals import refuses

N, D, C = 80, 300, 0.02
LOSSES = ("squared", "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "quantile")


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    U = np.column_stack([rng.uniform(20, 80, N), rng.integers(0, 2, N)])
    return X, U, 170.0 + X[:, :10].sum(axis=1) + 0.1 * U[:, 0] + 5.0 * U[:, 1] + 0.5 * rng.standard_normal(N)


# Many of their data sets have nothing to find.
@pytest.mark.filterwarnings("ignore::slimline.errors.AccuracyWarning", "ignore::slimline.errors.SearchWarning")
@parametrize_with_checks(
    [CertifiedRegressor(), CertifiedRegressorCV([0.01, 0.1]), CertifiedRegressorCV([0.01, 0.1], cv=2)]
)
def test_scikit_learn_compatibility(estimator, check):
    check(estimator)


def test_squared_loss_is_ridge(samples):
    X, _, y = samples
    s = np.random.default_rng(1).uniform(0.5, 2.0, N)
    both = np.column_stack([y, -3.0 * y + X[:, 0]])
    model = CertifiedRegressor(C, method="gram").fit(X, both, sample_weight=s)
    peer = Ridge(1.0 / C).fit(X, both, sample_weight=s)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-10)
    np.testing.assert_allclose(model.to_sklearn().predict(X), model.predict(X), rtol=1e-10)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 2.0])
def test_epsilon_insensitive_loss_is_support_vector_regression(epsilon, samples):
    X, _, y = samples
    model = CertifiedRegressor(C, loss="epsilon_insensitive", epsilon=epsilon, method="gram").fit(X, y)
    peer = SVR(kernel="linear", C=C, epsilon=epsilon, tol=1e-9).fit(X, y)
    # what libsvm leaves of its own optimum, beside what is proved here
    assert np.linalg.norm(model.coef_ - peer.coef_[0]) <= model.certificate_.radius[0] + 1e-6 * np.linalg.norm(
        peer.coef_
    )
    np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-2)


def test_huber_loss_is_that_of_huber_regressor(samples):
    X, _, y = samples
    X = X[:, :5]
    peer = HuberRegressor(epsilon=1.5, alpha=2.0, tol=1e-9, max_iter=10_000).fit(X, y)
    delta, penalty = 1.5 * peer.scale_, 2.0 * peer.scale_
    # it fits a scale σ as well, and has (2/σ) Σ huber(r) + α‖w‖²: at its solution λ = α σ
    model = CertifiedRegressor(1.0 / penalty, loss="huber", delta=delta, tol=1e-6, method="gram").fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-4)


@pytest.mark.parametrize("quantile", [0.2, 0.5])
def test_quantile_loss_is_above_its_share_of_the_targets(quantile, samples):
    X, U, y = samples
    model = CertifiedRegressor(1e-4, loss="quantile", quantile=quantile, method="gram").fit(X, y, covariates=U)
    assert np.mean(y < model.predict(X, U)) == pytest.approx(quantile, abs=(3 + 1) / N)
    null = CertifiedRegressor(1e-7, loss="quantile", quantile=quantile, method="gram").fit(X, y, covariates=U)
    peer = QuantileRegressor(quantile=quantile, alpha=0.0).fit(U, y)
    objective = [
        np.maximum(quantile * r, (quantile - 1) * r).sum() for r in (y - null.predict(X, U), y - peer.predict(U))
    ]
    assert objective[0] == pytest.approx(objective[1], rel=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_sketch_is_certified_against_the_exact_fit(loss, samples):
    X, U, y = samples
    both = np.column_stack([y, np.abs(y - 170.0)])
    settings = {"loss": loss, "standardize": True, "score_bounds": True}
    exact = CertifiedRegressor(C / 10, method="gram", **settings).fit(X, both, covariates=U)
    model = CertifiedRegressor(C / 10, method="sketch", random_state=0, **settings).fit(
        open_matrix(X), both, covariates=U
    )
    truth, claim = exact.certificate_, model.certificate_
    assert (truth.relative_error < 1e-4).all() and (claim.relative_error <= 1e-2).all()
    apart = np.linalg.norm(claim.weights - truth.weights, axis=1)
    assert (apart <= claim.radius + truth.radius).all()
    inside = np.abs(claim.interval_centre - truth.weights[:, :-1]) <= claim.interval_radius + truth.radius[:, None]
    assert inside.all()
    found, right = model.certified_predictions(X, U), exact.certified_predictions(X, U)
    assert (found.lower <= right.upper).all() and (right.lower <= found.upper).all()
    np.testing.assert_allclose(found.value, model.predict(X, U), rtol=1e-9)
    for one, other in zip(
        model.certified_r2(X, both, covariates=U), exact.certified_r2(X, both, covariates=U), strict=True
    ):
        assert one.lower <= one.value <= one.upper
        assert one.lower <= other.upper and other.lower <= one.upper
    expected = r2_score(both, exact.predict(X, U), multioutput="raw_values")
    np.testing.assert_allclose([one.value for one in exact.certified_r2(X, both, covariates=U)], expected, rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_standardised_target_is_a_target_of_deviation_one(loss, samples):
    X, _, y = samples
    unit = np.std(y)
    settings = {"loss": loss, "method": "gram"}
    ours = CertifiedRegressor(C, standardize_target=True, **settings).fit(X, y)
    scaled = CertifiedRegressor(C, **settings).fit(X, y / unit)
    np.testing.assert_allclose(ours.coef_, unit * scaled.coef_, atol=1e-5 * np.abs(ours.coef_).max())


def test_the_automatic_delta_is_a_robust_deviation(samples):
    X, U, y = samples
    wild = y.copy()
    wild[:5] += 1e6
    one, other = (CertifiedRegressor(C, loss="huber").fit(X, t, covariates=U).delta_[0] for t in (y, wild))
    columns = np.column_stack([np.ones(N), U])
    rest = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    assert one / (1.345 * np.std(rest)) == pytest.approx(1.0, abs=0.4)
    assert other == pytest.approx(one, rel=0.3)


@pytest.mark.slow
def test_files(samples, tmp_path):
    X, U, y = samples
    path = tmp_path / "model.slim"
    for target in (y, y[:, None], np.column_stack([y, y**2])):
        model = CertifiedRegressor(C, loss="huber", standardize=True).fit(X, target, covariates=U)
        model.save(path, overwrite=True)
        again = CertifiedRegressor.load(path)
        np.testing.assert_array_equal(again.predict(X, U), model.predict(X, U))
        np.testing.assert_array_equal(again.delta_, model.delta_)
        assert again.get_params() == model.get_params()
        assert np.shape(again.intercept_) == np.shape(model.intercept_)
    assert StoredModel.read(path).is_regression
    with pytest.raises(ModelFileError):
        aligned_decisions(path, X)


def test_grid_search_and_top_features(samples):
    X, _, y = samples
    search = GridSearchCV(CertifiedRegressor(method="gram"), {"C": [1e-4, 1e-2]}, cv=3).fit(X, y)
    best = search.best_estimator_
    assert best.score(X, y) > 0.5
    top = best.top_features(4)
    order = np.argsort(-np.abs(best.coef_))[:4]
    np.testing.assert_array_equal(top.index, order)
    assert top.proved.all()


def test_bad_input(samples):
    X, U, y = samples
    for name, value in {"delta": -1.0, "epsilon": -0.1, "quantile": 1.0, "C": 0.0}.items():
        with refuses(name):
            CertifiedRegressor(**{name: value}).fit(X, y)
    with refuses("loss"):
        CertifiedRegressor(loss="logistic").fit(X, y)
    for target in (np.where(np.arange(N) == 3, np.nan, y), y[:-1], np.array(["a"] * N)):
        with pytest.raises((DataError, ValueError)):
            CertifiedRegressor().fit(X, target)
    with refuses("covariates"):
        CertifiedRegressor().fit(X, y, covariates=U).predict(X)
    with pytest.raises(DataError):
        CertifiedRegressor().fit(X, y).certified_r2(X, np.ones(N))


@pytest.mark.slow
@pytest.mark.parametrize("search, loss", [("certified", "squared"), ("sketch", "huber"), ("sketch", "squared")])
def test_a_search_scores_fits_of_folds(search, loss, samples):
    X, U, y = samples
    both = np.column_stack([y, -y + X[:, 0]])
    Cs, folds = [1e-4, 1e-3], [(np.arange(30, N), np.arange(30)), (np.arange(60), np.arange(60, N))]
    settings = {"loss": loss, "delta": 5.0, "method": "gram"}
    model = CertifiedRegressorCV(Cs, cv=folds, search=search, **settings).fit(X, both, covariates=U)
    for k, (train, test) in enumerate(folds):
        for j, C in enumerate(Cs):
            part = CertifiedRegressor(C, **settings).fit(X[train], both[train], covariates=U[train])
            expected = r2_score(both[test], part.predict(X[test], U[test]))
            assert model.scores_[k, j] == pytest.approx(expected, abs=1e-2)
    best = Cs[int(model.scores_.mean(axis=0).argmax())]
    assert best == model.C_
    np.testing.assert_allclose(
        model.coef_, CertifiedRegressor(best, **settings).fit(X, both, covariates=U).coef_, rtol=1e-3, atol=1e-6
    )
    scored = CertifiedRegressorCV(Cs, cv=folds, search=search, scoring="neg_mean_absolute_error", **settings)
    assert (scored.fit(X, y, covariates=U).scores_ < 0).all()


def test_a_search_without_anything_to_find_warns():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 60)), rng.standard_normal(40)
    with pytest.warns(AccuracyWarning):
        CertifiedRegressorCV([1e-4, 1e-3, 1e-2], cv=4).fit(X, y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::slimline.errors.SearchWarning", "ignore::slimline.errors.AccuracyWarning")
def test_a_grid_goes_with_the_unit_of_the_target(samples):
    X, _, y = samples
    for loss in ("squared", "epsilon_insensitive"):
        tried = [CertifiedRegressorCV(2, loss=loss, epsilon=0.0, tol=0.5).fit(X, f * y).Cs_ for f in (1.0, 1000.0)]
        ratio = tried[1].min() / tried[0].min()
        assert ratio == pytest.approx(1.0 if loss == "squared" else 1000.0)


def test_leaving_one_out_is_that_of_ridge_cv(samples):
    X, _, y = samples
    alphas = D * np.logspace(-3, 2, 6)
    for features in (X, X[:, :20]):
        peer = RidgeCV(alphas, store_cv_results=True).fit(features, y)
        model = CertifiedRegressorCV(1.0 / alphas, method="gram").fit(features, y)
        np.testing.assert_allclose(1.0 / model.C_, peer.alpha_)
        np.testing.assert_allclose(2.0 * model.losses_[0, ::-1], peer.cv_results_.mean(axis=0), rtol=1e-9)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-9)
        errors = np.square(y - model.loo_predictions_)
        np.testing.assert_allclose(
            errors, peer.cv_results_[:, np.flatnonzero(peer.alphas == peer.alpha_)[0]], rtol=1e-7
        )
        assert model.scores_.max() == pytest.approx(r2_score(y, model.loo_predictions_))


@pytest.mark.slow
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_left_out_samples_are_predicted_by_the_fit_to_the_others(scoring, samples):
    X, U, y = samples
    both, s = np.column_stack([y, -y + X[:, 0]]), np.random.default_rng(3).uniform(0.5, 2.0, N)
    s[[5, 40]] = 0.0
    settings = {"method": "gram", "tol": 1e-8}
    model = CertifiedRegressorCV([1e-4, 1e-3, 1e-2], scoring=scoring, **settings)
    model.fit(X, both, sample_weight=s, covariates=U)
    predicted = model.loo_predictions_
    assert predicted.shape == both.shape and np.flatnonzero(np.isnan(predicted).any(axis=1)).tolist() == [5, 40]
    for i in (0, 17, N - 1):
        others = np.where(np.arange(N) == i, 0.0, s)
        alone = CertifiedRegressor(model.C_, **settings).fit(X, both, sample_weight=others, covariates=U)
        np.testing.assert_allclose(predicted[i], alone.predict(X[i : i + 1], U[i : i + 1])[0], rtol=1e-9)
    score = r2_score if scoring is None else lambda *a, **k: -mean_absolute_error(*a, **k)
    expected = score(both[s > 0], predicted[s > 0], sample_weight=s[s > 0])
    assert model.scores_.shape == (1, 3) and model.scores_.max() == pytest.approx(expected)
    model.set_params(cv=3).fit(X, both, covariates=U)
    assert not hasattr(model, "loo_predictions_") and model.scores_.shape == (3, 3)


def test_leaving_one_out_of_a_sketch_is_that_of_its_gram_matrix(samples):
    X, U, y = samples
    settings = {"projection": "gaussian", "n_components": 64, "random_state": 0, "tol": 0.5}
    model = CertifiedRegressorCV([1e-3, 1e-2], method="sketch", **settings).fit(X, y, covariates=U)
    Z = Projection.from_json(model.projections_[0]).apply(X)
    peer = CertifiedRegressorCV([1e-3, 1e-2], method="gram").fit(Z, y, covariates=U)
    np.testing.assert_allclose(model.scores_, peer.scores_, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change, folds",
    [
        ({}, 1),
        ({"loss": "huber"}, 5),
        ({"search": "certified"}, 5),
        ({"method": "direct"}, 5),
        ({"cv": 3}, 3),
    ],
)
def test_each_sample_is_left_out_by_itself_where_that_is_promised(change, folds, samples):
    X, U, y = samples
    scoring = "neg_mean_squared_error"
    model = CertifiedRegressorCV([1e-3, 1e-2], scoring=scoring, tol=0.5, **change).fit(X, y, covariates=U)
    assert model.scores_.shape == (folds, 2)
    assert hasattr(model, "loo_predictions_") == (folds == 1)


@pytest.mark.filterwarnings("ignore::slimline.errors.AccuracyWarning")
def test_rows_that_are_trained_on_are_divided_into_folds():
    X = sp.random(450, 500, 0.002, format="csr", random_state=0)
    model = CertifiedRegressorCV([0.1], tol=0.5).fit(X, np.random.default_rng(0).standard_normal(450))
    assert model.route_.method == "direct" and model.scores_.shape == (5, 1)


@pytest.mark.slow
def test_leaving_one_out_is_what_as_many_folds_do(samples):
    X, U, y = (part[:25] for part in samples)
    settings = {"Cs": [1e-3, 1e-2], "scoring": "neg_mean_squared_error", "method": "gram"}
    model = CertifiedRegressorCV(**settings).fit(X, y, covariates=U)
    folds = CertifiedRegressorCV(cv=LeaveOneOut(), **settings).fit(X, y, covariates=U)
    np.testing.assert_allclose(model.scores_[0], folds.scores_.mean(axis=0), rtol=1e-8)


def test_groups_stay_together(samples):
    X, _, y = samples
    # Each sample comes twice: only folds that keep both together are not fooled.
    X, y, groups = np.vstack([X, X]), np.r_[y, y], np.tile(np.arange(N), 2)
    settings = {"Cs": [1e-2], "method": "gram", "scoring": "neg_mean_squared_error"}
    model = CertifiedRegressorCV(**settings).fit(X, y, groups=groups)
    expected = CertifiedRegressorCV(cv=GroupKFold(5), **settings).fit(X, y, groups=groups)
    np.testing.assert_array_equal(model.scores_, expected.scores_)
    assert model.scores_.shape == (5, 1)
    assert CertifiedRegressorCV(**settings).fit(X, y).scores_.mean() > 0.5 * model.scores_.mean()


def test_more_samples_than_the_matrix_serves_are_divided_into_folds(monkeypatch, samples):
    X, _, y = samples
    monkeypatch.setattr(_certified_regressor_cv, "GRAM_SAMPLES", N)
    model = CertifiedRegressorCV([1e-3], scoring="neg_mean_squared_error")
    assert model.fit(X, y).scores_.shape == (1, 1)
    monkeypatch.setattr(_certified_regressor_cv, "GRAM_SAMPLES", N - 1)
    assert model.fit(X, y).scores_.shape == (5, 1)


def test_samples_that_cannot_be_left_out_are_named(samples):
    X, U, y = samples
    s = np.ones(N)
    s[2] = 0.0
    with pytest.warns(CovariateWarning, match="rows 7,"):
        model = CertifiedRegressorCV([1e-3, 1e-2]).fit(
            X, y, sample_weight=s, covariates=np.column_stack([U, np.arange(N) == 7])
        )
    assert np.flatnonzero(np.isnan(model.loo_predictions_)).tolist() == [2, 7]
    rest = np.delete(np.arange(N), [2, 7])
    peer = CertifiedRegressorCV([1e-3, 1e-2]).fit(X[rest], y[rest], covariates=U[rest])
    np.testing.assert_allclose(model.scores_, peer.scores_, rtol=1e-9)
    with refuses("cv"):
        CertifiedRegressorCV([1.0], fit_intercept=False).fit(X[:1], y[:1])


@pytest.mark.filterwarnings("ignore::slimline.errors.SearchWarning", "ignore::slimline.errors.AccuracyWarning")
def test_an_automatic_grid_is_extended_without_folds(samples):
    X, _, _ = samples
    y = X[:, :10].sum(axis=1)  # no noise, fewer features than samples: the more C the better
    model = CertifiedRegressorCV(4, tol=0.9).fit(X[:, :20], y)
    unit = np.mean(np.sum(np.square(X[:, :20]), axis=1))
    assert model.C_ * unit > 1e4 and len(model.Cs_) > 4 and model.scores_.shape == (1, len(model.Cs_))
    assert (model.loo_predictions_ - y).std() < 1e-2


# The exact weights are 0, so that no relative error is certified.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::slimline.errors.AccuracyWarning")
def test_a_constant_target_does_not_disturb_the_others(samples):
    X, _, y = samples
    constant = np.full(N, 0.1)
    model = CertifiedRegressorCV([1e-3, 1e-2]).fit(X, np.column_stack([y, constant]))
    np.testing.assert_allclose(model.loo_predictions_[:, 1], 0.1)
    alone = CertifiedRegressorCV([1e-3, 1e-2]).fit(X, y)
    np.testing.assert_allclose(model.scores_, 0.5 * alone.scores_)


def test_weights_that_may_be_zero_are_told_with_their_size(samples):
    X, _, _ = samples
    with pytest.warns(ConvergenceWarning, match=r"may be 0, and their norm is at most \d\.?\d*e-1\d\)"):
        CertifiedRegressor(C=1e-2).fit(X, np.full(N, 7.0))


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["golub", "singh"])
def test_real_expressions_get_the_penalty_of_ridge_cv(name, data_dir):
    X = np.log1p(np.maximum(as_dense(data_dir, name, slice(None)), 0.0))
    gene = int(X.var(axis=0).argmax())
    y, X = X[:, gene], np.delete(X, gene, axis=1)
    alphas = X.shape[1] * np.logspace(-3, 3, 13)
    peer = RidgeCV(alphas).fit(standardised(X), y)
    model = CertifiedRegressorCV(1.0 / alphas, standardize=True, method="gram").fit(X, y)
    np.testing.assert_allclose(1.0 / model.C_, peer.alpha_)
    np.testing.assert_allclose(model.predict(X), peer.predict(standardised(X)), rtol=1e-6)
