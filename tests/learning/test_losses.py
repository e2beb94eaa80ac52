"""Losses against their definitions, in rational numbers or 160 digits, and by brute force."""

from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier

from slimline.errors import InvalidParameterError
from slimline.learning import LOSSES, loss_named
from slimline.learning.regression_losses import REGRESSION_LOSSES

UNIT = 2.0**-53
NAMES = list(LOSSES)
SMOOTH = [name for name in NAMES if LOSSES[name].smoothness is not None]
MARGINS = st.one_of(
    st.floats(-700, 700),
    st.floats(-3, 3),
    st.sampled_from([-1e5, -800.0, -750.0, -700.0, -40.0, -1e-300, 0.0, 1e-300, 1.0, 40.0, 700.0, 745.5, 800.0, 1e5]),
    st.floats(0.999999, 1.000001),
)


def log_of_one_plus(x):
    """Return log(1 + x); with a series where 1 + x would need hundreds of digits."""
    if abs(x) > Decimal("1e-30"):
        return (1 + x).ln()
    return sum((-1) ** (k + 1) * x**k / k for k in range(1, 6))


def exact_loss(name, m):
    if name == "squared":
        return (1 - m) ** 2 / 2
    if name == "squared_hinge":
        return max(0 * m, 1 - m) ** 2
    return max(0 * m, 1 - m)


def exact_conjugate(name, a):
    if name == "squared":
        return a * a / 2 - a
    if name == "squared_hinge":
        return a * a / 4 - a
    if name == "hinge":
        return -a
    return (a * a.ln() if a else Decimal(0)) + ((1 - a) * log_of_one_plus(-a) if a != 1 else Decimal(0))


def exact_residual(name, margin, a):
    number = Decimal if name == "logistic" else Fraction
    with localcontext() as context:
        context.prec = 160
        m, a = number(float(margin)), number(float(a))
        if name == "logistic":  # the large terms first: their sum is exact
            return (a * m + max(-m, Decimal(0))) + log_of_one_plus((-abs(m)).exp()) + exact_conjugate(name, a)
        return exact_loss(name, m) + exact_conjugate(name, a) + a * m


@st.composite
def pairs(draw, name):
    """Margins with dual variables: anywhere in the domain, at its ends, and next to the optimal one."""
    margin = draw(MARGINS)
    optimal = float(LOSSES[name].dual(np.array([margin]))[0])
    near = optimal * (
        1.0 + draw(st.sampled_from([0.0, 1e-15, -1e-15, 1e-9, -1e-6, 0.019, 0.021, 0.49, -0.49, 0.51, 1]))
    )
    inside = draw(st.floats(0, 1) if name in ("hinge", "logistic") else st.floats(0, 1e4))
    a = draw(st.sampled_from([optimal, near, near, inside, 0.0, 1.0, 1.0 - UNIT, 5e-324]))
    return margin, float(LOSSES[name].project(np.array([a]))[0])


@pytest.mark.parametrize("name", NAMES)
def test_conjugate_is_the_supremum(name):
    loss = LOSSES[name]
    rng = np.random.default_rng(0)
    m = np.linspace(-60.0, 60.0, 2_400_001)
    for a in rng.uniform(0.0, 1.0, 20):
        on_grid = np.max(-a * m - loss.value(m))
        exact = float(loss.conjugate(np.array([a]))[0])
        # the grid's step is 5e-5, so a smooth function lies at most L step²/8 above it
        assert on_grid <= exact + 1e-12
        assert exact - on_grid <= 1e-8


@pytest.mark.parametrize("name", SMOOTH)
def test_conjugate_at_the_ends_of_the_domain(name):
    loss = LOSSES[name]
    assert loss.conjugate(np.array([0.0]))[0] == 0.0
    if np.isfinite(loss.upper):
        assert loss.conjugate(np.array([loss.upper]))[0] == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_dual_is_minus_the_derivative(name):
    loss = LOSSES[name]
    m = np.concatenate([np.linspace(-20, 20, 801) + 0.0123, [-700.0, 700.0]])
    step = 1e-6
    slope = (loss.value(m + step) - loss.value(m - step)) / (2 * step)
    np.testing.assert_allclose(-loss.dual(m), slope, atol=2e-7, rtol=1e-6)
    if loss.smoothness is not None:
        curvature = -(loss.dual(m + step) - loss.dual(m - step)) / (2 * step)
        np.testing.assert_allclose(loss.curvature(m), curvature, atol=1e-8, rtol=1e-6)
        assert np.all(loss.curvature(m) <= loss.smoothness)


