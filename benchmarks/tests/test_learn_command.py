"""`slimline bench learn` from the command line."""

import json

import pytest

from slimline_benchmarks import runner
from tests.cli.command import run_here


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    monkeypatch.setattr(runner, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(runner, "TURN_SECONDS", 0.0)


def _learn(*more: str) -> list[str]:
    return ["bench", "learn", "--quick", "--threads", "1", "--repeats", "1", *more]


@pytest.mark.slow
def test_table_and_json(monkeypatch, capsys, tmp_path):
    path = tmp_path / "learn.json"
    sizes = ("--samples", "80", "--features", "600")
    assert run_here(monkeypatch, *_learn("--case", "dense-logistic", *sizes, "--json", str(path))) == 0
    text = capsys.readouterr().out
    for part in ("80 × 600 float32", "slimline auto", "LogisticRegression lbfgs", "certified", "passes", "tol="):
        assert part in text
    fields = json.loads(path.read_text())
    assert fields["suite"] == "learn" and fields["settings"]["sizes"]["dense"] == [80, 600]
    contenders = {c["contender"]: c for c in fields["cases"][0]["contenders"]}
    ours, peer = contenders["slimline auto"], contenders["LogisticRegression lbfgs"]
    assert 0 < ours["reached"] <= 1e-2 and 0 < peer["reached"] <= 1e-2
    assert ours["ratios"]["LogisticRegression lbfgs"] == pytest.approx(ours["best"] / peer["best"])
    assert contenders["projection + lbfgs"]["tried_seconds"] > 0


def test_list_and_names_that_do_not_exist(monkeypatch, capsys):
    assert run_here(monkeypatch, *_learn("--list", "--case", "solver-*", "--case", "pair-hinge")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["pair-hinge", "solver-hinge-300x64", "solver-squared-hinge-300x64"]
    assert run_here(monkeypatch, *_learn("--case", "nothing")) != 0
    assert "there is none" in " ".join(capsys.readouterr().err.split())


def test_full_sizes_are_the_default(monkeypatch, capsys):
    assert run_here(monkeypatch, "bench", "learn", "--list", "--samples", "500") == 0
    text = capsys.readouterr().out
    assert "500 × 131,072 float32" in text and "500 × 492,516 genotypes" in text and "20,000 × 20,000" in text
