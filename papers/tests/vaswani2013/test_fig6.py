"""Fig. 6: iterations that converge, and that do not."""

import numpy as np
import pytest

from papers.tests.replayed import replayed
from papers.tests.vaswani2013.changed import changed, verdicts
from slimline_papers import Study, Table, find_items

_NAME = "vaswani2013.fig6"
pytestmark = [pytest.mark.data, pytest.mark.usefixtures("data_dir")]


@pytest.mark.slow
def test_the_published_iteration_converges_on_one_set_and_the_certified_one_on_both():
    _, findings = replayed(_NAME)
    # in miniature DOROTHEA has 500 projections, of which the document says nothing
    assert [finding.holds for finding in findings] == [True, True, True]
    assert [finding.beyond for finding in findings] == [False, True, True]
    assert all(f"{how} (holds)" in findings[0].ours for how in ("as they come", "rows of norm 1"))
    assert "grown to" in findings[1].ours


def _as_printed(table):
    """The errors of DOROTHEA at r = 500 under the label of the printed 2,500, which takes longer to measure."""
    raw, unit = table.where(scaling="raw"), table.where(scaling="unit")
    diverging = changed(raw.where(r=500), "r", lambda row: 2500)
    converging = changed(unit, "data", lambda row: "dorothea")
    return diverging, Table(table.columns, (*diverging.rows, *converging.rows))


def test_a_verdict_speaks_of_both_scalings():
    table, _ = replayed(_NAME)
    diverging, both = _as_printed(table)
    (item,) = find_items([_NAME])
    alone = item.judge(diverging)[0]
    assert (alone.holds, alone.beyond, alone.corrected_holds) == (False, False, True)
    finding = item.judge(both)[0]
    assert (finding.holds, finding.beyond, finding.corrected_holds) == (None, False, True)
    assert "as they come (does not hold)" in finding.ours and "rows of norm 1 (holds)" in finding.ours
    assert "s = 0.00, because the rank, 800, is" in finding.reason
    steady = changed(both, "error", lambda row: row["passes"])
    assert (item.judge(steady)[0].holds, item.judge(steady)[0].corrected_holds) == (False, False)


def test_below_the_rank_the_error_grows_a_thousand_times_a_step():
    table, _ = replayed(_NAME)
    rows = table.where(data="dorothea", r=500, recovery="iterative")
    expected = {1: 5.6e2, 2: 5.8e5, 4: 8e11, 8: 2e24}  # exponents differ little from matrix to matrix
    exponents = np.log10([expected[steps] for steps in rows.values("passes")])
    np.testing.assert_allclose(np.log10(rows["error"]), exponents, rtol=0.1)


def test_an_iteration_contracts_by_no_more_than_the_smallest_eigenvalue_says():
    table, _ = replayed(_NAME)
    rows = table.where(scaling="raw", data="arcene", recovery="iterative")
    smallest = rows["smallest"][0]
    # (1 - √(100/2500))² = 0.64, less than 5 fluctuations of 0.013
    assert 0.575 < smallest < 0.705
    assert np.all(rows["error"][1:] / rows["error"][:-1] < (1 / smallest - 1) ** np.diff(rows["passes"]))


def test_the_factor_without_the_penalty_is_told_where_the_penalty_is_small():
    table, _ = replayed(_NAME)
    (item,) = find_items([_NAME])
    titles = [axes.get_title(loc="left") or axes.get_title() for axes in item.draw(table).axes]
    assert any("as λ → 0" in title for title in titles if "as they come" in title)
    assert not any("a step at most" in title for title in titles if "rows of norm 1" in title)


def test_errors_that_grow_and_proofs_that_fail_are_seen():
    table, _ = replayed(_NAME)
    assert verdicts(_NAME, changed(table, "error", lambda row: row["passes"]))[:2] == [False, False]
    assert verdicts(_NAME, changed(table, "error", lambda row: 0.01 ** row["passes"]))[:2] == [True, False]
    assert verdicts(_NAME, changed(table, "proved", lambda row: 0.9 * row["error"]))[-1] is False


def _second_run(table, error):
    """The table with another run, whose errors are a function of those of the first."""
    more = changed(changed(table, "run", lambda row: 1), "error", error)
    return Table(table.columns, (*table.rows, *more.rows))


def _is_last(row):
    return (row["data"], row["passes"]) == ("arcene", 5)


def test_one_run_that_grows_is_seen_among_others():
    table, _ = replayed(_NAME)
    alike = _second_run(table, lambda row: 1.1 * row["error"])
    assert verdicts(_NAME, alike) == [True, True, True]
    (item,) = find_items([_NAME])
    assert "mean errors of 2 runs" in item.judge(alike)[0].ours and "in the worst run" in item.judge(alike)[0].ours
    assert item.draw(alike).axes[0].collections  # the band
    # only the last iteration of the second run grows
    grows = _second_run(table, lambda row: row["error"] * (1e6 if _is_last(row) else 1))
    finding = item.judge(grows)[0]
    assert finding.holds is False and "in 1 of them not falling" in finding.ours


def test_full_size_has_the_runs_of_the_document():
    (item,) = find_items([_NAME])
    assert {part[-1] for part in item.experiment.parts(Study("full"))} == set(range(10))
