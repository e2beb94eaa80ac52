"""Bounds of scores and of effects: finite where curvature identifies effects, infinite and never NaN elsewhere."""

import numpy as np
import pytest

from slimline import open_matrix
from slimline.learning import LOSSES, BinaryProblem, SolverState, TrainingData, exact_surrogate, recover_certified
from slimline.learning.covariates import Covariates
from slimline.learning.regression_losses import Huber, SquaredError
from slimline.learning.score_bounds import bound_scores


def fitted(X, problem, tol=1e-8, passes=30):
    data = TrainingData(open_matrix(X), 0.0, problem.weights)
    state = SolverState.zero(problem, data.shape)
    for _ in recover_certified(data, [state], exact_surrogate(data), tol=tol, max_passes=passes):
        pass
    return data, state


def test_ridge_effects_are_a_linear_function_of_the_weights(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    n, d = 30, 50
    X, U = rng.standard_normal((n, d)), np.column_stack([np.ones(n), rng.standard_normal((n, 2))])
    target = rng.standard_normal(n) + 5.0
    problem = BinaryProblem(SquaredError(), np.ones(n), np.ones(n), 1.0, -target, Covariates(U, np.ones(n)))
    data, state = fitted(X, problem)
    (bounds,) = bound_scores(data, [state], with_pass=True)
    assert not bounds.square.any()
    w = state.bound.weights[:-1]
    effects = np.linalg.lstsq(U, target - X @ w, rcond=None)[0]
    np.testing.assert_allclose(problem.covariates.transform @ bounds.effects, effects, rtol=1e-9)
    # X̄ is the regression of X on U
    explained = np.linalg.lstsq(problem.covariates.basis, X, rcond=None)[0]
    np.testing.assert_allclose(bounds.explained, explained, atol=1e-12)
    assert state.bound.radius <= bounds.error(np.zeros((1, 3)), np.ones(1))[0] <= 1.001 * state.bound.radius + 1e-12


def test_a_pass_makes_bounds_sharper(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    n, d = 40, 80
    X = rng.standard_normal((n, d)) + 3.0
    y = np.resize([1.0, -1.0], n)
    U = np.column_stack([np.ones(n), rng.standard_normal(n)])
    problem = BinaryProblem(LOSSES["logistic"], y, np.ones(n), 10.0, None, Covariates(U, np.ones(n)))
    data, state = fitted(X, problem, tol=1e-6)
    norms = np.linalg.norm(X, axis=1)
    (wide,), (narrow,) = bound_scores(data, [state]), bound_scores(data, [state], with_pass=True)
    np.testing.assert_array_equal(wide.effects, narrow.effects)
    inner = X @ narrow.explained.T
    assert np.median(narrow.error(U, norms, inner)) < 0.5 * np.median(wide.error(U, norms))


@pytest.mark.parametrize("q", [1, 3])
def test_effects_that_nothing_identifies_have_no_interval(q):
    # Huber, all samples on the line: only an intercept alone has an interval, by monotony
    rng = np.random.default_rng(0)
    n = 20
    X, U = 1e-3 * rng.standard_normal((n, 4)), np.column_stack([np.ones(n), rng.standard_normal((n, 2))])[:, :q]
    target = np.where(np.arange(n) < n // 2, 100.0, -100.0)
    U -= np.outer(target, target @ U) / (target @ target)  # so that they explain nothing of it
    problem = BinaryProblem(Huber(0.01), np.ones(n), np.ones(n), 1.0, -target, Covariates(U, np.ones(n)))
    data, state = fitted(X, problem)
    (bounds,) = bound_scores(data, [state])
    error = bounds.error(np.eye(q), np.zeros(q))
    assert not np.isnan(error).any()
    assert np.isfinite(error).all() == (q == 1)
