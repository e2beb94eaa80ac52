"""Tests that certified numbers stay true when they are rounded."""

from math import inf

import numpy as np
import pytest

from slimline._base.text import rounded_down, rounded_up


@pytest.mark.parametrize(
    ("value", "digits", "down", "up"),
    [
        (0.0356368, 4, "0.03563", "0.03564"),
        (-0.0356368, 4, "-0.03564", "-0.03563"),
        (0.01, 2, "0.01", "0.01"),
        (1.01e-9, 2, "1e-09", "1.1e-09"),
        (99.999, 2, "99", "1e+02"),
        (0.0, 4, "0", "0"),
        (inf, 4, "inf", "inf"),
        (-inf, 4, "-inf", "-inf"),
        (np.float64(2.5), 1, "2", "3"),
    ],
)
def test_outwards(value, digits, down, up):
    assert (rounded_down(value, digits), rounded_up(value, digits)) == (down, up)
