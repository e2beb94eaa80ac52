"""Equations 1, 2, 5 and 9 and Lemma 10: as printed, as corrected, as measured."""

import numpy as np
import pytest

from papers.tests.doctored import doctored, judged
from papers.tests.replayed import replayed
from slimline_papers.shi2012.eq2 import points_at_margin


@pytest.mark.parametrize("name", ["shi2012.eq1", "shi2012.eq2"])
def test_printed_statements_fail_and_corrected_ones_hold(name):
    _, findings = replayed(name)
    assert all(finding.holds is False and finding.corrected_holds is True for finding in findings)


def test_equation_1_at_an_angle():
    table, _ = replayed("shi2012.eq1")
    rows = table.where(equation=1)
    angles = np.radians(rows["angle"])  # min over (±1, 1) of -x sin + cos
    np.testing.assert_allclose(rows["value"], np.cos(angles) - np.abs(np.sin(angles)), atol=1e-12)


def test_equation_5_at_an_angle():
    table, _ = replayed("shi2012.eq1")
    rows = table.where(equation=5)
    angles = np.abs(np.radians(rows["angle"]))  # own cos θ, the nearer other one cos(120° - θ)
    np.testing.assert_allclose(rows["value"], np.cos(angles) - np.cos(2 * np.pi / 3 - angles), atol=1e-12)


def test_a_value_that_did_not_depend_on_u_would_be_as_printed():
    table, _ = replayed("shi2012.eq1")
    findings = judged("shi2012.eq1", doctored(table, value=lambda row: row["best"]))
    assert all(finding.holds for finding in findings)
    above = judged("shi2012.eq1", doctored(table, value=lambda row: row["value"] + 1))
    assert not any(finding.corrected_holds for finding in above)


def test_points_of_equation_2_have_their_margin():
    X, y = points_at_margin(7, seed=1)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    np.testing.assert_allclose(np.where(y == 1, 1, -1) * X[:, 0], 0.3)


def test_if_no_projection_kept_all_points_equation_2_would_be_right():
    table, _ = replayed("shi2012.eq2")
    (finding,) = judged("shi2012.eq2", doctored(table, kept=lambda row: 0))
    assert (finding.holds, finding.corrected_holds) == (True, False)


def test_the_second_tail_of_lemma_10_is_the_other_way_round():
    _, (lemma, tail) = replayed("shi2012.lemma10")
    assert lemma.holds and tail.holds is False and tail.corrected_holds is True


def test_other_tails_would_change_the_verdict():
    table, _ = replayed("shi2012.lemma10")
    swapped = doctored(table, at_most=lambda row: 0, at_least=lambda row: row["matrices"])
    lemma, tail = judged("shi2012.lemma10", swapped)
    assert (lemma.holds, tail.holds, tail.corrected_holds) == (False, True, False)


def test_the_chain_of_equation_9_breaks_and_its_end_does_not():
    table, (first, second) = replayed("shi2012.eq9")
    assert first.holds is False and first.corrected_holds is True and second.holds
    assert np.all(table["within"] > 100)


def test_steps_that_broke_would_be_seen():
    table, _ = replayed("shi2012.eq9")
    first, second = judged("shi2012.eq9", doctored(table, second=lambda row: 1, end=lambda row: 1))
    assert first.corrected_holds is False and second.holds is False
    assert judged("shi2012.eq9", doctored(table, first=lambda row: 0))[0].holds
