"""R² and correlation of predictions that are known to some error, against brute force over all they can be."""

from itertools import product

import numpy as np
import pytest

from slimline import CertifiedRegressor
from slimline.estimators._predictions import correlation_interval, r2_interval

N = 8


def correlation(values, target, s):
    one, other = (part - np.average(part, weights=s) for part in (values, target))
    return float(s @ (one * other) / np.sqrt((s @ one**2) * (s @ other**2)))


def r2(values, target, s):
    return 1.0 - s @ (target - values) ** 2 / (s @ (target - np.average(target, weights=s)) ** 2)


MEASURES = {"r2": (r2_interval, r2), "correlation": (correlation_interval, correlation)}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_nothing_within_the_errors_leaves_the_interval(measure, offset, global_random_seed):
    interval, score = MEASURES[measure]
    rng = np.random.default_rng([global_random_seed, int(offset)])
    for size in (1e-12, 1e-3, 0.3, 10.0):
        value, target = rng.standard_normal((2, N)) + offset
        value = 0.5 * (value + target)
        error, s = size * rng.exponential(1.0, N), rng.uniform(0.1, 3.0, N)
        found = interval(value, error, target, s)
        assert found.lower <= found.value <= found.upper
        assert found.value == pytest.approx(score(value, target, s), abs=1e-6 if offset else 1e-12)
        corners = [np.array(signs) for signs in product((-1.0, 1.0), repeat=N)]
        inside = [rng.uniform(-1.0, 1.0, N) for _ in range(200)]
        rounding = 1e-4 * offset / 1e6 + 1e-14  # of the reference, where the mean is far off
        for move in (*corners, *inside):
            truth = score(value + error * move, target, s)
            assert found.lower - rounding <= truth <= found.upper + rounding


@pytest.mark.parametrize("n", [2, 3, 40])
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (1e-120, 0.0), (1e120, 0.0), (1.0, 1e8)])
def test_roundings_are_within_the_intervals(n, scale, offset, global_random_seed):
    for seed in range(60):
        rng = np.random.default_rng([global_random_seed, seed])
        y = scale * (offset + rng.standard_normal(n))
        value = y + scale * 10.0 ** rng.uniform(-9, 1) * rng.standard_normal(n)
        radius = scale * 10.0 ** rng.uniform(-8, 0.5) * rng.random(n)
        of_r2, of_correlation = r2_interval(value, radius, y), correlation_interval(value, radius, y)
        towards = [y - value, value - y, y - y.mean(), -(y - y.mean()), *rng.standard_normal((20, n))]
        for direction in towards:
            exact = np.longdouble(value) + np.longdouble(radius) * np.sign(direction)
            a, b = (part - part.mean() for part in (np.longdouble(y), exact))
            share = 1 - ((y - exact) ** 2).sum() / (a**2).sum()
            assert of_r2.lower <= share <= of_r2.upper
            if (b**2).sum() > 0:
                cosine = (a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum())
                assert of_correlation.lower <= float(cosine) <= of_correlation.upper
        assert of_r2.lower <= of_r2.value <= of_r2.upper


def test_a_difference_of_large_residuals_and_errors_is_rounded_outwards(global_random_seed):
    """Errors that explain nearly all of residuals far larger than the deviations of the target."""
    for seed in range(60):
        rng = np.random.default_rng([global_random_seed, seed])
        target = rng.standard_normal(N)
        value = target + 1e8 * rng.standard_normal(N)
        error = np.abs(target - value) * (1.0 - 1e-9 * rng.uniform(0.5, 1.0))
        nearest = np.longdouble(value) + np.longdouble(error) * np.sign(target - value)
        exact = 1 - ((target - nearest) ** 2).sum() / ((target - np.longdouble(target).mean()) ** 2).sum()
        assert exact <= r2_interval(value, error, target).upper <= 1.0


