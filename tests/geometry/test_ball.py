"""Smallest balls against exact faces, brute force and a cone program; brackets that hold."""

import sys

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from slimline.errors import DataError, NonFiniteError
from slimline.geometry import Points, enclosing_ball
from slimline.geometry import _convex as convex
from slimline.geometry import _points as points
from tests.bounds.exact_geometry import ball_radius_squared
from tests.geometry.exact import clarabel_ball, exact_ball
from tests.refusals import refuses

ball_module = sys.modules["slimline.geometry._embedding"]


def assert_ball(X, found):
    """The centre attains the radius; the multipliers make the centre, and prove the lower end."""
    X = np.asarray(X, dtype=np.longdouble)
    size = float(np.sqrt(np.max(np.sum(X * X, axis=1))))
    radius = float(np.sqrt(np.max(np.sum(np.square(X - found.centre), axis=1))))
    assert found.lower <= found.value == found.upper == found.radius
    assert radius <= found.value + 1e-15 * size * np.sqrt(X.shape[1])
    assert found.multipliers.min() > 0.0 and abs(found.multipliers.sum() - 1.0) <= 1e-12
    weights = found.multipliers.astype(np.longdouble) / found.multipliers.astype(np.longdouble).sum()
    centre = weights @ X[found.support]
    assert float(np.linalg.norm((centre - found.centre).astype(float))) <= 1e-11 * size
    # the dual value of the weights, around their own mean
    proved = float(np.sqrt(weights @ np.sum(np.square(X[found.support] - centre), axis=1)))
    assert found.lower <= proved * (1.0 + 1e-12) + 1e-14 * size


def assert_bracket(X, found):
    """The exact radius, of rational numbers, lies between the ends."""
    with mpmath.workdps(60):
        assert found.lower <= exact_ball(X) <= found.upper


@st.composite
def small_data(draw):
    n, d = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    X = draw(arrays(np.float64, (n, d), elements=st.integers(-5, 5).map(float)))
    kind = draw(st.sampled_from(["plain", "columns", "rows", "far", "repeated", "fractions"]))
    powers = st.integers(-20, 20)
    if kind == "columns":
        X *= 2.0 ** draw(arrays(np.int64, (1, d), elements=powers))
    if kind == "rows":
        X *= 2.0 ** draw(arrays(np.int64, (n, 1), elements=powers))
    if kind == "far":
        X += draw(st.sampled_from([1e2, 1e4, 1e6, 1e7, 1e8]))
    if kind == "repeated":
        X[-1] = X[0]
    if kind == "fractions":
        X /= 7.0
    return X, kind


@given(data=small_data())
@settings(max_examples=120, deadline=None)
def test_brackets_hold_the_exact_radius(data):
    X, kind = data
    found = enclosing_ball(X)
    assert_bracket(X, found)
    assert_ball(X, found)
    if kind in ("plain", "fractions", "repeated") and np.ptp(X, axis=0).any():
        assert found.relative_gap <= 1e-8


@pytest.mark.parametrize("n, d", [(5, 2), (7, 3), (6, 5), (8, 1)])
def test_against_brute_force(n, d, global_random_seed):
    X = np.random.default_rng(global_random_seed).standard_normal((n, d))
    found = enclosing_ball(X)
    assert found.value == pytest.approx(np.sqrt(ball_radius_squared(X)), rel=1e-8)
    assert found.relative_gap <= 1e-8


