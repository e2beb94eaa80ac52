import json

import pytest

from tests.cli.command import run_here


@pytest.mark.slow
def test_the_demo_ends_with_its_page(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # a second time, it replaces what is its own
        assert run_here(monkeypatch, "demo", "--quick", "--json", "demo.json") == 0
        lines = capsys.readouterr().out.strip().splitlines()
        assert lines[-1].endswith("slimline-demo/cohort.html")
        assert (tmp_path / "slimline-demo" / "cohort.html").stat().st_size > 10_000
    told = json.loads((tmp_path / "demo.json").read_text())
    assert len(told["data"]["classes"]) == 5 and told["held_out"]["accuracy"] > 2 * told["held_out"]["majority_rate"]
    commands = [line.strip() for line in lines if line.strip().startswith("slimline ")]
    assert [command.split()[1] for command in commands] == ["fit", "features", "predict"]
    for command in commands:  # each does what it says
        assert run_here(monkeypatch, *command.split()[1:]) == 0
    rows = (tmp_path / "slimline-demo" / "predictions.csv").read_text().splitlines()
    assert len(rows) == 301 and "certified" in rows[0]


def test_files_of_others_stay(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cohort.bed").write_text("precious")
    assert run_here(monkeypatch, "demo", "--quick", "--out", ".") == 2
    assert "cohort.bed exists there. Choose another folder" in capsys.readouterr().err
    assert (tmp_path / "cohort.bed").read_text() == "precious"
    assert run_here(monkeypatch, "demo", "--quick", "--peer") == 2
    assert "without --projections" in capsys.readouterr().err
    assert run_here(monkeypatch, "demo", "--quick", "--people", "60", "--out", "my [b]demo") == 0
    said = capsys.readouterr().out
    assert "browser: my [b]demo/cohort.html" in said and "slimline features 'my [b]demo/cohort.slim'" in said
