"""The law of a projected inner product: special cases by other formulas, limits, simulation."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from slimline import GaussianProjection
from slimline.laws import inner_product, norm
from slimline.projections import Gaussian
from tests.laws import references
from tests.laws.accuracy import assert_accurate


@pytest.mark.parametrize("c", [-1 + 1e-12, -0.9, 0.0, 0.3, 0.99, 1 - 1e-12])
def test_two_columns_are_laplace(c):
    # 2S = (1+c)E - (1-c)E' with E, E' exponential
    s = np.concatenate((np.geomspace(1e-300, 1e6, 80), [0.0]))
    assert_accurate(inner_product.logcdf(-s, 2, c), math.log((1 - c) / 2) - 2 * s / (1 - c))
    assert_accurate(inner_product.logsf(s, 2, c), math.log((1 + c) / 2) - 2 * s / (1 + c))


def test_one_uncorrelated_column_is_a_product_of_normals():
    # r = 1, c = 0: the density of the product is K₀(|s|)/π
    for s in (1e-6, 0.01, 0.5, 2.0, 9.0, 35.0):
        ends = (s, 1.1 * s + 1, np.inf)
        parts = [
            integrate.quad(lambda x, s=s: special.k0e(x) * math.exp(s - x), a, b, epsabs=0, epsrel=1e-12)[0]
            for a, b in itertools.pairwise(ends)
        ]
        assert inner_product.sf(s, 1, 0.0) == pytest.approx(math.exp(-s) / math.pi * sum(parts), rel=1e-10)


@pytest.mark.parametrize("r", [1, 2, 5, 60, 10**5])
def test_the_sign_of_the_inner_product_is_that_of_the_cosine(r):
    # P(S ≤ 0) = P(cos' ≤ 0): Student's t
    c = np.array([0.0, 1e-9, 0.001, 0.1, 0.6, 0.99])
    expected = special.betaincc(0.5, r / 2, c**2) / 2
    seen = expected > 1e-290
    assert_accurate(inner_product.logcdf(0.0, r, c)[seen], np.log(expected[seen]))
    assert_accurate(inner_product.logsf(0.0, r, -c)[seen], np.log(expected[seen]))


@pytest.mark.parametrize("r", [1, 2, 3, 30, 1000])
def test_a_vector_with_itself_is_the_norm(r):
    s = np.array([-1.0, 0.0, 1e-300, 1e-9, 0.5, 1.0, 1.5, 30.0])
    np.testing.assert_array_equal(inner_product.logcdf(s, r, 1.0), norm.logcdf(s, r))
    np.testing.assert_array_equal(inner_product.logsf(s, r, 1.0), norm.logsf(s, r))
    np.testing.assert_array_equal(inner_product.logsf(-s, r, -1.0), norm.logcdf(s, r))
    np.testing.assert_array_equal(inner_product.logcdf(-s, r, -1.0), norm.logsf(s, r))


@pytest.mark.parametrize("r", [1, 7, 10**4])
def test_nearly_parallel_is_nearly_the_norm(r):
    s = np.array([0.3, 0.9, 1.0, 1.1, 3.0])
    np.testing.assert_allclose(inner_product.cdf(s, r, 1 - 1e-12), norm.cdf(s, r), atol=1e-9 * math.sqrt(r))


@pytest.mark.parametrize("c", [-1.0, -0.9, 0.0, 0.4, 1.0])
def test_many_columns_make_it_normal(c):
    # √r (S - c) / √(1 + c²) tends to a normal variable, at the rate 1/√r
    z = np.linspace(-4, 4, 33)
    for r in (10**4, 10**6, 10**8):
        s = c + z * math.sqrt((1 + c**2) / r)
        np.testing.assert_allclose(inner_product.cdf(s, r, c), stats.norm.cdf(z), atol=0.3 / math.sqrt(r))


def test_infinite_values():
    for c in (-1.0, 0.3, 1.0):
        assert inner_product.cdf(np.inf, 3, c) == 1 and inner_product.sf(np.inf, 3, c) == 0
        assert inner_product.cdf(-np.inf, 3, c) == 0 and inner_product.sf(-np.inf, 3, c) == 1
        assert inner_product.cdf(1e300, 3, c) == 1 and inner_product.logsf(1e300, 3, c) == -np.inf


@pytest.mark.slow
def test_beyond_the_table(global_random_seed):
    # every r up to 40, r up to 10⁹, c to the last float below 1, values near 0 and near c
    rng = np.random.default_rng(global_random_seed)
    for _ in range(12):
        r = int(rng.integers(1, 41)) if rng.random() < 0.6 else int(10 ** rng.uniform(2, 9))
        c = float(rng.choice([-1, 1]) * (1 - max(2.0**-53, 10 ** rng.uniform(-17, 0))))
        away = c - 10 ** rng.uniform(-2, 1.3) * math.sqrt((1 + c**2) / r)
        s = float(min(c, away if rng.random() < 0.7 else rng.choice([-1, 1]) * 10 ** rng.uniform(-20, 0)))
        assert_accurate(inner_product.logcdf(s, r, c), references.log_inner_product(s, r, c))


@pytest.mark.parametrize(
    "s, r, c",
    [
        # found wrong in the third digit before the path was long enough for large r
        (-1.0080667905635987, 799127, -0.998821678780359),
        (-0.6865920251233796, 24681452, -0.6865920251233795),
        (0.9999816665923268, 80464495412, 0.9999999999999628),
        # found wrong in the fourth digit of the logarithm, for a saddle point that had cancelled
        (-0.31369179124000324, 33, 0.9999999999973124),
    ],
)
def test_once_wrong(s, r, c):
    assert_accurate(inner_product.logcdf(s, r, c), references.log_inner_product(s, r, c))


@pytest.mark.parametrize("r", [1, 2, 3, 20])
@pytest.mark.parametrize("c", [-1.0, -0.8, 0.0, 0.3, 0.98])
def test_against_simulation(r, c, global_random_seed):
    # Groups of r columns of one wide projection are projections to r dimensions of their own. Largest distance of the
    # empirical law from the true one: Dvoretzky-Kiefer-Wolfowitz-Massart, fails a right law with probability 1e-9.
    draws = 30_000
    columns = Gaussian(2, draws * r, global_random_seed).apply(np.array([[1.0, 0.0], [c, math.sqrt(1 - c**2)]]))
    w, x = columns.reshape(2, draws, r)
    seen = np.sort(draws * np.sum(w * x, axis=1))  # the entries have variance 1/(draws · r)
    law = inner_product.cdf(seen, r, c)
    distance = max(np.max(np.arange(1, draws + 1) / draws - law), np.max(law - np.arange(draws) / draws))
    assert distance < math.sqrt(math.log(2 / 1e-9) / (2 * draws))


def test_inner_product_after_a_fitted_projection(global_random_seed):
    # 1,500 projections of their own seed, of dense vectors; a binomial test, fails a right law with probability 1e-9
    rng = np.random.default_rng(global_random_seed)
    pair = rng.normal(size=(2, 40))
    lengths = np.linalg.norm(pair[0]) * np.linalg.norm(pair[1])
    c = pair[0] @ pair[1] / lengths
    passed = 0
    for seed in range(1500):
        w, x = GaussianProjection(n_components=8, random_state=1500 * global_random_seed + seed).fit_transform(pair)
        passed += w @ x > (c + 0.2) * lengths
    assert stats.binomtest(int(passed), 1500, inner_product.sf(c + 0.2, 8, c)).pvalue > 1e-9