@pytest.mark.parametrize("n, d", [(60, 10), (300, 5), (40, 60), (100, 30)])
@pytest.mark.parametrize("shape", ["cloud", "sphere", "cube"])
def test_against_a_cone_program(n, d, shape):
    rng = np.random.default_rng(n)
    X = rng.choice([-1.0, 1.0], (n, d)) if shape == "cube" else rng.standard_normal((n, d))
    if shape == "sphere":
        X /= np.linalg.norm(X, axis=1)[:, None]
    found = enclosing_ball(X)
    assert found.value == pytest.approx(clarabel_ball(X), rel=1e-8)
    assert found.relative_gap <= 1e-8
    assert_ball(X, found)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 40), d=st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_what_changes_nothing(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    found = enclosing_ball(X)
    close = {"rel": 3e-8}
    rotation, shift = np.linalg.qr(rng.standard_normal((d, d)))[0], rng.standard_normal(d)
    assert enclosing_ball(X @ rotation).value == pytest.approx(found.value, **close)
    assert enclosing_ball(X[rng.permutation(n)]).value == pytest.approx(found.value, **close)
    assert enclosing_ball(np.vstack([X, X, X[:1]])).value == pytest.approx(found.value, **close)
    assert enclosing_ball(-1e4 * X).value == pytest.approx(1e4 * found.value, **close)
    assert enclosing_ball(np.column_stack([X, np.zeros(n)])).value == pytest.approx(found.value, **close)
    # a point within the ball changes nothing
    assert enclosing_ball(np.vstack([X, found.centre])).value == pytest.approx(found.value, **close)
    moved = enclosing_ball(X + shift)
    assert moved.value == pytest.approx(found.value, **close)
    # centres of nearly smallest balls are near: |c - c*|² <= R² - R*²
    assert np.linalg.norm(moved.centre - shift - found.centre) <= 3e-4 * found.value


@pytest.mark.parametrize("offset", [0.0, 5.0, 1e8])
def test_a_single_point_is_a_ball_of_no_radius(offset):
    for n in (1, 2, 50):
        X = np.full((n, 3), offset)
        found = enclosing_ball(X)
        assert found.lower == 0.0 and found.value <= 1e-6 * max(offset, 1e-100)
        np.testing.assert_allclose(found.centre, offset, rtol=1e-12)


@pytest.mark.parametrize("d", [1, 3])
def test_a_line(d):
    X = np.outer([3.0, -5.0, 0.0, 2.0], np.ones(d) / np.sqrt(d))
    found = enclosing_ball(X)
    assert found.value == pytest.approx(4.0, rel=1e-9)
    assert sorted(found.support.tolist()) == [0, 1]
    np.testing.assert_allclose(found.multipliers, 0.5, rtol=1e-6)
    np.testing.assert_allclose(found.centre, -1.0 / np.sqrt(d), rtol=1e-6)


@pytest.mark.parametrize("offset, gap", [(1e3, 1e-8), (1e4, 1e-6), (1e6, 1e-2), (1e8, 1.0)])
def test_far_from_the_origin(offset, gap):
    """The bracket is as wide as the rounding of the far points' squares, and holds the radius."""
    X = np.random.default_rng(3).integers(-500, 500, (7, 4)) / 64.0 + offset  # no digit is lost
    found = enclosing_ball(X)
    assert_bracket(X, found)
    assert_ball(X, found)
    assert found.relative_gap <= gap


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-30, 1e30, 1e150])
def test_far_scales(scale):
    X = np.random.default_rng(1).standard_normal((20, 5))
    assert enclosing_ball(scale * X).value / scale == pytest.approx(enclosing_ball(X).value, rel=3e-8)


@pytest.mark.parametrize("scale, side", [(1e-200, "below"), (1e-165, "below"), (1e153, "above")])
def test_scales_that_squares_do_not_have(scale, side):
    """Squares that vanish would prove a radius of 0."""
    X = np.random.default_rng(1).standard_normal((20, 5))
    for stored in (scale * X, sp.csr_array(scale * X)):
        with pytest.raises(DataError, match=f"{side} what float64 resolves"):
            enclosing_ball(stored)


@pytest.mark.parametrize("n, d", [(3000, 50), (20_000, 30)])
def test_many_points(n, d):
    X = np.random.default_rng(n).standard_normal((n, d))
    found = enclosing_ball(X)
    assert found.relative_gap <= 1e-8
    assert_ball(X, found)
    assert Points(X).at_once is (n == 3000)


def test_many_points_of_a_sphere():
    """All points are nearly as far: the first working set misses most of those that matter."""
    X = np.random.default_rng(7).standard_normal((6000, 25))
    X /= np.linalg.norm(X, axis=1)[:, None]
    found = enclosing_ball(X)
    assert found.relative_gap <= 1e-8
    assert_ball(X, found)


@pytest.mark.parametrize("most, reaches", [(399, True), (40, True), (5, False)])
def test_small_working_sets(monkeypatch, most, reaches):
    """They grow and are trimmed; where the largest is too small, the bracket is wide and right."""
    X = np.random.default_rng(5).standard_normal((400, 12))
    exact = enclosing_ball(X)
    assert exact.support.size > 5
    monkeypatch.setattr(points, "_FEW", 10)
    monkeypatch.setattr(points, "MOST_POINTS", most)
    monkeypatch.setattr(ball_module, "MOST_POINTS", most)
    monkeypatch.setattr(ball_module, "_FIRST", 4)
    monkeypatch.setattr(convex, "_FEWEST", 3)
    found = enclosing_ball(X)
    assert found.lower <= exact.upper and exact.lower <= found.upper
    assert (found.relative_gap <= 1e-8) is reaches
    assert_ball(X, found)
    assert "all 400" not in found.reached


def test_kept_points_are_shared_and_left_alone():
    X = np.random.default_rng(6).standard_normal((30, 50))
    kept = Points(X)
    first, second = enclosing_ball(kept), enclosing_ball(kept)
    assert first.value == second.value == enclosing_ball(X).value
    np.testing.assert_allclose(kept.gram(), X @ X.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "X, error",
    [
        (np.array([[1.0], [np.nan]]), NonFiniteError),
        (np.array([[1.0], [-np.inf]]), NonFiniteError),
        (np.zeros((0, 3)), DataError),
        (np.zeros((3, 0)), DataError),
    ],
)
def test_bad_data(X, error):
    for storage in (np.asarray, sp.csr_array):
        with pytest.raises(error):
            enclosing_ball(storage(X))


@pytest.mark.parametrize("tol", [0.0, 1.0, None])
def test_bad_tolerances(tol):
    with refuses("tol"):
        enclosing_ball(np.eye(2), tol=tol)
