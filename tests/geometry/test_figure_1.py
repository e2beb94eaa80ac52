"""shi2012, Figure 1: four points (±a, ±1) stay separable on a random line with probability (2/π) arctan(1/a)."""

import math

import numpy as np
import pytest

from slimline.geometry import margin
from slimline.projections import Gaussian

DRAWS = 1000


@pytest.mark.slow
@pytest.mark.parametrize("a", [0.5, 2.0])
def test_the_share_of_separable_lines_follows_the_law(a):
    X = np.array([[a, 1.0], [-a, 1.0], [a, -1.0], [-a, -1.0]])
    y = [1, 1, 0, 0]
    assert margin(X, y).value == pytest.approx(1.0, rel=1e-9)
    separable = [margin(Gaussian(2, 1, seed).apply(X), y, intercept=True).separable for seed in range(DRAWS)]
    assert None not in separable
    expected = 2.0 / math.pi * math.atan(1.0 / a)
    # Hoeffding: further off with a chance of 1e-6 at most
    assert abs(np.mean(separable) - expected) <= math.sqrt(math.log(2e6) / (2 * DRAWS))


def test_what_is_separable_on_the_line_is_what_the_formula_says():
    rng = np.random.default_rng(0)
    for _ in range(200):
        a = float(rng.uniform(0.1, 4.0))
        X, angle = np.array([[a, 1.0], [-a, 1.0], [a, -1.0], [-a, -1.0]]), float(rng.uniform(0.0, 2.0 * math.pi))
        line = X @ np.array([[math.cos(angle)], [math.sin(angle)]])
        gap = abs(math.sin(angle)) - a * abs(math.cos(angle))
        found = margin(line, [1, 1, 0, 0], intercept=True)
        assert found.separable is (gap > 0.0)
        assert found.value == pytest.approx(max(gap, 0.0), rel=1e-7)
