"""Crammer and Singer's hinge: objective, gradient and bound against independent computations."""

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

from slimline.learning.crammer_singer import CrammerSinger


class Features:
    """Scores from explicit features, one vector a sample and class."""

    def __init__(self, values, size):
        self.values = values
        self.n_components = values.shape[2]
        self.chunks = [slice(a, min(a + size, values.shape[1])) for a in range(0, values.shape[1], size)]

    def scores(self, v, classes):
        return self.values[:, classes] @ v

    def adjoint(self, G, classes):
        return np.einsum("ij,ijk->k", G, self.values[:, classes])


def _problem(seed, n=15, n_classes=4, r=6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n_classes, r)), rng.integers(0, n_classes, n), rng.uniform(0.1, 2.0, n)


def _objective(v, values, codes, costs):
    scores, rows = values @ v, np.arange(codes.size)
    margins = scores + 1 - scores[rows, codes][:, None]
    margins[rows, codes] = 0
    return 0.5 * v @ v + costs @ margins.max(axis=1)


def _minimum(values, codes, costs):
    """Return the minimum by the textbook's quadratic program: v, and a slack a sample."""
    n, n_classes, r = values.shape
    rows, others = zip(*[(i, y) for i in range(n) for y in range(n_classes) if y != codes[i]], strict=True)
    rows, others = np.array(rows), np.array(others)
    A = np.hstack([values[rows, codes[rows]] - values[rows, others], np.eye(n)[rows]])
    A = np.vstack([A, np.hstack([np.zeros((n, r)), np.eye(n)])])
    least = np.r_[np.ones(len(rows)), np.zeros(n)]
    result = minimize(
        lambda x: 0.5 * x[:r] @ x[:r] + costs @ x[r:],
        np.r_[np.zeros(r), np.ones(n)],
        jac=lambda x: np.r_[x[:r], costs],
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: A @ x - least, "jac": lambda x: A},
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    assert result.success
    return result.fun


@pytest.mark.parametrize("size", [1, 3, 4])
def test_the_minimum_lies_between_objective_and_dual(size, global_random_seed):
    for seed in range(10 * global_random_seed, 10 * global_random_seed + 5):
        values, codes, costs = _problem(seed)
        solution = CrammerSinger(Features(values, size), codes, costs).solve(1e-6, 5000)
        minimum = _minimum(values, codes, costs)
        assert solution.converged and solution.gap <= 1e-6 * solution.objective
        assert solution.objective == pytest.approx(_objective(solution.v, values, codes, costs), rel=1e-12)
        assert solution.dual - 1e-9 <= minimum <= solution.objective + 1e-9


@pytest.mark.parametrize("budget", [1, 2, 5, 20])
def test_the_dual_is_a_lower_bound_however_early_training_ends(budget, global_random_seed):
    values, codes, costs = _problem(global_random_seed)
    solution = CrammerSinger(Features(values, 4), codes, costs).solve(1e-12, budget)
    assert solution.evaluations == budget and not solution.converged
    assert solution.dual <= _minimum(values, codes, costs) + 1e-9
    assert solution.objective == pytest.approx(_objective(solution.v, values, codes, costs), rel=1e-12)


@pytest.mark.parametrize("sharpness", [1.0, 7.0])
def test_gradient(sharpness, global_random_seed):
    values, codes, costs = _problem(global_random_seed)
    solver = CrammerSinger(Features(values, 3), codes, costs)
    v = np.random.default_rng(global_random_seed).normal(size=6)
    error = check_grad(
        lambda v: solver._evaluate(v, sharpness)[0], lambda v: solver._evaluate(v, sharpness)[1], v, epsilon=1e-6
    )
    assert error < 1e-4 * np.linalg.norm(solver._evaluate(v, sharpness)[1])


def test_the_gap_is_what_smoothing_leaves_and_half_the_squared_gradient(global_random_seed):
    values, codes, costs = _problem(global_random_seed)
    v = np.random.default_rng(global_random_seed).normal(size=6)
    solver = CrammerSinger(Features(values, 2), codes, costs)
    _, gradient, smoothing = solver._evaluate(v, 3.0)
    assert solver._best.gap == pytest.approx(smoothing + 0.5 * gradient @ gradient, rel=1e-10)


def test_a_cost_of_two_is_a_sample_twice_and_a_cost_of_zero_is_none(global_random_seed):
    values, codes, _ = _problem(global_random_seed)
    times = np.random.default_rng(global_random_seed).integers(0, 4, codes.size)
    weighted = CrammerSinger(Features(values, 4), codes, times.astype(float)).solve(1e-8, 5000)
    repeated_codes = np.repeat(codes, times)
    repeated = Features(np.repeat(values, times, axis=0), 4)
    again = CrammerSinger(repeated, repeated_codes, np.ones(repeated_codes.size)).solve(1e-8, 5000)
    assert again.objective == pytest.approx(weighted.objective, rel=2e-8)
    np.testing.assert_allclose(again.v, weighted.v, atol=np.sqrt(4 * 1e-8 * weighted.objective))


def test_where_nothing_can_be_learnt_the_vector_is_zero():
    values, codes, costs = _problem(0)
    solution = CrammerSinger(Features(values * 0, 4), codes, costs).solve(1e-2, 1000)
    assert solution.converged and solution.gap <= 1e-4 * solution.objective
    np.testing.assert_array_equal(solution.v, 0)


def test_a_minimum_hardly_below_that_of_zero_is_still_found():
    values, codes, costs = _problem(0)
    values *= 0.03
    values[np.arange(15), codes] += 0.03  # a direction in which every sample's own class gains
    solution = CrammerSinger(Features(values, 4), codes, costs).solve(1e-2, 5000)
    minimum = _minimum(values, codes, costs)
    assert 0 < costs.sum() - minimum < 0.1 * costs.sum()
    assert solution.converged
    assert solution.objective - minimum <= 0.011 * (costs.sum() - minimum)
