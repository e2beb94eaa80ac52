"""Theorem 1 for large errors."""

import numpy as np
import pytest

from papers.tests.doctored import with_column
from papers.tests.replayed import replayed
from slimline_papers.fard2012 import large_errors


def test_the_printed_theorem_fails_and_the_corrected_one_does_not():
    _, (finding,) = replayed("fard2012.large_errors")
    assert not finding.holds
    assert finding.corrected_holds


def test_the_tail_at_two_dimensions_is_an_exponential():
    # 12 tails, each within 6 standard errors of exp(-1-ε)
    table, _ = replayed("fard2012.large_errors")
    rows = table.where(r=2)
    assert np.all(np.abs(rows["upper_tail"] - np.exp(-1 - rows["eps"])) < 6 * rows["error"])


def test_it_fails_only_beyond_the_crossing():
    assert large_errors._rates_cross() == pytest.approx(20.4, abs=0.05)
    table, _ = replayed("fard2012.large_errors")
    above = table["upper_tail"] > 6 * np.exp(-table["r"] * table["eps"] ** 2 / 48)
    assert np.all(table["eps"][above] > large_errors._rates_cross())
    assert above.any()


def test_other_tails_are_judged_otherwise():
    table, _ = replayed("fard2012.large_errors")
    judge = large_errors.LARGE_ERRORS.judge
    assert not judge(with_column(table, "upper_tail", lambda row: 2 * row["upper_tail"]))[0].corrected_holds
    light = with_column(table, "upper_tail", lambda row: np.exp(-row["r"] * row["eps"] ** 2 / 48))
    assert judge(light)[0].holds
