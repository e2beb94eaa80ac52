"""Losses of regression against their definitions, in rational numbers and by brute force; curvature of every loss."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline.learning import LOSSES
from slimline.learning.regression_losses import (
    EpsilonInsensitive,
    Huber,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredError,
)

UNIT = 2.0**-53
REGRESSION = [
    SquaredError(),
    Huber(0.7),
    Huber(30.0),
    EpsilonInsensitive(0.2),
    EpsilonInsensitive(0.0),
    SquaredEpsilonInsensitive(0.5),
    Quantile(0.5),
    Quantile(0.1),
]
SMOOTH = [loss for loss in REGRESSION if loss.smoothness is not None]
BOXES = [loss for loss in REGRESSION if loss.smoothness is None]


def name_of(loss):
    settings = [f"{value:g}" for value in vars(loss).values()]
    return " ".join([loss.name, *settings])


def exact_value(loss, r):
    """Return ψ(r) of a rational residual r = target - f."""
    name, size = loss.name, abs(r)
    if name == "squared_error":
        return r * r / 2
    if name == "huber":
        delta = Fraction(loss.delta)
        return r * r / 2 if size <= delta else delta * size - delta * delta / 2
    if name == "quantile":
        return Fraction(loss.upper) * r if r >= 0 else Fraction(loss.lower) * r
    beyond = max(size - Fraction(loss.epsilon), Fraction(0))
    return beyond if name == "epsilon_insensitive" else beyond * beyond


def exact_conjugate(loss, a):
    """Return ψ*(a) of a rational number in the domain."""
    name = loss.name
    if name in ("squared_error", "huber"):
        return a * a / 2
    if name == "quantile":
        return Fraction(0)
    slope = Fraction(loss.epsilon) * abs(a)
    return slope if name == "epsilon_insensitive" else slope + a * a / 4


def exact_residual(loss, margin, a):
    m, b = Fraction(float(margin)), Fraction(float(a))
    return exact_value(loss, -m) + exact_conjugate(loss, b) + b * m


def kinks(loss):
    if loss.name == "huber":
        return [-loss.delta, loss.delta]
    if loss.name == "quantile":
        return [0.0]
    return [-loss.epsilon, loss.epsilon] if hasattr(loss, "epsilon") else []


@st.composite
def pairs(draw, loss):
    near = st.sampled_from([*kinks(loss), 0.0, 1.0])
    tiny = st.floats(-1e-6, 1e-6) | st.just(0.0)
    margin = draw(st.floats(-1e6, 1e6) | st.builds(lambda x, e: x + e, near, tiny))
    best = float(loss.dual(np.array([margin]))[0])
    inside = st.floats(max(loss.lower, -1e6), min(loss.upper, 1e6))
    close = st.builds(lambda e: best + e, tiny)
    a = draw(inside | close | st.sampled_from([loss.lower, loss.upper, 0.0]).filter(np.isfinite))
    return margin, float(loss.project(np.array([a]))[0])


@pytest.mark.parametrize("loss", REGRESSION, ids=name_of)
def test_values_and_conjugates_are_the_definitions(loss, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    m = np.concatenate([rng.standard_normal(100) * 3.0, rng.standard_normal(20) * 1e3, kinks(loss), [0.0]])
    exact = np.array([float(exact_value(loss, -Fraction(float(v)))) for v in m])
    np.testing.assert_allclose(loss.value(m), exact, rtol=1e-13, atol=1e-15)
    a = loss.project(rng.standard_normal(100))
    exact = np.array([float(exact_conjugate(loss, Fraction(float(v)))) for v in a])
    np.testing.assert_allclose(loss.conjugate(a), exact, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("loss", REGRESSION, ids=name_of)
def test_conjugates_are_suprema(loss):
    # ℓ*(-a) = sup_m (-a m - ℓ(m)), over a grid that contains the kinks
    m = np.union1d(np.linspace(-60.0, 60.0, 240001), kinks(loss))
    for a in np.linspace(max(loss.lower, -3.0), min(loss.upper, 3.0), 25):
        brute = float(np.max(-a * m - loss.value(m)))
        assert float(loss.conjugate(np.array([a]))[0]) == pytest.approx(brute, abs=1e-7)


@pytest.mark.parametrize("loss", REGRESSION, ids=name_of)
def test_derivatives(loss):
    step = 1e-6
    m = np.linspace(-4.0, 4.0, 403)
    m = m[np.min(np.abs(m[:, None] - np.array([*kinks(loss), 1e9])[None, :]), axis=1) > 1e-4]
    slope = (loss.value(m + step) - loss.value(m - step)) / (2 * step)
    np.testing.assert_allclose(loss.dual(m), -slope, rtol=1e-6, atol=1e-8)
    curvature = -(loss.dual(m + step) - loss.dual(m - step)) / (2 * step)
    np.testing.assert_allclose(loss.curvature(m), curvature, rtol=1e-6, atol=1e-8)
    if loss.smoothness is not None:
        assert loss.curvature(m).max() == loss.smoothness


@pytest.mark.parametrize("loss", REGRESSION, ids=name_of)
def test_inverse_is_where_a_dual_variable_is_optimal(loss, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    a = loss.project(rng.standard_normal(200))
    a = a[(a > loss.lower) & (a < loss.upper) & (a != 0.0)]
    m = loss.inverse(a)
    np.testing.assert_allclose(loss.residual(m, a), 0.0, atol=1e-14)


@pytest.mark.parametrize("loss", REGRESSION, ids=name_of)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_residual_is_right_and_never_too_small(loss, data):
    margin, a = data.draw(pairs(loss))
    computed = float(loss.residual(np.array([margin]), np.array([a]))[0])
    truth = exact_residual(loss, margin, a)
    assert truth >= 0
    # what margin ± parameter and a ± parameter lose themselves is what `largest_residual` pays for
    size = 1.0 + abs(margin) + abs(a) + max(map(abs, kinks(loss)), default=0.0)
    lost = 8 * UNIT * size
    slope = abs(a - float(loss.dual(np.array([margin]))[0])) + 2 * lost
    assert abs(Fraction(computed) - truth) <= Fraction(64 * UNIT) * truth + Fraction(lost * slope + 1e-320)


@pytest.mark.parametrize("loss", REGRESSION, ids=name_of)
@settings(max_examples=80, deadline=None)
@given(
    data=st.data(),
    error=st.sampled_from([0.0, 1e-15, 1e-9, 1e-3, 30.0]),
    slack=st.sampled_from([None, 0.0, 1e-15, 1e-6, 1.0]),
    one=st.floats(-1, 1),
    other=st.floats(-1, 1),
)
def test_largest_residual_covers_margins_and_dual_variables(loss, data, error, slack, one, other):
    margin, a = data.draw(pairs(loss))
    moved = np.array([margin]), np.array([a]), np.array([error]), None if slack is None else np.array([slack])
    bound = float(loss.largest_residual(*moved)[0])
    m, b = margin + one * error, float(loss.project(np.array([a + other * (slack or 0.0)]))[0])
    if abs(Fraction(m) - Fraction(margin)) <= error and abs(Fraction(b) - Fraction(a)) <= (slack or 0.0):
        assert Fraction(bound) + Fraction(1e-320) >= exact_residual(loss, m, b)


@pytest.mark.parametrize("loss", BOXES, ids=name_of)
def test_boxes_describe_dual_variable_and_conjugate(loss, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    base, parts = loss.box
    ends = [base + sum(direction for direction, _ in parts if direction * sign > 0) for sign in (-1, 1)]
    assert (min(*ends, base), max(*ends, base)) == pytest.approx((loss.lower, loss.upper))
    # the cheapest parts of a given variable cost its conjugate
    constant = float(loss.conjugate(np.array([base]))[0])
    for x in rng.uniform(0, 1, 20):
        for direction, slope in parts:
            a = np.array([base + direction * x])
            assert float(loss.conjugate(a)[0]) - constant == pytest.approx(slope * x, abs=1e-15)


@pytest.mark.parametrize("width", [1.0, 1e-3])
@pytest.mark.parametrize("loss", [*BOXES, LOSSES["hinge"]], ids=name_of)
def test_rounded_corners_are_near_and_smooth(loss, width):
    rounded = loss.smoothed(width)
    m = np.linspace(-3.0, 3.0, 2001)
    off = loss.value(m) - rounded.value(m)
    assert np.abs(off).max() <= 0.5 * width * (1.0 + 1e-12)
    step = 1e-4 * width
    slope = (rounded.value(m + step) - rounded.value(m - step)) / (2 * step)
    np.testing.assert_allclose(rounded.dual(m), -slope, atol=1e-3)
    assert (np.abs(np.diff(rounded.dual(m))) <= np.diff(m) * rounded.smoothness * (1.0 + 1e-9)).all()
    a = loss.project(np.random.default_rng(0).standard_normal(len(m)))
    residual = rounded.residual(m, a)
    assert residual.min() >= -1e-12
    np.testing.assert_allclose(rounded.residual(m, rounded.dual(m)), 0.0, atol=1e-12)
    grid = np.linspace(-20.0, 20.0, 40001)
    for one in a[:10]:
        brute = float(np.max(-one * grid - rounded.value(grid)))
        assert float(rounded.conjugate(np.array([one]))[0]) == pytest.approx(brute, abs=1e-3)


@pytest.mark.parametrize("loss", SMOOTH, ids=name_of)
def test_smooth_losses_are_their_own_rounding(loss):
    assert loss.smoothed(0.1) is loss


@pytest.mark.parametrize("loss", [*REGRESSION, *LOSSES.values()], ids=name_of)
def test_curvature_errors_hold_for_every_optimum_that_is_left(loss, global_random_seed):
    """The premise of the theorem of scores: |(Ω - h)(m* - m)| ≤ ϑ √(2 R(m*, a)), h the mean curvature between."""
    rng = np.random.default_rng(global_random_seed)
    checked = 0
    for _ in range(300):
        size = 10.0 ** rng.uniform(-6, 1)
        a = loss.project(loss.dual(rng.standard_normal(1) * 4.0) + size * rng.standard_normal(1) * rng.integers(0, 2))
        if loss.name == "logistic":
            a = np.clip(a, 1e-12, 1.0 - 1e-12)
        excess = np.array([10.0 ** rng.uniform(-12, 2)])
        sure = loss.sure_curvature(a, excess)
        optimal = np.concatenate(
            [rng.standard_normal(40) * 10.0 ** rng.uniform(-6, 1, 40), loss.inverse(a), kinks(loss)]
        )
        optimal = np.concatenate([optimal, loss.inverse(a) + size * rng.standard_normal(20)])
        level = loss.residual(optimal, np.broadcast_to(a, optimal.shape))
        optimal, level = optimal[level <= excess], level[level <= excess]
        if not len(optimal):
            continue
        checked += 1
        if loss.smoothness is None:
            # the residual grows at least as steeply as Ω with the distance from the corner of a
            if sure[0] > 0.0:
                assert (level >= sure * np.abs(optimal - loss.inverse(a)) * (1 - 1e-9) - 1e-12).all()
            continue
        for low, high in ((-np.inf, np.inf), (optimal.min(), optimal.max())):
            error = loss.curvature_error(sure, a, excess, np.array([low]), np.array([high]))
            margin = loss.inverse(a)
            # a - a* = h (m* - m), and so no division is needed
            left = np.abs(sure * (optimal - margin) - (a - loss.dual(optimal)))
            right = np.sqrt(2.0 * error * level)
            room = 1e-9 * (1.0 + np.abs(margin) + np.abs(optimal)) * max(loss.smoothness, 1.0)
            assert (left <= right * (1 + 1e-7) + room).all(), (a, excess, sure, error)
    assert checked > 100
