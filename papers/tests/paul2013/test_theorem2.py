"""Theorem 2: the radius changes no more than the embedding, or the distances, do."""

import numpy as np
import pytest

from papers.tests.doctored import with_column
from papers.tests.replayed import replayed
from slimline_papers import find_items


def _holds(table):
    (item,) = find_items(["paul2013.theorem2"])
    return [(finding.holds, finding.corrected_holds) for finding in item.judge(table)]


@pytest.mark.slow
def test_the_theorem_is_true_and_the_rank_is_not_needed():
    table, findings = replayed("paul2013.theorem2")
    assert findings[2].beyond  # the document speaks of margin and radius together
    assert _holds(table) == [(True, None)] * 4


def test_the_radius_changes_as_distances_do():
    table, _ = replayed("paul2013.theorem2")
    assert np.all(table["ball_ratio"] > 1 + table["nearest"] - 1e-6)
    assert np.all(table["ball_ratio"] < 1 + table["farthest"] + 1e-6)
    assert np.all(np.maximum(-table["nearest"], table["farthest"]) < table["e"] + 1e-6)


def test_what_is_false_is_found_false():
    table, _ = replayed("paul2013.theorem2")
    larger = _holds(with_column(table, "ball_ratio", lambda row: 1.01 * row["ball_ratio"]))
    assert larger[0] == (False, None)
    assert larger[1] == (False, None)
    assert _holds(with_column(table, "ball_ratio", lambda row: 0.99 * row["ball_ratio"]))[1] == (False, None)
    assert _holds(with_column(table, "farthest", lambda row: row["farthest"] / 10))[2] == (False, None)
    assert _holds(with_column(table, "capacity_after", lambda row: 3 * row["capacity_after"]))[3] == (False, None)
