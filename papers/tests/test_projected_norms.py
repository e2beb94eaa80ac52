"""Norms after projection, common and rare."""

import numpy as np
import pytest
from scipy import stats

from slimline_papers import Study
from slimline_papers.projected_norms import squared_norms, upper_tail


def test_norms_have_the_chi_square_law(global_random_seed):
    # Kolmogorov and Smirnov's test of 20,000 norms fails with a probability of 1e-7
    norms = squared_norms(Study(seed=global_random_seed), "test", 5, 20_000)
    assert stats.kstest(5 * norms, stats.chi2(5).cdf).pvalue > 1e-7


def test_norms_of_one_matrix_are_independent(global_random_seed):
    # the variance of a sum of 256 independent norms, 200 times: χ² of 199 degrees of freedom, nearly; 6 deviations
    norms = squared_norms(Study(seed=global_random_seed), "test", 8, 200 * 256).reshape(200, 256)
    ratio = norms.sum(axis=1).var(ddof=1) / (256 * 2 / 8)
    assert abs(ratio - 1) < 6 * np.sqrt(2 / 199)


def test_more_columns_than_the_basis_had():
    assert len(squared_norms(Study(), "test", 300, 10)) == 300


@pytest.mark.parametrize("r, eps", [(1, 40.0), (2, 30.0), (16, 2.0), (128, 2.9), (64, 0.5)])
def test_rare_events_are_measured(r, eps, global_random_seed):
    # 6 standard errors, which fails with a probability of 2e-9
    norms = np.random.default_rng(global_random_seed).chisquare(r, 50_000) / r
    tail, error = upper_tail(norms, r, eps)
    exact = stats.chi2.sf(r * (1 + eps), r)
    assert abs(tail - exact) < 6 * error
    assert error < 0.06 * exact
