"""Covariates without a penalty: their basis, feasible dual points and separated classes, against exact numbers."""

from fractions import Fraction

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog, minimize

from slimline.learning import LOSSES
from slimline.learning import covariates as free
from slimline.learning.covariates import (
    Covariates,
    nearest_feasible,
    newton_step,
    point_inside,
    refit,
    separated_rows,
    slack_of,
)
from slimline.learning.losses import SmoothedHinge
from slimline.learning.regression_losses import (
    EpsilonInsensitive,
    Huber,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredError,
)
from tests.learning.exact import rationals, solve

REGRESSION = [SquaredError(), Huber(0.7), EpsilonInsensitive(0.2), SquaredEpsilonInsensitive(0.2), Quantile(0.3)]
EVERY = [*LOSSES.values(), *REGRESSION]
SMOOTH = [loss for loss in EVERY if loss.smoothness is not None]
BOXES = [loss for loss in EVERY if loss.smoothness is None]


def name_of(loss):
    return loss.name


def some_columns(rng, n, q, kind="plain"):
    U = np.column_stack([np.ones(n), rng.standard_normal((n, q - 1))]) if q else np.zeros((n, 0))
    if kind == "age in days" and q > 1:
        U[:, 1] = np.round(2e4 + 5e3 * rng.standard_normal(n))
        U[:, 2:] = rng.integers(0, 2, (n, max(q - 2, 0)))
    return U


def correction(U, s, sums):
    """Return the change S U (UᵀSU)⁻¹ of β that takes out these sums, exactly."""
    n, q = U.shape
    A, t = rationals(U), rationals(s)
    square = [[sum(t[i] * A[i][j] * A[i][k] for i in range(n)) for k in range(q)] for j in range(q)]
    found = solve(square, [-value for value in sums])
    return [t[i] * sum(a * b for a, b in zip(A[i], found, strict=True)) for i in range(n)]


def exact_sums(U, beta):
    A, b = rationals(U), rationals(beta)
    return [sum(A[i][j] * b[i] for i in range(len(b))) for j in range(U.shape[1])]


@pytest.mark.parametrize("kind", ["plain", "age in days"])
@pytest.mark.parametrize("q", [0, 1, 3, 12])
def test_the_basis_is_orthonormal_and_of_the_same_span(q, kind, global_random_seed):
    rng = np.random.default_rng([global_random_seed, q])
    n = 40
    U, s = some_columns(rng, n, q, kind), 10.0 ** rng.uniform(-3, 3, n)
    covariates = Covariates(U, s)
    assert len(covariates) == q and covariates.is_sound
    np.testing.assert_array_equal(covariates.columns, U)
    V = np.sqrt(s)[:, None] * covariates.basis
    assert np.linalg.norm(V.T @ V - np.eye(q)) <= covariates.skew < 1e-6
    assert (np.linalg.norm(V, axis=1) <= covariates.row_norms).all()
    effects = rng.standard_normal(q)
    np.testing.assert_allclose(covariates.basis @ effects, U @ (covariates.transform @ effects), rtol=1e-6, atol=1e-9)


