"""`slimline predict` against the library, cell by cell."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from slimline import CertifiedClassifier, open_matrix
from slimline.estimators import aligned_decisions
from slimline.model_files import read_tensors, write_tensors
from tests.cli.command import enter_copy, predicted, refusals, run_here, start
from tests.cli.models import D, N, write_models
from tests.snapshots import check_snapshot


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    write_models(folder)
    return folder


@pytest.fixture(autouse=True)
def _in_a_folder(models, tmp_path, monkeypatch):
    enter_copy(models, tmp_path, monkeypatch)


def test_genotypes_of_several_classes(monkeypatch, capsys):
    rows, said = predicted(monkeypatch, capsys, "cohort.slim", "cohort.bed")
    expected = CertifiedClassifier.load("cohort.slim").decide(open_matrix("cohort.bed"))
    assert list(rows[0]) == [
        "id",
        "label",
        "certified",
        "trained_on",
        "score",
        "score_POP1",
        "score_POP2",
        "score_POP3",
    ]
    assert [row["id"] for row in rows] == list(open_matrix("cohort.bed").sample_ids)
    assert [row["label"] for row in rows] == expected.labels.tolist()
    assert [row["certified"] == "true" for row in rows] == expected.proved.tolist()
    scores = np.array([[float(row[f"score_POP{k}"]) for k in (1, 2, 3)] for row in rows])
    np.testing.assert_array_equal(scores, expected.scores)  # nothing is lost on the way
    assert [float(row["score"]) for row in rows] == expected.scores.max(axis=1).tolist()
    assert f"{N} rows: {expected.proved.sum()} certified" in said
    assert "Columns: 300 of the model's 300 are in cohort.bed." in said


def test_probabilities_of_two_classes(monkeypatch, capsys):
    rows, _ = predicted(monkeypatch, capsys, "two.slim", "cohort.bed")
    model, matrix = CertifiedClassifier.load("two.slim"), open_matrix("cohort.bed")
    assert list(rows[0]) == ["id", "label", "certified", "trained_on", "score", "probability"]
    probability = model.predict_proba(matrix).max(axis=1)
    np.testing.assert_allclose([float(row["probability"]) for row in rows], probability, rtol=1e-9)
    assert [row["label"] for row in rows] == [str(label) for label in model.predict(matrix)]
    scores = np.array([float(row["score"]) for row in rows])
    assert [row["label"] == "True" for row in rows] == (scores > 0).tolist()


def test_files_are_complete_and_not_replaced_unasked(monkeypatch, capsys):
    rows, _ = predicted(monkeypatch, capsys, "cohort.slim", "cohort.bed")
    assert run_here(monkeypatch, "predict", "cohort.slim", "cohort.bed", "--out", "p.tsv", "--json", "p.json") == 0
    said = capsys.readouterr()
    assert said.out == "" and said.err.endswith("Written: p.tsv\n")
    assert list(csv.DictReader(io.StringIO(Path("p.tsv").read_text()), delimiter="\t")) == rows
    found = json.loads(Path("p.json").read_text())
    assert found["layout"] == 1 and found["rows"] == N and found["accuracy"] is None
    assert found["certified"] == sum(row["certified"] == "true" for row in rows)
    assert found["labels"] == {f"POP{k}": sum(row["label"] == f"POP{k}" for row in rows) for k in (1, 2, 3)}
    assert found["columns"]["used"] == 300 and found["columns"]["filled"] == 0
    assert run_here(monkeypatch, "predict", "cohort.slim", "cohort.bed", "--out", "p.tsv") == 2
    assert "p.tsv exists: choose another name, or replace it with --force" in capsys.readouterr().err
    assert run_here(monkeypatch, "predict", "two.slim", "cohort.bed", "--out", "p.tsv", "--force") == 0
    assert Path("p.tsv").read_text().startswith("id\tlabel\tcertified\ttrained_on\tscore\tprobability\n")
    assert not list(Path.cwd().glob(".*"))  # nothing temporary is left


def test_swapped_absent_and_other_columns_are_counted(monkeypatch, capsys):
    lines = [line.split("\t") for line in Path("cohort.bim").read_text().splitlines()]
    for line in lines[:40]:
        line[4], line[5] = line[5], line[4]
    for line in lines[100:110]:
        line[1] = f"unknown{line[1]}"
    for line in lines[110:115]:
        line[4] = "AAAA"
    Path("new.bim").write_text("".join("\t".join(line) + "\n" for line in lines))
    raw = np.frombuffer(Path("cohort.bed").read_bytes(), dtype=np.uint8).copy()
    Path("new.bed").write_bytes(raw.tobytes())
    os.link("cohort.fam", "new.fam")
    rows, said = predicted(monkeypatch, capsys, "cohort.slim", "new.bed", "--json", "p.json")
    decisions, _ = aligned_decisions("cohort.slim", open_matrix("new.bed"))
    assert [row["certified"] == "true" for row in rows] == decisions.proved.tolist()
    columns = json.loads(Path("p.json").read_text())["columns"]
    counts = {name: columns[name] for name in ("used", "swapped", "absent", "other_alleles", "ignored", "filled")}
    assert counts == {"used": 285, "swapped": 40, "absent": 10, "other_alleles": 5, "ignored": 15, "filled": 15}
    assert (
        "Columns: 285 of the model's 300 are in new.bed; 40 count the other allele there, and were counted the other "
        "way; 15 filled with their mean in training (10 absent, 5 with other alleles); 15 of new.bed not used.\n"
    ) in said


def test_tables_of_other_order_with_labels_of_their_own(monkeypatch, capsys):
    frame = pd.read_csv("table.csv")
    frame = frame[["person", "status", *frame.columns[:1:-1]]].drop(columns="gène 7")
    frame["person"] = [f"new {i}" for i in range(N)]
    frame.to_csv("new.csv", index=False)
    rows, said = predicted(monkeypatch, capsys, "table.slim", "new.csv", "--id", "person", "--target", "status")
    assert [row["id"] for row in rows] == frame["person"].tolist()
    assert all(row["certified"] == "false" for row in rows)
    assert "No label is certified: nothing is known of what the filled columns could have held." in said
    assert f"79 of the model's {D} are in new.csv, in another order; 1 filled" in said
    right = np.mean([row["label"] == status for row, status in zip(rows, frame["status"], strict=True)])
    assert right > 0.8 and f"Right for {100 * right:.3g}% of {N} rows with a label; the most frequent label" in said


def test_labels_of_a_file_of_their_own(monkeypatch, capsys):
    CertifiedClassifier.load("cohort.slim").save("cohort.slim", overwrite=True)  # as if the samples were not known
    truth = pd.read_csv("cohort.labels.tsv", sep="\t")
    truth.loc[:9, "population"] = "NA"
    truth.loc[10, "population"] = "elsewhere"  # a class that the model does not know is never right
    truth.sample(frac=1.0, random_state=0).to_csv("new.tsv", sep="\t", index=False)
    options = ("--labels", "new.tsv", "--target", "population", "--json", "p.json")
    rows, said = predicted(monkeypatch, capsys, "cohort.slim", "cohort.bed", *options)
    found = json.loads(Path("p.json").read_text())["accuracy"]
    right = [row["label"] == text for row, text in zip(rows, truth["population"], strict=True)][10:]
    assert found["rows"] == N - 10 and found["right"] == sum(right)
    proved = np.array([row["certified"] == "true" for row in rows][10:])
    assert found["certified_rows"] == proved.sum() and found["certified_right"] == (proved & right).sum()
    assert (found["unknown"], found["unknown_labels"]) == (1, ["elsewhere"])
    assert "1 of these rows cannot be right: the model knows no label elsewhere; it knows POP1, POP2" in said
    assert "matched by" in said and "10 of 60 rows have none and are left out" in said


def test_numbers_for_labels_and_columns_without_names(monkeypatch, capsys):
    rows, said = predicted(monkeypatch, capsys, "plain.slim", "plain.npy", "--labels", "y.npy", "--json", "p.json")
    assert [row["id"] for row in rows] == [str(i) for i in range(N)]
    assert f"Columns: all {D}, taken in their order, since they are not named on both sides." in said
    found = json.loads(Path("p.json").read_text())["accuracy"]
    assert found["right"] == sum(row["label"] == str(y) for row, y in zip(rows, np.load("y.npy"), strict=True))
    Path("y.txt").write_text("".join(f"{y}.0\n" for y in np.load("y.npy")))  # 1.0 is 1
    predicted(monkeypatch, capsys, "plain.slim", "plain.npy", "--labels", "y.txt", "--json", "q.json")
    assert json.loads(Path("q.json").read_text())["accuracy"]["right"] == found["right"]


def test_svmlight_may_end_before_the_last_column(monkeypatch, capsys):
    Path("new.svm").write_text("1 1:1\n-1 2:4\n")
    rows, said = predicted(monkeypatch, capsys, "words.slim", "new.svm")
    same = open_matrix(np.array([[1.0, 0, 0], [0, 4.0, 0]]), feature_names=["1", "2", "3"])
    expected = CertifiedClassifier.load("words.slim").predict(same)
    assert [float(row["label"]) for row in rows] == expected.tolist()
    assert "Right for 100% of 2 rows with a label" in said  # the labels of the file are the model's
    Path("new.svm").write_text("0 1:1\n0 2:4\n")
    assert "Right" not in predicted(monkeypatch, capsys, "words.slim", "new.svm")[1]  # no labels of this model
    Path("new.svm").write_text("1 1:1\n-1 9:4\n")
    assert run_here(monkeypatch, "predict", "words.slim", "new.svm") == 2
    assert "feature 9, and at most 3 are expected" in capsys.readouterr().err


def test_svmlight_begins_where_it_began_in_training(monkeypatch, capsys):
    Path("zero.svm").write_text("".join(["+1 0:1 2:2\n", "-1 1:1\n", "+1 0:2\n", "-1 1:3 2:1\n"] * 5))
    matrix = open_matrix("zero.svm")
    model = CertifiedClassifier(0.1).fit(matrix.rows(slice(None)))
    model.save("zero.slim", trained_on=matrix.rows(slice(None)))
    Path("new.svm").write_text("0 1:1\n0 1:4 2:1\n")  # the first column is 0: by itself it seems to begin with 1
    rows, _ = predicted(monkeypatch, capsys, "zero.slim", "new.svm")
    same = open_matrix(np.array([[0.0, 1.0, 0.0], [0.0, 4.0, 1.0]]), feature_names=["0", "1", "2"])
    expected = model.decision_function(same)
    np.testing.assert_allclose([float(row["score"]) for row in rows], expected, rtol=1e-12)


@pytest.mark.slow
def test_a_reader_that_stops_early_makes_no_traceback():
    process = start("predict", "cohort.slim", "cohort.bed")
    process.stdout.close()
    assert process.wait(timeout=60) in (0, 1)
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()


def test_data_are_read_once(monkeypatch, capsys):
    passes = []
    original = open_matrix

    def watched(*arguments, **options):
        passes.append(original(*arguments, **options))
        return passes[-1]

    monkeypatch.setattr("slimline.data.open_matrix", watched)
    predicted(monkeypatch, capsys, "cohort.slim", "cohort.bed")
    assert [matrix.passes for matrix in passes] == [1]


# What cannot work ------------------------------------------------------------------------------------


def test_mistakes_are_one_line(monkeypatch, capsys):
    before = sorted(path.name for path in Path.cwd().iterdir())

    def no_work(*_, **__):
        raise AssertionError("data were read")

    monkeypatch.setattr("slimline.estimators._aligned.decisions_of", no_work)
    said = refusals(
        monkeypatch,
        capsys,
        "predict",
        [
            ["none.slim", "cohort.bed"],
            ["cohort.slim", "none.bed"],
            ["cohort.bed", "cohort.bed"],
            ["table.csv", "table.csv"],
            ["cohort.slim", "cohort.bed", "--out", "p.parquet"],
            ["cohort.slim", "cohort.bed", "--out", "no/p.csv"],
            ["cohort.slim", "cohort.bed", "--json", "-"],
            ["table.slim", "table.csv", "--out", "table.csv", "--force"],
            ["table.slim", "table.csv", "--id", "person"],
            ["cohort.slim", "cohort.bed", "--json", "cohort.fam"],
            ["cohort.slim", "cohort.bed", "--json", "no/p.json"],
            ["cohort.slim", "cohort.bed", "--out", "p.csv", "--json", "./p.csv"],
            ["cohort.slim", "cohort.bed", "--id", "x"],
            ["cohort.slim", "cohort.bed", "--format", "hdf6"],
            ["cohort.slim", "cohort.labels.tsv"],
            ["cohort.slim", "table.csv", "--id", "person", "--target", "status"],
            ["table.slim", "cohort.bed"],
            ["cohort.slim", "cohort.bed", "--labels", "none.tsv"],
            ["cohort.slim", "cohort.bed", "--labels", "cohort.labels.tsv"],
        ],
    )
    check_snapshot(Path(__file__).parent / "snapshots" / "predict mistakes.txt", said)
    assert sorted(path.name for path in Path.cwd().iterdir()) == before


def test_missing_values_that_the_model_cannot_fill(monkeypatch, capsys):
    frame = pd.read_csv("table.csv")
    frame.loc[3, "gène 4"] = np.nan
    frame.to_csv("new.csv", index=False)
    assert run_here(monkeypatch, "predict", "table.slim", "new.csv", "--id", "person", "--target", "status") == 2
    said = capsys.readouterr().err
    assert "row 3 (p3), column 4 (gène 4)" in said and "trained without --standardize" in said


def _refused(monkeypatch, capsys):
    for command in (
        ["predict", "bad.slim", "table.csv", "--id", "person", "--target", "status"],
        ["features", "bad.slim"],
    ):
        assert run_here(monkeypatch, *command) == 2
        said = capsys.readouterr()
        assert said.err.startswith("slimline: ") and said.err.count("\n") == 1 and "bad.slim" in said.err, said.err
        assert not said.out


@pytest.mark.slow
def test_damaged_models_are_refused(monkeypatch, capsys):
    whole = Path("table.slim").read_bytes()
    rng = np.random.default_rng(0)
    for case in range(12):
        damaged = bytearray(whole)
        if case % 2:
            damaged = damaged[: int(rng.integers(0, len(whole)))]
        else:
            place = int(rng.integers(0, len(whole)))
            damaged[place] ^= 1 << int(rng.integers(0, 8))
        Path("bad.slim").write_bytes(damaged)
        _refused(monkeypatch, capsys)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, plain: plain.update(kind="os.system"),
        lambda arrays, plain: plain["details"].update(history=3),
        lambda arrays, plain: plain.update(classes={"type": "int64", "values": ["__import__"] * 2}),
        lambda arrays, plain: arrays.update(factor=np.zeros(D)),
        lambda arrays, plain: arrays.update(mean=np.full(D, np.nan)),
        lambda arrays, plain: arrays.update(mean=np.zeros(D + 1)),
        lambda arrays, plain: arrays.pop("radius"),
    ],
)
def test_hostile_models_are_refused(monkeypatch, capsys, change):
    arrays, plain = read_tensors("table.slim")
    change(arrays, plain)
    write_tensors("bad.slim", arrays, plain)
    _refused(monkeypatch, capsys)


@pytest.mark.slow
def test_a_killed_run_leaves_no_file():
    code = (
        "import os, sys; sys.argv = ['slimline', 'predict', 'cohort.slim', 'cohort.bed', '--out', 'p.csv'];"
        "import slimline.cli._output as t;"
        "original = t._texts;"
        "t._texts = lambda *a: (yield from (os._exit(9) if k else part for k, part in enumerate(original(*a))));"
        "from slimline.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 9
    assert not Path("p.csv").exists()


def test_a_model_with_penalty_factors(monkeypatch, capsys, tmp_path):
    data = open_matrix("cohort.bed")
    factors = np.random.default_rng(0).uniform(0.5, 2.0, data.shape[1])
    factors[[4, 7]] = 0.0, np.inf
    labels = np.arange(data.shape[0]) % 2 == 0
    model = CertifiedClassifier(1e-3, intercept="free", standardize=True, penalty_factor=factors, random_state=0)
    model.fit(data, labels).save("factors.slim", trained_on=data)
    rows, _ = predicted(monkeypatch, capsys, "factors.slim", "cohort.bed")
    expected = model.decide(data)
    assert [row["label"] == "True" for row in rows] == expected.labels.tolist()
    assert [row["certified"] == "true" for row in rows] == expected.proved.tolist()
    np.testing.assert_allclose([float(row["score"]) for row in rows], expected.scores, rtol=1e-12)
