"""Tests of what chance explains."""

import numpy as np
import pytest
from scipy.stats import binomtest

from slimline_papers.chance import FALSE_ALARM, rarity, rarity_above, too_rare


@pytest.mark.parametrize("count", [0, 3, 5, 12, 100])
def test_too_many_as_a_binomial_test_has_it(count):
    expected = binomtest(count, 100, 0.05, alternative="greater").pvalue
    assert rarity_above(count, 100, 0.05) == pytest.approx(expected, rel=1e-9)


def test_both_sides():
    low, middle, high = rarity([0, 50, 100], 100, 0.5)
    assert low == pytest.approx(2 * 0.5**100) and high == pytest.approx(2 * 0.5**100) and middle == 1


def test_a_bound_above_one_is_never_passed():
    assert rarity_above(100, 100, 7.0) == 1


def test_many_looks_make_a_rare_thing_less_so():
    once = 0.5 * FALSE_ALARM
    assert too_rare([once])
    assert not too_rare(np.r_[once, np.ones(9)])
