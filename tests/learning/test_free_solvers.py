"""Fits and small problems with covariates, and of regression, against exact optima, scikit-learn and a conic solver."""

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor, LogisticRegression, QuantileRegressor, Ridge
from sklearn.svm import SVC, SVR, LinearSVR

from slimline import open_matrix
from slimline.learning import (
    LOSSES,
    BinaryProblem,
    Rows,
    SolverState,
    TrainingData,
    exact_surrogate,
    recover_certified,
    solve_gram,
    solve_rows,
)
from slimline.learning.covariates import Covariates
from slimline.learning.interior_point import solve_box
from slimline.learning.regression_losses import (
    EpsilonInsensitive,
    Huber,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredError,
)
from slimline.learning.score_bounds import bound_scores
from slimline.learning.surrogate import direct_surrogate, sketch_surrogate
from slimline.projections._families import frozen_projection
from tests.learning.exact_free import conic_optimum, exact_optimum

REGRESSION = [SquaredError(), Huber(0.7), EpsilonInsensitive(0.2), SquaredEpsilonInsensitive(0.2), Quantile(0.3)]
EVERY = [*LOSSES.values(), *REGRESSION]


def name_of(value):
    return getattr(value, "name", None)


def example(loss, n, d, q, seed=0, penalty=1.0, weighted=True):
    """Return data, and a problem whose covariates matter."""
    rng = np.random.default_rng([seed, n, d, q])
    X = rng.standard_normal((n, d))
    U = np.column_stack([np.ones(n), rng.standard_normal((n, 12)) * 10.0 ** rng.uniform(-3, 3, 12)])[:, :q]
    s = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    unit = (U / np.maximum(np.abs(U).max(axis=0), 1e-300)) @ rng.standard_normal(q)
    f = X @ rng.standard_normal(d) / d**0.5 + unit + rng.standard_normal(n)
    if loss in REGRESSION:
        y, offset = np.ones(n), -(f + 3.0)
    else:
        y, offset = np.where(f > np.median(f), 1.0, -1.0), np.zeros(n)
    return X, BinaryProblem(loss, y, s, penalty, offset, Covariates(U, s))


def fitted(X, problem, route="gram", tol=1e-9):
    """Return the state after a fit, and the data."""
    data = TrainingData(open_matrix(X), 0.0, problem.weights)
    if route == "sketch":
        surrogate = sketch_surrogate(data, frozen_projection("auto", X.shape[1], 64, 0))
    else:
        surrogate = exact_surrogate(data) if route == "gram" else direct_surrogate(data)
    state = SolverState.zero(problem, data.shape)
    for _ in recover_certified(data, [state], surrogate, tol=tol, max_passes=60):
        pass
    return data, state


def coefficients(X, problem, **options):
    """Return w, and the effects of the covariates as they are reported."""
    data, state = fitted(X, problem, **options)
    (bounds,) = bound_scores(data, [state])
    return state.bound.weights[:-1], problem.covariates.transform @ bounds.effects, state


def regression(rng_seed=3, n=60, d=6):
    rng = np.random.default_rng(rng_seed)
    X = rng.standard_normal((n, d))
    return X, X @ rng.standard_normal(d) + 2.0 + rng.standard_t(2, n)


def free_intercept(loss, X, target, C):
    n = len(X)
    covariates = Covariates(np.ones((n, 1)), np.ones(n))
    if loss in LOSSES.values():
        return BinaryProblem(loss, target, np.ones(n), 1.0 / C, None, covariates)
    return BinaryProblem(loss, np.ones(n), np.ones(n), 1.0 / C, -target, covariates)


