"""Quadratics over simplices against Clarabel and exact faces; their gaps are never below the truth."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from slimline.errors import InvalidParameterError
from slimline.learning import simplex
from slimline.learning import simplex as simplex_face
from slimline.learning.simplex import minimise_on_face, on_simplices, point_inside, solve_simplex, times
from tests.geometry.exact import clarabel_simplex, exact_simplex, gram
from tests.learning.exact import rationals


def objective(Q, c, a):
    return 0.5 * a @ Q @ a - c @ a


def groups_of(n, count, rng):
    group = (np.arange(n) % count).astype(np.uint8)
    rng.shuffle(group)
    return group


def problem(kind, seed=0):
    """Return Q, c and the groups of a kind of problem."""
    rng = np.random.default_rng(seed)
    n, d = {"wide": (60, 200), "tall": (120, 7), "repeated": (90, 12), "scaled": (50, 30), "plain": (80, 80)}[kind]
    points = rng.standard_normal((n, d))
    if kind == "repeated":
        points = np.repeat(points[:30], 3, axis=0)
    if kind == "scaled":
        points *= np.geomspace(1e-6, 1e6, d)
    Q = points @ points.T
    return Q, rng.standard_normal(n) * np.sqrt(Q.diagonal().mean()), rng


@pytest.mark.parametrize("kind", ["wide", "tall", "repeated", "scaled", "plain"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("linear", [False, True])
def test_against_clarabel(kind, count, linear):
    Q, c, rng = problem(kind, seed=count)
    c = 0.5 * Q.diagonal() if linear else np.zeros(len(Q))
    group = groups_of(len(Q), count, rng)
    found = solve_simplex(Q, c, group)
    theirs, _ = clarabel_simplex(Q, c, group)
    # no point is lower than the gap says, and theirs is not the better one
    rounding = 1e-14 * np.abs(Q).max()
    assert -rounding <= theirs - (found.objective - found.gap)
    assert found.objective <= theirs + 1e-9 * abs(theirs) + rounding
    assert found.gap <= 1e-9 * abs(found.objective) + rounding
    assert_point(Q, c, group, found)


def assert_point(Q, c, group, found):
    """The record holds what it says: a point of the simplices, its gradient, its objective and its gap."""
    size = np.abs(Q).max() + np.abs(c).max()
    assert found.weights.min() >= 0.0
    np.testing.assert_allclose(np.bincount(group, found.weights), 1.0, rtol=1e-14)
    np.testing.assert_allclose(found.gradient, Q @ found.weights - c, atol=1e-13 * size)
    assert found.objective == pytest.approx(objective(Q, c, found.weights), abs=1e-13 * size)
    ends = np.array([found.gradient[group == s].min() for s in range(int(group.max()) + 1)])
    assert found.gap == pytest.approx(found.weights @ (found.gradient - ends[group]), abs=1e-14 * size)


whole = st.integers(-6, 6).map(float)


@given(data=st.data(), n=st.integers(1, 7), d=st.integers(1, 4), count=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_gap_is_never_below_the_truth(data, n, d, count):
    points = data.draw(arrays(np.float64, (n, d), elements=whole))
    c = data.draw(arrays(np.float64, n, elements=whole))
    scale = 2.0 ** data.draw(st.integers(-30, 30))
    group = (np.arange(n) % min(count, n)).astype(np.uint8)
    Q = points @ points.T
    least, _ = exact_simplex(gram(rationals(points)), [Fraction(value) for value in c], group.tolist())
    # a power of 2 changes no digit
    found = solve_simplex(Q * scale, c * scale, group)
    size = float(np.abs(Q).max() + np.abs(c).max())
    off = found.objective / scale - float(least)
    assert -1e-14 * size <= off <= found.gap / scale + 1e-14 * size
    # and it is small: as asked for, or as rounding lets it be
    assert found.gap / scale <= 1e-10 * abs(float(least)) + 1e-12 * size


@pytest.mark.parametrize("seed", range(6))
def test_faces_of_few_points(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(-9, 10, (8, 3)).astype(float)
    Q, c = points @ points.T, rng.integers(-9, 10, 8).astype(float)
    group = groups_of(8, 1 + seed % 2, rng)
    least, a = exact_simplex(gram(rationals(points)), [Fraction(value) for value in c], group.tolist())
    found = solve_simplex(Q, c, group)
    assert found.objective == pytest.approx(float(least), rel=1e-11, abs=1e-12)
    assert objective(Q, c, np.array([float(value) for value in a])) == pytest.approx(float(least), abs=1e-12)


@pytest.mark.parametrize("c", [[0.0, 0.0, 0.0, 0.0], [1.0, 2.0, -1.0, 5.0]])
def test_without_curvature(c):
    found = solve_simplex(np.zeros((4, 4)), np.array(c), np.array([0, 0, 1, 1], dtype=np.uint8))
    assert found.objective == pytest.approx(-max(c[0], c[1]) - max(c[2], c[3]), abs=1e-14)
    assert found.gap <= 1e-14


def test_some_points_at_the_origin():
    """Newton's method meets a face where Q is 0."""
    points = np.array([[3.0], [3.0], [0.0], [0.0]])
    found = solve_simplex(points @ points.T, np.zeros(4), np.zeros(4, dtype=np.uint8))
    assert found.objective == 0.0 and found.weights[:2].max() == 0.0


