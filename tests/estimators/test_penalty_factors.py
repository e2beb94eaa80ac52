"""Penalty factors of the certified estimators, against exact fits of the same problem."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from slimline import (
    CertifiedClassifier,
    CertifiedClassifierCV,
    CertifiedFeatureSelector,
    CertifiedRegressor,
    CertifiedRegressorCV,
    open_matrix,
)
from slimline.errors import CovariateWarning, DataError, ModelFileError
from slimline.estimators import aligned_decisions
from slimline.learning import loss_named
from slimline.learning.regression_losses import Huber, SquaredEpsilonInsensitive, SquaredError
from slimline.model_files import StoredModel
from tests.data.plink_files import random_genotypes, write_plink
from tests.estimators.certified import quiet
from tests.learning.exact_free import exact_optimum
from tests.refusals import refuses

N, D, C = 80, 300, 0.02
#: Features without a penalty, and one that is left out.
FREE, OUT = (7, 40), 11
ESTIMATORS = [CertifiedClassifier, CertifiedClassifierCV, CertifiedRegressor, CertifiedRegressorCV]


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    X[:, 7] = np.round(50 + 12 * X[:, 7])
    f = X[:, :6].sum(axis=1) * 0.5 + 0.05 * (X[:, 7] - 50) + X[:, 40] + rng.standard_normal(N)
    kappa = 10.0 ** rng.uniform(-1.5, 1.5, D)
    kappa[list(FREE)], kappa[OUT] = 0.0, np.inf
    return X, f + 3.0, kappa, rng.uniform(0.5, 2.0, N)


def scaled(X, kappa):
    """Return the penalised features divided by the roots of their factors, and the others with a column of 1."""
    used = (kappa > 0) & np.isfinite(kappa)
    return X[:, used] / np.sqrt(kappa[used]), np.column_stack([np.ones(len(X)), X[:, kappa == 0]])


def in_raw_units(v, b, kappa):
    """Return coefficients and intercept of the weights of scaled features and of free columns."""
    w, used = np.zeros(len(kappa)), (kappa > 0) & np.isfinite(kappa)
    w[used] = v / np.sqrt(kappa[used])
    w[kappa == 0] = b[1:]
    return w, b[0]


def exact_ridge(X, y, kappa, s, lam):
    """Return the exact coefficients by the bordered system of K = X diag(1/κ) Xᵀ."""
    Z, U = scaled(X, kappa)
    q = U.shape[1]
    system = np.block([[Z @ Z.T + lam * np.diag(1.0 / s), U], [U.T, np.zeros((q, q))]])
    found = np.linalg.solve(system, np.append(y, np.zeros(q)))
    return in_raw_units(Z.T @ found[: len(y)], found[len(y) :], kappa)


def exact_logistic(X, sign, kappa, s, lam):
    """Return the exact coefficients by Newton steps in the dual variables' span: f = Kβ/λ + Ub."""
    Z, U = scaled(X, kappa)
    U = U / np.linalg.norm(U, axis=0)
    K, n, q = Z @ Z.T / lam, len(sign), U.shape[1]
    beta, b = np.zeros(n), np.zeros(q)
    for _ in range(50):
        m = sign * (K @ beta + U @ b)
        a, h = expit(-m), s * expit(m) * expit(-m)
        # β = s y a(f) linearised: (I + H K) dβ + H U db = s y a - β, Uᵀ(β + dβ) = 0
        system = np.block([[np.eye(n) + h[:, None] * K, h[:, None] * U], [U.T, np.zeros((q, q))]])
        change = np.linalg.solve(system, np.append(s * sign * a - beta, -U.T @ beta))
        beta, b = beta + change[:n], b + change[n:]
    assert np.abs(change).max() < 1e-12 * np.abs(beta).max()
    return in_raw_units(Z.T @ beta / lam, b / np.linalg.norm(scaled(X, kappa)[1], axis=0), kappa)


