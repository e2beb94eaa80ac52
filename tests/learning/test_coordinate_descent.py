"""Solutions judged in float64 by the conditions of optimality, and by solvers that share nothing with ours."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from slimline.learning.active_set import descend_gram, descend_rows
from tests.pairwise import pairwise

LOSSES = ["hinge", "squared_hinge"]
FORMS = ["rows", "gram"]
DTYPES = [np.float64, np.float32]
KINDS = ["random", "nearly separable", "duplicated", "ill-scaled", "zero rows", "wide"]


def rows_of(kind, seed, n=60, r=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, r))
    y = np.where(X @ rng.standard_normal(r) + 1.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    if kind == "nearly separable":
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        X[:, 0] += 0.5 * y
        y[0] *= -1
    elif kind == "duplicated":
        X[n // 2 :], y[n // 2 :] = X[: n // 2], y[: n // 2]
        X[5], y[5] = X[4], -y[4]
    elif kind == "ill-scaled":
        X *= np.exp(rng.uniform(-2, 2, (n, 1)))
    elif kind == "zero rows":
        X[::7] = 0
    elif kind == "wide":
        X = rng.standard_normal((n, 3 * n)) / np.sqrt(3 * n)
    return X, y


class Problem:
    """A problem with its own measures, in float64."""

    def __init__(self, loss, Z, y, *, lam=1.0, C=1.0, q=None):
        n = len(y)
        s = np.broadcast_to(np.asarray(C, dtype=float), n)
        self.Z, self.y, self.lam, self.loss, self.s = Z, y, lam, loss, s
        self.q = np.zeros(n) if q is None else q
        self.diag = np.zeros(n) if loss == "hinge" else 0.5 / s
        self.upper = s.copy() if loss == "hinge" else np.full(n, np.inf)

    def solve(self, form, a=None, *, max_epochs=20000, tolerance=1e-9, seed=0):
        self.form = form
        self.K = self.Z @ self.Z.T if form == "gram" else None
        a = np.zeros(len(self.y)) if a is None else a.copy()
        matrix = self.Z if form == "rows" else self.K
        state = matrix.T.astype(float) @ (self.y * a) / self.lam + (0 if form == "rows" else self.q)
        self.state = state
        descend = descend_rows if form == "rows" else descend_gram
        rest = (self.y, self.q, self.diag, self.upper, self.lam, a, state)
        return a, descend(matrix, *rest, max_epochs=max_epochs, tolerance=tolerance, seed=seed)

    def kernel(self):
        wide = self.Z.astype(np.float64)
        return wide @ wide.T if self.form == "rows" else self.K.astype(np.float64)

    def gradient(self, a):
        return self.y * (self.kernel() @ (self.y * a) / self.lam + self.q) - 1 + self.diag * a

    def violation(self, a):
        """Return the largest projected gradient, from the conditions of optimality."""
        g = self.gradient(a)
        g = np.where(a <= 0, np.minimum(g, 0), g)
        return np.max(np.abs(np.where(a >= self.upper, np.maximum(g, 0), g)))

    def value(self, a):
        ya = self.y * a
        return ya @ self.kernel() @ ya / (2 * self.lam) + 0.5 * self.diag @ (a * a) + (self.y * self.q - 1) @ a

    def check(self, a, ended, tolerance):
        assert np.all(np.isfinite(a)) and np.all(a >= 0) and np.all(a <= self.upper)
        assert ended.violation <= tolerance
        # the epoch that was below the tolerance went on moving others, by as little
        assert self.violation(a) <= 10 * tolerance
        exact = self.kernel() @ (self.y * a) / self.lam + self.q
        product = self.Z.astype(float) @ self.state + self.q if self.form == "rows" else self.state
        size = np.abs(self.kernel()) @ a / self.lam + np.abs(self.q)
        np.testing.assert_array_less(np.abs(product - exact), 1e-13 * size + 1e-300)


@pytest.mark.parametrize("kind, form, loss, dtype", pairwise(KINDS, FORMS, LOSSES, DTYPES))
def test_against_a_general_optimiser(kind, form, loss, dtype):
    X, y = rows_of(kind, 4)
    rng = np.random.default_rng(8)
    problem = Problem(
        loss, X.astype(dtype), y, lam=0.8, C=rng.uniform(0.2, 2, len(y)), q=0.4 * rng.standard_normal(len(y))
    )
    a, ended = problem.solve(form, tolerance=1e-7)
    problem.check(a, ended, 1e-7)
    bounds = [(0, None if np.isinf(u) else u) for u in problem.upper]
    peer = minimize(
        lambda b: (problem.value(b), problem.gradient(b)), np.zeros(len(y)), jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    assert problem.value(a) <= peer.fun + 1e-9 * abs(peer.fun)
    assert problem.value(a) >= peer.fun - 1e-6 * abs(peer.fun)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_against_liblinear(form, loss):
    X, y = rows_of("random", 1, n=150, r=20)
    problem = Problem(loss, X, y, C=0.7)
    a, ended = problem.solve(form)
    problem.check(a, ended, 1e-9)
    peer = LinearSVC(loss=loss, C=0.7, dual=True, fit_intercept=False, tol=1e-8, max_iter=10**6, random_state=0)
    np.testing.assert_allclose(X.T @ (y * a), peer.fit(X, y).coef_[0], atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_primal_and_dual_meet(form, loss, dtype):
    X, y = rows_of("wide", 2, n=80)
    problem = Problem(loss, X.astype(dtype), y, lam=0.3, C=2.0)
    a, _ = problem.solve(form, tolerance=1e-6)
    ya, margins = y * a, 1 - y * (problem.kernel() @ (y * a) / 0.3)
    losses = np.maximum(margins, 0) if loss == "hinge" else np.maximum(margins, 0) ** 2
    primal = ya @ problem.kernel() @ ya / 0.6 + 2.0 * np.sum(losses)
    assert abs(primal + problem.value(a)) <= 1e-5 * primal  # the dual is -value


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_warm_start_at_the_solution_takes_one_epoch(form, loss, dtype):
    X, y = rows_of("random", 3)
    problem = Problem(loss, X.astype(dtype), y)
    a, ended = problem.solve(form, tolerance=1e-6)
    assert ended.epochs > 1
    again, ended = problem.solve(form, a, tolerance=1e-4)
    assert ended.epochs == 1
    np.testing.assert_allclose(again, a, atol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_a_seed_decides_everything(form):
    X, y = rows_of("random", 3)
    problem = Problem("squared_hinge", X.astype(np.float32), y)
    first, again, other = (problem.solve(form, max_epochs=3, seed=seed)[0] for seed in (2**64 - 1, 2**64 - 1, 5))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    "lam, scale, form, loss, dtype", pairwise([1e-12, 1e-6, 1e6, 1e12], [1e-15, 1.0, 1e15], FORMS, LOSSES, DTYPES)
)
def test_extreme_scales_stay_finite(lam, scale, form, loss, dtype):
    X, y = rows_of("zero rows", 6, n=20, r=30)
    problem = Problem(loss, (scale * X).astype(dtype), y, lam=lam)
    a, ended = problem.solve(form, max_epochs=300, tolerance=1e-3)
    assert np.all(np.isfinite(a)) and np.all(a >= 0) and np.all(a <= problem.upper)
    assert np.all(np.isfinite(problem.state)) and np.isfinite(ended.violation)
    if ended.violation <= 1e-3:
        assert problem.violation(a) <= 1e-2
    assert problem.value(a) <= 0


# K in float32 would itself leave the range
@pytest.mark.parametrize("form, dtype", [("rows", np.float64), ("rows", np.float32), ("gram", np.float64)])
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_scaling_rows_and_lam_together_changes_nothing(form, dtype, scale):
    X, y = rows_of("random", 7)
    plain, scaled = Problem("hinge", X.astype(dtype), y), Problem("hinge", (scale * X).astype(dtype), y, lam=scale**2)
    a, ended = plain.solve(form, tolerance=1e-8)
    b, ended_scaled = scaled.solve(form, tolerance=1e-8)
    assert ended.violation <= 1e-8 and ended_scaled.violation <= 1e-8
    assert plain.value(b) == pytest.approx(plain.value(a), rel=1e-5)  # the scaled rows are rounded otherwise


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_one_sample_has_a_closed_form(form, loss):
    problem = Problem(loss, np.array([[2.0]]), np.array([-1.0]), lam=0.5, C=3.0, q=np.array([0.25]))
    a, ended = problem.solve(form)
    best = 1.25 / (8 + (0 if loss == "hinge" else 1 / 6))
    assert a[0] == pytest.approx(best, rel=1e-15) and ended.epochs <= 2


@pytest.mark.parametrize("form", FORMS)
def test_zero_rows_go_to_the_bound_that_the_offset_says(form):
    q = np.array([0.0, 2.0, -2.0, 1.0])
    problem = Problem("hinge", np.zeros((4, 3)), np.ones(4), C=1.5, q=q)
    a, ended = problem.solve(form)
    np.testing.assert_array_equal(a, [1.5, 0.0, 1.5, 0.0])
    assert ended.violation == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_float32_goes_on_in_float64_where_it_must(loss):
    X, y = rows_of("random", 9, n=40, r=50)
    problem = Problem(loss, X.astype(np.float32), y)
    a, ended = problem.solve("rows", tolerance=1e-12)
    problem.check(a, ended, 1e-12)


def test_rows_of_a_view_are_those_of_a_copy():
    X, y = rows_of("random", 5)
    wide = np.full((len(y), 40), np.nan)
    wide[:, 3:15] = X
    results = [Problem("hinge", Z, y).solve("rows")[0] for Z in (wide[:, 3:15], X)]
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(
    "change",
    [
        {"Z": np.zeros((3, 2), dtype=np.int8)},
        {"Z": np.zeros((3, 2), order="F")},
        {"Z": np.zeros((3, 0)), "v": np.zeros(0)},
        {"q": np.ones(2)},
        {"v": np.zeros(3)},
        {"lam": -1.0},
        {"tolerance": -1.0},
    ],
    ids=str,
)
def test_the_kernel_refuses_what_does_not_fit(change):
    ones = np.ones(3)
    right = {"Z": np.zeros((3, 2)), "y": ones, "q": ones, "diag": ones, "upper": ones, "lam": 1.0}
    right |= {"a": np.zeros(3), "v": np.zeros(2), "max_epochs": 2, "tolerance": 0.1, "seed": 0}
    descend_rows(**(right | {"a": np.zeros(3), "v": np.zeros(2)}))  # what is changed is all that is wrong
    with pytest.raises(ValueError):
        descend_rows(**(right | change))
