"""The margin guarantee of the data at hand: against sums of the law, simulation, the theorem, and real data."""

import numpy as np
import pytest
from scipy import stats

from slimline.bounds import (
    get,
    margin_dimension,
    margin_failure,
    multiclass_margin_dimension,
    multiclass_margin_failure,
    one_parameter_cosines,
)
from slimline.errors import InvalidParameterError, NoDimensionError
from slimline.laws import cosine
from tests.bounds.attack import assert_fails_at_most, assert_frequency, cosines_after, gaussians, points_at
from tests.refusals import refuses


@pytest.fixture
def rng(global_random_seed):
    return np.random.default_rng(global_random_seed)


def markov(probabilities, errors):
    """Return the best of Σ/(errors - j + 1) over the j points that are given up, one by one."""
    falling = np.sort(probabilities)[::-1]
    return min(1.0, min(falling[j:].sum() / (errors - j + 1) for j in range(errors + 1)))


def smallest(failure, delta, most=4000):
    """Return the smallest r from which on failure(r) ≤ delta, trying all."""
    above = [r for r in range(1, most) if failure(r) > delta]
    return above[-1] + 1 if above else 1


@pytest.mark.parametrize("margin", [-1.0, -0.5, 0.0, 0.05, 0.3])
@pytest.mark.parametrize("errors", [0, 1, 4, 29])
def test_failure_is_the_sum_of_the_laws(margin, errors, rng):
    c = np.append(rng.uniform(-0.2, 0.9, 27), [0.3, 0.3, 1.0])
    for r in (1, 2, 30, 500):
        short = np.where((margin == -1) | (c == 1), 0.0, cosine.cdf(margin, r, c))
        np.testing.assert_allclose(margin_failure(c, r, margin, errors), markov(short, errors), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("r", [1, 2, 7, 208, 5000])
def test_a_margin_of_nothing_is_student_s_t(r):
    c = np.array([0.05, 0.1, 0.3, 0.6, 0.999])
    expected = stats.t(r).cdf(-np.sqrt(r) * c / np.sqrt(1 - c**2))
    for i in range(c.size):
        np.testing.assert_allclose(margin_failure(c[i : i + 1], r), expected[i], rtol=1e-9)
    np.testing.assert_allclose(margin_failure(c, r), min(1.0, expected.sum()), rtol=1e-9)


@pytest.mark.parametrize("delta", [1e-200, 1e-6, 0.05, 0.6])
@pytest.mark.parametrize("errors", [0, 3, 20])
def test_dimension_is_the_smallest(delta, errors, rng):
    c = rng.uniform(0.35, 0.9, 40)
    c[:3] = [-0.9, 0.2, 0.25] if errors else 0.4
    for margin in (-0.3, 0.0, 0.1):
        allowed = max(errors, int(np.sum(c <= margin)))
        r = margin_dimension(c, delta, margin, allowed)
        assert margin_failure(c, r, margin, allowed) <= delta
        assert r == 1 or margin_failure(c, r - 1, margin, allowed) > delta


@pytest.mark.slow
def test_a_dimension_that_is_enough_stays_enough(rng):
    # one dimension keeps a cosine of 0.99 above 0.98 with probability 0.955, two do not: see test_exact
    r = margin_dimension([0.99], 0.1, 0.98)
    assert margin_failure([0.99], 1, 0.98) < 0.1
    assert r == smallest(lambda s: margin_failure([0.99], s, 0.98), 0.1, 200) > 5
    for _ in range(5):
        c = rng.uniform(0.9, 0.999, 4)
        margin, delta = c.min() - rng.uniform(0.02, 0.05), rng.uniform(0.01, 0.15)
        last = smallest(lambda s, c=c, margin=margin: margin_failure(c, s, margin), delta, 400)
        assert margin_dimension(c, delta, margin) == last


@pytest.mark.parametrize("gamma", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("m", [100, 10_000])
def test_at_least_ten_times_below_the_theorem(gamma, m):
    theorem = get("shi2012.6")
    asked = theorem.dimension(theorem.eps_keeping(0.0, margin=gamma), 0.05, points=m)
    r = margin_dimension(np.full(m, gamma), 0.05)
    assert 13 <= asked / r <= 29
    assert r == theorem.exact_dimension(theorem.eps_keeping(0.0, margin=gamma), 0.05, points=m, margin=gamma)


@pytest.mark.parametrize("kind", ["equal", "axes"])
@pytest.mark.parametrize(
    "gamma, m, trials",
    [(0.1, 100, 400), (0.3, 100, 3000), (0.5, 100, 6000), (0.1, 10_000, 400), (0.3, 10_000, 400), (0.5, 10_000, 400)],
)
def test_the_margin_stays_positive_as_often_as_said(gamma, m, trials, kind, rng):
    r = margin_dimension(np.full(m, gamma), 0.05)
    failures = 0
    # for orthogonal residuals Rᵀxᵢ = γ Rᵀu + √(1-γ²) gᵢ with independent gᵢ, so that R need not be written out
    for _ in range(trials):
        v = rng.standard_normal(r)
        along = rng.standard_normal(m) * np.linalg.norm(v) if kind == "axes" else v @ rng.standard_normal(r)
        failures += np.any(gamma * (v @ v) + np.sqrt(1 - gamma**2) * along < 0)
    assert_fails_at_most(failures, trials, 0.05)
    if kind == "equal":
        assert_frequency(failures, trials, margin_failure([gamma], r))


def test_the_margin_stays_positive_with_a_projection_written_out(rng):
    gamma, m, trials = 0.5, 100, 300
    r = margin_dimension(np.full(m, gamma), 0.05)
    u, X = points_at(gamma, "axes", m, m, rng)
    failures = sum(np.any(cosines_after(gaussians(rng, 1, m + 1, r), u, X) < 0) for _ in range(trials))
    assert_fails_at_most(failures, trials, 0.05)


@pytest.mark.parametrize("errors", [0, 2, 5])
@pytest.mark.parametrize("kind", ["equal", "axes"])
def test_errors_allowed_by_simulation(errors, kind, rng):
    m, trials, delta = 30, 3000, 0.3
    c = np.append(np.full(24, 0.4), [0.1, 0.15, 0.2, 0.25, 0.3, 0.35])
    r = margin_dimension(c, delta, 0.05, errors)
    _, X = points_at(0.0, kind, m, m, rng, scales=False)
    u = np.linalg.svd(X)[2][-1]  # orthogonal to all of them
    X = c[:, None] * u + np.sqrt(1 - c[:, None] ** 2) * X
    after = np.vstack([cosines_after(gaussians(rng, 500, m + 1, r), u, X) for _ in range(trials // 500)])
    assert_fails_at_most(np.sum(np.sum(after < 0.05, axis=1) > errors), trials, delta)


def test_points_that_may_be_lost_cost_nothing():
    far = np.full(990, 0.5)
    alone = margin_dimension(far, 0.05)
    assert margin_dimension(np.append(far, np.full(10, -0.9)), 0.05, errors=10) == alone
    assert margin_dimension(np.append(far, np.full(10, 0.01)), 0.05, errors=10) == alone
    assert margin_dimension(np.append(far, np.full(10, 0.01)), 0.05, errors=9) > 50 * alone
    assert margin_dimension(np.append(far, 0.9), 0.05) == alone


@pytest.mark.parametrize("call", [margin_dimension, margin_failure])
def test_edges(call):
    second = 0.05 if call is margin_dimension else 3
    nothing = 1 if call is margin_dimension else 0.0
    assert call([1.0], second) == nothing  # a point on the separator's own ray
    assert call([1.0] * 5, second, margin=0.999) == nothing
    assert call([1.0 + 4e-16], second, margin=0.999) == nothing  # as products of floats have it
    assert call([-1.0, 0.3], second, margin=-1.0) == nothing  # every cosine is at least -1
    assert call([0.3, -1.0, -0.2], second, margin=-0.999, errors=2) >= nothing
    assert call([0.1, 0.2, 0.3], second, errors=2) <= call([0.1, 0.2, 0.3], second, errors=1)
    assert type(call([0.5, 0.6], second)) is (int if call is margin_dimension else float)
    assert call(np.float32([0.5]), second) == call([0.5], second)


def test_what_cannot_be_asked_for():
    for cosines, margin in (([0.3], 0.3), ([0.3], 0.31), ([-1.0], 0.0), ([0.0], 0.0)):
        with pytest.raises(InvalidParameterError, match=r"1 of 1 points have no more than .* or allow errors=1"):
            margin_dimension(cosines, 0.05, margin)
        assert margin_failure(cosines, 10_000, margin) > 0.49
    with pytest.raises(InvalidParameterError, match=r"3 of 5 points .*allow errors=3"):
        margin_dimension([-0.5, -0.5, 0.0, 0.2, 0.4], 0.05, errors=2)
    with pytest.raises(NoDimensionError):
        margin_dimension([1e-8], 0.05)
    with pytest.raises(NoDimensionError):
        margin_dimension([1e-200], 0.05)
    assert 10**11 < margin_dimension([1e-5], 1e-9) < 10**12


def test_tiny_probabilities_and_many_equal_points():
    r = margin_dimension(np.full(10**6, 0.9), 1e-300)
    assert margin_failure(np.full(10**6, 0.9), r) <= 1e-300 < margin_failure(np.full(10**6, 0.9), r - 1)


def test_points_far_away_are_left_out_without_loss(rng):
    c = np.append(rng.uniform(0.02, 0.04, 20), rng.uniform(0.04, 0.999, 3000))
    for errors in (0, 12):
        for r in (2, 50, 2000, 20_000):
            expected = markov(cosine.cdf(0.01, r, c), errors)
            np.testing.assert_allclose(margin_failure(c, r, 0.01, errors), expected, rtol=1e-9, atol=1e-300)


def test_what_is_given_up_does_not_hide_the_rest():
    # beside a lost point the others are far away, and still all that is left
    np.testing.assert_allclose(margin_failure([-0.9, 0.9], 200, errors=1), cosine.cdf(0.0, 200, 0.9), rtol=1e-9)
    assert margin_dimension([-0.9, 0.9], 1e-200, errors=1) == margin_dimension([0.9], 1e-200)


def test_a_hundred_thousand_points(rng):
    c = np.abs(rng.normal(0.3, 0.1, 100_000)).clip(0.05, 0.99)
    r = margin_dimension(c, 0.05, 0.02)
    assert margin_failure(c, r, 0.02) <= 0.05 < margin_failure(c, r - 1, 0.02)


WRONG = [
    *({"cosines": cosines} for cosines in ([], [[0.1, 0.2]], 0.3, [0.3, 1.0001], [float("nan")], ["0.3"])),
    *({"margin": margin} for margin in (1.0, float("nan"), "large", [0.1, 0.2])),
    *({"errors": errors} for errors in (-1, 2, 0.5, None)),
]


@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_arguments(changes):
    given = {"cosines": [0.3, 0.4], **changes}
    with refuses(next(iter(changes))):
        margin_dimension(delta=0.05, **given)
    with refuses(next(iter(changes))):
        margin_failure(r=10, **given)


def test_probability_and_dimension():
    for wrong in (0, 1, -0.1, float("nan"), "small", [0.1]):
        with refuses("delta"):
            margin_dimension([0.3], wrong)
        with refuses("delta"):
            multiclass_margin_dimension([[0.3, 0.1]], [0], wrong)
    for wrong in (0, -3, 2.5, float("inf"), "ten", [3]):
        with refuses("r"):
            margin_failure([0.3], wrong)
        with refuses("r"):
            multiclass_margin_failure([[0.3, 0.1]], [0], wrong)


def test_two_opposite_classes_are_two_classes():
    # u_2 = -u_1: the one-parameter cosine is the binary one
    np.testing.assert_allclose(one_parameter_cosines([[0.3, -0.3]], [0]), [0.3])
