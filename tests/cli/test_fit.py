"""`slimline fit`, as a user runs it: what it says, writes and refuses."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from slimline import CertifiedClassifier, open_matrix
from slimline.cli._fit_samples import held_out_rows
from slimline.data import write_genotypes
from slimline.estimators._persistence import load_model
from slimline.model_files import StoredModel
from tests.cli.command import refusals, run_here
from tests.snapshots import check_snapshot

N, D = 90, 400


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _data(classes=2):
    rng = np.random.default_rng(0)
    y = np.arange(N) % classes
    X = rng.standard_normal((N, D)).astype(np.float32)
    return X + 0.4 * rng.standard_normal((classes, D)).astype(np.float32)[y], y


def _npy(classes=2):
    X, y = _data(classes)
    np.save("data.npy", X)
    np.save("labels.npy", y)
    return X, y, ["data.npy", "--labels", "labels.npy"]


def _svmlight():
    X, y = _data()
    X = np.where(np.abs(X) > 1.0, X, 0).astype(np.float64)
    dump_svmlight_file(sp.csr_array(X), y, "data.svm", zero_based=False)
    return open_matrix("data.svm").dot(np.eye(D)), y.astype(float), ["data.svm"]


def _csv():
    X, y = _data()
    y = np.array(["no", "yes"])[y]
    head = ["who", *(f"f{k}" for k in range(D)), "status"]
    rows = [[f"p{k}", *map(str, row), label] for k, (row, label) in enumerate(zip(X, y, strict=True))]
    Path("data.csv").write_text("\n".join(",".join(line) for line in (head, *rows)))
    return X.astype(np.float64), y, ["data.csv", "--id", "who", "--target", "status"]


def _run(monkeypatch, *arguments):
    return run_here(monkeypatch, "fit", *arguments, "--json", "out.json")


@pytest.mark.parametrize("refit", [True, False], ids=["refit", "not"])
@pytest.mark.parametrize("made", [_npy, _svmlight, _csv, lambda: _npy(4)], ids=["npy", "svmlight", "csv", "four"])
def test_the_measured_model_is_that_of_the_training_rows_and_the_written_one_of_all(monkeypatch, capsys, made, refit):
    X, y, data = made()
    options = ["--C", "0.01", "--tol", "1e-6", "--seed", "5", *([] if refit else ["--no-refit"])]
    assert _run(monkeypatch, *data, *options) == 0
    told = json.loads(Path("out.json").read_text())
    model = CertifiedClassifier.load("data.slim")
    train, test = held_out_rows(y, 0.2, 5)
    part = CertifiedClassifier(C=0.01, method="gram").fit(X[train], y[train])
    exact = CertifiedClassifier(C=0.01, method="gram").fit(X, y) if refit else part
    size = np.linalg.norm(exact.coef_)
    assert np.linalg.norm(model.coef_ - exact.coef_) <= 2e-6 * size
    held = told["held_out"]
    assert held["n_rows"] == len(test) and held["accuracy"] == np.mean(part.predict(X[test]) == y[test])
    assert held["trained_rows"] == len(train) and told["data"]["n_rows"] == (N if refit else len(train))
    assert told["data"]["left_out"] == 0 and not held["worse_than_majority"]
    seen = X[slice(None) if refit else train].astype(np.float64)
    assert StoredModel.read("data.slim").mean == pytest.approx(seen.mean(axis=0), abs=1e-7)
    assert max(told["model"]["relative_error"]) <= 1e-6 and told["model"]["C"] == 0.01
    assert len(told["features"]) == 50 and told["audit"] is None
    page = Path("data.html").read_text()
    assert told["features"][0]["name"] in page
    said = capsys.readouterr().out
    assert "held-out rows" in said and "certified error" in said and "data.slim" in said and "data.html" in said
    assert ("rows for that measurement, then on all of them" in said) == refit == ("with the same C" in page)
    assert told["reproduction"]["command"].endswith(" --no-refit") != refit
    assert not Path("data.slim.resume").exists()


def test_the_code_on_the_page_runs(monkeypatch):
    *_, data = _csv()
    assert _run(monkeypatch, *data, "--C", "0.1") == 0
    names = {}
    exec(json.loads(Path("out.json").read_text())["reproduction"]["python"], names)
    assert len(names["decisions"].labels) == N
    assert np.array_equal(names["decisions"].labels, CertifiedClassifier.load("data.slim").predict(names["X"]))


@pytest.mark.slow
def test_the_penalty_is_chosen_by_cross_validation(monkeypatch):
    *_, data = _npy()
    assert _run(monkeypatch, *data, "--audit") == 0
    told = json.loads(Path("out.json").read_text())
    search = told["search"]
    assert len(search["penalties"]) == 10 and search["folds"] == 5
    assert search["scores"][search["penalties"].index(told["model"]["C"])] == max(search["scores"])
    assert told["audit"]["n_rows"] > 0 and told["plan"]["guarantees"]
    assert told["reproduction"]["command"] == "slimline fit data.npy --labels labels.npy --seed 0"
    assert told["model"]["C"] == load_model("data.slim").C  # the refit takes what the search found
    assert _run(monkeypatch, *data, "--no-refit", "--force") == 0
    assert told["model"]["C"] == load_model("data.slim").C_
    assert json.loads(Path("out.json").read_text())["search"] == search


def test_genotypes(monkeypatch):
    write_genotypes("cohort", 120, 2000, n_populations=3, seed=1, missing_rate=0.02)
    labels = Path("cohort.labels.tsv").read_text().splitlines()
    labels[1] = "\t".join([*labels[1].split("\t")[:2], "NA", *labels[1].split("\t")[3:]])
    Path("cohort.labels.tsv").write_text("\n".join([labels[0], *reversed(labels[1:])]))  # by name, not by order
    arguments = ["cohort.bed", "--labels", "cohort.labels.tsv", "--target", "population", "--C", "0.001"]
    assert _run(monkeypatch, *arguments) == 0
    told = json.loads(Path("out.json").read_text())
    assert told["data"]["left_out"] == 1 and told["data"]["standardised"]
    assert told["data"]["labels"].startswith("population of cohort.labels.tsv, matched by ")
    variants = open_matrix("cohort.bed").variants
    for feature in told["features"]:
        assert feature["position"] == variants.position[feature["index"]]
        assert feature["allele1"] == variants.allele1[feature["index"]]
    stored = StoredModel.read("cohort.slim")
    assert stored.mean is not None and list(stored.allele2[:5]) == variants.allele2[:5].tolist()
    assert stored.details["data"]["rows"] == told["data"]["n_rows"] and stored.details["command"].startswith("slimline")


def test_phenotypes_of_the_fam_file(monkeypatch):
    write_genotypes("cohort", 60, 500, n_populations=2, seed=1)
    people = [line.split() for line in Path("cohort.fam").read_text().splitlines()]
    labels = {line.split("\t")[0]: line.split("\t")[2] for line in Path("cohort.labels.tsv").read_text().splitlines()}
    for k, person in enumerate(people):
        person[5] = "-9" if k % 10 == 0 else {"POP1": "1", "POP2": "2"}[labels[person[0]]]
    Path("cohort.fam").write_text("\n".join(" ".join(person) for person in people) + "\n")
    assert _run(monkeypatch, "cohort.bed", "--C", "0.001", "--no-report", "--holdout", "0.25") == 0
    told = json.loads(Path("out.json").read_text())
    assert told["data"]["left_out"] == 6 and [label for label, _ in told["data"]["classes"]] == ["1", "2"]
    assert sum(count for _, count in told["data"]["classes"]) == 54
    assert told["held_out"]["trained_rows"] + told["held_out"]["n_rows"] == 54


def test_the_audit_is_for_those_who_ask_for_it(monkeypatch):
    """Without it, a fit makes at most 3 passes beyond those of its two fits; the audit adds one."""
    write_genotypes("cohort", 100, 1000, n_populations=2, seed=1)
    arguments = ["cohort.bed", "--labels", "cohort.labels.tsv", "--target", "population", "--C", "0.001"]
    assert _run(monkeypatch, *arguments) == 0
    told = json.loads(Path("out.json").read_text())
    assert told["audit"] is None and told["plan"] is None and _beyond_the_fits(told) == 3
    assert _run(monkeypatch, *arguments, "--audit", "--no-report", "--force") == 0
    told = json.loads(Path("out.json").read_text())
    assert told["audit"]["n_rows"] > 0 and told["audit"]["passes"] == 1 and _beyond_the_fits(told) == 4


def _beyond_the_fits(told):
    return sum(phase["passes"] for phase in told["cost"]["phases"] if not phase["name"].startswith("fit"))


@pytest.mark.parametrize("data", [_npy, _csv, _svmlight])
def test_passes_beyond_the_fits_are_three_for_other_formats(monkeypatch, data):
    assert _run(monkeypatch, *data()[-1]) == 0
    assert _beyond_the_fits(json.loads(Path("out.json").read_text())) == 3


def test_rows_of_another_file_and_names_of_the_columns(monkeypatch, capsys):
    X, y, data = _npy()
    np.save("later.npy", X[30:60])
    np.save("labels.npy", y[:30])
    np.save("data.npy", X[:30])
    assert (y[30:60] == y[:30]).all()
    Path("names.txt").write_text("\n".join(f"peak {k}" for k in range(D)) + "\n")
    options = ["--test", "later.npy", "--feature-names", "names.txt", "--C", "100"]
    assert _run(monkeypatch, *data, *options) == 0
    told = json.loads(Path("out.json").read_text())
    assert told["held_out"]["n_rows"] == told["held_out"]["trained_rows"] == told["data"]["n_rows"] == 30
    exact = CertifiedClassifier(C=100, method="gram").fit(X[:30], y[:30])
    assert told["held_out"]["accuracy"] == np.mean(exact.predict(X[30:60]) == y[30:60])
    assert told["features"][0]["name"].startswith("peak ")
    Path("names.txt").write_text("one\n")
    assert _run(monkeypatch, *data, *options, "--force") == 2
    assert "1 names, and data.npy has 400 columns" in capsys.readouterr().err


def test_what_was_asked_for_and_not_reached_has_a_code_of_its_own(monkeypatch, capsys):
    *_, data = _npy()
    options = ["--C", "1e6", "--method", "sketch", "--components", "80", "--max-passes", "3", "--tol", "1e-9"]
    assert _run(monkeypatch, *data, *options) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "certified relative error" in said and 'more than 3 passes, the method "gram"' in said
    assert Path("data.slim").exists() and Path("data.html").exists()


@pytest.mark.parametrize("recovery", ["iterative", "dual", "debiased_dual", "naive"])
def test_weights_that_nothing_is_proved_of_are_named(monkeypatch, capsys, recovery):
    *_, data = _npy()
    options = ["--C", "1e6", "--components", "80", "--recovery", recovery, "--no-report"]
    assert _run(monkeypatch, *data, *options) == 3
    notes = json.loads(Path("out.json").read_text())["notes"]
    assert [note for note in notes if recovery in note and "weights of 0" in note]
    assert "Note: " in capsys.readouterr().out
    model = CertifiedClassifier.load("data.slim")
    assert model.recovery == recovery and not model.certificate_.relative_error[0] <= 1.0


def test_dual_weights_that_are_proved_to_be_near_need_no_note(monkeypatch):
    *_, data = _npy()
    options = ["--C", "1e-3", "--components", "300", "--recovery", "debiased_dual", "--no-report", "--tol", "1"]
    assert _run(monkeypatch, *data, *options) == 0
    assert not [note for note in json.loads(Path("out.json").read_text())["notes"] if "weights of 0" in note]


def test_options_reach_the_classifier(monkeypatch):
    *_, data = _npy()
    options = ["--loss", "logistic", "--class-weight", "balanced", "--no-intercept", "--standardize", "--holdout", "0"]
    assert _run(monkeypatch, *data, *options, "--C", "0.3", "--no-report", "--threads", "1") == 0
    model = CertifiedClassifier.load("data.slim")
    assert model.loss == "logistic" and model.class_weight == "balanced" and model.standardize
    assert not model.fit_intercept and not Path("data.html").exists()
    told = json.loads(Path("out.json").read_text())
    assert told["held_out"] is None and told["data"]["n_rows"] == N and told["cost"]["threads"] == 1


def test_mistakes_are_one_line(monkeypatch, capsys):
    _, _, data = _npy()
    cases = [
        ["--C", "much"],
        ["--C", "-1"],
        ["--tol", "0"],
        ["--holdout", "1"],
        ["--model", "nowhere/x.slim"],
        ["--method", "direct", "--standardize"],
        ["--recovery", "dual"],
        ["--recovery", "dual", "--C", "1", "--method", "gram"],
        ["--target", "x"],
        ["--feature-names", "labels.npy"],
        ["--model", "data.npy", "--force"],
        ["--report", "labels.npy", "--force"],
        ["--json", "./data.html"],
        ["--covariate-columns", "age"],
        ["--covariates", "labels.npy", "--covariate-columns", "age"],
        ["--covariates", "labels.npy", "--intercept", "penalised"],
        ["--covariates", "labels.npy", "--C", "1"],
        ["--task", "regression", "--loss", "hinge"],
        ["--loss", "huber"],
        ["--loss", "logistic", "--epsilon", "1"],
        ["--prevalence", "0.1"],
    ]
    said = refusals(monkeypatch, capsys, "fit", [["data.npy", "--id", "who"], *([*data, *case] for case in cases)])
    check_snapshot(Path(__file__).parent / "snapshots" / "fit mistakes.txt", said)
    assert run_here(monkeypatch, "fit", *data, "--components", "0") == 2
    assert not Path("data.slim").exists() and not Path("data.html").exists()
    assert np.load("data.npy").shape == (N, D)


def test_a_table_with_text_is_told_how(monkeypatch, capsys):
    _, _, data = _csv()
    assert _run(monkeypatch, data[0], "--target", "status") == 2
    assert "column 0 (who), counted from 0: not a number: 'p0'. If it names the samples" in capsys.readouterr().err


def test_names_in_a_compressed_file(monkeypatch):
    _, _, data = _npy()
    Path("names.txt.gz").write_bytes(gzip.compress("\n".join(f"gène {k}" for k in range(D)).encode("utf-8-sig")))
    assert _run(monkeypatch, *data, "--C", "0.1", "--no-report", "--feature-names", "names.txt.gz") == 0
    assert load_model("data.slim").feature_names_in_[0] == "gène 0"


def test_files_that_are_there_stay(monkeypatch, capsys):
    *_, data = _npy()
    Path("data.slim").write_text("precious")
    assert _run(monkeypatch, *data) == 2
    assert "data.slim exists" in capsys.readouterr().err and Path("data.slim").read_text() == "precious"


def test_json_on_standard_output_and_nothing_else(monkeypatch, capsys):
    *_, data = _npy()
    assert run_here(monkeypatch, "fit", *data, "--C", "0.1", "--no-audit", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["layout"] == 1


@pytest.mark.data
@pytest.mark.parametrize("recovery", ["iterative", "dual"])
def test_raw_arcene_by_a_published_recovery(monkeypatch, data_dir, capsys, recovery):
    for kind in ("data", "labels"):
        np.save(f"{kind}.npy", np.loadtxt(data_dir / "arcene" / f"arcene_train.{kind}"))
    options = ["--C", "1", "--loss", "squared", "--components", "300", "--holdout", "0", "--recovery", recovery]
    assert _run(monkeypatch, "data.npy", "--labels", "labels.npy", *options) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "weights of 0" in said and ("did not converge" in said) == (recovery == "iterative")
    assert f"recovery=&#34;{recovery}&#34;" in Path("data.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.data
def test_regions_of_hapmap3(monkeypatch, data_dir):
    folder = data_dir / "hapmap3_1kg"
    data = [str(folder / "hapmap3.bed"), "--labels", str(folder / "hapmap3.labels.tsv"), "--target", "region"]
    assert _run(monkeypatch, *data, "--tol", "1e-3", "--model", "regions.slim", "--report", "regions.html") == 0
    told = json.loads(Path("out.json").read_text())
    held = told["held_out"]
    assert held["n_rows"] == 191 and held["majority_label"] == "AFR"
    assert held["accuracy"] >= 0.95 > 0.5 > held["majority_rate"]  # a linear SVM: 98.6 % in cross-validation
    assert held["proved"] >= 0.95 and max(told["model"]["relative_error"]) <= 1e-3
    assert told["data"]["left_out"] == 0 and told["data"]["n_features"] == 14389
    assert held["trained_rows"] == 957 - 191 and sum(count for _, count in told["data"]["classes"]) == 957


# Rows that were trained on ---------------------------------------------------------------------------


def _table(path, names, X, y):
    lines = [["who", *(f"f{k}" for k in range(X.shape[1])), "status"]]
    lines += [[name, *map(str, row), str(label)] for name, row, label in zip(names, X, y, strict=True)]
    Path(path).write_text("\n".join(",".join(line) for line in lines) + "\n")


def test_rows_of_a_test_file_that_are_trained_on_do_not_count(monkeypatch, capsys):
    X, y = _data()
    names = [f"p{k}" for k in range(N)]
    _table("data.csv", names[:60], X[:60], y[:60])
    _table("later.csv", names[40:], X[40:], y[40:])  # twenty of them are in data.csv, too
    options = ["data.csv", "--id", "who", "--target", "status", "--C", "0.01", "--test"]
    assert _run(monkeypatch, *options, "later.csv") == 0
    told = json.loads(Path("out.json").read_text())
    exact = CertifiedClassifier(C=0.01, method="gram").fit(X[:60], y[:60])
    assert told["held_out"]["n_rows"] == 30 and told["data"]["n_rows"] == 60
    assert told["held_out"]["accuracy"] == np.mean(exact.predict(X[60:]) == y[60:])
    assert any("20 rows of later.csv are rows of data.csv" in note for note in told["notes"])
    assert "20 rows of later.csv" in Path("data.html").read_text()
    capsys.readouterr()
    _table("again.csv", names[:60], X[:60], y[:60])
    assert _run(monkeypatch, *options, "again.csv", "--force") == 2
    assert "--test again.csv: all of its 60 rows" in capsys.readouterr().err


def test_rows_of_a_copy_without_names_are_known_by_the_fingerprint(monkeypatch, capsys):
    X, _, data = _npy()
    np.save("copy.npy", X)
    assert _run(monkeypatch, *data, "--C", "0.1", "--test", "copy.npy") == 2
    assert "--test copy.npy: all of its 90 rows" in capsys.readouterr().err


@pytest.mark.parametrize("named", [True, False])
def test_predict_tells_new_rows_from_those_trained_on(monkeypatch, capsys, named):
    if named:
        X, y = _data()
        names = [f"p{k}" for k in range(N)]
        _table("data.csv", names[:60], X[:60], y[:60])
        _table("all.csv", names[::-1], X[::-1], y[::-1])
        data, new, labels = ["data.csv", "--id", "who", "--target", "status"], "all.csv", ["--id", "who"]
        labels += ["--target", "status"]
        seen, truth, X = np.arange(N)[::-1] < 60, y[::-1], X[::-1]
    else:
        X, truth, data = _npy()
        data, new, labels = [*data, "--no-refit"], "data.npy", ["--labels", "labels.npy"]
        seen = np.isin(np.arange(N), held_out_rows(truth, 0.2, 0)[0])
    assert _run(monkeypatch, *data, "--C", "0.01", "--no-report", "--holdout", "0" if named else "0.2") == 0
    assert run_here(monkeypatch, "predict", "data.slim", new, *labels, "--out", "p.csv", "--json", "p.json") == 0
    said = capsys.readouterr().err
    rows = list(csv.DictReader(Path("p.csv").read_text().splitlines()))
    assert [row["trained_on"] == "true" for row in rows] == seen.tolist()
    told = json.loads(Path("p.json").read_text())
    right = np.array([row["label"] for row in rows]) == truth.astype(str)
    assert told["trained_on"] == seen.sum() and told["accuracy"]["rows"] == (~seen).sum()
    assert told["accuracy"]["right"] == right[~seen].sum() and not told["accuracy"]["worse_than_majority"]
    assert f"{seen.sum()} of these rows were trained on" in said and f"{(~seen).sum()} new rows with a label" in said


def test_predict_of_training_rows_alone_compares_nothing(monkeypatch, capsys):
    *_, data = _npy()
    assert _run(monkeypatch, *data, "--C", "0.01", "--no-report") == 0
    assert run_here(monkeypatch, "predict", "data.slim", *data, "--out", "p.csv", "--json", "p.json") == 0
    assert json.loads(Path("p.json").read_text())["accuracy"] is None
    assert "All of these rows were trained on" in capsys.readouterr().err


def test_a_model_that_is_no_better_than_naming_one_class_says_so(monkeypatch, capsys):
    rng = np.random.default_rng(0)
    np.save("data.npy", rng.standard_normal((N, D)).astype(np.float32))
    np.save("labels.npy", np.arange(N) % 5 == 0)
    assert _run(monkeypatch, "data.npy", "--labels", "labels.npy", "--standardize") == 0
    told = json.loads(Path("out.json").read_text())
    assert told["held_out"]["worse_than_majority"] is True
    said = " ".join(capsys.readouterr().out.split())
    assert "Warning: On 18 samples that it did not see, the model is right for" in said
    assert "no better than always predicting that class" in Path("data.html").read_text()
