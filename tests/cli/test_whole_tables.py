"""Tables hold all of their names and numbers, however narrow the terminal; a pipe has no width at all."""

import numpy as np
import pytest

from slimline import CertifiedClassifier, open_matrix
from slimline.cli._output import tables

LONG = ["adenocarcinoma_of_the_" + "very_" * 6 + "long_name", "benign_" + "x" * 53, "c" * 60]
IDS = [f"rs{123456789 + j}" for j in range(30)]
WIDTHS = ["60", "80", "120", None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = 1e4 * rng.standard_normal((60, 30))
    X[:, :3] += 2e4 * np.eye(3)[y]
    lines = [",".join(["class", *IDS]), *(",".join([LONG[k], *map(str, row)]) for k, row in zip(y, X, strict=True))]
    (folder / "x.csv").write_text("\n".join(lines) + "\n")
    CertifiedClassifier(1e-9, random_state=0).fit(open_matrix(X, feature_names=IDS), np.array(LONG)[y]).save(
        folder / "m.slim"
    )
    return folder


@pytest.fixture(params=WIDTHS, ids=lambda width: width or "pipe")
def said(request, monkeypatch, capsys, folder):
    """Return what a command prints at a width."""
    from slimline import cli

    def run(*arguments):
        monkeypatch.chdir(folder)
        monkeypatch.setattr("sys.argv", ["slimline", *arguments])
        if request.param is None:
            monkeypatch.delenv("COLUMNS", raising=False)
        else:
            monkeypatch.setenv("COLUMNS", request.param)
        with pytest.raises(SystemExit) as stop:
            cli.main()
        assert not stop.value.code
        return capsys.readouterr().out

    run.width = request.param
    return run


def test_the_largest_weights(said):
    out = said("features", "m.slim", "--top", "6")
    model = CertifiedClassifier.load("m.slim")
    assert "…" not in out
    top = model.top_features(6)
    for name, weight in zip(top.name, top.weight, strict=True):
        assert name in out
        assert f"{weight:.4g}" in out
    whole = "".join(out.split())
    if said.width is None:  # one line a feature
        assert any(name in line for name in LONG for line in out.splitlines() if IDS[0][:2] in line)
        assert all(len(line) <= 200 for line in out.splitlines())
    else:
        pieces = [name[:10] for name in LONG]
        assert all(piece in whole for piece in pieces)


def test_a_fit(said):
    out = said("fit", "x.csv", "--target", "class", "--C", "1e-9", "--no-report", "--model", "f.slim", "--force")
    assert "…" not in out
    model = CertifiedClassifier.load("f.slim")
    top = model.top_features(5)
    for name, weight in zip(top.name, top.weight, strict=True):
        assert name in out
        assert f"{weight:.4g}" in out
    if said.width is None:
        assert any(f"{name}" in line for name in LONG for line in out.splitlines() if "rs123" in line)


@pytest.mark.parametrize("command", ["plan", "audit"])
def test_classes_of_other_tables(said, command):
    out = said(command, "x.csv", "--target", "class")
    assert "…" not in out.replace(", …", "")


@pytest.mark.parametrize("width", [20, 40, 80])
def test_numbers_and_names_are_never_cut(monkeypatch, capsys, width):
    from rich.rule import Rule
    from rich.table import Table

    monkeypatch.setenv("COLUMNS", str(width))
    tables(None).print(Rule("a heading with a number, 0.0123"))
    assert "0.0123" in capsys.readouterr().out
    table = Table()
    table.add_column("name")
    table.add_column("weight", no_wrap=True)
    table.add_row("n" * 60, "-1.234e-05")
    tables(None).print(table)
    out = capsys.readouterr().out
    assert "-1.234e-05" in out
    assert out.count("n") >= 60
    assert "…" not in out


def test_a_table_in_a_pipe_is_as_wide_as_it_needs(monkeypatch, capsys):
    from rich.table import Table

    monkeypatch.delenv("COLUMNS", raising=False)
    table = Table("name", "other", "weight")
    table.add_row("n" * 150, "word " * 20, "-1.234e-05")
    tables(None).print(table)
    line = next(line for line in capsys.readouterr().out.splitlines() if "nnn" in line)
    assert "n" * 150 in line
    assert "word " * 19 in line
    assert "-1.234e-05" in line
