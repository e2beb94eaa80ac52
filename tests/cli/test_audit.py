"""`slimline audit`, as a user runs it: what it says, writes, draws and refuses."""

import inspect
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import slimline
from slimline.cli._audit import audit as command
from slimline.cli._options import Family
from slimline.data import write_genotypes
from tests.cli.command import run_here

N, D, R = 40, 300, 64
FEW = ["--components", str(R), "--repeats", "3"]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _data(classes=2, apart=1.0):
    rng = np.random.default_rng(0)
    y = np.arange(N) % classes
    X = rng.standard_normal((N, D)).astype(np.float32)
    return X + apart * rng.standard_normal((classes, D)).astype(np.float32)[y], y


def _npy(classes=2):
    X, y = _data(classes)
    np.save("data.npy", X)
    np.save("labels.npy", y)
    lines = [f"s{k}\tclass {c}\t{k % 4}" for k, c in enumerate(y)]
    Path("labels.tsv").write_text("\n".join(["sample\tstatus\tbatch", *lines]))
    return ["data.npy", "--labels", "labels.tsv", "--target", "status"]


def _svmlight():
    X, y = _data()
    dump_svmlight_file(sp.csr_array(np.where(np.abs(X) > 1.0, X, 0)), y, "data.svm", zero_based=False)
    return ["data.svm"]


def _csv(labels=True):
    X, y = _data()
    head = ["who", *(f"f{k}" for k in range(D)), *(["status"] if labels else [])]
    rows = [
        [f"p{k}", *map(str, row), *(["yn"[c]] if labels else [])] for k, (row, c) in enumerate(zip(X, y, strict=True))
    ]
    Path("data.csv").write_text("\n".join(",".join(line) for line in (head, *rows)))
    return ["data.csv", "--id", "who", *(["--target", "status"] if labels else [])]


def _plink():
    write_genotypes("cohort", 60, 800, n_populations=3, fst=0.1, seed=1, missing_rate=0.01)
    return ["cohort.bed", "--labels", "cohort.labels.tsv", "--target", "population", "--standardize"]