def require_claims(model, w, b, X, kappa, scores=None):
    """Hold every claim about one vector of weights against the exact coefficients."""
    claim, coef = model.certificate_, np.atleast_2d(model.coef_)[0]
    size, used = np.abs(w).max(), (kappa > 0) & np.isfinite(kappa)
    root = np.sqrt(kappa[used])
    lost = 1e-9 * np.linalg.norm(root * w[used])  # of the exact solution
    np.testing.assert_array_equal(coef[np.isinf(kappa)], 0.0)
    assert np.linalg.norm(root * (coef - w)[used]) <= claim.radius[0] * (1 + 1e-9) + lost
    assert (np.abs(coef - w) <= claim.coordinate_radius[0] * (1 + 1e-9) + 1e-9 * size).all()
    off = np.abs(claim.interval_centre[0, used] / root - w[used])
    assert (off <= claim.interval_radius[0, used] / root * (1 + 1e-9) + 1e-9 * size).all()
    rank = np.zeros(len(w))
    rank[used] = root * np.abs(w[used])
    for k in (1, 5, 20):
        top = model.top_features(k)
        largest = set(np.argsort(-rank)[:k].tolist())
        assert set(top.index[top.proved].tolist()) <= largest
    if (kappa == 0).any():
        effects = model.covariate_effects()
        exact = np.append(b, w[kappa == 0])
        shown = effects.lower[0][-len(exact) :], effects.upper[0][-len(exact) :]
        assert (shown[0] - 1e-9 * np.abs(exact) <= exact).all() and (exact <= shown[1] + 1e-9 * np.abs(exact)).all()


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("method", ["sketch", "gram"])
def test_ridge_is_that_of_the_bordered_system(method, standardize, samples):
    X, y, kappa, s = samples
    model = CertifiedRegressor(C, penalty_factor=kappa, method=method, standardize=standardize, random_state=0)
    model.fit(X, y, s)
    mean, std = np.zeros(D), np.ones(D)
    if standardize:
        mean = np.average(X, axis=0, weights=s)
        std = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=s))
        mean[list(FREE)], std[list(FREE)] = 0.0, 1.0
    w, b = exact_ridge((X - mean) / std, y, kappa, s, 1.0 / C)
    claim = model.certificate_
    assert claim.relative_error[0] < (1e-2 if method == "sketch" else 1e-8)
    found = model.predict(X)
    exact = (X - mean) / std @ w + b
    bounds = model.certified_predictions(X)
    assert (bounds.lower - 1e-9 <= exact).all() and (exact <= bounds.upper + 1e-9).all()
    np.testing.assert_allclose(bounds.value, found, rtol=1e-12)
    if standardize:
        assert (np.abs(model.coef_ * std - w) <= claim.coordinate_radius[0] * std * (1 + 1e-9) + 1e-11).all()
    else:
        require_claims(model, w, b, X, kappa)


@pytest.mark.parametrize("method", ["sketch", "gram"])
def test_logistic_is_that_of_newton_steps(method, samples):
    X, f, kappa, s = samples
    y = f > 3.0
    model = CertifiedClassifier(C, loss="logistic", intercept="free", penalty_factor=kappa, method=method)
    model.set_params(random_state=0, score_bounds=method == "gram").fit(X, y, sample_weight=s)
    w, b = exact_logistic(X, np.where(y, 1.0, -1.0), kappa, s, 1.0 / C)
    require_claims(model, w, b, X, kappa)
    decisions = model.decide(X)
    assert ((X @ w + b > 0) == decisions.labels)[decisions.proved].all() and decisions.proved.mean() > 0.5
    np.testing.assert_array_equal(model.certified(X), decisions.proved)
    np.testing.assert_allclose(model.decision_function(X), decisions.scores, rtol=1e-10, atol=1e-12)