@pytest.mark.parametrize("route", ["gram", "direct"])
@pytest.mark.parametrize("peer", ["Ridge", "Huber", "SVR", "SVC", "LogisticRegression"])
def test_exact_solutions_agree_with_scikit_learn(peer, route):
    X, target = regression()
    labels = np.where(target > 2.0, 1.0, -1.0)
    C, rtol = 0.5, 1e-6
    if peer == "Ridge":
        model, problem = Ridge(alpha=2.0).fit(X, target), free_intercept(SquaredError(), X, target, C)
        rtol = 1e-9
    elif peer == "Huber":
        model = HuberRegressor(epsilon=1.35, alpha=2.0, tol=1e-10, max_iter=100000).fit(X, target)
        # its objective has a scale σ of its own: at its solution δ = ε σ and λ = α σ
        loss, C = Huber(1.35 * model.scale_), 1.0 / (2.0 * model.scale_)
        problem = free_intercept(loss, X, target, C)
        rtol = 1e-5
    elif peer == "SVR":
        model = SVR(kernel="linear", C=C, epsilon=0.3, tol=1e-10).fit(X, target)
        problem = free_intercept(EpsilonInsensitive(0.3), X, target, C)
    elif peer == "SVC":
        model = SVC(kernel="linear", C=C, tol=1e-10).fit(X, labels)
        problem = free_intercept(LOSSES["hinge"], X, labels, C)
    else:
        model = LogisticRegression(C=C, tol=1e-10, max_iter=10000).fit(X, labels)
        problem = free_intercept(LOSSES["logistic"], X, labels, C)
        rtol = 1e-5
    if problem.loss.smoothness is None:
        rtol = 1e-5
    w, effects, state = coefficients(X, problem, route=route, tol=1e-10)
    off = np.linalg.norm(w - np.ravel(model.coef_)) / np.linalg.norm(w)
    assert off <= rtol
    assert state.error <= rtol
    assert effects[0] == pytest.approx(float(np.ravel(model.intercept_)[0]), rel=10 * rtol, abs=10 * rtol)


