"""The law of a projected norm: against its definition, simulation and the bounds that it replaces."""

import math

import numpy as np
import pytest
from scipy import special, stats

from slimline.laws import norm, norm_dimension, norm_failure
from slimline.projections import Gaussian
from tests.laws import references
from tests.laws.accuracy import assert_accurate
from tests.refusals import refuses


@pytest.mark.parametrize("r", [1, 2, 3, 16, 100, 1000, 10**6])
@pytest.mark.parametrize("eps", [1e-4, 0.01, 0.1, 0.5, 0.999, 1.0, 1.5, 10])
def test_failure_is_the_tail_of_chi_squared(r, eps):
    law = stats.chi2(r)
    expected = law.cdf(r * (1 - eps)) + law.sf(r * (1 + eps))
    # the incomplete gamma function is good to about 1e-10 relative in its own tail
    np.testing.assert_allclose(norm_failure(r, eps), expected, rtol=1e-9, atol=1e-300)


def test_one_component_by_hand():
    # r = 1: g² within 1 ± eps iff |g| within √(1 ± eps)
    expected = stats.norm.cdf(np.sqrt(0.5)) - stats.norm.cdf(-np.sqrt(0.5)) + 2 * stats.norm.sf(np.sqrt(1.5))
    np.testing.assert_allclose(norm_failure(1, 0.5), expected, rtol=1e-12)


@pytest.mark.parametrize("r", [2, 4, 10, 40])
def test_even_dimensions_by_hand(r):
    # P(χ²_r > x) is a Poisson sum
    q = np.array([1e-300, 1e-9, 0.1, 0.9, 1.0, 1.1, 3.0, 50.0])
    terms = np.arange(r // 2)
    x = r * q[:, None] / 2
    upper = np.log(np.sum(np.exp(special.xlogy(terms, x) - special.gammaln(terms + 1)), axis=1)) - x[:, 0]
    assert_accurate(norm.logsf(q, r), upper)


@pytest.mark.parametrize(
    "q, r",
    [
        # SciPy's incomplete gamma functions are wrong in the first digits here
        (0.9999385972401473, 11117218972),
        (0.9987111351222554, 100594262),
        (1.00002, 10**9),
        # tails with no float64
        (0.5, 10**5),
        (3.0, 10**5),
        (1e-300, 3),
    ],
)
def test_many_dimensions_and_deep_tails(q, r):
    assert_accurate(norm.logcdf(q, r), references.log_norm(q, r))
    assert_accurate(norm.logsf(q, r), references.log_norm_upper(q, r))


@pytest.mark.parametrize("r", [1, 2, 9, 10**6])
def test_a_norm_is_positive_and_finite(r):
    for q in (-np.inf, -1.0, 0.0):
        assert norm.cdf(q, r) == 0 and norm.sf(q, r) == 1
        assert norm.logcdf(q, r) == -np.inf and norm.logsf(q, r) == 0
    assert norm.cdf(np.inf, r) == 1 and norm.sf(np.inf, r) == 0
    assert norm.sf(5e-324, r) == 1 and 0 <= norm.cdf(5e-324, r) < 1e-150


def test_answers_broadcast():
    assert type(norm_failure(5, 0.1)) is float and type(norm_dimension(0.1, 0.1)) is int
    failure = norm_failure([[3], [4]], [0.1, 0.2, 0.3])
    assert failure.shape == (2, 3) and failure[1, 2] == pytest.approx(norm_failure(4, 0.3), rel=1e-13)
    r = norm_dimension([0.1, 0.2], [[0.1], [0.01], [0.001]], [1, 10])
    assert r.shape == (3, 2) and r[2, 1] == norm_dimension(0.2, 0.001, 10)


@pytest.mark.parametrize("r", [1, 3, 20])
def test_the_law_against_simulation(r, global_random_seed):
    # Groups of r columns of one wide projection are projections to r dimensions of their own. Largest distance of the
    # empirical law from the true one: Dvoretzky-Kiefer-Wolfowitz-Massart, fails a right law with probability 1e-9.
    draws = 30_000
    columns = Gaussian(2, draws * r, global_random_seed).apply(np.array([[0.6, 0.8]]))
    seen = np.sort(draws * np.sum(columns.reshape(draws, r) ** 2, axis=1))  # entries of variance 1/(draws · r)
    law = norm.cdf(seen, r)
    distance = max(np.max(np.arange(1, draws + 1) / draws - law), np.max(law - np.arange(draws) / draws))
    assert distance < math.sqrt(math.log(2 / 1e-9) / (2 * draws))


def test_against_simulation(global_random_seed):
    # 4,000 independent seeds; the binomial test fails a right law with probability 1e-7
    first = 10_000 * global_random_seed
    x = np.ones((1, 20)) / np.sqrt(20)
    norms = np.array([np.sum(Gaussian(20, 30, seed).apply(x) ** 2) for seed in range(first, first + 4000)])
    failed = int(np.sum(np.abs(norms - 1) > 0.3))
    assert stats.binomtest(failed, 4000, norm_failure(30, 0.3)).pvalue > 1e-7


def test_below_the_bound_where_that_is_true_and_above_where_it_is_not():
    # uml2014 Lemma 23.3, 2 exp(-eps² r / 6), holds for eps ≤ 0.7870 only (theory sheet §6.9)
    for r in (1, 4, 16, 100, 400):
        for eps in (0.05, 0.3, 0.787):
            assert norm_failure(r, eps) <= 2 * np.exp(-(eps**2) * r / 6)
    assert norm_failure(16, 2) > 2 * np.exp(-4 * 16 / 6)
    np.testing.assert_allclose(norm_failure(16, 2), 4.75e-5, rtol=2e-3)  # as printed in the sheet


@pytest.mark.parametrize("eps", [0.05, 0.1, 0.3, 0.9])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize("n_vectors", [1, 45, 10**6])
def test_dimension_is_the_smallest(eps, delta, n_vectors):
    r = norm_dimension(eps, delta, n_vectors)
    assert n_vectors * norm_failure(r, eps) <= delta
    assert r == 1 or n_vectors * norm_failure(r - 1, eps) > delta


@pytest.mark.parametrize(
    "call, named",
    [
        (lambda: norm_failure(0, 0.1), "r"),
        (lambda: norm_failure(5, 0), "eps"),
        (lambda: norm_failure(5, float("nan")), "eps"),
        (lambda: norm_dimension(0, 0.1), "eps"),
        (lambda: norm_dimension(1, 0.1), "eps"),
        (lambda: norm_dimension(float("nan"), 0.1), "eps"),
        (lambda: norm_dimension(0.1, 0), "delta"),
        (lambda: norm_dimension(0.1, 1), "delta"),
        (lambda: norm_dimension(0.1, 0.1, 0), "n_vectors"),
        (lambda: norm_dimension(0.1, 0.1, float("inf")), "n_vectors"),
        (lambda: norm_dimension([0.1, 2.5], 0.1), "eps"),
    ],
)
def test_impossible_parameters(call, named):
    with refuses(named):
        call()
