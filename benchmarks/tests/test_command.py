import json
import signal
import subprocess
import sys

import pytest

from slimline_benchmarks import runner
from tests.cli.command import run_here, start


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    monkeypatch.setattr(runner, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(runner, "TURN_SECONDS", 0.0)


def _quick(*more: str) -> list[str]:
    return ["bench", "projections", "--quick", "--threads", "1", "--repeats", "1", *more]


@pytest.mark.slow
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


@pytest.mark.slow
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


def _matrix(*more: str) -> list[str]:
    return ["bench", "matrix", "--quick", "--threads", "1", "--repeats", "1", *more]


@pytest.mark.slow
def test_matrix_table_and_json(monkeypatch, capsys, tmp_path):
    path, folder = tmp_path / "bench.json", tmp_path / "data"
    folder.mkdir()
    chosen = ("--only", "genotypes,sparse", "--case", "genotypes-npy-dot", "--case", "sparse-tdot")
    more = ("--samples", "40", "--folder", str(folder), "--json", str(path))
    assert run_here(monkeypatch, *_matrix(*chosen, *more)) == 0
    text = capsys.readouterr().out
    for part in ("genotypes-npy-dot", "40 × 5,000", "passes", "reading blocks", "NumPy by blocks k=8", "SciPy k=1"):
        assert part in text
    fields = json.loads(path.read_text())
    assert fields["suite"] == "matrix" and fields["settings"]["sizes"]["samples"] == 40
    ours = [c for c in fields["cases"][0]["contenders"] if c["role"] == "ours"]
    assert all(c["passes"] == 1 and c["share"] > 0 and c["rate"] > 0 for c in ours)
    assert ours[0]["ratios"].keys() >= {"NumPy k=1", "NumPy by blocks k=1"}
    assert sorted(p.suffix for p in folder.iterdir()) == [
        ".bed",
        ".bim",
        ".fam",
        ".npy",
        ".tsv",
    ]  # kept where it was told


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--only", "graphs"), "there is no such part"),
        (("--size", "4 elephants"), "a size is a number"),
        (("--folder", "/no/such/folder"), "there is no such folder"),
        (("--case", "nothing"), "there is none"),
    ],
)
def test_matrix_options_are_checked_first(arguments, message, monkeypatch, capsys):
    assert run_here(monkeypatch, *_matrix(*arguments)) != 0
    assert message in " ".join(capsys.readouterr().err.split())


def test_matrix_sizes_and_list(monkeypatch, capsys):
    assert run_here(monkeypatch, *_matrix("--only", "formats", "--size", "4GB", "--text-size", "1GB", "--list")) == 0
    text = capsys.readouterr().out
    assert "format-hdf5" in text and "4,000 MB" in text and "svmlight text, 1,000 MB" in text
    assert run_here(monkeypatch, *_matrix("--only", "formats", "--size", "4GB", "--list")) == 0
    assert "svmlight text, 1,000 MB" in capsys.readouterr().out


@pytest.mark.slow
def test_interruption_exits_with_130():
    process = start("bench", "projections", "--quick", "--case", "dense-f4", "--repeats", "100000")
    process.stdout.readline()  # the machine is described: the work has begun
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in error and error.endswith("slimline: stopped.\n")


@pytest.mark.slow
def test_help_has_examples_and_needs_nothing_heavy(monkeypatch, capsys):
    assert run_here(monkeypatch, "bench", "projections", "--help") == 0
    text = capsys.readouterr().out
    assert "Examples" in text and "slimline bench projections --quick" in text
    code = (
        "import sys, slimline.cli._app\n"
        "print([m for m in ('matplotlib', 'slimline_benchmarks.runner') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_mistakes_are_one_line_and_exit_with_2(monkeypatch, capsys):
    for arguments in (["projections", "--case", "nonsense"], ["projections", "--threads", "none"]):
        assert run_here(monkeypatch, "bench", *arguments) == 2
        message = capsys.readouterr().err
        assert message.startswith("slimline: ") and message.count("\n") == 1, message
    assert run_here(monkeypatch, "bench", "dances") == 2
    assert "dances" in capsys.readouterr().err
