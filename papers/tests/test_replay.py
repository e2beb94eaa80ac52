"""A replay from end to end: files, what is kept, what is measured again."""

import json
from dataclasses import replace

import pytest

from papers.tests import made_up
from slimline.errors import InvalidParameterError
from slimline_papers import Study, Table, replay, reproduce

MINIATURE = Study("miniature")


@pytest.fixture(autouse=True)
def _nothing_called():
    made_up.calls.clear()
    made_up.stop_at.clear()


def test_leaves_csv_figures_page_and_findings(tmp_path):
    (result,) = reproduce([made_up.item()], tmp_path, MINIATURE)
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert left == [
        "findings.csv", "index.html", "shi2012/made_up.png", "shi2012/made_up.svg",
        "shi2012/made_up_measured.csv", "shi2012/made_up_measured.json",
    ]  # fmt: skip
    kept = Table.from_csv((tmp_path / "shi2012" / "made_up_measured.csv").read_text())
    assert kept == result.measured.table and len(kept) == 2
    assert [finding.holds for finding in result.findings] == [True, False, None, False, True]


def test_what_is_there_is_not_measured_again(tmp_path):
    item = made_up.item()
    first = reproduce([item], tmp_path, MINIATURE)
    assert reproduce([item], tmp_path, MINIATURE) == first and made_up.calls == [(0,), (1,)]
    reproduce([item], tmp_path, MINIATURE, force=True)
    assert made_up.calls == [(0,), (1,)] * 2


def test_more_than_asked_for_serves_as_well_and_less_does_not(tmp_path):
    item = made_up.item()
    reproduce([item], tmp_path, Study("default"))
    (result,) = reproduce([item], tmp_path, MINIATURE)
    assert result.measured.size == "default" and len(made_up.calls) == 3
    (result,) = reproduce([item], tmp_path, Study("full"))
    assert result.measured.size == "full" and len(made_up.calls) == 8


def test_another_seed_is_measured(tmp_path):
    (one,) = reproduce([made_up.item()], tmp_path, MINIATURE)
    (two,) = reproduce([made_up.item()], tmp_path, Study("miniature", seed=1))
    assert one.measured.table != two.measured.table


def test_an_interrupted_run_goes_on(tmp_path):
    item = made_up.item()
    made_up.stop_at.append((2,))
    with pytest.raises(KeyboardInterrupt):
        reproduce([item], tmp_path, Study("default"))
    assert not (tmp_path / "shi2012" / "made_up_measured.csv").exists()
    made_up.stop_at.clear()
    (result,) = reproduce([item], tmp_path, Study("default"))
    assert made_up.calls == [(0,), (1,), (2,)] and len(result.measured.table) == 3
    assert not list((tmp_path / ".parts").iterdir())


def test_an_interrupted_run_leaves_figures_and_page_of_what_is_finished(tmp_path):
    first, second = made_up.item(), made_up.item("uml2014.second")
    made_up.stop_at.append("uml2014.second_measured")
    with pytest.raises(KeyboardInterrupt):
        reproduce([first, second], tmp_path, MINIATURE)
    assert {path.name for path in (tmp_path / "shi2012").iterdir()} >= {"made_up.png", "made_up.svg"}
    page = (tmp_path / "index.html").read_text()
    assert 'id="shi2012.made_up"' in page and 'id="uml2014.second"' not in page
    findings = Table.from_csv((tmp_path / "findings.csv").read_text())
    assert findings.distinct("item") == ["shi2012.made_up"]