def test_the_squared_epsilon_insensitive_loss_is_that_of_linear_svr():
    X, target = regression()
    n = len(X)
    model = LinearSVR(
        C=0.5, epsilon=0.3, loss="squared_epsilon_insensitive", dual=True, tol=1e-9, max_iter=10**6, random_state=0
    ).fit(X, target)
    beside = np.column_stack([X, np.ones(n)])  # its intercept has a penalty
    problem = BinaryProblem(SquaredEpsilonInsensitive(0.3), np.ones(n), np.ones(n), 2.0, -target)
    _, state = fitted(beside, problem)
    np.testing.assert_allclose(state.bound.weights[:-1], np.append(model.coef_, model.intercept_), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("quantile", [0.5, 0.1])
def test_null_models_of_a_quantile_agree_with_scikit_learn(quantile):
    X, target = regression()
    n = len(X)
    model = QuantileRegressor(quantile=quantile, alpha=0.0, solver="highs").fit(X, target)
    loss = Quantile(quantile)
    covariates = Covariates(np.column_stack([np.ones(n), X]), np.ones(n))
    problem = BinaryProblem(loss, np.ones(n), np.ones(n), 1.0, -target, covariates)
    start = SolverState.zero(problem, (n, 1))
    best = loss.value(model.predict(X) - target).sum()
    assert problem.objective(start.best) == pytest.approx(best, rel=1e-6)
    # features that explain nothing: the fit is that of the covariates
    nothing = np.zeros((n, 1))
    _, state = fitted(nothing, problem)
    np.testing.assert_allclose(problem.scores_of(state.best) + target, model.predict(X), atol=1e-5)


@pytest.mark.parametrize("q", [0, 1, 3])
@pytest.mark.parametrize("loss", EVERY, ids=name_of)
def test_small_problems_on_a_gram_matrix_are_solved_to_rounding(loss, q):
    for seed, (n, d, penalty) in enumerate([(5, 2, 1.0), (5, 8, 0.1), (4, 3, 30.0)]):
        X, problem = example(loss, n, d, q, seed, penalty)
        if problem.inside is None and q:
            continue
        solution = solve_gram(X @ X.T, problem)
        columns = problem.covariates.columns
        found = exact_optimum(loss, X, problem.labels, problem.weights, penalty, problem.offset, columns)
        assert found is not None
        exact = np.array([float(value) for value in found[0]])
        own = X.T @ (problem.labels * solution.dual) / penalty
        assert np.linalg.norm(own - exact) <= 1e-7 * (np.linalg.norm(exact) + 1e-3)
        assert solution.gap <= 1e-12 * (1.0 + problem.primal(exact, problem.offset))
        sums = problem.free.T @ (problem.labels * solution.dual)
        assert np.abs(sums).max(initial=0.0) <= 1e-12 * (1.0 + np.abs(solution.dual).max())


@pytest.mark.parametrize("q", [1, 5])
@pytest.mark.parametrize("loss", EVERY, ids=name_of)
def test_small_problems_on_rows_agree_with_the_gram_matrix(loss, q):
    for seed, (n, d) in enumerate([(40, 8), (30, 50)]):
        X, problem = example(loss, n, d, q, seed)
        gram, rows = solve_gram(X @ X.T, problem), solve_rows(Rows(X), problem)
        assert rows.weights is not None
        own = X.T @ (problem.labels * gram.dual) / problem.penalty
        off = np.linalg.norm(rows.weights[:-1] - own) / np.linalg.norm(own)
        assert off <= 1e-6
        sums = problem.free.T @ (problem.labels * rows.dual)
        assert np.abs(sums).max() <= 1e-11 * n


def test_effects_get_away_from_where_no_sample_is_curved():
    # rounded corners are flat between: a heavy sample, and ties, held the intercept where it was
    X = np.array([[2.0, -2.0], [1.0, -1.0], [0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 2.0]])
    y, s = np.array([-1.0, 1.0, -1.0, -1.0, 1.0, -1.0]), np.array([0.0153, 1.9e-10, 24.6, 2.77, 28.19, 1.35])
    for loss, labels, offset in ((LOSSES["hinge"], y, 0.0 * y), (Quantile(0.3), np.ones(6), np.arange(6.0) - y)):
        problem = BinaryProblem(loss, labels, s, 51.3, offset, Covariates(np.ones((6, 1)), s))
        found = exact_optimum(loss, X, labels, s, 51.3, offset, np.ones((6, 1)))
        assert found is not None
        solution = solve_rows(Rows(X), problem)
        assert solution.weights is not None
        np.testing.assert_allclose(solution.weights[:-1], [float(value) for value in found[0]], atol=1e-6)


@pytest.mark.parametrize("q", [0, 1, 5])
@pytest.mark.parametrize("loss", [loss for loss in EVERY if loss.smoothness is None], ids=name_of)
def test_interior_points_end_at_the_optimum(loss, q):
    for seed, (n, d, penalty) in enumerate([(60, 20, 1.0), (40, 100, 1e-2), (50, 5, 1e2)]):
        X, problem = example(loss, n, d, q, seed, penalty)
        solution = solve_gram(X @ X.T, problem)
        own = X.T @ (problem.labels * solution.dual) / penalty
        highest = problem.primal(own, problem.scores(X @ own, solution.effects))
        lowest = problem.dual(solution.dual / problem.weights, own)
        assert highest - lowest <= 1e-7 * highest
        assert highest - lowest == pytest.approx(solution.gap, abs=1e-11 * highest)
        columns = problem.covariates.columns
        w, b, a = conic_optimum(loss, X, problem.labels, problem.weights, penalty, problem.offset, columns)
        above = problem.primal(w, X @ w + columns @ b + problem.offset)
        below = problem.dual(loss.project(a), w)
        assert lowest >= below * (1.0 - 1e-9)
        if above - below <= 1e-9 * above:  # where many variables are inside, the other solver stops early
            np.testing.assert_allclose(own, w, atol=1e-5 * np.abs(w).max())


@pytest.mark.parametrize("loss", [loss for loss in EVERY if loss.smoothness is None], ids=name_of)
def test_a_small_target_is_met_where_barrier_steps_gain_no_more(loss):
    for seed in range(4):
        X, problem = example(loss, 70, 300, 13, seed)
        K = X @ X.T / 300.0
        target = 1e-12 * problem.loss_of(problem.offset)
        assert solve_gram(K, problem, None, target).gap <= target


@pytest.mark.parametrize("route", ["gram", "direct", "sketch"])
@pytest.mark.parametrize("loss", EVERY, ids=name_of)
def test_fits_beside_covariates_are_certified(loss, route):
    tol = {"gram": 1e-8, "direct": 1e-6, "sketch": 1e-5}[route]
    if loss.smoothness is None:  # the gap is of the order of the rounding of scores, not of its square
        tol = 1e-2 if route == "sketch" else 1e-5
    n, d = {"gram": (40, 300), "direct": (40, 20), "sketch": (25, 100)}[route]
    X, problem = example(loss, n, d, 4)
    _, state = fitted(X / X.shape[1] ** 0.5, problem, route, tol)
    assert state.error <= tol


@pytest.mark.parametrize("loss", EVERY, ids=name_of)
def test_age_in_days_beside_sex_is_fine(loss):
    """Columns of 2e4 ± 5e3 and of 0 and 1 give the same w and scores, certified as well, as columns of unit scale."""
    rng = np.random.default_rng(5)
    n, d = 60, 200
    X = rng.standard_normal((n, d)) / d**0.5
    age, sex = np.round(2e4 + 5e3 * rng.standard_normal(n)), rng.integers(0, 2, n).astype(float)
    f = 3.0 * X @ rng.standard_normal(d) + 1e-4 * (age - 2e4) + 0.5 * sex + 0.5 * rng.standard_normal(n)
    raw = np.column_stack([np.ones(n), age, sex])
    scaled = np.column_stack([np.ones(n), (age - 2e4) / 5e3, 2.0 * sex - 1.0])
    y, offset = (np.ones(n), -f) if loss in REGRESSION else (np.where(f > 0.0, 1.0, -1.0), np.zeros(n))
    results = []
    for U in (raw, scaled):
        problem = BinaryProblem(loss, y, np.ones(n), 0.1, offset, Covariates(U, np.ones(n)))
        assert len(problem.covariates) == 3
        w, effects, state = coefficients(X, problem, tol=1e-9)
        assert state.error <= (1e-5 if loss.smoothness is None else 1e-8)
        results.append((w, X @ w + U @ effects))
    np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-7 * np.abs(results[1][0]).max())
    np.testing.assert_allclose(results[0][1], results[1][1], atol=1e-6 * np.abs(results[1][1]).max())