@pytest.mark.parametrize("scale", [1e-290, 1e-200, 1e200])
def test_far_scales(scale):
    Q, c, rng = problem("tall")
    group = groups_of(len(Q), 2, rng)
    here = solve_simplex(Q, c, group)
    there = solve_simplex(Q * scale, c * scale, group)
    assert there.objective / scale == pytest.approx(here.objective, rel=1e-9)
    assert there.gap <= 1e-9 * abs(there.objective)


def test_single_coordinates():
    found = solve_simplex(np.array([[4.0]]), np.array([1.0]), np.zeros(1, dtype=np.uint8))
    assert (found.weights.tolist(), found.objective, found.gap) == ([1.0], 1.0, 0.0)
    Q = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    found = solve_simplex(Q, np.zeros(3), np.arange(3, dtype=np.uint8))
    assert (found.weights.tolist(), found.objective, found.gap) == ([1.0, 1.0, 1.0], 3.5, 0.0)


def test_a_start_is_scaled_and_changes_nothing_but_the_way():
    Q, c, rng = problem("wide")
    group = groups_of(len(Q), 2, rng)
    plain = solve_simplex(Q, c, group)
    start = rng.uniform(0, 5, len(Q)) * (group == 0)  # nothing for the other group
    found = solve_simplex(Q, c, group, start)
    assert found.objective == pytest.approx(plain.objective, rel=1e-9)
    again = solve_simplex(Q, c, group, plain.weights)
    assert again.steps == 0 and again.objective == pytest.approx(plain.objective, rel=1e-12)


def test_offset_and_floor():
    Q, c, rng = problem("wide")
    group = groups_of(len(Q), 1, rng)
    plain = solve_simplex(Q, c, group)
    moved = solve_simplex(Q, c, group, offset=-plain.objective, floor=1e-3 * abs(plain.objective))
    assert abs(moved.objective) <= 1e-3 * abs(plain.objective)
    assert solve_simplex(Q, c, group, floor=1e9).rounds == 1


def test_the_matrix_is_left_alone():
    Q, c, rng = problem("plain")
    Q.flags.writeable = c.flags.writeable = False
    before = Q.copy()
    solve_simplex(Q, c, groups_of(len(Q), 2, rng))
    np.testing.assert_array_equal(Q, before)


@pytest.mark.parametrize("kind", ["wide", "tall", "repeated", "scaled", "plain"])
@pytest.mark.parametrize("factored", [True, False])
def test_settling_never_raises_the_objective(kind, factored, monkeypatch):
    if not factored:
        monkeypatch.setattr(simplex_face, "_MOST_FACTORED", 0)
    for seed in range(8):
        Q, c, rng = problem(kind, seed)
        group = groups_of(len(Q), 1 + seed % 3, rng)
        a = on_simplices(rng.random(len(Q)) * (rng.random(len(Q)) < 0.5), group)
        gradient = Q @ a - c
        inputs = a.copy(), gradient.copy()
        settled = minimise_on_face(Q, gradient, group, a)
        np.testing.assert_array_equal(a, inputs[0])
        np.testing.assert_array_equal(gradient, inputs[1])
        assert settled.min() >= 0.0 and not settled[a == 0.0].any()
        np.testing.assert_allclose(np.bincount(group, settled), 1.0, rtol=1e-12)
        before = objective(Q, c, a)
        assert objective(Q, c, settled) <= before + 1e-13 * (abs(before) + np.abs(Q).max())


@pytest.mark.parametrize("kind", ["wide", "tall", "repeated", "scaled", "plain"])
def test_conjugate_gradients_end_where_factors_do(kind, monkeypatch):
    Q, c, rng = problem(kind)
    if kind == "scaled":
        c = 0.5 * Q.diagonal()
    group = groups_of(len(Q), 2, rng)
    factored = solve_simplex(Q, c, group)
    monkeypatch.setattr(simplex_face, "_MOST_FACTORED", 0)
    iterated = solve_simplex(Q, c, group)
    assert iterated.objective == pytest.approx(factored.objective, rel=1e-9, abs=1e-13 * np.abs(Q).max())
    assert_point(Q, c, group, iterated)