def test_the_objective_of_glmnet_has_the_same_solution(samples):
    # glmnet: ½(1/n)Σ(y - f)² + λ_g ½ Σ κ'w² with κ' = κ d/Σκ. So C = 1/(n λ_g) times the mean of the factors gives it
    # with the κ as they are given: the gradient of its objective is 0 at our weights.
    X, y, _, _ = samples
    kappa = np.random.default_rng(3).uniform(0.2, 5.0, D)
    theirs = 0.7
    model = CertifiedRegressor(kappa.mean() ** -1 / (N * theirs), penalty_factor=kappa, method="gram").fit(X, y)
    rescaled = kappa * D / kappa.sum()
    rest = y - model.predict(X)
    gradient = -X.T @ rest / N + theirs * rescaled * model.coef_
    other = -X.T @ rest / N + theirs * kappa * model.coef_
    assert np.abs(gradient).max() > 1e-3 and np.abs(other).max() > 1e-3
    model.set_params(C=kappa.mean() / (N * theirs)).fit(X, y)
    gradient = -X.T @ (y - model.predict(X)) / N + theirs * rescaled * model.coef_
    assert np.abs(gradient).max() < 1e-9 * theirs * np.abs(rescaled * model.coef_).max()


@pytest.mark.parametrize(("method", "standardize"), [("gram", True), ("sketch", False)])
def test_columns_scaled_by_hand_give_the_same_weights(method, standardize, samples):
    X, y, _, _ = samples
    kappa = 4.0 ** np.random.default_rng(1).integers(-3, 4, D)  # roots without rounding
    by_hand = (X - X.mean(axis=0)) / X.std(axis=0) if standardize else X
    model = CertifiedRegressor(C, penalty_factor=kappa, standardize=standardize, method=method, random_state=0)
    other = CertifiedRegressor(C, method=method, random_state=0).fit(by_hand / np.sqrt(kappa), y)
    one, two = model.fit(X, y).certificate_, other.certificate_
    assert np.linalg.norm(one.weights - two.weights) <= one.radius[0] + two.radius[0]
    if method == "gram":
        np.testing.assert_allclose(model.predict(X), other.predict(by_hand / np.sqrt(kappa)), rtol=1e-9)
        np.testing.assert_allclose(one.weights, two.weights, atol=1e-9 * np.abs(two.weights).max())


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_factors_of_1_change_nothing(estimator, samples):
    X, f, _, _ = samples
    y = f > 3.0 if "Classifier" in estimator.__name__ else f
    plain, same = estimator(random_state=0), estimator(random_state=0, penalty_factor=np.ones(D))
    plain.fit(X, y), same.fit(X, y)
    np.testing.assert_array_equal(plain.coef_, same.coef_)
    assert same._factor is None and same.route_ == plain.route_


