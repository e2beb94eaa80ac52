import numpy as np
import pytest
from scipy.stats import binom, binomtest

from slimline.auditing._guarantees import frequency


def test_intervals_are_scipys_exact_ones():
    for n in range(1, 31):
        for k in range(n + 1):
            found = frequency([True] * k + [False] * (n - k))
            low, high = binomtest(k, n).proportion_ci(0.95, method="exact")
            assert (found.held, found.draws) == (k, n)
            assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)  # SciPy's search ends there
            if k > 0:
                assert binom.sf(k - 1, n, found.low) == pytest.approx(0.025, rel=1e-11)
            if k < n:
                assert binom.cdf(k, n, found.high) == pytest.approx(0.025, rel=1e-11)


@pytest.mark.parametrize("n", [1, 5, 20, 57])
@pytest.mark.parametrize("p", [0.0, 1e-4, 0.05, 0.31, 0.5, 0.93, 0.999, 1.0])
def test_intervals_cover_every_chance_often_enough(n, p):
    intervals = [frequency([True] * k + [False] * (n - k)) for k in range(n + 1)]
    covered = sum(binom.pmf(k, n, p) for k, found in enumerate(intervals) if found.low <= p <= found.high)
    assert covered >= 0.95 - 1e-12


def test_what_never_and_always_held_has_a_sure_end():
    assert frequency([False] * 7).low == 0.0
    assert frequency([True] * 7).high == 1.0
    assert frequency([True] * 7).low == pytest.approx(0.025 ** (1 / 7), rel=1e-12)


def test_any_iterable_of_truths_will_do():
    found = frequency(value > 0.5 for value in np.array([0.2, 0.7, 0.9]))
    assert (found.held, found.draws) == (2, 3)
    assert isinstance(found.held, int)
