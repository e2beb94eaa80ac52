"""Tests of how far frequencies may be off by chance."""

import numpy as np
import pytest
from scipy.stats import binomtest

from slimline_papers.chance import chance_of, fall


def test_the_chance_of_one_count_is_its_binomial_tail():
    upper = binomtest(70, 100, 0.5, alternative="greater").pvalue
    assert chance_of(70, 100, 0.5) == pytest.approx(2 * upper)
    assert chance_of([70, 50, 50], 100, 0.5) == pytest.approx(6 * upper)


def test_what_cannot_happen_and_does_has_no_chance():
    assert chance_of(1, 100, 0.0) == 0
    assert chance_of([0, 100], 100, [0.0, 1.0]) == 1


def test_a_fall_is_told_in_standard_deviations():
    rng = np.random.default_rng(0)
    falls = fall(*rng.binomial(1000, 0.3, (2, 20_000)), 1000, 1000)
    assert abs(falls.mean()) < 0.05 and abs(falls.std() - 1) < 0.03
    assert fall(60, 40, 100, 100) == -fall(40, 60, 100, 100) > 0
    assert fall(0, 0, 10, 10) == 0