def test_rounding_of_the_basis_is_bounded(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    U = some_columns(rng, 15, 3, "age in days")
    covariates = Covariates(U, np.ones(15))
    effects = rng.standard_normal(3)
    bound = covariates.rounding(effects)
    T, c = rationals(covariates.transform), rationals(effects)
    b = [sum(T[k][j] * c[j] for j in range(3)) for k in range(3)]
    for row, computed, lost in zip(rationals(U), covariates.basis @ effects, bound, strict=True):
        exact = sum(one * other for one, other in zip(row, b, strict=True))
        assert abs(Fraction(float(computed)) - exact) <= Fraction(float(lost))
    assert (bound < 1e-9 * (1.0 + np.abs(covariates.basis) @ np.abs(effects))).all()


@pytest.mark.parametrize("scale", [1e-150, 1e-4, 1.0, 1e6, 1e150])
def test_dependent_columns_are_left_out(scale, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    U = some_columns(rng, 20, 3) * scale
    zero, twice, sum_of_both = np.zeros(20), 2.0 * U[:, 1], U[:, 0] - 3.0 * U[:, 2]
    covariates = Covariates(np.column_stack([U, zero, twice, sum_of_both]), np.ones(20))
    np.testing.assert_array_equal(covariates.kept, [0, 1, 2])
    assert covariates.is_sound


def test_the_intercept_stays_where_all_levels_of_a_factor_are_given(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for n in (7, 30, 101):
        level = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
        U = np.column_stack([np.ones(n), level == 0, level == 1, level == 2, rng.standard_normal(n)]).astype(float)
        np.testing.assert_array_equal(Covariates(U, np.ones(n)).kept, [0, 1, 2, 4])


def test_scales_of_columns_decide_nothing(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    U = some_columns(rng, 20, 4)
    scaled = U * [1.0, 1e-8, 1e7, 1e-3]
    s = rng.uniform(0.5, 2.0, 20)
    one, other = Covariates(U, s), Covariates(scaled, s)
    np.testing.assert_array_equal(one.kept, other.kept)
    labels = rng.choice([-1.0, 1.0], 20)
    loss = LOSSES["logistic"]
    found = [loss.dual(labels * (c.basis @ refit(c, loss, labels, np.zeros(20)))) for c in (one, other)]
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_columns_that_differ_by_a_little_more_stay():
    rng = np.random.default_rng(0)
    first = rng.standard_normal(30)
    U = np.column_stack([first, first + 1e-7 * rng.standard_normal(30)])
    assert len(Covariates(U, np.ones(30))) == 2
    assert len(Covariates(np.column_stack([first, first + 1e-12 * rng.standard_normal(30)]), np.ones(30))) == 1


@pytest.mark.parametrize("kind", ["plain", "age in days"])
def test_the_correction_lemma(kind, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for n, q in ((4, 1), (6, 2), (9, 3)):
        U, s = some_columns(rng, n, q, kind), 10.0 ** rng.uniform(-2, 2, n)
        covariates = Covariates(U, s)
        for size in (1.0, 1e-9, 0.0):
            beta = size * rng.standard_normal(n) * s
            sums, errors = covariates.sums(beta)
            exact = exact_sums(U, beta)
            for one, computed, error in zip(exact, sums, errors, strict=True):
                assert abs(one - Fraction(float(computed))) <= Fraction(float(error))
            most = np.sqrt(s) * covariates.row_norms * covariates.distance(sums, errors)
            for change, limit in zip(correction(U, s, exact), most, strict=True):
                assert abs(change) <= Fraction(float(limit)) * Fraction("1.000000001")


def room_for_a_feasible_point(U, s, labels, a, slack, lower, upper):
    """Return whether {|a' - a| ≤ τ, in the domain, Uᵀ(y s a') = 0} is not empty, by a linear program."""
    low, high = np.maximum(a - slack, lower), np.minimum(a + slack, upper)
    if (low > high).any():
        return False
    scale = np.abs(U).max(axis=0)
    rows = ((U / scale) * (labels * s)[:, None]).T
    # in units of the slack
    unit = np.where(slack > 0.0, slack, 1e-300)
    found = linprog(
        np.zeros(len(a)),
        A_eq=rows * unit / unit.max(),
        b_eq=-(rows @ a) / unit.max(),
        bounds=np.column_stack([(low - a) / unit, (high - a) / unit]),
        method="highs",
    )
    return found.status == 0


@pytest.mark.parametrize("loss", EVERY, ids=name_of)
def test_a_feasible_point_is_within_the_slack(loss, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    finite = 0
    for trial in range(20):
        n, q = int(rng.integers(4, 12)), int(rng.integers(1, 4))
        U = some_columns(rng, n, q, str(rng.choice(["plain", "age in days"])))
        s = 10.0 ** rng.uniform(-1, 1, n)
        covariates = Covariates(U, s)
        labels = np.ones(n) if loss in REGRESSION else rng.choice([-1.0, 1.0], n)
        inside = point_inside(covariates, loss, labels)
        start = np.zeros(n) if inside is None else inside
        # at the ends of the domain, inside it, and off by much or by little
        a = loss.project(start + rng.choice([0.0, 1.0, 1.0]) * rng.standard_normal(n))
        a = nearest_feasible(covariates, loss, labels, a)
        a = loss.project(a + 10.0 ** rng.uniform(-6, -2) * rng.standard_normal(n))
        slack = slack_of(covariates, loss, labels, a, lambda inside=inside: inside)
        assert (slack >= 0.0).all()
        if np.isfinite(slack).all():
            finite += 1
            assert room_for_a_feasible_point(U, s, labels, a, slack * (1 + 1e-6), loss.lower, loss.upper), trial
    assert finite >= 4


@pytest.mark.parametrize("loss", EVERY, ids=name_of)
def test_what_is_feasible_to_rounding_has_a_slack_of_rounding(loss, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    U = some_columns(rng, 50, 3, "age in days")
    covariates = Covariates(U, np.ones(50))
    labels = np.ones(50) if loss in REGRESSION else rng.choice([-1.0, 1.0], 50)
    inside = point_inside(covariates, loss, labels)
    assert inside is not None
    a = nearest_feasible(covariates, loss, labels, loss.project(inside + 0.3 * rng.standard_normal(50)))
    slack = slack_of(covariates, loss, labels, a, lambda: inside)
    assert slack.max() <= 1e-10
    assert (np.abs(U.T @ (labels * a)) <= 1e-8 * np.abs(U).sum(axis=0)).all()


@pytest.mark.parametrize("loss", EVERY, ids=name_of)
def test_the_nearest_feasible_point_is_the_nearest(loss, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for n, q in ((5, 1), (12, 2), (30, 3)):
        U, s = some_columns(rng, n, q), rng.uniform(0.2, 3.0, n)
        labels = np.ones(n) if loss in REGRESSION else np.resize([1.0, -1.0], n)
        covariates = Covariates(U, s)
        if point_inside(covariates, loss, labels) is None:
            continue
        a = loss.project(rng.standard_normal(n) * 2.0)
        found = nearest_feasible(covariates, loss, labels, a)
        assert (found >= loss.lower).all() and (found <= loss.upper).all()
        np.testing.assert_allclose(U.T @ (labels * s * found), 0.0, atol=1e-12 * n)
        # Σ s (x - a)² by a solver of its own
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        eye = np.eye(n)
        bounds = [(-eye, -loss.lower), (eye, loss.upper)]
        bounds = [(matrix, end) for matrix, end in bounds if np.isfinite(end)]
        A = np.vstack([(U * (labels * s)[:, None]).T, *(matrix for matrix, _ in bounds)])
        right = np.concatenate([np.zeros(q), *(np.full(n, end) for _, end in bounds)])
        cones = [clarabel.ZeroConeT(q)] + [clarabel.NonnegativeConeT(n * len(bounds))] * bool(bounds)
        args = sp.csc_matrix(np.diag(s)), -s * a, sp.csc_matrix(A), right, cones, settings
        nearest = np.array(clarabel.DefaultSolver(*args).solve().x)
        assert s @ (found - a) ** 2 <= s @ (nearest - a) ** 2 * (1 + 1e-7) + 1e-12
        np.testing.assert_allclose(found, nearest, atol=1e-4)


@pytest.mark.parametrize("loss", SMOOTH, ids=name_of)
def test_refitted_effects_are_the_best_and_their_dual_variables_feasible(loss, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    n = 25
    for kind in ("plain", "age in days"):
        U, s = some_columns(rng, n, 3, kind), rng.uniform(0.2, 3.0, n)
        labels = np.ones(n) if loss in REGRESSION else rng.choice([-1.0, 1.0], n)
        shifts = rng.standard_normal(n)
        covariates = Covariates(U, s)
        effects = refit(covariates, loss, labels, shifts)

        def objective(c, U=covariates.basis, s=s, labels=labels, shifts=shifts):
            return float(s @ loss.value(labels * (shifts + U @ c)))

        def gradient(c, U=covariates.basis, s=s, labels=labels, shifts=shifts):
            return -U.T @ (labels * s * loss.dual(labels * (shifts + U @ c)))

        assert np.linalg.norm(gradient(effects)) <= 1e-12 * n
        other = minimize(objective, np.zeros(3), jac=gradient, method="BFGS", options={"gtol": 1e-10}).fun
        assert objective(effects) <= other * (1.0 + 1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_separation_is_found_where_one_covariate_tells(ties, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    seen = set()
    for _ in range(60):
        n = int(rng.integers(2, 8))
        u = rng.integers(0, 3, n).astype(float) if ties else rng.standard_normal(n)
        labels = rng.choice([-1.0, 1.0], n)
        covariates = Covariates(np.column_stack([np.ones(n), u]), rng.uniform(0.5, 2.0, n))
        low, high = u[labels < 0], u[labels > 0]
        if not len(low) or not len(high):
            apart = np.ones(n, dtype=bool)
        elif len(covariates) == 1:
            apart = np.zeros(n, dtype=bool)
        elif low.max() < high.min() or high.max() < low.min():
            apart = np.ones(n, dtype=bool)
        elif low.max() == high.min():
            apart = u != low.max()
        elif high.max() == low.min():
            apart = u != high.max()
        else:
            apart = np.zeros(n, dtype=bool)
        seen.add((bool(apart.any()), bool(apart.all())))
        inside = point_inside(covariates, LOSSES["hinge"], labels)
        assert (inside is None) == apart.any()
        rows, direction = separated_rows(covariates, labels)
        np.testing.assert_array_equal(rows, np.flatnonzero(apart))
        along = labels * (covariates.columns @ direction)
        assert (along >= -1e-9 * np.abs(along).max(initial=1e-300)).all()
        assert (along[apart] > 0.0).all()
        if inside is not None:
            assert inside.min() > 0.0 and inside.max() < 1.0
    assert seen == ({(True, True), (False, False), (True, False)} if ties else {(True, True), (False, False)})


def test_one_sample_far_out_is_no_separation():
    # the null model's dual variable of that sample underflows, nothing being separated
    rng = np.random.default_rng(0)
    u = rng.standard_normal(40)
    u[0] = 2e3
    labels = np.where(u + rng.standard_normal(40) > 0, 1.0, -1.0)
    covariates = Covariates(np.column_stack([np.ones(40), u]), np.ones(40))
    for loss in (LOSSES["logistic"], LOSSES["hinge"], LOSSES["squared_hinge"]):
        inside = point_inside(covariates, loss, labels)
        assert inside is not None
        assert inside.min() > 1e-7 and inside.max() < 1.0
        np.testing.assert_allclose(covariates.columns.T @ (labels * inside), 0.0, atol=1e-9)


def test_rows_without_weight_take_no_part():
    rng = np.random.default_rng(1)
    u, labels = np.array([0.0, 1.0, 2.0, 3.0, 1.5]), np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
    s = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    covariates = Covariates(np.column_stack([np.ones(5), u]), s)
    assert point_inside(covariates, LOSSES["logistic"], labels) is None
    np.testing.assert_array_equal(separated_rows(covariates, labels)[0], [0, 1, 2, 3])
    mixed = np.array([-1.0, 1.0, -1.0, 1.0, 1.0])
    a = rng.uniform(0.2, 0.8, 5)
    a = nearest_feasible(covariates, LOSSES["logistic"], mixed, a)
    slack = slack_of(covariates, LOSSES["logistic"], mixed, a, lambda: None)
    assert slack[4] == 0.0 and slack.max() < 1e-12


def test_no_basis_proves_nothing(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    n = 12
    covariates = Covariates(some_columns(rng, n, 2), np.ones(n))
    covariates.skew = 0.6
    loss, labels = LOSSES["logistic"], rng.choice([-1.0, 1.0], n)
    assert np.isinf(slack_of(covariates, loss, labels, np.full(n, 0.5), lambda: np.full(n, 0.5))).all()


def test_nothing_inside_proves_nothing_at_a_vertex():
    # all dual variables at the ends of their domain, sums not 0: only a point inside could prove one feasible
    covariates = Covariates(np.ones((4, 1)), np.ones(4))
    labels, a = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, 0.0, 1.0, 1.0])
    assert np.isinf(slack_of(covariates, LOSSES["hinge"], labels, a, lambda: None)).all()


def test_effects_at_rounding_end_the_steps():
    """The gradient of a float next to the optimum need not cancel to rounding: its neighbours took turns."""
    rng = np.random.default_rng(0)
    calls = []

    class Counted(type(LOSSES["squared_hinge"])):
        def curvature(self, margin):
            calls.append(None)
            return super().curvature(margin)

    for n in range(20, 80):
        covariates = Covariates(np.ones((n, 1)), np.ones(n))
        labels = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        labels[:2] = 1.0, -1.0
        shifts = 1.0 + 0.1 * labels - 2e-3 * rng.random(n)  # margins near 1, so that few cancel
        refit(covariates, Counted(), labels, shifts + 3.0)
    assert len(calls) < 10 * 60


def test_effects_of_steep_corners_end_the_steps(monkeypatch):
    """Slopes of a hinge whose corner is narrow do not cancel to rounding: the effect itself must end the steps."""
    rng = np.random.default_rng(1)
    steps = []
    monkeypatch.setattr(free, "newton_step", lambda *given: steps.append(None) or newton_step(*given))
    for _ in range(20):
        covariates = Covariates(some_columns(rng, 60, 3), np.ones(60))
        labels, shifts = np.where(rng.random(60) < 0.5, 1.0, -1.0), rng.standard_normal(60)
        refit(covariates, SmoothedHinge(1e-9), labels, shifts)
    assert len(steps) < 40 * 20
