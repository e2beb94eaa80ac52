"""`slimline bench geometry` from the command line."""

import json
from types import SimpleNamespace

import pytest

from slimline._base import system
from slimline_benchmarks import runner
from tests.cli.command import run_here


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    monkeypatch.setattr(runner, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(runner, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(system, "gc", SimpleNamespace(collect=lambda: None))


def _geometry(*more: str) -> list[str]:
    return ["bench", "geometry", "--quick", "--threads", "1", "--repeats", "1", *more]


def test_table_and_json(monkeypatch, capsys, tmp_path):
    path = tmp_path / "geometry.json"
    chosen = ("--case", "sparse-intercept", "--case", "dense-ball", "--samples", "40", "--features", "600")
    assert run_here(monkeypatch, *_geometry(*chosen, "--json", str(path))) == 0
    text = capsys.readouterr().out
    for part in (
        *("40 × 600 CSR float32, 20 a row", "slimline margin", "SVC linear", "SVC on XXᵀ", "Clarabel on XXᵀ"),
        *("smallest ball", "off by", "support points", "Gram matrix alone:", "In brackets"),
    ):
        assert part in text
    fields = json.loads(path.read_text())
    assert fields["suite"] == "geometry" and fields["settings"]["sizes"]["sparse"] == [40, 600]
    assert [case["name"] for case in fields["cases"]] == ["dense-ball", "sparse-intercept"]
    ball, margin = ({c["contender"]: c for c in case["contenders"]} for case in fields["cases"])
    ours, limit, svc = margin["slimline margin"], margin["Gram matrix alone"], margin["SVC linear"]
    assert ours["share"] == pytest.approx(limit["best"] / ours["best"])
    assert ours["ratios"]["SVC linear"] == pytest.approx(ours["best"] / svc["best"])
    assert ours["extra_bytes"] is not None and svc["extra_bytes"] is not None
    assert 0 <= ours["reached"] < 1e-8 and svc["reached"] <= 1e-5 and svc["found"] == pytest.approx(ours["found"])
    assert ball["Bădoiu-Clarkson"]["tried_seconds"] > 0 and ball["Bădoiu-Clarkson"]["best"] is None
    assert "Bădoiu-Clarkson" not in ball["slimline ball"]["ratios"]


def test_list_parts_and_names_that_do_not_exist(monkeypatch, capsys):
    assert run_here(monkeypatch, *_geometry("--list", "--only", "ball, distortions", "--case", "*e*")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [
        *("dense-ball", "sparse-ball", "documents-ball", "dorothea-ball", "dense-distortions", "sparse-distortions")
    ]
    for arguments, message in (
        (("--case", "nothing"), "there is none"),
        (("--only", "ball,volume"), "there is no such part"),
    ):
        assert run_here(monkeypatch, *_geometry(*arguments)) != 0
        assert message in " ".join(capsys.readouterr().err.split())


def test_full_sizes_are_the_default(monkeypatch, capsys):
    assert run_here(monkeypatch, "bench", "geometry", "--list", "--samples", "500") == 0
    text = capsys.readouterr().out
    assert "500 × 100,000 float32" in text and "500 × 1,000,000 CSR float32, 100 a row" in text
    assert "embedding error of 4,096 components, 1,000 × 50,000" in text