LOSSES = {
    "squared": (CertifiedRegressor, SquaredError()),
    "huber": (CertifiedRegressor, Huber(0.5)),
    "squared_epsilon_insensitive": (CertifiedRegressor, SquaredEpsilonInsensitive(0.25)),
    "squared_hinge": (CertifiedClassifier, loss_named("squared_hinge")),
    "logistic": (CertifiedClassifier, loss_named("logistic")),
    "hinge": (CertifiedClassifier, loss_named("hinge")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
def test_no_claim_about_tiny_problems_is_false(name, global_random_seed):
    rng, held = np.random.default_rng([global_random_seed, len(name)]), 0
    for _ in range(12):
        held += _attack(rng, name)
    assert held >= 3  # the others are separated, or have too few samples


def _attack(rng, name):
    """Return whether the claims about a tiny problem were held against its optimum in exact numbers."""
    n, d = int(rng.integers(3, 7)), int(rng.integers(1, 6))
    X = rng.integers(-8, 9, (n, d)) / 4.0
    if rng.random() < 0.3:
        X[:, 0] = rng.choice([1.0, 0.0, 256.0])
    if d > 1 and rng.random() < 0.3:
        X[:, 1] = X[:, 0]
    # roots without rounding, so that the scaled features are exact: 1e-8 to 1e8
    kappa = 4.0 ** rng.integers(-13, 14, d) if rng.random() < 0.7 else np.ones(d)
    kappa[rng.random(d) < 0.2] = 0.0
    kappa[rng.random(d) < 0.1] = np.inf
    used = (kappa > 0) & np.isfinite(kappa)
    if not used.any():
        return False
    s, lam = 2.0 ** rng.integers(-3, 4, n), 2.0 ** float(rng.integers(-10, 11))
    estimator, loss = LOSSES[name]
    regression = estimator is CertifiedRegressor
    target = rng.integers(-20, 21, n) / 8.0
    y, offset = (np.ones(n), -target) if regression else (np.where(rng.random(n) < 0.5, 1.0, -1.0), np.zeros(n))
    if not regression and len(set(y)) < 2:
        return False
    sketched = {"method": "sketch", "n_components": int(rng.integers(1, 4)), "max_passes": int(rng.integers(3, 9))}
    model = estimator(1.0 / lam, loss=name, intercept="free", penalty_factor=kappa, tol=1e-6, random_state=0)
    model.set_params(**(sketched if rng.random() < 0.6 else {"method": "gram"}))
    model.set_params(score_bounds=bool(rng.random() < 0.5), **({"delta": 0.5, "epsilon": 0.25} if regression else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", CovariateWarning)
        try:
            model.fit(X, target if regression else y, s)
        except (DataError, ValueError):
            return False
    effects = model.covariate_effects()
    kept = ~np.isnan(effects.effect[0])
    Z, U = scaled(X, kappa)
    found = exact_optimum(loss, Z, y, s, lam, offset, U[:, kept])
    if found is None:
        return False
    v, b = found[0], found[1]
    number, claim = type(v[0]), model.certificate_

    def within(one, other, bound):
        return abs(number(float(one)) - other) <= number(min(float(bound), 1e300)) * (1 + number(10) ** -12)

    ours = claim.weights[0, :-1][used]
    apart = sum((number(float(one)) - other) ** 2 for one, other in zip(ours, v, strict=True))
    assert float(apart) ** 0.5 <= claim.radius[0] * (1 + 1e-12)
    root = np.sqrt(kappa[used])
    for j, exact, k in zip(np.flatnonzero(used), v, root, strict=True):
        assert within(claim.interval_centre[0, j], exact, claim.interval_radius[0, j])
        coefficient = exact / number(float(k))
        assert within(np.atleast_2d(model.coef_)[0, j], coefficient, claim.coordinate_radius[0, j])
    lower, upper = effects.lower[0, kept], effects.upper[0, kept]
    for exact, low, high in zip(b, lower, upper, strict=True):
        lost = number(10) ** -12 * (1 + abs(exact))
        assert not np.isfinite(low) or number(float(low)) - lost <= exact
        assert not np.isfinite(high) or exact <= number(float(high)) + lost
    top = model.top_features(1)
    if top.proved[0]:
        sizes = np.zeros(d)
        sizes[used] = np.abs(np.array([float(value) for value in v]))
        assert sizes[top.index[0]] >= sizes.max() * (1 - 1e-12)
    return True


def test_one_feature_and_many_samples(samples):
    _, y, _, _ = samples
    x = np.linspace(-1.0, 1.0, N)[:, None]
    for kappa in (1e-8, 1e-2, 1.0, 1e2, 1e8):
        model = quiet(CertifiedRegressor(2.0, penalty_factor=[kappa]), x, y)
        rest = x[:, 0] - x.mean()
        slope = (rest @ y) / (rest @ rest + kappa / 2.0)
        np.testing.assert_allclose(model.coef_, slope, rtol=1e-8 if kappa > 1e-8 else 1e-5)
        assert abs(model.coef_[0] - slope) <= model.certificate_.coordinate_radius[0, 0] + 1e-14 * abs(slope)
    for kappa in (0.0, np.inf):
        with refuses("penalty_factor"):
            CertifiedRegressor(penalty_factor=[kappa]).fit(x, y)


def test_a_free_feature_that_depends_on_others_is_left_out_by_name(samples):
    X, y, _, _ = samples
    X = X.copy()
    X[:, 2], X[:, 5] = 3.0, 2.0 * X[:, 4]
    kappa = np.ones(D)
    kappa[[2, 4, 5]] = 0.0
    names = [f"snp{j}" for j in range(D)]
    with pytest.warns(CovariateWarning, match="snp2, snp5"):
        model = CertifiedRegressor(C, penalty_factor=kappa, method="gram").fit(open_matrix(X, feature_names=names), y)
    assert np.isnan(model.covariate_effects().effect[0]).tolist() == [False, True, False, True]
    np.testing.assert_array_equal(model.coef_[[2, 5]], 0.0)
    assert np.isinf(model.certificate_.coordinate_radius[0, [2, 5]]).all()
    kappa[[2, 5]] = np.inf
    same = CertifiedRegressor(C, penalty_factor=kappa, method="gram").fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-9 * np.abs(same.coef_).max())


def test_a_free_feature_is_a_covariate(samples):
    X, f, kappa, s = samples
    U = np.random.default_rng(4).standard_normal((N, 1))
    for estimator, y in ((CertifiedRegressor, f), (CertifiedClassifier, np.digitize(f, [2.0, 4.0]))):
        settings = {"intercept": "free", "standardize": True, "score_bounds": True, "random_state": 0}
        model = estimator(C, penalty_factor=kappa, **settings).fit(X, y, s, covariates=U)
        others = np.where(kappa == 0.0, np.inf, kappa)
        given = np.hstack([U, X[:, list(FREE)]])
        same = estimator(C, penalty_factor=others, **settings).fit(X, y, s, covariates=given)
        np.testing.assert_allclose(model.predict(X, U), same.predict(X, given), rtol=1e-6)
        one, two = model.covariate_effects(), same.covariate_effects()
        assert one.name.tolist() == ["intercept", "u0", "x7", "x40"]
        np.testing.assert_allclose(one.upper, two.upper, rtol=1e-6)
        np.testing.assert_allclose(np.atleast_2d(model.coef_)[:, list(FREE)], one.effect[:, 2:], rtol=1e-12)
        assert model.covariate_coef_.shape[1] == 1
        assert model.n_passes_ == same.n_passes_ + 1


def test_missing_values_of_a_free_feature_are_imputed_or_refused(samples):
    X, y, kappa, s = samples
    holes = X.copy()
    holes[3, 7] = np.nan
    with pytest.raises(DataError):
        CertifiedRegressor(C, penalty_factor=kappa).fit(open_matrix(holes), y)
    holes = open_matrix(holes)
    model = CertifiedRegressor(C, penalty_factor=kappa, standardize=True, method="gram").fit(holes, y, s)
    seen = np.arange(N) != 3
    filled = X.copy()
    filled[3, 7] = np.average(X[seen, 7], weights=s[seen])
    same = CertifiedRegressor(C, penalty_factor=kappa, standardize=True, method="gram").fit(filled, y, s)
    np.testing.assert_allclose(model.covariate_effects().effect, same.covariate_effects().effect, rtol=1e-9)
    np.testing.assert_allclose(model.predict(holes), same.predict(filled), rtol=1e-9)
    np.testing.assert_allclose(model.certified_predictions(holes).value, model.predict(holes), rtol=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        np.ones(D - 1),
        np.ones((1, D)),
        1.0,
        "ones",
        np.full(D, np.inf),
        np.zeros(D),
        np.where(np.arange(D) < 101, 0.0, 1.0),
        np.where(np.arange(D) == 5, -1.0, 1.0),
        np.where(np.arange(D) == 5, np.nan, 1.0),
        np.where(np.arange(D) == 5, 1e-200, 1.0),
        ["a"] * D,
        {"x5": 2.0},
    ],
    ids=[
        *("short", "table", "one number", "text", "all out", "all free", "101 free", "negative", "NaN", "tiny"),
        *("texts", "names of nameless features"),
    ],
)
def test_bad_factors(wrong, samples):
    X, y, _, _ = samples
    with refuses("penalty_factor"):
        CertifiedRegressor(penalty_factor=wrong).fit(X, y)


def test_messages_name_the_feature(samples):
    X, y, _, _ = samples
    named = open_matrix(X, feature_names=[f"snp{j}" for j in range(D)])
    for wrong, word in (({"snp5": -1.0}, "snp5"), ({"snp_5": 1.0}, "snp_5")):
        with pytest.raises(ValueError, match=word) as caught:
            CertifiedRegressor(penalty_factor=wrong).fit(named, y)
        assert caught.value.parameter == "penalty_factor"


def test_what_does_not_go_together(samples):
    X, y, kappa, _ = samples
    with refuses("method"):
        CertifiedRegressor(penalty_factor=kappa, method="direct").fit(X, y)
    with refuses("penalty_factor"):
        CertifiedRegressor(penalty_factor=kappa).fit(open_matrix(X).standardised(), y)
    with refuses("intercept"):
        CertifiedRegressor(penalty_factor=kappa, intercept="penalised").fit(X, y)
    CertifiedRegressor(penalty_factor=np.where(kappa == 0, 2.0, kappa), intercept="penalised").fit(X, y)
    with pytest.raises(DataError):  # the labels are the free feature
        CertifiedClassifier(intercept="free", penalty_factor=kappa).fit(X, X[:, 7] > 50)


def test_frames_take_factors_by_name(samples):
    pandas = pytest.importorskip("pandas")
    X, y, _, _ = samples
    frame = pandas.DataFrame(X, columns=[f"snp{j}" for j in range(D)])
    kappa = np.ones(D)
    kappa[[3, 8, 9]] = 0.0, 5.0, np.inf
    named = CertifiedRegressor(C, penalty_factor={"snp9": np.inf, "snp3": 0, "snp8": 5.0}, random_state=0)
    named.fit(frame, y)
    np.testing.assert_array_equal(
        named.coef_, CertifiedRegressor(C, penalty_factor=kappa, random_state=0).fit(X, y).coef_
    )
    assert named.covariate_effects().name.tolist() == ["intercept", "snp3"]
    assert clone(named).penalty_factor == named.penalty_factor
    assert "snp3" not in named.top_features(D - 2).name


def test_grids_choose_factors(samples):
    X, y, _, _ = samples
    useful = np.where(np.isin(np.arange(D), [0, 1, 2, 3, 4, 5, 7, 40]), 0.1, 100.0)
    search = GridSearchCV(
        CertifiedRegressor(C, method="gram"), {"penalty_factor": [np.ones(D), 1.0 / useful, useful]}, cv=3
    )
    search.fit(X, y)
    np.testing.assert_array_equal(search.best_params_["penalty_factor"], useful)
    chosen = []
    for factors in (None, useful):
        base = CertifiedClassifier(C, penalty_factor=factors)
        support = CertifiedFeatureSelector(8, estimator=base).fit(X, y > 3.0).get_support()
        chosen.append(int(support[useful < 1.0].sum()))
    assert chosen[1] > chosen[0]


@pytest.mark.parametrize("search", ["certified", "sketch"])
@pytest.mark.parametrize("estimator", [CertifiedRegressorCV, CertifiedClassifierCV])
def test_searches_fit_free_features_in_each_fold(estimator, search, samples):
    X, f, kappa, _ = samples
    y = f > 3.0 if estimator is CertifiedClassifierCV else f
    folds = [(np.arange(30, N), np.arange(30)), (np.arange(60), np.arange(60, N))]
    Cs, settings = [1e-3, 1e-2], {"intercept": "free", "method": "gram", "penalty_factor": kappa}
    model = estimator(Cs, cv=folds, search=search, **settings).fit(X, y)
    single = CertifiedClassifier if estimator is CertifiedClassifierCV else CertifiedRegressor
    if search == "certified" or estimator is CertifiedRegressorCV:  # else fits to the sketch have a gap
        for k, (train, test) in enumerate(folds):
            for j, value in enumerate(Cs):
                score = single(value, **settings).fit(X[train], y[train]).score(X[test], y[test])
                assert model.scores_[k, j] == pytest.approx(score, abs=1e-5)
    again = single(model.C_, **settings).fit(X, y)
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-6)
    if search == "certified":
        last = int(np.flatnonzero(model.Cs_ == model.C_)[0])
        np.testing.assert_allclose(model.coefs_path_[last].ravel(), model.coef_.ravel(), atol=1e-9)
        found = model.certificates_path_[last].coordinate_radius
        np.testing.assert_allclose(found, model.certificate_.coordinate_radius, rtol=1e-6)


def test_several_targets_share_the_factors(samples):
    X, y, kappa, s = samples
    both = np.column_stack([y, X[:, 1] - X[:, 2]])
    model = CertifiedRegressor(C, penalty_factor=kappa, method="gram").fit(X, both, s)
    for row, target in zip(model.coef_, both.T, strict=True):
        np.testing.assert_allclose(row, exact_ridge(X, target, kappa, s, 1.0 / C)[0], atol=1e-9)


def test_sparse_data_stay_sparse(monkeypatch):
    rng = np.random.default_rng(5)
    X = sp.random(60, 3000, density=0.02, random_state=0, format="csr")
    y, kappa = np.asarray(X[:, :40].sum(axis=1)).ravel(), 10.0 ** rng.uniform(-1, 1, 3000)
    kappa[[4, 8]] = 0.0, np.inf
    monkeypatch.setattr(type(X), "toarray", _refuse_wide(type(X).toarray))
    models = [
        CertifiedRegressor(C, penalty_factor=kappa, method=method, random_state=0).fit(X, y)
        for method in ("sketch", "gram", "direct")
    ]
    monkeypatch.undo()
    w, _ = exact_ridge(X.toarray(), y, kappa, np.ones(60), 1.0 / C)
    for model in models:
        assert (np.abs(model.coef_ - w) <= model.certificate_.coordinate_radius[0] + 1e-9 * np.abs(w).max()).all()


def _refuse_wide(method):
    def refusing(self, *args, **kwargs):
        assert self.shape[1] < 1000
        return method(self, *args, **kwargs)

    return refusing


@pytest.mark.parametrize("standardize", [False, True])
def test_files_keep_the_factors(standardize, samples, tmp_path):
    X, f, kappa, _ = samples
    path = tmp_path / "model.slim"
    model = CertifiedClassifier(C, intercept="free", penalty_factor=kappa, standardize=standardize, random_state=0)
    model.fit(X, f > 3.0).set_params(penalty_factor=None)  # the file is about the fit
    model.save(path)
    again = CertifiedClassifier.load(path)
    np.testing.assert_array_equal(again.penalty_factor, kappa)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    for one, other in zip(model.decide(X).__dict__.values(), again.decide(X).__dict__.values(), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(again.covariate_effects().lower, model.covariate_effects().lower, rtol=1e-13)
    refit = clone(again).set_params(random_state=0).fit(X, f > 3.0)
    np.testing.assert_array_equal(refit.coef_, model.coef_)
    stored = StoredModel.read(path)
    wrong = {
        "penalty_factor": np.where(kappa == 0.0, 1.0, kappa),
        "factor": np.where(stored.factor == 0.0, 1.0, stored.factor),
        "covariates": {**stored.covariates, "features": [7, 41]},
    }
    for name, change in {**wrong, "penalty_factor ": -kappa}.items():
        StoredModel(**dict(stored.__dict__) | {name.strip(): change}).write(path, overwrite=True)
        with pytest.raises(ModelFileError):
            StoredModel.read(path)


@pytest.mark.parametrize("standardize", [False, True])
def test_data_in_another_order_and_without_some_features(standardize, samples, tmp_path):
    X, f, kappa, _ = samples
    names, y = [f"snp{j}" for j in range(D)], f > 3.0
    known = open_matrix(X, feature_names=names)
    model = CertifiedClassifier(C, intercept="free", penalty_factor=kappa, standardize=standardize, random_state=0)
    path, decisions = tmp_path / "model.slim", model.fit(known, y).decide(known)
    model.save(path, trained_on=known)
    order = np.random.default_rng(6).permutation(D)
    turned, _ = aligned_decisions(path, open_matrix(X[:, order], feature_names=[names[j] for j in order]))
    np.testing.assert_allclose(turned.scores, decisions.scores, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(turned.proved, decisions.proved)
    less = order[order != 40]
    found, alignment = aligned_decisions(path, open_matrix(X[:, less], feature_names=[names[j] for j in less]))
    assert alignment.absent == 1 and not found.proved.any()
    imputed = X.copy()
    imputed[:, 40] = X[:, 40].mean()
    np.testing.assert_allclose(found.scores, model.decision_function(open_matrix(imputed, feature_names=names)))
    less = order[order != OUT]  # nothing depends on this one
    found, _ = aligned_decisions(path, open_matrix(X[:, less], feature_names=[names[j] for j in less]))
    np.testing.assert_allclose(found.scores, decisions.scores, rtol=1e-10, atol=1e-12)


def _bim(variants):
    return "".join(f"1\t{name}\t0\t{100 + j}\t{a}\t{b}\n" for j, (name, a, b) in enumerate(variants))


@pytest.mark.parametrize("standardize", [False, True])
def test_genotypes_from_files(standardize, tmp_path):
    rng = np.random.default_rng(7)
    genotypes = random_genotypes(60, 400, missing=0.05 if standardize else 0.0, seed=3)
    path = write_plink(tmp_path / "a", genotypes)
    calls = np.where(genotypes < 0, np.nan, genotypes).astype(float)
    filled = np.where(np.isnan(calls), np.nanmean(calls, axis=0), calls)
    y = filled[:, 3] + filled[:, 9] + 0.1 * rng.standard_normal(60)
    kappa = rng.uniform(0.5, 4.0, 400)
    kappa[[9, 20]] = 0.0, np.inf
    model = CertifiedRegressor(C, penalty_factor=kappa, standardize=standardize, random_state=0)
    from_file, in_memory = clone(model).fit(open_matrix(path), y), clone(model).fit(open_matrix(calls), y)
    np.testing.assert_allclose(from_file.predict(open_matrix(path)), in_memory.predict(open_matrix(calls)), rtol=1e-9)
    np.testing.assert_allclose(from_file.coef_, in_memory.coef_, atol=1e-9)
    np.save(tmp_path / "a.npy", filled)
    mapped = clone(model).fit(open_matrix(tmp_path / "a.npy"), y)
    np.testing.assert_allclose(mapped.coef_, clone(model).fit(filled, y).coef_, atol=1e-9)
    bounds = from_file.certified_predictions(open_matrix(path))
    assert (bounds.lower <= bounds.value).all()


def test_a_model_whose_alleles_are_swapped(tmp_path):
    genotypes = random_genotypes(60, 400, missing=0.0, seed=4)
    names = [(f"rs{j}", "A", "C") for j in range(400)]
    there = open_matrix(write_plink(tmp_path / "a", genotypes, bim=_bim(names)))
    other = open_matrix(write_plink(tmp_path / "b", 2 - genotypes, bim=_bim([(n, b, a) for n, a, b in names])))
    kappa = np.random.default_rng(8).uniform(0.5, 4.0, 400)
    kappa[[9, 20]] = 0.0, np.inf
    noise = np.random.default_rng(9).standard_normal(60)
    y = genotypes[:, 3] + genotypes[:, 9] + noise > 2
    for standardize in (False, True):
        model = CertifiedClassifier(C, intercept="free", penalty_factor=kappa, standardize=standardize, random_state=0)
        decisions = model.fit(there, y).decide(there)
        model.save(tmp_path / "m.slim", trained_on=there, overwrite=True)
        found, alignment = aligned_decisions(tmp_path / "m.slim", other)
        assert alignment.swapped == 400
        np.testing.assert_allclose(found.scores, decisions.scores, rtol=1e-8, atol=1e-9)
        np.testing.assert_array_equal(found.proved, decisions.proved)


def test_exports_need_no_factors(samples, tmp_path):
    X, f, kappa, _ = samples
    model = CertifiedRegressor(C, penalty_factor=kappa, standardize=True, random_state=0).fit(X, f)
    plain = model.to_sklearn()
    assert isinstance(plain, Ridge)
    np.testing.assert_allclose(plain.predict(X), model.predict(X), rtol=1e-9)
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    model.to_onnx(tmp_path / "m.onnx")
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"))
    found = session.run(None, {"X": X.astype(np.float32)})[0].ravel()
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-3)


def test_published_recoveries_leave_features_out(samples):
    X, f, kappa, _ = samples
    for recovery in ("dual", "naive", "iterative", "debiased_dual"):
        model = CertifiedRegressor(1e-4, penalty_factor=kappa, recovery=recovery, n_components=64, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, f)
        assert model.coef_[OUT] == 0.0
        w, _ = exact_ridge(X, f, kappa, np.ones(N), 1e4)
        assert (np.abs(model.coef_ - w) <= model.certificate_.coordinate_radius[0] + 1e-10).all()
