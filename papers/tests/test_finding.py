"""Findings: what may be said, and how numbers are compared."""

import math

import numpy as np
import pytest

from slimline.errors import InvalidParameterError
from slimline_papers import Cell, Finding
from slimline_papers.finding import alike_finding, cells_finding, either_way, times_finding

SAID = {"claim": "it falls", "printed": "0.5", "ours": "0.4"}


def test_numpy_truth_becomes_plain():
    finding = Finding(**SAID, holds=np.bool_(True), corrected="x", corrected_holds=np.bool_(False))
    assert finding.holds is True and finding.corrected_holds is False


@pytest.mark.parametrize("holds", [False, None, np.bool_(False)])
def test_a_failure_has_a_reason(holds):
    with pytest.raises(InvalidParameterError):
        Finding(**SAID, holds=holds)
    assert Finding(**SAID, holds=holds, reason="other data").reason == "other data"


def test_what_holds_needs_none():
    assert Finding(**SAID, holds=True, reason="would be this").reason == ""


def test_a_correction_is_named():
    with pytest.raises(InvalidParameterError):
        Finding(**SAID, holds=True, corrected_holds=True)


@pytest.mark.parametrize("ours, agrees", [(19.0, True), (21.0, True), (18.99, False), (math.nan, False)])
def test_a_number_agrees_within_the_printed_spread(ours, agrees):
    assert Cell("r = 256", 20.0, 1.0, ours).agrees is agrees


def test_a_number_without_a_spread_is_not_judged():
    assert Cell("full", 20.0, math.nan, 20.0).agrees is None
    assert Cell("full", 20.0, math.nan, 90.0).agrees is None


def test_numbers_without_spreads_stand_beside_the_printed_ones():
    equal = cells_finding("speed-ups", [Cell("D1", 6, math.nan, 6), Cell("D2", 9, math.nan, 9)], "no spread")
    assert equal.holds is None and equal.ours == "no spread is printed"
    # 3 for 6 is further off than 16 for 9, although 7 is more than 3
    cells = [Cell("D1", 6, math.nan, 3), Cell("D2", 9, math.nan, 16)]
    assert cells_finding("speed-ups", cells, "no spread", unit=" times").ours == (
        "no spread is printed; furthest: D1, 3 times for 6 times"
    )
    lost = [*cells, Cell("D3", 25, math.nan, math.nan)]
    assert "furthest: D3" in cells_finding("speed-ups", lost, "no spread").ours


def test_numbers_with_a_spread_are_judged_beside_others_without():
    finding = cells_finding("errors", [Cell("a", 10, 1, 10.5), Cell("b", 10, math.nan, 90)], "other data")
    assert finding.holds is True and finding.ours == "1 of 1 within the printed spread"
    assert cells_finding("errors", [Cell("a", 10, 1, 12), Cell("b", 10, math.nan, 10)], "other data").holds is False


def test_a_table_holds_if_every_number_does():
    good, bad, worse = Cell("a", 10, 1, 10.5), Cell("b", 20, 2, 25), Cell("c", 30, 1, 40)
    assert cells_finding("errors", [good], "other data").holds is True
    finding = cells_finding("errors", [good, bad, worse], "other data", unit=" %")
    assert finding.holds is False and finding.reason == "other data" and finding.cells == (good, bad, worse)
    assert finding.printed == "10 to 30 %"
    assert finding.ours == "1 of 3 within the printed spread; furthest: c, 40 % for 30 %"


def test_numbers_of_other_data_are_not_judged():
    finding = cells_finding("errors", [Cell("a", 10, 1, 10)], "a stand-in", comparable=False)
    assert finding.holds is None and finding.reason == "a stand-in"


def test_a_number_printed_without_spread_is_the_furthest_if_it_differs():
    cells = [Cell("a", 10, 0, 10), Cell("b", 10, 0, 11), Cell("c", 10, 1, 90)]
    assert "furthest: b" in cells_finding("errors", cells, "why").ours


def test_what_is_no_number_is_the_furthest():
    cells = [Cell("a", 10, 1, 90), Cell("b", 10, 1, math.nan), Cell("c", 10, 1, 10)]
    assert "furthest: b" in cells_finding("errors", cells, "why").ours


def test_no_numbers():
    with pytest.raises(InvalidParameterError):
        cells_finding("errors", [], "none")


def test_means_agree_within_three_standard_errors():
    close, far = (Cell("r = 256", 20.0, 10.0, ours, 10.0, error=1.0) for ours in (22.9, 23.1))
    assert close.agrees and not far.agrees
    assert Cell("r = 256", 20.0, 1.0, 21.1, 1.0, error=1.0).agrees is False  # the printed spread is less
    assert close.noticed == pytest.approx(3 + 1.645) and math.isnan(Cell("full", 20.0, 1.0, 20.0).noticed)
    said = cells_finding("errors", [close, far], "other data", unit=" %").ours
    assert said.startswith("1 of 2 within the printed spread, at most 3.1 standard errors off (95 % power at 4.64 %)")


def test_an_order_of_running_times_is_told_and_not_judged():
    so, not_so = (times_finding("A is faster.", "A", "1 s", here=here, why="B is") for here in (True, False))
    assert so.holds is None and not_so.holds is None
    assert so.ours == "so it is here: 1 s" and not_so.ours == "not so here: 1 s"
    assert "B is" in not_so.reason and "B is" not in so.reason


@pytest.mark.parametrize(
    "alike, share, holds",
    [(True, 0.1, True), (True, 0.11, None), (True, math.inf, None), (False, 0.1, False), (False, 0.9, False)],
)
def test_what_is_nearly_the_same_holds_only_if_a_small_difference_would_be_noticed(alike, share, holds):
    said = {"noticed": 2.0, "unit": " %", "reason": "one is better"}
    found = alike_finding("A and B are alike.", "alike", "0.2 % apart", alike=alike, share=share, **said)
    assert found.holds is holds and "95 % power at a gap of 2 %" in found.ours
    assert ("unnoticed" in found.reason) is (holds is None)
    assert (found.reason == "one is better") is (holds is False)


@pytest.mark.parametrize("raw, scaled, holds", [(True, True, True), (False, False, False), (False, True, None)])
def test_a_setting_that_is_left_open_is_judged_if_it_does_not_matter(raw, scaled, holds):
    found = either_way(
        "It falls.", "falls", {"raw": (raw, "3, 9"), "scaled": (scaled, "3, 1")}, "Not said", "long rows"
    )
    assert found.holds is holds
    assert "raw (holds)" in found.ours or not raw
    assert bool(found.reason) is (holds is not True) and ("Not said" in found.reason) is (holds is None)
