"""Table 3: sketched documents."""

import numpy as np
import pytest

from papers.tests.doctored import finding, with_column
from papers.tests.replayed import replayed
from slimline_papers import Study
from slimline_papers.paul2013.contenders import FAMILIES
from slimline_papers.paul2013.documents import document_pairs
from slimline_papers.paul2013.table3 import _standard_error
from slimline_papers.sources import SOURCES

NAME = "paul2013.table3"
pytestmark = [pytest.mark.data, pytest.mark.usefixtures("data_dir")]


@pytest.mark.nightly
def test_errors_fall_and_margins_grow_with_r():
    table, _ = replayed(NAME)
    errors = [table.where(r=r).mean("error_out") for r in (128, 512, 0)]
    margins = [table.where(r=r).mean("margin") for r in (128, 256, 512, 0)]
    assert errors == sorted(errors, reverse=True)
    assert margins == sorted(margins)
    assert finding(NAME, table, "margin grows").holds


def test_stand_ins_are_not_judged_by_printed_numbers():
    table, findings = replayed(NAME)
    if table.distinct("source") == ["newsgroups"]:
        assert [found.holds for found in findings[:4]] == [None] * 4
    assert [len(found.cells) for found in findings[:4]] == [16, 16, 15, 16]


def test_the_papers_own_documents_are_judged():
    table, _ = replayed(NAME)
    own = with_column(table, "source", lambda row: "techtc300")
    assert finding(NAME, own, "Margins.").holds is not None
    assert finding(NAME, with_column(own, "margin", lambda row: 50.0), "Margins.").holds is False


def test_families_and_sample_errors_are_alike():
    table, _ = replayed(NAME)
    assert finding(NAME, table, "errs as often").holds
    for words in ("Errors are nearly", "Margins are nearly"):  # so few pairs would not tell a small difference
        told = finding(NAME, table, words)
        assert told.holds is None and "95 % power" in told.ours, words


def test_countsketch_projects_fastest():
    table, _ = replayed(NAME)
    seconds = {family: table.where(family=family).mean("t_rp") for family in FAMILIES}
    assert max(seconds["CountSketch"], seconds["grouped"]) < min(seconds["RS"], seconds["FHT"])
    quick = with_column(table, "t_rp", lambda row: 1e-9 if row["family"] == "CW" else row["t_rp"])
    told = finding(NAME, quick, "least time with CW")
    assert told.holds is None and told.ours.startswith("so it is here")


def test_false_claims_are_found_out():
    table, _ = replayed(NAME)
    reversed_ = with_column(table, "error_out", lambda row: 50 - row["error_out"])
    assert finding(NAME, reversed_, "error on what was left out falls").holds is False
    shrunk = with_column(table, "margin", lambda row: 1 / row["margin"])
    assert finding(NAME, shrunk, "margin grows").holds is False
    apart = with_column(table, "error_out", lambda row: row["error_out"] + 40 * (row["family"] == "CW"))
    assert finding(NAME, apart, "Errors are nearly").holds is False
    inside = with_column(table, "error_in", lambda row: float(row["family"] == "RS"))
    assert finding(NAME, inside, "errs as often").holds is False
    slow = with_column(table, "t_rp", lambda row: 9.0 if row["family"] == "CW" else row["t_rp"])
    assert finding(NAME, slow, "least time with CW").ours.startswith("not so here")
    for words, seconds in (("lost in LIBSVM", 1e-9), ("than training on all words", 1e9)):
        other = with_column(table, "t_run", lambda row, s=seconds: s if row["family"] == "CW" else row["t_run"])
        assert finding(NAME, other, words).ours.startswith("not so here"), words


def test_how_much_faster_is_told_and_not_judged():
    table, _ = replayed(NAME)
    twice = with_column(table, "t_run", lambda row: 2.0 if row["family"] == "full" else 1.0)
    told = finding(NAME, twice, "70 % faster")
    assert told.holds is None and told.ours == "+100 %"


def test_pairs_come_in_an_order_of_chance_and_all_of_them():
    study = Study(size="miniature")
    source, pairs = document_pairs(study)
    stored = study.load(source)
    assert sorted(pair.name for pair in pairs) == sorted(pair.name for pair in stored)
    assert [pair.name for pair in pairs] != [pair.name for pair in stored]
    assert source in SOURCES


def test_pairs_that_share_documents_do_not_count_as_independent():
    differences = np.random.default_rng(0).standard_normal(190)
    assert _standard_error(differences) == pytest.approx(differences.std(ddof=1) / np.sqrt(10))
    assert _standard_error(differences[:4]) == pytest.approx(differences[:4].std(ddof=1) / 2)
