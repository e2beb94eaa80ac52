"""`slimline reproduce`, as it is called."""

import json
import signal
import time

import pytest

from slimline_papers import ITEMS
from tests.cli.command import run_here, start


def test_list_names_every_item(monkeypatch, capsys):
    assert run_here(monkeypatch, "reproduce", "--list") == 0
    shown = capsys.readouterr().out
    assert all(item.name in shown for item in ITEMS)


def test_list_names_stand_ins(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    assert run_here(monkeypatch, "reproduce", "--list", "paul2013") == 0
    lines = {line.split()[0]: line.rstrip() for line in capsys.readouterr().out.splitlines()}
    assert lines["paul2013.fig3"].endswith("made up (stand-in)") and lines["paul2013.fig1"].endswith("made up")
    assert lines["paul2013.table3"].endswith("techtc300 or newsgroups (stand-in)")


def test_an_item_leaves_its_files_and_says_what_holds(monkeypatch, capsys, tmp_path):
    out = tmp_path / "replayed"
    arguments = ("reproduce", "shi2012.fig1", "--quick", "--out", str(out), "--json", "-")
    assert run_here(monkeypatch, *arguments) == 0
    said = capsys.readouterr()
    record = json.loads(said.out)
    assert [item["item"] for item in record["items"]] == ["shi2012.fig1"]
    assert {found["verdict"] for found in record["items"][0]["findings"]} == {"holds"}
    assert "shi2012.fig1" in said.err and str(out / "index.html") in said.err.replace("\n", "")
    assert {path.name for path in (out / "shi2012").iterdir()} == {"fig1.png", "fig1.svg", "spread.csv", "spread.json"}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("paul1066",), "there is nothing called 'paul1066'"),
        (("shi2012.fig9",), "shi2012.fig1"),
        (("--full", "--quick"), "exclude each other"),
        (("--data", "nowhere"), "no such folder"),
    ],
)
def test_mistakes_are_said_in_one_line(monkeypatch, capsys, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert run_here(monkeypatch, "reproduce", *arguments) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


def test_data_that_are_not_at_hand_are_named(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)
    empty = tmp_path / "empty"
    empty.mkdir()
    arguments = ("reproduce", "paul2013.table3", "--quick", "--data", str(empty), "--out", str(tmp_path / "out"))
    assert run_here(monkeypatch, *arguments) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "not run" in said and "newsgroups" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    "options, how", [((), "The same command goes on"), (("--force",), "The same command without --force goes on")]
)
def test_an_interrupted_run_leaves_its_pieces(tmp_path, options, how):
    out = tmp_path / "out"
    process = start("reproduce", "shi2012.fig1", "--full", "--out", str(out), *options)
    pieces = out / ".parts"
    deadline = time.monotonic() + 120
    while not list(pieces.rglob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert how in said
    assert list(pieces.rglob("00000.json"))
