"""Lemma 23.3: the tail of one norm."""

import numpy as np
import pytest
from scipy import stats

from papers.tests.doctored import with_column
from papers.tests.replayed import replayed
from slimline_papers.uml2014.lemma23_3 import LEMMA23_3


@pytest.mark.slow
def test_the_law_holds_and_the_printed_range_does_not():
    _, (law, lemma) = replayed("uml2014.lemma23_3")
    assert law.holds
    assert not lemma.holds
    assert lemma.corrected_holds


def test_the_bound_is_passed_where_it_is_said_to_be():
    table, _ = replayed("uml2014.lemma23_3")
    for r, eps, above in [(8, 2.9, True), (384, 1, True), (16, 2.5, True), (8, 2, False), (384, 0.75, False)]:
        row = table.where(r=r, eps=eps)
        printed = 2 * np.exp(-(eps**2) * r / 6)
        # both ways the difference is more than 6 standard errors: wrong with a probability below 1e-8
        assert (row["upper_tail"][0] - printed) / row["error"][0] * (1 if above else -1) > 6


def test_frequencies_follow_the_law():
    # 64 binomial counts, each outside its limits with a probability of 1e-8
    table, _ = replayed("uml2014.lemma23_3")
    r, eps = table["r"], table["eps"]
    exact = stats.chi2.sf(r * (1 + eps), r) + stats.chi2.cdf(r * np.maximum(1 - eps, 0), r)
    low, high = stats.binom.ppf([[5e-9], [1 - 5e-9]], table["vectors"], exact)
    assert np.all((low <= table["beyond"]) & (table["beyond"] <= high))


def test_the_first_failing_dimensions_are_named():
    _, (_, lemma) = replayed("uml2014.lemma23_3")
    assert "r = 314" in lemma.reason and "r = 16 on" in lemma.reason


@pytest.mark.parametrize("column", ["beyond", "upper_tail"])
def test_a_wrong_law_is_noticed(column):
    table, _ = replayed("uml2014.lemma23_3")
    law, lemma = LEMMA23_3.judge(with_column(table, column, lambda row: row[column] * 2))
    assert not law.holds and not lemma.corrected_holds


def test_a_lemma_that_holds_is_found_to():
    table, _ = replayed("uml2014.lemma23_3")
    smaller = with_column(table, "upper_tail", lambda row: np.exp(-(row["eps"] ** 2) * row["r"] / 6))
    smaller = with_column(smaller, "beyond", lambda row: 0)
    assert LEMMA23_3.judge(smaller)[1].holds
