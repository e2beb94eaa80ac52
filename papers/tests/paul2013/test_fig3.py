"""Fig. 3: time and memory of projecting genotypes."""

import numpy as np
import pytest

from papers.tests.doctored import finding, with_column
from papers.tests.replayed import replayed
from slimline_papers.paul2013.contenders import FAMILIES

NAME = "paul2013.fig3"


@pytest.mark.slow
def test_cw_projects_fastest_and_in_little_memory():
    table, _ = replayed(NAME)
    rows = table.where(work="projecting", r=256)
    best = {family: rows.where(family=family)["seconds"].min() for family in FAMILIES}
    assert max(best["CW"], best["CountSketch"], best["grouped"]) < best["RS"]
    assert best["FHT"] < best["RS"]
    assert finding(NAME, table, "too large for the memory").holds in (True, None)  # None: a system that does not tell


def test_every_sketch_is_trained_on():
    table, _ = replayed(NAME)
    for task in ("regions", "populations"):
        assert len(table.where(work=task)) == len(FAMILIES) * len(table.distinct("r"))
        assert np.all(table.where(work=task)["seconds"] > 0)


def test_claims_are_computed():
    table, _ = replayed(NAME)
    times = {"FHT": 1.0, "RS": 2.0, "CW": 3.0, "CountSketch": 0.5, "grouped": 3.5}
    theirs = with_column(table, "seconds", lambda row: times[row["family"]] * (row["work"] == "projecting") + 1e3)
    ours = with_column(table, "seconds", lambda row: 4 - times[row["family"]])
    long_trained = with_column(table, "seconds", lambda row: 1.0 if row["work"] == "projecting" else 1e6)
    signs_slow = with_column(table, "seconds", lambda row: 99.0 if row["family"] == "RS" else 1.0)
    for changed, words, here in [
        (theirs, "FHT projects fastest", True), (ours, "FHT projects fastest", False),
        (long_trained, "nearly the same time", True), (signs_slow, "nearly the same time", False),
    ]:  # fmt: skip
        told = finding(NAME, changed, words)
        assert told.holds is None and told.ours.startswith("so it is here") is here
    assert "with CW and grouped as the sparse embedding" in finding(NAME, theirs, "FHT projects fastest").ours
    assert "with CountSketch as the sparse embedding" in finding(NAME, ours, "FHT projects fastest").ours
    large = with_column(table, "peak_mb", lambda row: 1e6)
    assert finding(NAME, large, "too large for the memory").holds is False
    untold = with_column(table, "peak_mb", lambda row: float("nan"))
    assert finding(NAME, untold, "too large for the memory").holds is None
