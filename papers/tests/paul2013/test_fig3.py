"""Fig. 3: time and memory of projecting genotypes."""

import numpy as np
import pytest

from papers.tests.doctored import finding, with_column
from papers.tests.replayed import replayed

NAME = "paul2013.fig3"


@pytest.mark.slow
def test_cw_projects_fastest_and_in_little_memory():
    table, _ = replayed(NAME)
    rows = table.where(work="projecting", r=256)
    best = {family: rows.where(family=family)["seconds"].min() for family in ("CW", "RS", "FHT")}
    assert best["CW"] < best["RS"]
    assert best["FHT"] < best["RS"]
    assert finding(NAME, table, "too large for the memory").holds in (True, None)  # None: a system that does not tell


def test_every_sketch_is_trained_on():
    table, _ = replayed(NAME)
    for task in ("regions", "populations"):
        assert len(table.where(work=task)) == 3 * len(table.distinct("r"))
        assert np.all(table.where(work=task)["seconds"] > 0)


def test_claims_are_computed():
    table, _ = replayed(NAME)
    times = {"FHT": 1.0, "RS": 2.0, "CW": 3.0}
    theirs = with_column(table, "seconds", lambda row: times[row["family"]] * (row["work"] == "projecting") + 1e3)
    assert finding(NAME, theirs, "FHT projects fastest").holds is True
    ours = with_column(table, "seconds", lambda row: 4 - times[row["family"]])
    assert finding(NAME, ours, "FHT projects fastest").holds is False
    long_trained = with_column(table, "seconds", lambda row: 1.0 if row["work"] == "projecting" else 1e6)
    assert finding(NAME, long_trained, "nearly the same time").holds is True
    signs_slow = with_column(table, "seconds", lambda row: 99.0 if row["family"] == "RS" else 1.0)
    assert finding(NAME, signs_slow, "nearly the same time").holds is False
    large = with_column(table, "peak_mb", lambda row: 1e6)
    assert finding(NAME, large, "too large for the memory").holds is False
    untold = with_column(table, "peak_mb", lambda row: float("nan"))
    assert finding(NAME, untold, "too large for the memory").holds is None