@pytest.mark.parametrize("kind", ["wide", "tall", "repeated", "plain"])
@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("linear", [False, True])
def test_large_faces_are_solved_as_sharply_as_asked_for(kind, quick, linear, monkeypatch):
    """By descent alone where it is quick, else with conjugate gradients."""
    monkeypatch.setattr(simplex_face, "_MOST_FACTORED", 0)
    settled = []
    monkeypatch.setattr(simplex, "minimise_on_face", lambda *a: settled.append(1) or minimise_on_face(*a))
    monkeypatch.setattr(simplex, "_QUICK", 1000 if quick else 0)
    monkeypatch.setattr(simplex, "_STEPS", 1000 if quick else 2)
    Q, c, rng = problem(kind)
    c = 0.5 * Q.diagonal() if linear else np.zeros(len(Q))
    Q += 0.1 * np.diag(Q.diagonal())  # no vanishing minimum: a gap relative to that would ask for 0
    group = groups_of(len(Q), 2, rng)
    for tol in (1e-4, 1e-9):
        found = solve_simplex(Q, c, group, tol=tol)
        assert found.gap <= tol * abs(found.objective)
        assert_point(Q, c, group, found)
    assert bool(settled) == (found.steps > 0 and not quick)


def test_a_point_inside_a_large_face_takes_no_step(monkeypatch):
    monkeypatch.setattr(simplex_face, "_MOST_FACTORED", 0)
    rng = np.random.default_rng(0)
    points = rng.standard_normal((40, 20_000))  # nearly orthogonal, so that all have a weight
    Q, group = points @ points.T, groups_of(40, 2, rng)
    found = solve_simplex(Q, np.zeros(40), group, tol=1e-9)
    assert found.steps == 0 and found.gap <= 1e-9 * found.objective
    assert_point(Q, np.zeros(40), group, found)
    weights = on_simplices(np.ones(40), group)
    inside = point_inside(Q, Q @ weights, group, weights)
    level = Q @ inside
    assert max(np.ptp(level[group == s]) for s in range(2)) <= 1e-7 * level.max()
    Q[0, 0] *= 1e4  # still inside, but with hardly any weight
    assert point_inside(Q, Q @ weights, group, weights)[0] < 1e-4
    Q[0, 1:] = Q[1:, 0] = Q[1:, 1:].diagonal().max()  # better without the first
    Q[0, 0] = 10.0 * Q[1, 1]
    assert point_inside(Q, Q @ weights, group, weights) is None
    found = solve_simplex(Q, np.zeros(40), group, tol=1e-9)
    assert found.weights[0] == 0.0 and found.gap <= 1e-9 * found.objective


def test_conjugate_gradients_meet_the_newton_step():
    rng = np.random.default_rng(3)
    points = rng.standard_normal((40, 60))
    Q, group = points @ points.T, groups_of(40, 3, rng)
    free = np.sort(rng.choice(40, 25, replace=False))
    gradient = rng.standard_normal(25)
    iterated = simplex_face._by_conjugate_gradients(Q, free, gradient, group[free])
    factored = simplex_face._newton(Q, free, gradient, group[free])
    np.testing.assert_allclose(iterated, factored, atol=1e-4 * np.abs(factored).max())
    # and that is the least point: the gradient there is level within each group, and sums stay
    level = gradient + Q[np.ix_(free, free)] @ factored
    for s in range(3):
        assert np.ptp(level[group[free] == s]) <= 1e-10
        assert abs(factored[group[free] == s].sum()) <= 1e-14


@pytest.mark.parametrize("count", [0, 1, 9, 40])
def test_products_with_few_places(count):
    rng = np.random.default_rng(count)
    half = rng.standard_normal((40, 40))
    Q, free = half + half.T, np.sort(rng.choice(40, count, replace=False))
    values = rng.standard_normal(count)
    np.testing.assert_allclose(times(Q, free, values), Q[:, free] @ values, atol=1e-13)


@pytest.mark.parametrize(
    "change",
    [
        {"Q": np.eye(4)},
        {"Q": np.ones((3, 2))},
        {"Q": np.eye(3, dtype=np.float32)},
        {"Q": np.zeros((0, 0)), "c": np.zeros(0), "group": np.zeros(0, dtype=np.uint8)},
        {"group": np.zeros(2, dtype=np.uint8)},
        {"group": np.zeros(3, dtype=np.int64)},
        {"group": np.array([0, 2, 2], dtype=np.uint8)},
    ],
)
def test_wrong_problems_are_refused(change):
    right = {"Q": np.eye(3), "c": np.zeros(3), "group": np.zeros(3, dtype=np.uint8)}
    solve_simplex(**right)
    with pytest.raises(InvalidParameterError):
        solve_simplex(**(right | change))
