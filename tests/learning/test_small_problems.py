"""Solvers of the small problem against exact rational optima, scikit-learn and each other."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from slimline.learning import LOSSES, BinaryProblem, Rows, solve_gram, solve_rows
from slimline.learning.line_search import solve_shifted
from tests.learning.exact import as_floats, distance, exact_weights

NAMES = list(LOSSES)
PENALTIES = [1e-3, 1.0, 1e3]
UNIT = 2.0**-53
KINDS = ["plain", "duplicated", "zero rows", "constant", "opposite"]


def problem_of(name, n, r, penalty, seed=0, kind="plain", weighted=False, shifted=False):
    rng = np.random.default_rng([seed, n, r])
    Z = rng.standard_normal((n, r))
    y = np.where(Z @ rng.standard_normal(r) + rng.standard_normal(n) > 0, 1.0, -1.0)
    if kind == "duplicated":
        Z[n // 2 :] = Z[: n - n // 2]
    elif kind == "opposite":  # the same row with both labels
        Z[n // 2 :] = Z[: n - n // 2]
        y[n // 2 :] = -y[: n - n // 2]
    elif kind == "zero rows":
        Z[::2] = 0.0
    elif kind == "constant":
        Z[:] = Z[0]
    s = rng.uniform(0.1, 3.0, n) if weighted else np.ones(n)
    q = rng.standard_normal(n) if shifted else np.zeros(n)
    return Z, BinaryProblem(LOSSES[name], y, s, penalty, q)


def solved(form, Z, problem, **options):
    """Return a solution with weights, whichever form found it."""
    if form == "rows":
        solution = solve_rows(Rows(Z), problem, **options)
        assert solution.weights[-1] == 0.0  # of the constant column, which is zero here
        return solution, solution.weights[:-1]
    wide = Z.astype(np.float64)
    solution = solve_gram(wide @ wide.T, problem, **options)
    assert solution.weights is None
    return solution, wide.T @ (problem.labels * solution.dual) / problem.penalty


def rounding(Z, problem, dual):
    """Return what rounding of Zᵀβ/λ can do to a value: it is what the way through β costs where λ is tiny."""
    n, r = Z.shape
    return 4 * (n + r) * UNIT * np.linalg.norm(Z) ** 2 * np.linalg.norm(dual) / problem.penalty


def objective(Z, problem, v):
    return problem.primal(v, Z.astype(np.float64) @ v + problem.offset)


@pytest.mark.parametrize("form", ["gram", "rows"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("name", NAMES)
def test_tiny_problems_are_solved_exactly(name, penalty, form):
    for seed, (n, r) in enumerate([(1, 1), (1, 3), (2, 1), (4, 2), (3, 4), (4, 4)]):
        for kind in KINDS if n > 1 else ["plain"]:
            Z, problem = problem_of(name, n, r, penalty, seed, kind, weighted=seed % 2 == 1, shifted=seed % 3 == 1)
            exact = exact_weights(name, Z, problem.labels, problem.weights, penalty, problem.offset)
            solution, v = solved(form, Z, problem)
            truth = as_floats(exact)
            size = np.linalg.norm(truth) + 1e-6 * np.linalg.norm(np.abs(Z).T @ problem.weights) / penalty
            # the hinge's duality gap is first order in the rounding of margins, so its weights are good to its root
            assert distance(exact, v) <= (1e-7 if name == "hinge" else 1e-9) * size, (n, r, kind)
            best = objective(Z, problem, truth)
            lost = problem.weights.sum() * rounding(Z, problem, solution.dual)
            assert objective(Z, problem, v) - best <= solution.gap + lost + 1e-12 * best
            assert solution.gap <= 1e-9 * best
            assert np.all(solution.dual >= problem.weights * problem.loss.lower)
            assert np.all(solution.dual <= problem.weights * problem.loss.upper)
            np.testing.assert_allclose(solution.values, Z @ v + problem.offset, rtol=1e-9, atol=1e-7 * size)


@pytest.mark.parametrize("form", ["gram", "rows"])
@pytest.mark.parametrize("shape", [(40, 8), (12, 60), (60, 1)])
@pytest.mark.parametrize("name", NAMES)
def test_larger_problems_against_a_general_minimiser(name, shape, form):
    for penalty in PENALTIES:
        for kind in ("plain", "duplicated", "zero rows"):
            Z, problem = problem_of(name, *shape, penalty, kind=kind, weighted=True, shifted=True)
            solution, v = solved(form, Z, problem)
            y, s, loss = problem.labels, problem.weights, problem.loss

            def gradient(v, Z=Z, problem=problem, y=y, s=s, loss=loss):
                return problem.penalty * v - Z.T @ (y * s * loss.dual(y * (Z @ v + problem.offset)))

            mine = objective(Z, problem, v)
            if name == "hinge":  # no gradient: what proves it is the dual
                proved = dual_objective(Z, problem, solution.dual)
                assert mine - proved <= 1e-8 * mine
                continue
            found = minimize(
                lambda v, Z=Z, problem=problem: objective(Z, problem, v),
                np.zeros(shape[1]),
                jac=gradient,
                method="L-BFGS-B",
                options={"maxiter": 20000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-10},
            )
            assert mine <= found.fun * (1 + 1e-12)
            lost = rounding(Z, problem, solution.dual)
            steepness = loss.smoothness * s.max() * np.linalg.norm(Z) * shape[0] ** 0.5
            assert np.linalg.norm(gradient(v)) <= 1e-8 * penalty * np.linalg.norm(v) + steepness * lost
            assert mine - found.fun <= solution.gap + 1e-12 * mine


def dual_objective(Z, problem, alpha):
    """Return a lower bound of the optimum, from nothing but feasible dual variables."""
    beta, s = problem.labels * alpha, problem.weights
    w = Z.T @ beta / problem.penalty
    conjugate = s @ problem.loss.conjugate(alpha / s)
    return -conjugate - 0.5 * problem.penalty * (w @ w) - beta @ problem.offset


@pytest.mark.parametrize("form", ["gram", "rows"])
@pytest.mark.parametrize("name", NAMES)
def test_the_gap_is_an_upper_bound_wherever_a_solver_stops(name, form, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for trial in range(12):
        n, r = (int(k) for k in rng.integers(1, 25, 2))
        penalty = 10.0 ** rng.uniform(-3, 3)
        Z, problem = problem_of(name, n, r, penalty, trial, weighted=True, shifted=trial % 2 == 0)
        exact, _ = solved("gram", Z, problem)
        optimum = dual_objective(Z, problem, exact.dual)
        for target in (1e-1, 1e-3):
            solution, v = solved(form, Z, problem, target_gap=target * optimum)
            reached = objective(Z, problem, v)
            assert reached - optimum <= solution.gap + 1e-10 * optimum
            lower = dual_objective(Z, problem, solution.dual)
            if form == "gram" or name == "hinge":
                # v and α belong together: the gap is theirs, and below what was asked for
                np.testing.assert_allclose(reached - lower, solution.gap, rtol=1e-6, atol=1e-9 * optimum)
            assert solution.gap <= target * optimum * (1 + 1e-9)


@pytest.mark.parametrize("form", ["gram", "rows"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_scikit_learn_agrees(name, penalty, form):
    Z, problem = problem_of(name, 50, 10, penalty, weighted=True)
    C, y, s = 1.0 / penalty, problem.labels, problem.weights
    if name == "squared":
        peer = Ridge(alpha=penalty, fit_intercept=False, solver="svd")
    elif name == "logistic":
        peer = LogisticRegression(C=C, fit_intercept=False, tol=1e-12, solver="newton-cholesky", max_iter=500)
    else:
        peer = LinearSVC(C=C, loss=name, dual=True, fit_intercept=False, tol=1e-11, max_iter=2_000_000, random_state=0)
    w = np.ravel(peer.fit(Z, y, sample_weight=s).coef_)
    _, v = solved(form, Z, problem)
    np.testing.assert_allclose(v, w, rtol=1e-5, atol=1e-6 * np.abs(w).max())


@pytest.mark.parametrize("name", NAMES)
def test_float32_rows_are_solved_as_the_numbers_that_they_are(name):
    for shape in ((300, 12), (20, 40)):
        Z, problem = problem_of(name, *shape, 1.0, weighted=True)
        narrow = Z.astype(np.float32)
        _, wide = solved("gram", narrow, problem)
        solution, v = solved("rows", narrow, problem)
        assert np.linalg.norm(v - wide) <= 2e-4 * np.linalg.norm(wide)
        assert solution.gap <= 1e-4 * objective(narrow, problem, wide)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["gram", "rows"])
def test_a_warm_start_ends_where_a_cold_one_does_and_sooner(name, form):
    Z, problem = problem_of(name, 40, 12, 0.1, weighted=True)
    cold, v = solved(form, Z, problem)
    target = 1e-6 * objective(Z, problem, v)
    slow, _ = solved(form, Z, problem, target_gap=target)
    warm, again = solved(form, Z, problem, start=cold.dual, target_gap=target)
    assert warm.iterations <= slow.iterations
    assert objective(Z, problem, again) <= objective(Z, problem, v) + target
    # an infeasible start is put right
    far, same = solved(form, Z, problem, start=cold.dual * 3.0 - 1.0)
    np.testing.assert_allclose(same, v, rtol=1e-5, atol=1e-6 * np.abs(v).max())
    assert far.gap <= 1e-8 * objective(Z, problem, v)


@pytest.mark.parametrize("name", ["squared_hinge", "logistic"])
def test_a_warm_start_under_a_tiny_penalty_does_not_end_early(name, global_random_seed):
    """Separable, and K/λ of 1e10: the gap grows by powers of ten before it falls, and is no reason to stop."""
    for seed in range(10):
        rng = np.random.default_rng([global_random_seed, seed])
        Z = 300.0 * np.abs(rng.standard_normal((60, 400)))
        y = rng.choice([-1.0, 1.0], 60)
        problem = BinaryProblem(LOSSES[name], y, np.ones(60), 1e-3, np.zeros(60))
        cold, v = solved("gram", Z, problem)
        start = cold.dual * rng.uniform(0.5, 1.5, 60)
        warm, _ = solved("gram", Z, problem, start=start)
        lowest = objective(Z, problem, v)
        assert cold.gap <= 1e-9 * lowest
        assert warm.gap <= 1e-9 * lowest


@pytest.mark.parametrize("name", NAMES)
def test_a_linear_term_is_an_offset(name):
    """min (λ/2)‖v‖² + λ vᵀu + Σ s ℓ(y (Z v + q)), solved as the problem of v + u."""
    for n, r in ((2, 2), (4, 3)):
        Z, problem = problem_of(name, n, r, 0.5, weighted=True, shifted=True)
        u = np.random.default_rng(5).standard_normal(r)
        _, shifted = solved("gram", Z, replace(problem, offset=problem.offset - Z @ u))
        v = shifted - u

        def total(v, Z=Z, problem=problem, u=u):
            return objective(Z, problem, v) + problem.penalty * (v @ u)

        lowest = total(v)
        rng = np.random.default_rng(0)
        for size in (1e-4, 1e-2, 1.0):
            for _ in range(50):
                assert total(v + size * rng.standard_normal(r)) >= lowest


@pytest.mark.parametrize("name", NAMES)
def test_many_components_use_conjugate_gradients(name):
    # 900 components are above what is factored
    Z, problem = problem_of(name, 60, 900, 1.0)
    _, v = solved("rows", Z, problem)
    _, exact = solved("gram", Z, problem)
    assert np.linalg.norm(v - exact) <= 1e-6 * np.linalg.norm(exact)


class TestRows:
    """The features with directions taken out and exact columns beside them."""

    def features(self, seed=0, dtype=np.float64):
        rng = np.random.default_rng(seed)
        Z, T = rng.standard_normal((9, 5)).astype(dtype), rng.standard_normal((9, 2))
        Q = np.linalg.qr(rng.standard_normal((6, 2)))[0]
        whole = np.hstack([np.hstack([Z, np.full((9, 1), 1.5)]) @ (np.eye(6) - Q @ Q.T), T])
        return Rows(Z, 1.5, Q, T), whole

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_products_are_those_of_the_array(self, dtype):
        rows, whole = self.features(dtype=dtype)
        tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-12}
        rng = np.random.default_rng(1)
        v, g, h = rng.standard_normal(8), rng.standard_normal(9), rng.uniform(0, 1, 9)
        h[3] = 0.0
        assert rows.shape == whole.shape
        np.testing.assert_allclose(rows.times(v), whole @ v, **tolerance)
        np.testing.assert_allclose(rows.transposed_times(g), whole.T @ g, **tolerance)
        np.testing.assert_allclose(rows.weighted_square(h), whole.T @ (h[:, None] * whole), **tolerance)
        np.testing.assert_allclose(rows.array(), whole, **tolerance)
        np.testing.assert_allclose(rows.array(slice(2, 5)), whole[2:5], **tolerance)

    @pytest.mark.parametrize("name", NAMES)
    def test_they_are_what_is_solved(self, name):
        rows, whole = self.features()
        rng = np.random.default_rng(2)
        problem = BinaryProblem(LOSSES[name], rng.choice([-1.0, 1.0], 9), rng.uniform(0.5, 2, 9), 0.3, np.zeros(9))
        v = solve_rows(rows, problem).weights
        _, expected = solved("gram", whole, problem)
        np.testing.assert_allclose(v, expected, atol=1e-6)


def test_singular_systems_have_the_smallest_solution():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((6, 2))
    M = V @ V.T
    right = M @ rng.standard_normal(6)
    x = solve_shifted(M, np.zeros(6), right)
    np.testing.assert_allclose(x, np.linalg.pinv(M) @ right, atol=1e-9)
    np.testing.assert_array_equal(M, V @ V.T)
    shift = rng.uniform(0.1, 1, 6)
    np.testing.assert_allclose(solve_shifted(M, shift, right), np.linalg.solve(M + np.diag(shift), right), rtol=1e-9)