def test_an_error_leaves_figures_and_page_of_what_is_finished(tmp_path):
    first, second = made_up.item(), replace(made_up.item("uml2014.second"), judge=lambda table: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        reproduce([first, second], tmp_path, MINIATURE)
    assert 'id="shi2012.made_up"' in (tmp_path / "index.html").read_text()


def test_results_of_earlier_runs_are_shown_until_others_take_their_place(tmp_path, monkeypatch):
    first, second = made_up.item(), made_up.item("uml2014.second")
    monkeypatch.setattr(replay, "ITEMS", (first, second))
    reproduce([first, second], tmp_path, MINIATURE)
    made_up.stop_at.append("uml2014.second_measured")
    with pytest.raises(KeyboardInterrupt):
        reproduce([first, second], tmp_path, Study("full"))
    findings = Table.from_csv((tmp_path / "findings.csv").read_text())
    assert findings.where(item="shi2012.made_up").distinct("size") == ["full"]
    assert findings.where(item="uml2014.second").distinct("size") == ["miniature"]


def test_an_interrupted_run_with_force_goes_on_without(tmp_path, monkeypatch):
    items = [made_up.item(), made_up.item("uml2014.second"), made_up.item("uml2014.third")]
    monkeypatch.setattr(replay, "ITEMS", tuple(items))
    reproduce(items, tmp_path, Study("default"))
    made_up.calls.clear()
    made_up.stop_at.append(("uml2014.second_measured", (2,)))
    with pytest.raises(KeyboardInterrupt):
        reproduce(items, tmp_path, Study("default"), force=True)
    assert made_up.calls == [(0,), (1,), (2,), (0,), (1,)]
    # what was dropped is gone from the page too
    page = (tmp_path / "index.html").read_text()
    assert 'id="shi2012.made_up"' in page and 'id="uml2014.third"' not in page
    made_up.stop_at.clear()
    reproduce(items, tmp_path, Study("default"))
    # neither is what had been measured measured once more, nor is something old taken for new
    assert made_up.calls == [(0,), (1,), (2,)] * 3


def test_force_drops_nothing_that_cannot_be_measured_again(tmp_path, monkeypatch):
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)
    with_data = made_up.item("shi2012.of_data", ("newsgroups",))
    reproduce([with_data], tmp_path / "out", Study("miniature", data=tmp_path, _loaded={"newsgroups": "read before"}))
    (result,) = reproduce([with_data], tmp_path / "out", Study("miniature", data=tmp_path), force=True)
    assert result.measured is None and "newsgroups is not at hand" in result.missing
    (result,) = reproduce([with_data], tmp_path / "out", Study("miniature", data=tmp_path))
    assert result.measured is not None and len(made_up.calls) == 2


def test_pieces_of_another_seed_are_left_alone(tmp_path):
    item = made_up.item()
    made_up.stop_at.append((2,))
    with pytest.raises(KeyboardInterrupt):
        reproduce([item], tmp_path, Study("default"))
    made_up.stop_at.clear()
    reproduce([item], tmp_path, Study("default", seed=5))
    assert made_up.calls == [(0,), (1,), (0,), (1,), (2,)]


def test_a_csv_that_was_edited_is_measured_again(tmp_path):
    item = made_up.item()
    (before,) = reproduce([item], tmp_path, MINIATURE)
    path = tmp_path / "shi2012" / "made_up_measured.csv"
    path.write_text(path.read_text().replace("a<b", "c<d"))
    (after,) = reproduce([item], tmp_path, MINIATURE)
    assert after.measured.table == before.measured.table and len(made_up.calls) == 4


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"layout": 99}', '{"layout": 1}'])
def test_a_damaged_record_is_measured_again(tmp_path, damage):
    item = made_up.item()
    reproduce([item], tmp_path, MINIATURE)
    (tmp_path / "shi2012" / "made_up_measured.json").write_text(damage)
    reproduce([item], tmp_path, MINIATURE)
    assert len(made_up.calls) == 4


@pytest.mark.parametrize(("field", "value"), [("size", "huge"), ("sha256", None), ("seed", "one"), ("sources", 7)])
def test_a_record_of_nonsense_is_measured_again(tmp_path, field, value):
    item = made_up.item()
    reproduce([item], tmp_path, MINIATURE)
    path = tmp_path / "shi2012" / "made_up_measured.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    reproduce([item], tmp_path, MINIATURE)
    assert len(made_up.calls) == 4


def test_a_csv_that_is_no_text_is_measured_again(tmp_path):
    item = made_up.item()
    reproduce([item], tmp_path, MINIATURE)
    (tmp_path / "shi2012" / "made_up_measured.csv").write_bytes(b"\xff\xfe\x00")
    reproduce([item], tmp_path, MINIATURE)
    assert len(made_up.calls) == 4


