"""Experiments that have the document's own data, or others in their place."""

from dataclasses import replace

import pytest

from papers.tests import made_up
from slimline_papers import Study, Table, reproduce

OWN, STAND_IN = "techtc300", "newsgroups"


def _measure(study, part):
    source = OWN if OWN in study._loaded else STAND_IN
    if part in made_up.stop_at:
        raise KeyboardInterrupt
    made_up.calls.append((source, *part))
    yield part[0], 1.0, source, True


def _item():
    item = made_up.item("paul2013.of_data", (STAND_IN,))
    columns = ("number", "value", "source", "flag")
    return replace(item, experiment=replace(item.experiment, own_source=OWN, columns=columns, measure=_measure))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that replays the item with some data at hand."""
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)
    made_up.calls.clear()
    made_up.stop_at.clear()

    def replayed(*at_hand):
        study = Study("miniature", data=tmp_path, _loaded=dict.fromkeys(at_hand, "read before"))
        return reproduce([_item()], tmp_path / "out", study)[0]

    return replayed


@pytest.mark.parametrize("at_hand", [OWN, STAND_IN])
def test_the_documents_own_data_need_no_stand_in(run, tmp_path, at_hand):
    result = run(at_hand)
    assert result.measured is not None and result.sources == (at_hand,)
    page = (tmp_path / "out" / "index.html").read_text()
    assert ("<h2>Stand-ins</h2>" in page) == (at_hand == STAND_IN)


def test_own_data_that_arrive_take_the_place_of_a_stand_in(run):
    assert run(STAND_IN).sources == (STAND_IN,)
    result = run(OWN, STAND_IN)
    assert result.sources == (OWN,) and result.measured.table.distinct("source") == [OWN]
    assert made_up.calls == [(STAND_IN, 0), (STAND_IN, 1), (OWN, 0), (OWN, 1)]


@pytest.mark.parametrize("at_hand", [(), (STAND_IN,)])
def test_what_was_measured_on_own_data_is_kept_when_they_are_gone(run, at_hand):
    before = run(OWN)
    assert run(*at_hand) == before and len(made_up.calls) == 2


def test_what_was_measured_on_a_stand_in_is_kept_when_it_is_gone(run):
    before = run(STAND_IN)
    assert run() == before and len(made_up.calls) == 2


def test_pieces_of_a_stand_in_are_not_mixed_with_others(run, tmp_path):
    made_up.stop_at.append((1,))
    with pytest.raises(KeyboardInterrupt):
        run(STAND_IN)
    made_up.stop_at.clear()
    assert run(OWN, STAND_IN).measured.table.distinct("source") == [OWN]
    kept = Table.from_csv((tmp_path / "out" / "paul2013" / "of_data_measured.csv").read_text())
    assert kept.distinct("source") == [OWN] and len(kept) == 2


def test_damaged_own_data_leave_out_only_what_needs_them(run, tmp_path):
    pair = tmp_path / OWN / "Exp_1_2"
    pair.mkdir(parents=True)
    (pair / "features.idx").write_text("no words")
    study = Study("miniature", data=tmp_path, _loaded={STAND_IN: "read before"})
    results = reproduce([_item(), made_up.item()], tmp_path / "out", study)
    assert results[0].measured is None and "features.idx must list words" in results[0].missing
    assert results[1].measured is not None
    assert "features.idx must list words" in (tmp_path / "out" / "index.html").read_text()


def test_a_study_looks_again_in_the_next_run(tmp_path, monkeypatch):
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)
    study = Study("miniature", data=tmp_path)
    (before,) = reproduce([_item()], tmp_path / "out", study)
    study._loaded[STAND_IN] = "put there"
    (after,) = reproduce([_item()], tmp_path / "out", study)
    assert before.measured is None and after.sources == (STAND_IN,)