@pytest.mark.parametrize("angle", [1e-7, 0.1, 1.0, 1.5])
@pytest.mark.parametrize("away", [-1.0, 1.0])
def test_the_ends_of_a_correlation_are_attained(angle, away, global_random_seed):
    """Predictions that are turned by the largest angle, in the plane of predictions and target."""
    rng = np.random.default_rng(global_random_seed)
    s = rng.uniform(0.1, 3.0, N)
    target, value = rng.standard_normal((2, N))
    target, value = (part - np.average(part, weights=s) for part in (target, value))
    target -= value * (s @ (value * target)) / (s @ value**2)  # orthogonal: neither end is cut off
    target /= np.sqrt(s @ target**2) / np.sqrt(s @ value**2)
    turned = np.cos(angle) * (np.cos(angle) * value - away * np.sin(angle) * target)
    found = correlation_interval(value, np.abs(turned - value), target, s)
    truth = correlation(turned, target, s)
    assert found.lower <= truth + 1e-15 and truth - 1e-15 <= found.upper
    assert truth == pytest.approx(found.lower if away > 0 else found.upper, abs=1e-12)


def test_the_ends_of_a_coefficient_of_determination_are_attained():
    rng = np.random.default_rng(0)
    target, value = rng.standard_normal((2, N))
    error, s = 0.2 * np.abs(target - value), np.ones(N)
    found = r2_interval(value, error, target, s)
    ends = [r2(value + sign * 0.2 * (target - value), target, s) for sign in (-1, 1)]
    np.testing.assert_allclose((found.lower, found.upper), ends, rtol=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_bounds_that_bound_nothing(measure):
    interval, _ = MEASURES[measure]
    target = np.arange(5.0)
    found = interval(target + 1.0, np.full(5, np.inf), target, np.ones(5))
    assert (found.lower, found.upper) == ((-np.inf, 1.0) if measure == "r2" else (-1.0, 1.0))
    s = np.array([1.0, 1.0, 1.0, 0.0, 0.0])  # rows of weight 0 do not count
    error = np.array([0.1, 0.1, 0.1, np.inf, np.inf])
    expected = interval(target[:3] * 1.1, error[:3], target[:3], s[:3])
    assert vars(interval(target * 1.1, error, target, s)) == pytest.approx(vars(expected), rel=1e-9)
    for constant in (np.full(5, 0.1), np.full(5, 1e9)):
        assert interval(target, np.ones(5), constant, np.ones(5)) is None


def test_predictions_that_are_all_the_same_have_no_correlation():
    found = correlation_interval(np.full(5, 0.1), np.full(5, 1e-9), np.arange(5.0), np.ones(5))
    assert np.isnan(found.value) and (found.lower, found.upper) == (-1.0, 1.0)
    found = correlation_interval(np.arange(2.0), np.zeros(2), np.arange(2.0), np.ones(2))
    assert (found.lower, found.upper) == (pytest.approx(1.0), 1.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_of_a_sketch_contain_those_of_the_exact_model(weighted):
    rng = np.random.default_rng(1)
    X, U = rng.standard_normal((60, 300)), rng.standard_normal((60, 2))
    y = np.column_stack([X[:, 0] + U[:, 0], X[:, :5].sum(axis=1)])
    new, covariates = rng.standard_normal((50, 300)), rng.standard_normal((50, 2))
    truth = np.column_stack([new[:, 0] + covariates[:, 0], new[:, :5].sum(axis=1)]) + rng.standard_normal((50, 2))
    s = rng.uniform(0.0, 2.0, 50) if weighted else None
    exact = CertifiedRegressor(0.01, method="gram").fit(X, y, covariates=U)
    model = CertifiedRegressor(0.01, method="sketch", n_components=100, tol=1e-3, random_state=0).fit(
        X, y, covariates=U
    )
    found = model.certified_correlation(new, truth, s, covariates=covariates)
    weight = np.ones(50) if s is None else s
    for one, predicted, target in zip(found, exact.predict(new, covariates).T, truth.T, strict=True):
        assert one.lower < correlation(predicted, target, weight) < one.upper < 1.0
        assert one.upper - one.lower < 0.3  # which a bound that says nothing would not say
