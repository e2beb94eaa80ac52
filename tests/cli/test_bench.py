import json

import pytest

from slimline.bench import runner
from tests.cli.command import run_here


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    monkeypatch.setattr(runner, "LEAST_SECONDS", 0.0)


def _quick(*more: str) -> list[str]:
    return ["bench", "projections", "--quick", "--threads", "1", "--repeats", "1", *more]


def test_table_and_json(monkeypatch, capsys, tmp_path):
    path = tmp_path / "bench.json"
    assert run_here(monkeypatch, *_quick("--case", "csr-small", "--case", "normals", "--json", str(path))) == 0
    text = capsys.readouterr().out
    for part in (
        "csr-small",
        "SparseEmbedding s=4",
        "scikit-learn hasher",
        "writing the result",
        "our time / theirs",
        "normals",
    ):
        assert part in text
    fields = json.loads(path.read_text())
    assert [case["name"] for case in fields["cases"]] == ["csr-small", "normals"]
    assert fields["settings"] == {"threads": 1, "repeats": 1, "budget": 120.0, "quick": True}
    assert fields["machine"]["threads"] == 1 and fields["machine"]["instruction_set"]
    assert all(len(c["seconds"]) == 1 for c in fields["cases"][0]["contenders"])


def test_json_alone_on_standard_output(monkeypatch, capsys):
    assert run_here(monkeypatch, *_quick("--case", "normals", "--json", "-")) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["suite"] == "projections"
    assert "NumPy PCG64" in captured.err


def test_patterns_and_list(monkeypatch, capsys):
    assert run_here(monkeypatch, *_quick("--list", "--case", "dense*", "--case", "int8")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "dense-f4",
        "dense-f8",
        "dense-columns",
        "dense-small-f4",
        "dense-small-f8",
        "int8",
    ]


def test_what_is_measured_is_kept_when_something_fails(monkeypatch, capsys, tmp_path):
    from slimline.estimators import SparseEmbedding

    def fail(self, X, y=None):
        raise RuntimeError("broken")

    monkeypatch.setattr(SparseEmbedding, "fit_transform", fail)
    path = tmp_path / "bench.json"
    assert run_here(monkeypatch, *_quick("--case", "dense-small-f4", "--json", str(path))) == 1
    assert "failed: RuntimeError: broken" in " ".join(capsys.readouterr().out.split())
    contenders = {c["contender"]: c["status"] for c in json.loads(path.read_text())["cases"][0]["contenders"]}
    assert contenders["SparseEmbedding s=1"] == "failed"
    assert contenders["HadamardProjection"] == "measured"
