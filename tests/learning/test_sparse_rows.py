"""Sparse features with a constant column: products against arrays, solutions against exact rational optima."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline.learning import LOSSES, ArrayRows, BinaryProblem, SparseRows, solve_gram, solve_rows
from slimline.learning import solve_features as rows_form
from tests.learning.exact import as_floats, distance, exact_weights
from tests.pairwise import pairwise

NAMES = list(LOSSES)
PENALTIES = [1e-3, 1.0, 1e3]
SHAPES = [(30, 17), (5, 200), (1, 1), (9, 1), (1, 9)]
DTYPES = [np.float32, np.float64]


def thin(seed, n, d, dtype=np.float64, index=np.int32, share=0.3):
    rng = np.random.default_rng([seed, n, d])
    X = (rng.standard_normal((n, d)) * (rng.random((n, d)) < share)).astype(dtype)
    Z = sp.csr_array(X)
    Z.indices, Z.indptr = Z.indices.astype(index), Z.indptr.astype(index)
    return Z, X.astype(np.float64)


def problem_of(name, X, penalty, seed=0, weighted=True, shifted=True):
    rng = np.random.default_rng([seed, *X.shape])
    n = len(X)
    y = np.where(X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(n) > 0, 1.0, -1.0)
    s = rng.uniform(0.1, 3.0, n) if weighted else np.ones(n)
    return BinaryProblem(LOSSES[name], y, s, penalty, rng.standard_normal(n) if shifted else np.zeros(n))


def with_constant(X, constant):
    return np.column_stack([X, np.full(len(X), constant)])


def objective(X, problem, v):
    return problem.primal(v, X @ v + problem.offset)


@pytest.mark.parametrize(
    "shape, constant, dtype, index", pairwise(SHAPES, [1.0, 0.0, -2.5], DTYPES, [np.int32, np.int64])
)
def test_products_are_those_of_the_array_in_float64(shape, constant, dtype, index):
    for share in (0.3, 0.0, 1.0):
        Z, X = thin(0, *shape, dtype, index, share)
        rows, whole = SparseRows(Z, constant), with_constant(X, constant)
        rng = np.random.default_rng(1)
        v, g, h = rng.standard_normal(whole.shape[1]), rng.standard_normal(len(X)), rng.uniform(0, 1, len(X))
        h[::3] = 0.0
        near = {"rtol": 1e-13, "atol": 1e-13}
        assert rows.shape == whole.shape
        np.testing.assert_allclose(rows.times(v), whole @ v, **near)
        np.testing.assert_allclose(rows.transposed_times(g), whole.T @ g, **near)
        np.testing.assert_allclose(rows.weighted_square(h), whole.T @ (h[:, None] * whole), **near)
        part = rng.integers(0, len(X), 4)
        np.testing.assert_allclose(rows.gram(part), whole[part] @ whole[part].T, **near)
        np.testing.assert_array_equal(Z.toarray(), X)  # nothing was written over


@pytest.mark.parametrize("shape, constant, dtype", pairwise(SHAPES, [-2.5, 0.0], DTYPES))
def test_products_with_an_array_are_made_in_float64(shape, constant, dtype):
    _, X = thin(0, *shape, dtype, share=1.0)
    for Z in (X.astype(dtype), np.hstack([X, X]).astype(dtype)[:, : shape[1]]):  # the second lies apart
        rows, whole = ArrayRows(Z, constant), with_constant(X, constant)
        rng = np.random.default_rng(1)
        v, g, h = rng.standard_normal(whole.shape[1]), rng.standard_normal(len(X)), rng.uniform(0, 1, len(X))
        near = {"rtol": 1e-13, "atol": 1e-13}
        assert rows.shape == whole.shape
        np.testing.assert_allclose(rows.times(v), whole @ v, **near)
        np.testing.assert_allclose(rows.transposed_times(g), whole.T @ g, **near)
        np.testing.assert_allclose(rows.weighted_square(h), whole.T @ (h[:, None] * whole), **near)
        part = rng.integers(0, len(X), 4)
        np.testing.assert_allclose(rows.gram(part), whole[part] @ whole[part].T, **near)
        np.testing.assert_array_equal(rows.array(part), whole[part])


def test_vectors_that_lie_apart_are_read_right():
    Z, X = thin(1, 20, 13)
    rows, whole = SparseRows(Z, 2.0), with_constant(X, 2.0)
    rng = np.random.default_rng(2)
    V, G = rng.standard_normal((14, 3)), rng.standard_normal((20, 3))
    np.testing.assert_allclose(rows.times(V[:, 1]), whole @ V[:, 1], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows.transposed_times(G[:, 1]), whole.T @ G[:, 1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("constant", [0.0, 1.0])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("name", NAMES)
def test_tiny_problems_are_solved_exactly(name, penalty, constant):
    for seed, (n, d) in enumerate([(1, 1), (1, 3), (2, 1), (4, 2), (3, 4), (4, 4)]):
        for share in (0.4, 0.8):
            Z, X = thin(seed, n, d, share=share)
            whole = with_constant(X, constant)
            problem = problem_of(name, X, penalty, seed, weighted=seed % 2 == 1, shifted=seed % 3 == 1)
            exact = exact_weights(name, whole, problem.labels, problem.weights, penalty, problem.offset)
            solution = solve_rows(SparseRows(Z, constant), problem)
            v, truth = solution.weights, as_floats(exact)
            size = np.linalg.norm(truth) + 1e-6 * np.linalg.norm(np.abs(whole).T @ problem.weights) / penalty
            # as for the other forms: the hinge's gap is first order in the rounding of margins
            assert distance(exact, v) <= (1e-7 if name == "hinge" else 1e-9) * size, (n, d, share)
            best = objective(whole, problem, truth)
            assert solution.gap <= 1e-9 * best
            assert np.all(solution.dual >= problem.weights * problem.loss.lower)
            assert np.all(solution.dual <= problem.weights * problem.loss.upper)
            np.testing.assert_allclose(solution.values, whole @ v + problem.offset, rtol=1e-9, atol=1e-7 * size)


@pytest.mark.parametrize(
    "name, penalty, shape, dtype, storage",
    pairwise(NAMES, PENALTIES, [(50, 20), (25, 900)], DTYPES, ["sparse", "array"]),  # 900 are above what is factored
)
def test_larger_problems_against_the_gram_matrix(name, penalty, shape, dtype, storage):
    Z, X = thin(3, *shape, dtype)
    whole = with_constant(X, 1.5)
    features = SparseRows(Z, 1.5) if storage == "sparse" else ArrayRows(X.astype(dtype), 1.5)
    problem = problem_of(name, X, penalty)
    exact = solve_gram(whole @ whole.T, problem)
    truth = whole.T @ (problem.labels * exact.dual) / penalty
    best = objective(whole, problem, truth)
    for target in (0.0, 1e-3 * best, 1e-7 * best):
        solution = solve_rows(features, problem, target_gap=target)
        reached = objective(whole, problem, solution.weights)
        assert reached - best <= solution.gap + 1e-9 * best
        assert solution.gap <= max(target, 1e-8 * best)
        # λ/2 of the squared distance is what the objective is too high by, at the least
        bound = np.sqrt(2 * (max(reached - best, 0.0) + exact.gap + 1e-12 * best) / penalty)
        assert np.linalg.norm(solution.weights - truth) <= 2 * bound + 1e-9 * np.linalg.norm(truth)


@pytest.mark.parametrize("name", NAMES)
def test_a_warm_start_ends_where_a_cold_one_does(name):
    Z, X = thin(4, 40, 1000)
    problem = problem_of(name, X, 0.1)
    features = SparseRows(Z, 1.0)
    cold = solve_rows(features, problem)
    target = 1e-6 * objective(with_constant(X, 1.0), problem, cold.weights)
    slow, warm = (solve_rows(features, problem, start, target) for start in (None, cold.dual))
    assert warm.iterations <= slow.iterations
    far = solve_rows(features, problem, cold.dual * 3.0 - 1.0)  # infeasible: put right
    np.testing.assert_allclose(far.weights, cold.weights, atol=1e-5 * np.abs(cold.weights).max())


@pytest.mark.parametrize("storage", ["sparse", "array"])
@pytest.mark.parametrize("penalty", [1e-6, 1e-9])
def test_newton_takes_over_where_descent_creeps(storage, penalty, monkeypatch):
    """Squared hinge with a huge C, one column twice with a small difference: what is left to descent never ends."""
    _, X = thin(5, 80, 900, share=0.05)
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 2]
    y = np.where(np.random.default_rng(0).random(80) < 0.5, 1.0, -1.0)
    X[40:], y[40:] = X[:40], -y[:40]  # never separable
    X[40:, :] *= 1.0 + 1e-3
    features = SparseRows(sp.csr_array(X), 1.0) if storage == "sparse" else ArrayRows(X, 1.0)
    problem = BinaryProblem(LOSSES["squared_hinge"], y, np.ones(80), penalty, np.zeros(80))
    whole = with_constant(X, 1.0)
    calls = []
    newton = rows_form.solve_smooth_rows
    monkeypatch.setattr(rows_form, "solve_smooth_rows", lambda *given: calls.append(given) or newton(*given))
    exact = solve_gram(whole @ whole.T, problem)
    best = objective(whole, problem, whole.T @ (y * exact.dual) / penalty)
    solution = solve_rows(features, problem, target_gap=1e-6 * best)
    assert len(calls) == 1
    assert solution.gap <= 1e-6 * best
    assert objective(whole, problem, solution.weights) <= best * (1 + 2e-6)