@pytest.mark.parametrize("name", SMOOTH)
def test_inverse_undoes_the_dual(name):
    loss = LOSSES[name]
    m = np.linspace(-8, 0.99, 200)
    np.testing.assert_allclose(loss.inverse(loss.dual(m)), m, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_residual_is_right_and_never_too_small(name, data):
    margin, a = data.draw(pairs(name))
    loss = LOSSES[name]
    computed = float(loss.residual(np.array([margin]), np.array([a]))[0])
    truth = float(exact_residual(name, margin, a))
    assert np.isfinite(computed)
    assert truth >= -1e-100
    # What 1 - m and e^-m lose is the margin's, and largest_residual pays for it.
    lost = 8 * UNIT * (1 + abs(margin) + a)
    slope = abs(a - float(loss.dual(np.array([margin]))[0])) + 2 * lost
    assert computed >= truth - 1024 * UNIT * truth - lost * slope - 1e-320
    terms = (
        abs(a * margin)
        + float(np.abs(loss.value(np.array([margin])))[0])
        + abs(float(loss.conjugate(np.array([a]))[0]))
    )
    assert computed <= truth * (1 + 1024 * UNIT) + 40 * UNIT * terms + lost * slope + 1e-320


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=250, deadline=None)
@given(data=st.data(), error=st.sampled_from([0.0, 1e-15, 1e-9, 1e-3, 1.0, 30.0]), where=st.floats(-1, 1))
def test_largest_residual_is_an_upper_bound(name, data, error, where):
    margin, a = data.draw(pairs(name))
    true_margin = margin + where * error
    assume(abs(true_margin - margin) <= error)
    bound = LOSSES[name].largest_residual(np.array([margin]), np.array([a]), np.array([error]))[0]
    # 1e-320: what underflow takes
    truth = exact_residual(name, true_margin, a)
    assert type(truth)(float(bound)) + type(truth)("1e-320") >= truth


@pytest.mark.parametrize("name", SMOOTH)
def test_largest_residual_is_sharp(name):
    # at the optimal a and without error nothing but rounding is left: of the margin, and of a where it is next to 1
    loss = LOSSES[name]
    m = np.linspace(-30, 30, 601)
    bound = loss.largest_residual(m, loss.project(loss.dual(m)), np.zeros_like(m))
    rounding = np.square(8 * UNIT * (1 + np.abs(m) + np.abs(loss.dual(m))))
    if name == "logistic":
        rounding += UNIT**2 / loss.dual(np.abs(m))
    assert np.all(bound <= 10 * rounding)


@pytest.mark.parametrize("name", NAMES)
def test_residual_is_zero_at_the_far_ends(name):
    loss = LOSSES[name]
    m = np.array([746.0, 800.0, 1e4, 1e8])
    expected = (1 - m) ** 2 / 2 if name == "squared" else np.zeros(4)
    np.testing.assert_array_equal(loss.residual(m, loss.project(np.zeros(4))), expected)
    if name == "logistic":
        np.testing.assert_array_equal(loss.residual(-m, np.ones(4)), 0.0)
        assert np.isfinite(loss.largest_residual(-m, np.ones(4), np.zeros(4))).all()


@pytest.mark.parametrize("name", NAMES)
def test_projection_is_the_nearest_point(name):
    loss = LOSSES[name]
    a = np.array([-np.inf, -3.0, -0.0, 0.5, 1.0, 7.0])
    expected = np.minimum(np.maximum(a, loss.lower), loss.upper)
    np.testing.assert_array_equal(loss.project(a), expected)


@pytest.mark.parametrize("name", ["Hinge", "", None, 3, ["hinge"]])
def test_unknown_losses_are_refused_with_the_known_ones(name):
    with pytest.raises(InvalidParameterError) as caught:
        loss_named(name)
    assert caught.value.parameter == "loss" and all(known in str(caught.value) for known in NAMES)


def test_losses_are_found_by_name():
    for name in NAMES:
        assert loss_named(name).name == name


@pytest.mark.parametrize("name", NAMES)
def test_solvers_are_told_the_truth_about_a_loss(name):
    loss = LOSSES[name]
    a = np.linspace(max(loss.lower, 0.0), min(loss.upper, 3.0), 50)
    if loss.dual_curvature is not None:
        assert loss.lower == 0.0
        np.testing.assert_allclose(loss.conjugate(a), 0.5 * loss.dual_curvature * a * a - a, rtol=1e-14)
    curvatures = loss.curvature(np.linspace(-5.0, 5.0, 101))
    assert loss.is_quadratic == (curvatures.min() == curvatures.max() > 0.0)
    if loss.smoothness is not None:
        assert curvatures.max() == pytest.approx(loss.smoothness, rel=1e-12)


def test_every_loss_is_named_where_users_choose_one():
    from slimline import CertifiedClassifier, CertifiedRegressor
    from slimline.cli._options import Loss

    regression = [name for name in REGRESSION_LOSSES if name not in NAMES]
    assert [option.value for option in Loss] == [*NAMES, *regression]
    guide = (Path(__file__).parents[2] / "docs" / "classifier.md").read_text(encoding="utf-8")
    for name, loss in LOSSES.items():
        assert f'"{name}"' in CertifiedClassifier.__doc__
        assert f'| `"{name}"` |' in guide
        SGDClassifier(loss=loss.sklearn_name).fit([[0.0], [1.0]], [0, 1])  # what `to_sklearn` falls back on
    guide = (Path(__file__).parents[2] / "docs" / "regression.md").read_text(encoding="utf-8")
    for name in REGRESSION_LOSSES:
        assert f'"{name}"' in CertifiedRegressor.__doc__
        assert f'| `"{name}"` |' in guide
