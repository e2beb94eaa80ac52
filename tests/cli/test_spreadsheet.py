"""Tables that are opened in a spreadsheet run nothing, and slimline reads them as what they were made of."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from slimline import CertifiedClassifier, open_matrix
from slimline.cli._output import as_given, harmless, write_table
from slimline.data.formats._dense import DenseMatrix
from tests.cli.command import run_here

NUMBERS = ["-1.5", "+3", "1e-5", "-1e-05", "-.5", "+7.", "-9"]
RUN = ["=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-", "+", "-1_0", "-inf", "="]
RUN += ["\uff1d1"]  # a wide =
PLAIN = ["", "'", "'quoted'", "a=b", "rs12", " =1", "ä", "''", "x-1"]


@pytest.mark.parametrize("text", RUN)
def test_formulas_get_an_apostrophe(text):
    assert harmless(text) == f"'{text}"
    assert as_given(harmless(text)) == text
    assert as_given(text) == text  # as somebody else wrote it


@pytest.mark.parametrize("text", [*NUMBERS, *PLAIN])
def test_everything_else_stays(text):
    assert harmless(text) == as_given(text) == text


@pytest.mark.parametrize("text", RUN)
def test_texts_that_begin_with_apostrophes_stay_apart(text):
    cells = [text, f"'{text}", f"''{text}"]
    written = [harmless(cell) for cell in cells]
    assert len(set(written)) == 3
    assert not set(written) & {text}
    assert [as_given(cell) for cell in written] == cells


@pytest.mark.parametrize(("ending", "mark"), [(".csv", ","), (".tsv", "\t")])
def test_no_cell_of_a_file_is_a_formula(tmp_path, ending, mark):
    path = tmp_path / f"t{ending}"
    odd = ["a\r=1", "a\n=1", 'a",=1', "a\t=1", "a,=1", 'a"b']
    texts = [*RUN, *NUMBERS, *PLAIN, *odd]
    write_table(path, ["=head", "value"], [[text, -1.5] for text in texts])
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter=mark))
    assert rows[0] == ["'=head", "value"]
    assert [as_given(row[0]) for row in rows[1:]] == texts
    assert {row[1] for row in rows[1:]} == {"-1.5"}
    for cell in (cell for row in rows for cell in row):
        assert cell in NUMBERS or not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


IDS = ["=1+1", "@b", "-c", "+d", "'=e", "=e", "-1.5", "f"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    n = 40
    ids = [*IDS, *(f"p{k}" for k in range(n - len(IDS)))]
    y = np.array(["=high", "-low"])[np.arange(n) % 2]
    X = rng.standard_normal((n, 4))
    X[:, 0] += 4.0 * (y == "=high")
    names = ["=HYPERLINK(1)", "@x", "-1", "plain"]
    lines = [",".join(["id", "group", *names])]
    lines += [",".join([ids[i], y[i], *map(repr, X[i].tolist())]) for i in range(n)]
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    matrix = open_matrix(tmp_path / "x.csv", id="id", label="group")
    CertifiedClassifier(0.1, random_state=0).fit(matrix).save(tmp_path / "m.slim", trained_on=matrix)
    monkeypatch.chdir(tmp_path)
    return tmp_path, ids, y


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_predictions_are_joined_with_themselves(monkeypatch, capsys, folder, ending):
    _, ids, _ = folder
    out = f"p.{ending}"
    assert run_here(monkeypatch, "predict", "m.slim", "x.csv", "--id", "id", "--target", "group", "--out", out) == 0
    with Path(out).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="," if ending == "csv" else "\t"))
    assert [as_given(row["id"]) for row in rows] == ids
    assert {row["label"] for row in rows} == {"'=high", "'-low"}
    assert rows[0]["id"] == "'=1+1"
    assert rows[4]["id"] == "''=e"
    assert rows[6]["id"] == "-1.5"
    # what was predicted is right for what was predicted
    from slimline.cli._labels import labels_in_file

    data = DenseMatrix(np.zeros((len(ids), 1)), sample_ids=ids)
    labels = labels_in_file(Path(out), "label", data)
    assert labels.complete
    model = CertifiedClassifier.load("m.slim")
    assert labels.values.tolist() == model.predict(open_matrix("x.csv", id="id", label="group")).tolist()
    # as labels of a new model, they have the names that the data have
    lines = [line.split(",") for line in Path("x.csv").read_text(encoding="utf-8").splitlines()]
    Path("bare.csv").write_text("".join(",".join([line[0], *line[2:]]) + "\n" for line in lines), encoding="utf-8")
    arguments = ["--id", "id", "--target", "label", "--labels", out, "--model", "n.slim", "--no-report"]
    assert run_here(monkeypatch, "fit", "bare.csv", *arguments) == 0
    assert CertifiedClassifier.load("n.slim").classes_.tolist() == ["-low", "=high"]
    capsys.readouterr()


def test_features_and_json(monkeypatch, capsys, folder):
    assert run_here(monkeypatch, "features", "m.slim", "--csv", "f.csv", "--json", "f.json") == 0
    with Path("f.csv").open(newline="", encoding="utf-8") as file:
        names = {row["name"] for row in csv.DictReader(file)}
    assert names == {"'=HYPERLINK(1)", "'@x", "-1", "plain"}
    found = {entry["name"] for entry in json.loads(Path("f.json").read_text())["features"]}
    assert found == {"=HYPERLINK(1)", "@x", "-1", "plain"}
    capsys.readouterr()


def test_a_table_on_standard_output_too(monkeypatch, capsys, folder):
    assert run_here(monkeypatch, "predict", "m.slim", "x.csv", "--id", "id", "--target", "group") == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("'=1+1,'=high,")
