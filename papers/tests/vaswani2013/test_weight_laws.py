"""The exact laws of recovered weights, against simulations of sketches and of the χ² that they are made of."""

import numpy as np
import pytest

from slimline import GaussianProjection
from slimline_papers.vaswani2013.weight_laws import dual_error, naive_error

_RUNS = 400


@pytest.mark.parametrize("r", [60, 200])
def test_errors_of_recovered_weights_follow_the_laws(r):
    # d = 300, rank 10; 400 sketches: six standard errors of a mean, a failure probability below 1e-6 for this seed
    rng = np.random.default_rng(r)
    X, y = 1e4 * rng.standard_normal((10, 300)), rng.choice([-1.0, 1.0], 10)
    exact = X.T @ np.linalg.solve(X @ X.T + np.eye(10), y)
    squared = np.empty((_RUNS, 2))
    for seed in range(_RUNS):
        projection = GaussianProjection(r, random_state=seed)
        Z = projection.fit_transform(X)
        alpha = np.linalg.solve(Z @ Z.T + np.eye(10), y)
        for k, weights in enumerate((projection.lift(Z.T @ alpha), X.T @ alpha)):
            squared[seed, k] = np.sum((weights - exact) ** 2) / np.sum(exact**2)
    for column, law in zip(squared.T, (naive_error(r, 10, 300), dual_error(r, 10)), strict=True):
        assert abs(column.mean() - law.mean) < 6 * law.deviation / np.sqrt(_RUNS)
        assert column.std() == pytest.approx(law.deviation, rel=0.35)


def test_moments_are_those_of_the_chi_squares():
    rng = np.random.default_rng(1)
    r, rank, features, count = 500, 100, 10_000, 200_000
    s = rng.chisquare(r - rank + 1, count)
    side = rng.chisquare(rank - 1, count) / rng.chisquare(r - rank + 2, count)
    samples = {
        naive_error(r, rank, features): rng.chisquare(features - rank, count) / s,
        dual_error(r, rank): (r / s - 1) ** 2 + (r / s) ** 2 * side,
    }
    for law, values in samples.items():
        assert abs(values.mean() - law.mean) < 6 * law.deviation / np.sqrt(count)
        assert values.std() == pytest.approx(float(law.deviation), rel=0.03)


def test_closed_forms():
    r = np.array([200.0, 3000.0])
    assert naive_error(r, 100, 10_000).mean == pytest.approx(9900 / (r - 101))
    square = r**2 * (r - 1) / ((r - 100) * (r - 101) * (r - 103))
    assert dual_error(r, 100).mean == pytest.approx(square - 2 * r / (r - 101) + 1)
    assert dual_error(1e6, 100).mean == pytest.approx(1.01e-4, rel=1e-3)  # (ρ+1)/r


def test_no_moments_where_the_rank_is_not_reached():
    assert np.isnan(dual_error(100, 100).mean) and np.isnan(naive_error(50, 100, 1000).mean)