@pytest.mark.parametrize("loss", EVERY, ids=name_of)
def test_samples_without_weight_say_nothing(loss):
    X, problem = example(loss, 30, 40, 3)
    s = problem.weights.copy()
    s[::5] = 0.0
    used = s > 0.0
    columns = problem.covariates.columns
    args = loss, problem.labels, s, 1.0, problem.offset, Covariates(columns, s)
    whole = fitted(X, BinaryProblem(*args))[1]
    part = [problem.labels[used], s[used], 1.0, problem.offset[used], Covariates(columns[used], s[used])]
    alone = fitted(X[used], BinaryProblem(loss, *part))[1]
    np.testing.assert_allclose(whole.bound.weights, alone.bound.weights, atol=1e-6)


@pytest.mark.parametrize("loss", EVERY, ids=name_of)
def test_taking_covariates_out_of_features_changes_nothing(loss):
    """w*, the radius and the gap are those of X - U Γ, for every loss."""
    rng = np.random.default_rng(2)
    X, problem = example(loss, 40, 6, 3)
    unit = problem.covariates.columns / np.abs(problem.covariates.columns).max(axis=0)
    w, _, state = coefficients(X, problem)
    other, _, again = coefficients(X - unit @ rng.standard_normal((3, 6)), problem)
    assert max(state.error, again.error) <= 1e-5
    np.testing.assert_allclose(w, other, atol=1e-6)


def test_a_hinge_of_separable_counts_is_solved():
    """Feasible points near the first barrier steps are all poor there, which is no reason to stop."""
    rng, n, C = np.random.default_rng(2), 100, 5000.0
    X = rng.poisson(np.exp(2.0 * rng.standard_normal(2 * n)), (n, 2 * n)) * np.exp(rng.standard_normal((n, 1)))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    problem = BinaryProblem(LOSSES["hinge"], y, np.ones(n), 1 / C, np.zeros(n), Covariates(np.ones((n, 1)), np.ones(n)))
    assert solve_box(X @ X.T, problem).gap <= 1e-6
