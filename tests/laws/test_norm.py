"""The law of a projected norm: against its definition, simulation and the bounds that it replaces."""

import numpy as np
import pytest
from scipy import stats

from slimline.errors import InvalidParameterError
from slimline.laws import norm_dimension, norm_failure
from slimline.projections import Gaussian


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
        (lambda: norm_failure(0, 0.1), "r must be"),
        (lambda: norm_failure(5, 0), "eps"),
        (lambda: norm_failure(5, float("nan")), "eps"),
        (lambda: norm_dimension(0, 0.1), "eps"),
        (lambda: norm_dimension(1, 0.1), "eps"),
        (lambda: norm_dimension(float("nan"), 0.1), "eps"),
        (lambda: norm_dimension(0.1, 0), "delta"),
        (lambda: norm_dimension(0.1, 1), "delta"),
        (lambda: norm_dimension(0.1, 0.1, 0), "n_vectors"),
    ],
)
def test_impossible_parameters(call, named):
    with pytest.raises(InvalidParameterError, match=named):
        call()