@pytest.mark.parametrize("damage", ["", '{"layout": 1}', '{"layout": 1, "csv": "a,b", "seconds": 1, "sha256": ""}'])
def test_a_damaged_piece_is_measured_again(tmp_path, damage):
    item = made_up.item()
    made_up.stop_at.append((2,))
    with pytest.raises(KeyboardInterrupt):
        reproduce([item], tmp_path, Study("default"))
    made_up.stop_at.clear()
    (piece,) = (tmp_path / ".parts").rglob("00001.json")
    piece.write_text(damage)
    (result,) = reproduce([item], tmp_path, Study("default"))
    assert made_up.calls == [(0,), (1,), (1,), (2,)] and len(result.measured.table) == 3


def test_a_damaged_figure_of_an_earlier_run_is_drawn_again(tmp_path, monkeypatch):
    first, second = made_up.item(), made_up.item("uml2014.second")
    monkeypatch.setattr(replay, "ITEMS", (first, second))
    reproduce([second], tmp_path, MINIATURE)
    path = tmp_path / "uml2014" / "second.png"
    whole = path.read_bytes()
    for damage in (b"", b"no picture", whole[: len(whole) // 2]):
        path.write_bytes(damage)
        reproduce([first], tmp_path, MINIATURE)
        assert path.read_bytes() == whole


def test_missing_data_stop_only_the_items_that_need_them(tmp_path, monkeypatch):
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)
    with_data = made_up.item("shi2012.of_data", ("newsgroups",))
    results = reproduce([with_data, made_up.item()], tmp_path, Study("miniature", data=tmp_path))
    assert results[0].measured is None and "newsgroups" in results[0].missing
    assert results[1].measured is not None
    assert (tmp_path / "index.html").read_text().count("Not run.") == 1


def test_damaged_data_stop_only_the_items_that_need_them(tmp_path):
    folder = tmp_path / "newsgroups20"
    folder.mkdir()
    for name in ("classes.txt", "counts_train.npz", "pairs.json.gz"):
        (folder / name).write_bytes(b"other data")
    with_data = made_up.item("shi2012.of_data", ("newsgroups",))
    results = reproduce([with_data, made_up.item()], tmp_path / "out", Study("miniature", data=tmp_path))
    assert results[0].measured is None and "SHA-256" in results[0].missing
    assert results[1].measured is not None


def test_the_page_keeps_what_earlier_runs_left(tmp_path, monkeypatch):
    first, second = made_up.item(), made_up.item("uml2014.second")
    monkeypatch.setattr(replay, "ITEMS", (first, second))
    reproduce([second], tmp_path, MINIATURE)
    reproduce([first], tmp_path, MINIATURE)
    page = (tmp_path / "index.html").read_text()
    assert 0 < page.index('id="shi2012.made_up"') < page.index('id="uml2014.second"')


def test_the_listener_is_told(tmp_path):
    told = []
    reproduce([made_up.item(), made_up.item("shi2012.second")], tmp_path, MINIATURE, listener=told.append)
    assert [(now.number, now.part, now.parts, now.experiments) for now in told] == [
        (0, 0, 2, 2), (0, 1, 2, 2), (0, 2, 2, 2), (1, 0, 2, 2), (1, 1, 2, 2), (1, 2, 2, 2),
    ]  # fmt: skip


def test_a_file_is_no_folder(tmp_path):
    path = tmp_path / "file"
    path.touch()
    for out in (path, path / "within" / "it"):
        with pytest.raises(InvalidParameterError):
            reproduce([made_up.item()], out, MINIATURE)
    assert not made_up.calls


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)  # permissions do not stop root
    with pytest.raises(InvalidParameterError):
        reproduce([made_up.item()], tmp_path / "out", MINIATURE)
    assert not made_up.calls


def test_the_same_run_gives_the_same_files(tmp_path):
    for name in ("one", "two"):
        reproduce([made_up.item()], tmp_path / name, MINIATURE)
    for name in ("shi2012/made_up.png", "shi2012/made_up_measured.csv", "findings.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