def _strictly(text):
    """Return what JSON says; NaN and Infinity are no JSON."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def _audit(monkeypatch, *arguments):
    """Run the command and return what it wrote as JSON."""
    assert run_here(monkeypatch, "audit", *arguments, "--json", "audit.json") == 0
    return _strictly(Path("audit.json").read_text())


def _untimed(record):
    return {name: value for name, value in record.items() if name != "seconds"}


@pytest.mark.parametrize(
    "write, classes, labels",
    [
        (_npy, 2, "status of labels.tsv, in the order of the rows"),
        (_svmlight, 2, "from data.svm"),
        (_csv, 2, "from data.csv"),
        (_plink, 3, "population of cohort.labels.tsv, matched by FID and IID"),
    ],
)
def test_files_of_every_kind_and_the_code_that_makes_the_same(monkeypatch, capsys, write, classes, labels):
    record = _audit(monkeypatch, *write(), *FEW)
    said = capsys.readouterr().out
    made = record["audit"]
    assert record["layout"] == 1 and record["labels"] == labels and record["standardize"] == (write is _plink)
    assert made["n_classes"] == classes and made["n_components"] == R and made["repeats"] == 3
    for part in (
        "Verdict", made["outcome"].upper(), "Data and settings", "Before, and after 3 draws", "All pairs of points",
        "Guarantees of theorems and predictions of laws at r = 64, δ = 0.05", "Bounds from the embedding error",
    ):  # fmt: skip
        assert part in said
    code = said.split("The same in Python:\n")[1]
    known = {}
    if "audit(X, y," in code.replace("\n    ", ""):
        lines = Path("labels.tsv" if write is _npy else "cohort.labels.tsv").read_text().splitlines()[1:]
        known["y"] = [line.split("\t")[1 if write is _npy else 2] for line in lines]
    exec(code, known)
    assert _untimed(known["found"].to_dict()) == _untimed(made)
    assert capsys.readouterr().out.strip() == str(known["found"])


def test_the_audit_is_that_of_the_library_and_the_verdict_is_said(monkeypatch, capsys):
    options = ["--projection", "srht", "--seed", "3", "--eps", "0.3", "--delta", "0.01", "--rows", "30"]
    record = _audit(monkeypatch, *_npy(), *FEW, *options)
    _, y = _data()
    names = np.where(y == 1, "class 1", "class 0")
    expected = slimline.audit(
        "data.npy", names, projection="srht", n_components=R, repeats=3, eps=0.3, delta=0.01, rows=30, random_state=3
    )
    assert _untimed(record["audit"]) == _untimed(expected.to_dict())
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for sentence in (*expected.verdict, *expected.notes):
        assert sentence.replace(" %", "%") in said
    assert "30 of them measured" in said and expected.outcome.upper() in said


def test_json_on_standard_output_goes_alone(monkeypatch, capsys):
    _npy()
    assert run_here(monkeypatch, "audit", "data.npy", *FEW, "--json", "-") == 0
    said = capsys.readouterr()
    record = _strictly(said.out)
    assert record["audit"]["n_features"] == D and record["labels"] is None
    assert "Verdict" in said.err and "The same in Python:" in said.err


@pytest.mark.slow
def test_every_option_of_the_projection_does_something(monkeypatch, capsys):
    given = [*_npy(), *FEW]
    base = _audit(monkeypatch, *given)["audit"]
    for family in Family:
        made = _audit(monkeypatch, *given, "--projection", family.value, "--repeats", "1")["audit"]
        assert made["family"] == family.value
        assert ("laws are those of a Gaussian" in " ".join(made["notes"])) == (family != "gaussian")
    assert _audit(monkeypatch, *given, "--seed", "0")["audit"]["projections"] == base["projections"]
    other = _audit(monkeypatch, *given, "--seed", "1")["audit"]
    assert not set(other["projections"]) & set(base["projections"])
    assert len(_audit(monkeypatch, *given, "--repeats", "5")["audit"]["margins"][0]["after"]) == 5
    assert _audit(monkeypatch, *given, "--components", "32")["audit"]["n_components"] == 32
    strict = _audit(monkeypatch, *given, "--eps", "0.01", "--delta", "0.001")["audit"]
    assert strict["ball"]["within"]["held"] < base["ball"]["within"]["held"]
    assert strict["needed_dimension"] > base["needed_dimension"]
    generous = _audit(monkeypatch, *given, "--errors", "0.5")["audit"]
    allowed = [{kept["name"]: kept for kept in one["margins"]}["error-allowed margin"] for one in (base, generous)]
    assert allowed[0]["before"] < allowed[1]["before"]
    scaled = _audit(monkeypatch, *given, "--standardize")["audit"]
    assert scaled["margins"][0]["before"] != base["margins"][0]["before"]
    some = _audit(monkeypatch, *given, "--rows", "20")["audit"]
    assert (base["n_rows"], some["n_rows"], some["n_samples"]) == (N, 20, N)
    assert _audit(monkeypatch, *given, "--rows", "all")["audit"]["n_rows"] == N


def test_defaults_are_those_of_the_function(monkeypatch, capsys):
    of_function, of_command = (inspect.signature(f).parameters for f in (slimline.audit, command))
    for name in ("projection", "repeats", "eps", "delta", "errors"):
        assert of_command[name].default == of_function[name].default, name
    assert of_command["rows"].default == str(of_function["rows"].default)
    assert of_command["seed"].default == of_function["random_state"].default
    made = _audit(monkeypatch, *_npy(), "--repeats", "1")["audit"]
    assert made["n_components"] == 256
    assert run_here(monkeypatch, "audit", "--help") == 0
    assert "(256)" in capsys.readouterr().out


def test_labels_are_matched_by_the_names_of_the_rows(monkeypatch, capsys):
    inside = _audit(monkeypatch, *_csv(), *FEW)["audit"]
    _, y = _data()
    order = np.random.default_rng(5).permutation(N)
    Path("apart.csv").write_text("\n".join(["who,truth", *(f"p{k},{'yn'[y[k]]}" for k in order)]))
    apart = _audit(monkeypatch, *_csv(labels=False), "--labels", "apart.csv", *FEW)
    assert apart["labels"] == "truth of apart.csv, matched by who"
    assert apart["audit"]["margins"] == inside["margins"]
    Path("others.csv").write_text("\n".join(["who,truth", *(f"q{k},{'yn'[y[k]]}" for k in order)]))
    assert run_here(monkeypatch, "audit", *_csv(labels=False), "--labels", "others.csv") == 2
    assert "no sample of data.csv is named there ('q30' in the column 'who' and 'p0' in" in capsys.readouterr().err


def test_options_of_formats_reach_the_file(monkeypatch, capsys):
    X, y = _data()
    np.savez("two.npz", first=X[:, :100], second=X, status=y)
    record = _audit(monkeypatch, "two.npz", "--dataset", "second", "--target", "status", *FEW)
    assert record["audit"]["n_features"] == D and record["audit"]["n_classes"] == 2
    assert "X = open_matrix('two.npz', labels='status', member='second')" in capsys.readouterr().out
    calls = np.where(X > 1, 1, 0).astype(np.int8)
    calls[3, 5] = -9
    np.save("calls.npy", calls)
    assert run_here(monkeypatch, "audit", "calls.npy", "--missing", "-9", *FEW) == 2
    assert "row 3, column 5" in capsys.readouterr().err
    filled = _audit(monkeypatch, "calls.npy", "--missing", "-9", "--standardize", *FEW)
    assert filled["standardize"] is True
    code = capsys.readouterr().out.split("The same in Python:\n")[1]
    assert """X = open_matrix('calls.npy', missing=-9).standardised("mean", "std", "mean")""" in code
    np.save("odd.npy", X)
    Path("odd.npy").rename("odd.matrix")
    assert _audit(monkeypatch, "odd.matrix", "--format", "npy", *FEW)["audit"]["n_features"] == D


def test_rows_without_a_label_are_left_out(monkeypatch, capsys):
    X, y = _data()
    np.save("data.npy", X)
    known = np.where(np.arange(N) % 5 == 0, np.nan, y.astype(float))
    np.save("labels.npy", known)
    record = _audit(monkeypatch, "data.npy", "--labels", "labels.npy", *FEW)
    assert record["audit"]["n_samples"] == 32 and "8 of 40 rows have none" in record["labels"]
    expected = slimline.audit(X[known == known], y[known == known], n_components=R, repeats=3)
    assert record["audit"]["margins"][0]["before"] == pytest.approx(expected.margins[0].before, rel=1e-6)


def test_without_labels_distances_are_judged(monkeypatch, capsys):
    _npy()
    record = _audit(monkeypatch, "data.npy", *FEW)
    assert record["labels"] is None and record["audit"]["margins"] == []
    said = capsys.readouterr().out
    assert "none known, so no margins: add --labels FILE --target COLUMN" in said
    assert "95% of the squared distances stay within 1 ± 0.2" in said
    write_genotypes("cohort", 40, 300, seed=0)
    people = [line.rsplit(" ", 1)[0] for line in Path("cohort.fam").read_text().splitlines()]
    Path("cohort.fam").write_text("".join(f"{line} 2\n" for line in people))  # everybody is a case, as in a real file
    assert _audit(monkeypatch, "cohort.bed", *FEW)["audit"]["n_classes"] == 0


def test_several_classes_and_classes_that_are_not_separable(monkeypatch, capsys):
    several = _audit(monkeypatch, *_npy(classes=4), *FEW)["audit"]
    names = [kept["name"] for kept in several["margins"]]
    assert several["n_classes"] == 4 and "one-parameter margin" in names and several["wrong_side"] is None
    assert "the median normalised multiclass margin is at least 0.8" in " ".join(capsys.readouterr().out.split())
    X, y = _data()
    np.save("data.npy", np.vstack([X, X[:1]]))  # the same point twice, with two labels
    np.save("labels.npy", np.append(y, 1 - y[0]))
    mixed = _audit(monkeypatch, "data.npy", "--labels", "labels.npy", *FEW)["audit"]
    said = " ".join(capsys.readouterr().out.split())
    there = {kept["name"]: kept["before"] for kept in mixed["margins"]}
    assert there.pop("error-allowed margin") > 0.0 and list(there.values()) == [0.0, 0.0, 0.0]
    assert "No plane separates the classes, so there is no margin to keep" in said
    assert "95% of the squared distances stay within 1 ± 0.2" in said


def test_what_is_lost_is_said_to_be(monkeypatch, capsys):
    made = _audit(monkeypatch, *_npy(), "--components", "1", "--repeats", "4")["audit"]
    said = " ".join(capsys.readouterr().out.split())
    assert made["outcome"] == "lost" and "LOST" in said and "to 1 component " in said
    assert "The classes stayed separable in none of 4 draws" in said
    assert f"Nothing is left of the normalised margin, which was {made['margins'][1]['before']:.3g}." in said


@pytest.mark.parametrize("points", [np.ones((1, 30)), np.ones((6, 30)), np.zeros((3, 30)), np.eye(30)[:2]])
def test_data_with_nothing_to_compare(monkeypatch, capsys, points):
    np.save("data.npy", points)
    record = _audit(monkeypatch, "data.npy", "--components", "8", "--repeats", "2", "--figure", "audit.svg")["audit"]
    assert record["n_samples"] == len(points)
    if not np.ptp(points, axis=0).any():
        assert record["ball"]["before"] == 0.0 and record["ball"]["after"] == [0.0, 0.0]
        assert "There is no pair of different points." in capsys.readouterr().out


@pytest.mark.parametrize("name", ["audit.png", "audit.svg", "audit.pdf"])
def test_the_figure_is_written_and_named(monkeypatch, capsys, tmp_path, name):
    assert run_here(monkeypatch, "audit", *_npy(), *FEW, "--figure", name) == 0
    assert f"Figure: {name}" in capsys.readouterr().out
    drawn = (tmp_path / name).read_bytes()
    assert len(drawn) > 20_000 and drawn.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[name[-3:]])
    if name.endswith("svg"):
        assert ET.fromstring(drawn).tag.endswith("svg")


def test_interruption_leaves_nothing_behind(monkeypatch, capsys, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    arguments = _npy()
    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr("slimline.auditing._auditor.measure_original", interrupted)
    assert run_here(monkeypatch, "audit", *arguments, "--json", "audit.json", "--figure", "audit.png") == 130
    assert "Traceback" not in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == before
