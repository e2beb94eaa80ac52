"""The exact line search, and the exact optimum on a face of the hinge's box."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline.learning import LOSSES, BinaryProblem
from slimline.learning.active_set import solve_free_variables
from slimline.learning.line_search import smallest_along


@settings(max_examples=300, deadline=None)
@given(where=st.floats(1e-9, 1e9), steepness=st.floats(1e-9, 1e9), curve=st.sampled_from([1, 3, 5]))
def test_the_smallest_point_is_found(where, steepness, curve):
    def slope(x):
        return steepness * (x / where - 1.0) ** curve

    step = smallest_along(slope, np.inf, iterations=400)
    assert abs(step - where) <= (1e-9 if curve == 1 else 2e-2) * where
    assert smallest_along(slope, where / 2.0) == where / 2.0


@settings(max_examples=200, deadline=None)
@given(corner=st.floats(1e-6, 50.0), before=st.floats(1e-9, 1e9), after=st.floats(1e-9, 1e9))
def test_a_corner_is_found(corner, before, after):
    step = smallest_along(lambda x: -before if x < corner else after, 64.0, iterations=200)
    assert abs(step - corner) <= 1e-9 * max(corner, 1.0)


def test_a_function_that_does_not_fall_has_no_step():
    assert smallest_along(lambda x: 1.0 + x, 4.0) == 0.0
    assert smallest_along(lambda x: 0.0, 4.0) == 0.0
    assert smallest_along(lambda x: np.nan, 4.0) == 0.0


def test_the_longest_step_is_kept_and_reached():
    seen = []

    def slope(x):
        seen.append(x)
        return -1.0

    assert smallest_along(slope, 4.0) == 4.0
    assert max(seen) == 4.0
    assert smallest_along(slope, 0.25) == 0.25


@pytest.mark.slow
def test_a_step_is_never_worse_than_none(global_random_seed):
    # the derivative of a sum of hinges: flat, then a jump
    rng = np.random.default_rng(global_random_seed)
    for _ in range(200):
        corners, jumps = np.sort(rng.uniform(0, 5, 6)), rng.exponential(size=6)
        first = -rng.exponential()

        def slope(x, corners=corners, jumps=jumps, first=first):
            return first + 1e-3 * x + float(jumps[corners < x].sum())

        def value(x, corners=corners, jumps=jumps, first=first):
            return first * x + 5e-4 * x * x + float((jumps * np.maximum(x - corners, 0)).sum())

        step = smallest_along(slope, 8.0)
        around = np.linspace(0, 8, 2001)
        assert value(step) <= min(value(x) for x in around) + 1e-9


def dual_objective(K, y, upper, offset, alpha, lam):
    beta = y * alpha
    assert np.all(alpha >= 0)
    assert np.all(alpha <= upper)
    return alpha.sum() - 0.5 * beta @ K @ beta / lam - beta @ offset


@pytest.mark.parametrize("rank", [2, 5, 30])
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_a_face_is_settled_without_loss(rank, lam, global_random_seed):
    rng = np.random.default_rng([global_random_seed, rank])
    for _ in range(20):
        m = int(rng.integers(1, 12))
        Z = rng.standard_normal((m, rank))
        K, y = Z @ Z.T, rng.choice([-1.0, 1.0], m)
        upper, offset = rng.uniform(0.5, 2.0, m), 0.3 * rng.standard_normal(m)
        alpha = rng.uniform(0, 1, m) * upper
        values = K @ (y * alpha) / lam + offset
        new = solve_free_variables(K, y, values, upper, alpha, lam)
        before = dual_objective(K, y, upper, offset, alpha, lam)
        after = dual_objective(K, y, upper, offset, new, lam)
        scale = upper.sum() + np.abs(K).sum() * upper.max() ** 2 / lam
        assert after >= before - 1e-12 * scale


def test_inside_the_box_every_margin_becomes_one(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    Z = rng.standard_normal((6, 10))
    K, y = Z @ Z.T, rng.choice([-1.0, 1.0], 6)
    alpha, upper = np.full(6, 50.0), np.full(6, 100.0)
    # the offset is what makes this an interior optimum
    target = y * rng.uniform(20, 80, 6)
    offset = y - K @ target
    new = solve_free_variables(K, y, K @ (y * alpha) + offset, upper, alpha, 1.0)
    np.testing.assert_allclose(y * (K @ (y * new) + offset), 1.0, atol=1e-8)
    np.testing.assert_allclose(new, y * target, rtol=1e-8)


def test_an_empty_face_stays_empty():
    nothing = np.zeros(0)
    assert solve_free_variables(np.zeros((0, 0)), nothing, nothing, nothing, nothing, 1.0).shape == (0,)


@pytest.mark.parametrize("name", list(LOSSES))
def test_the_problem_knows_its_own_objective_and_feasible_points(name):
    rng = np.random.default_rng(0)
    loss, y, s = LOSSES[name], rng.choice([-1.0, 1.0], 7), rng.uniform(0.5, 2, 7)
    problem = BinaryProblem(loss, y, s, 0.7, np.zeros(7))
    f = rng.standard_normal(7)
    expected = 0.35 * 2.0 + sum(s[i] * float(loss.value(np.array([y[i] * f[i]]))[0]) for i in range(7))
    assert problem.primal(np.ones(2), f) == pytest.approx(expected, rel=1e-14)
    best = s * loss.dual(y * f)
    np.testing.assert_allclose(problem.projected(best), best, rtol=1e-15)
    assert problem.gap(f, best) == pytest.approx(0.0, abs=1e-12)
    far = problem.projected(rng.uniform(-3, 3, 7))
    assert np.all(far >= s * loss.lower)
    assert np.all(far <= s * loss.upper)
    assert problem.gap(f, far) > 0
