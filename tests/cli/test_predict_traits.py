"""`slimline predict` with regressions and with models of covariates, against the library, cell by cell."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from slimline import CertifiedClassifier, CertifiedRegressor, open_matrix
from slimline.data import write_genotypes
from slimline.estimators import aligned_decisions, aligned_predictions
from slimline.estimators._predictions import correlation_interval, r2_interval
from slimline.model_files import StoredModel
from tests.cli.command import enter_copy, predicted, refusals, run_here
from tests.snapshots import check_snapshot

N = 60
#: Rows that are trained on, and rows that lack a covariate in `covar.tsv`.
TRAINED, WITHOUT = np.arange(40), [3, 50, 51]


def _write(folder):
    """Write genotypes, a table of covariates and traits, and models of them."""
    write_genotypes(folder / "cohort", N, 300, missing_rate=0.02, seed=0)
    rng, genotypes = np.random.default_rng(0), open_matrix(folder / "cohort.bed")
    people = pd.DataFrame([line.split()[:2] for line in (folder / "cohort.fam").read_text().splitlines()])
    people.columns = ["FID", "IID"]
    covariates = people.assign(sex=rng.integers(0, 2, N), pc=rng.standard_normal(N), age=rng.integers(20, 80, N))
    dosage = np.vstack([np.nan_to_num(block.values.unpack(), nan=1.0) for block in genotypes.blocks()])
    assert dosage.shape == (N, 300)
    height = dosage[:, :30] @ rng.standard_normal(30) + 0.1 * covariates["age"] + rng.standard_normal(N) + 150.0
    shuffled = people.assign(height=height, tall=np.where(height > height.median(), "yes", "no"))
    shuffled.sample(frac=1.0, random_state=0).to_csv(folder / "pheno.tsv", sep="\t", index=False)
    complete = covariates[["age", "sex"]]
    covariates.loc[WITHOUT[:2], "age"] = np.nan
    covariates.drop(index=WITHOUT[2]).sample(frac=1.0, random_state=1).to_csv(
        folder / "covar.tsv", sep="\t", index=False, na_rep="NA"
    )
    train, shared = genotypes.rows(TRAINED), {"standardize": True, "score_bounds": True, "random_state": 0}
    known = complete.iloc[TRAINED]
    for name, model, y in (
        ("height", CertifiedRegressor(1e-3, **shared), height),
        ("both", CertifiedRegressor(1e-3, **shared), np.column_stack([height, -height])),
        ("tall", CertifiedClassifier(1e-3, loss="logistic", intercept="free", **shared), shuffled["tall"].to_numpy()),
    ):
        model.fit(train, y[TRAINED], covariates=known).save(folder / f"{name}.slim", trained_on=train)
    CertifiedRegressor(1e-3, **shared).fit(train, height[TRAINED]).save(folder / "alone.slim", trained_on=train)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traits")
    _write(folder)
    return folder


@pytest.fixture(autouse=True)
def _in_a_folder(files, tmp_path, monkeypatch):
    enter_copy(files, tmp_path, monkeypatch)


def _covariates():
    """Return age and sex of all samples in their order; NaN where one lacks them."""
    people = [line.split()[1] for line in Path("cohort.fam").read_text().splitlines()]
    table = pd.read_csv("covar.tsv", sep="\t", dtype={"FID": str, "IID": str}).set_index("IID")
    return table.reindex(people)[["age", "sex"]].reset_index(drop=True)


def _heights():
    people = [line.split()[1] for line in Path("cohort.fam").read_text().splitlines()]
    return pd.read_csv("pheno.tsv", sep="\t", dtype={"IID": str}).set_index("IID").loc[people, "height"].to_numpy()


def _numbers(rows, name, kept):
    return np.array([float(row[name]) for row, one in zip(rows, kept, strict=True) if one])


def test_a_regression_beside_covariates(monkeypatch, capsys):
    rows, said = predicted(monkeypatch, capsys, "height.slim", "cohort.bed", "--covariates", "covar.tsv")
    assert list(rows[0]) == ["id", "predicted", "from", "to", "trained_on"]
    U = _covariates()
    kept = U.notna().all(axis=1).to_numpy()
    assert np.flatnonzero(~kept).tolist() == WITHOUT
    assert all([row["predicted"], row["from"], row["to"]] == [""] * 3 for row in np.array(rows)[~kept])
    genotypes = open_matrix("cohort.bed")
    assert [row["id"] for row in rows] == list(genotypes.sample_ids)
    assert [row["trained_on"] == "true" for row in rows] == [i in TRAINED for i in range(N)]
    model = CertifiedRegressor.load("height.slim")
    expected = model.certified_predictions(genotypes.rows(np.flatnonzero(kept)), U[kept])
    for name, part in (("predicted", expected.value), ("from", expected.lower), ("to", expected.upper)):
        np.testing.assert_array_equal(_numbers(rows, name, kept), part)
    assert "Covariates: age, sex of covar.tsv, matched by FID and IID. No prediction without them: 3 rows." in said
    assert "40 of these rows were trained on" in said and "their values are not compared" in said


def test_true_values_of_rows_that_were_not_trained_on(monkeypatch, capsys):
    truth = ("--labels", "pheno.tsv", "--target", "height")
    rows, said = predicted(
        monkeypatch, capsys, "height.slim", "cohort.bed", "--covariates", "covar.tsv", *truth, "--json", "p.json"
    )
    found = json.loads(Path("p.json").read_text(), parse_constant=pytest.fail)
    assert set(found) == {
        *("layout", "model", "data", "rows", "columns", "trained_on", "covariates", "prevalence"),
        *("median_error", "largest_error", "agreement"),
    }
    assert found["rows"] == N and found["covariates"]["missing"] == 3 and found["trained_on"] == len(TRAINED)
    new = np.array([i not in TRAINED and i not in WITHOUT for i in range(N)])
    value, lower, upper = (_numbers(rows, name, new) for name in ("predicted", "from", "to"))
    heights, error = _heights()[new], np.maximum(upper - value, value - lower)
    agreement = found["agreement"]
    assert agreement["rows"] == new.sum() == 18
    assert agreement["mean_absolute_error"] == pytest.approx(np.abs(value - heights).mean())
    for name, interval in (("r2", r2_interval), ("correlation", correlation_interval)):
        assert agreement[name] == pytest.approx(vars(interval(value, error, heights, np.ones(18))))
    assert agreement["correlation"]["value"] == pytest.approx(np.corrcoef(value, heights)[0, 1])
    assert "On 18 new rows with a value: R² " in said and "Values: height of pheno.tsv" in said
    every = _numbers(rows, "to", [i not in WITHOUT for i in range(N)])
    every -= _numbers(rows, "predicted", [i not in WITHOUT for i in range(N)])
    assert found["largest_error"] == pytest.approx(every.max(), rel=1e-6)


def test_columns_of_another_order_with_absent_ones(monkeypatch, capsys):
    lines = Path("cohort.bim").read_text().splitlines(keepends=True)
    for j in range(4):
        lines[j] = lines[j].replace("snp", "other")
    Path("new.bim").write_text("".join(lines))
    os.link("cohort.bed", "new.bed")
    os.link("cohort.fam", "new.fam")
    rows, said = predicted(monkeypatch, capsys, "alone.slim", "new.bed")
    expected, alignment = aligned_predictions("alone.slim", open_matrix("new.bed"))
    assert alignment.absent == 4 and "The bounds hold for all genotypes of the filled columns" in said
    for name, part in (("predicted", expected.value), ("from", expected.lower), ("to", expected.upper)):
        np.testing.assert_array_equal(_numbers(rows, name, np.ones(N, dtype=bool)), part)


def test_several_targets(monkeypatch, capsys):
    rows, _ = predicted(monkeypatch, capsys, "both.slim", "cohort.bed", "--covariates", "covar.tsv")
    names = [f"{name}_{k}" for k in (0, 1) for name in ("predicted", "from", "to")]
    assert list(rows[0]) == ["id", *names, "trained_on"]
    kept = _covariates().notna().all(axis=1).to_numpy()
    expected = CertifiedRegressor.load("both.slim").predict(
        open_matrix("cohort.bed").rows(np.flatnonzero(kept)), _covariates()[kept]
    )
    found = np.column_stack([_numbers(rows, f"predicted_{k}", kept) for k in (0, 1)])
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_classes_beside_covariates(monkeypatch, capsys):
    arguments = ("tall.slim", "cohort.bed", "--covariates", "covar.tsv", "--labels", "pheno.tsv", "--target", "tall")
    rows, said = predicted(monkeypatch, capsys, *arguments, "--json", "p.json")
    assert list(rows[0]) == ["id", "label", "certified", "trained_on", "score", "probability"]
    U = _covariates()
    kept = U.notna().all(axis=1).to_numpy()
    decisions, _ = aligned_decisions("tall.slim", open_matrix("cohort.bed").rows(np.flatnonzero(kept)), U[kept])
    assert [row["label"] for row in np.array(rows)[kept]] == decisions.labels.tolist()
    assert [row["certified"] == "true" for row in np.array(rows)[kept]] == decisions.proved.tolist()
    for row in np.array(rows)[~kept]:
        assert [row[name] for name in ("label", "certified", "score", "probability")] == [""] * 4
    found = json.loads(Path("p.json").read_text())
    assert found["rows"] == N and sum(found["labels"].values()) == N - 3 and found["accuracy"]["rows"] == 18
    assert f"{decisions.proved.sum()} certified ({100 * decisions.proved.mean():.3g}%)" in said


def test_probabilities_in_a_population(monkeypatch, capsys):
    genotypes, data = open_matrix("cohort.bed"), ("tall.slim", "cohort.bed", "--covariates", "covar.tsv")
    U = _covariates()
    kept = U.notna().all(axis=1).to_numpy()
    model, samples = CertifiedClassifier.load("tall.slim"), genotypes.rows(np.flatnonzero(kept))
    plain, _ = predicted(monkeypatch, capsys, *data)
    rows, said = predicted(monkeypatch, capsys, *data, "--prevalence", "0.01", "--json", "p.json")
    winner = model.decision_function(samples, U[kept]) > 0
    expected = model.predict_proba(samples, U[kept], prevalence=0.01)[np.arange(len(winner)), winner.astype(int)]
    np.testing.assert_allclose(_numbers(rows, "probability", kept), expected, rtol=1e-9)
    assert [row["label"] for row in rows] == [row["label"] for row in plain]  # and scores: only probabilities move
    assert [row["score"] for row in rows] == [row["score"] for row in plain]
    assert json.loads(Path("p.json").read_text())["prevalence"] == 0.01 and "has a share of 0.01" in said
    stored = StoredModel.read("tall.slim")
    replace(stored, details=stored.details | {"prevalence": 0.01}).write("own.slim")
    assert predicted(monkeypatch, capsys, "own.slim", *data[1:])[0] == rows  # that of the fit


def test_covariates_without_names_are_taken_in_their_order(monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X, U = rng.standard_normal((30, 8)), rng.standard_normal((30, 2))
    model = CertifiedRegressor().fit(X, X[:, 0] + U[:, 1], covariates=U)
    model.save("plain.slim")
    np.save("X.npy", X)
    np.save("U.npy", U)
    rows, said = predicted(monkeypatch, capsys, "plain.slim", "X.npy", "--covariates", "U.npy")
    np.testing.assert_allclose(_numbers(rows, "predicted", np.ones(30)), model.predict(X, U), rtol=1e-12)
    assert all(row["trained_on"] == "" for row in rows) and "U.npy, in the order of the rows" in said
    np.save("U.npy", U[:, :1])
    assert run_here(monkeypatch, "predict", "plain.slim", "X.npy", "--covariates", "U.npy") == 2
    assert "1 covariate, and the model was trained with 2" in capsys.readouterr().err


def test_true_values_that_the_data_carry(monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    y = X[:, 0] + 0.1 * rng.standard_normal(30)

    def write(name, values):
        lines = (
            f"{value} " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(row))
            for value, row in zip(values, X, strict=True)
        )
        Path(name).write_text("\n".join(lines) + "\n")

    write("X.svm", y)
    CertifiedRegressor().fit(open_matrix("X.svm"), y).save("svm.slim")
    _, said = predicted(monkeypatch, capsys, "svm.slim", "X.svm")
    assert "On 30 rows with a value: R² " in said
    write("Y.svm", np.where(y > 0, 1, 2))  # cases and controls: nobody asked
    assert "R²" not in predicted(monkeypatch, capsys, "svm.slim", "Y.svm")[1]
    Path("same.txt").write_text("1\n" * 30)
    _, said = predicted(monkeypatch, capsys, "svm.slim", "X.svm", "--labels", "same.txt", "--json", "p.json")
    assert json.loads(Path("p.json").read_text())["agreement"]["r2"] is None and "mean absolute error" in said
    write("Z.svm", -y)
    assert "no better than always predicting their mean" in predicted(monkeypatch, capsys, "svm.slim", "Z.svm")[1]


def test_data_are_read_once(monkeypatch, capsys):
    passes = []
    original = open_matrix

    def watched(*arguments, **options):
        passes.append(original(*arguments, **options))
        return passes[-1]

    monkeypatch.setattr("slimline.data.open_matrix", watched)
    predicted(monkeypatch, capsys, "height.slim", "cohort.bed", "--covariates", "covar.tsv")
    assert [matrix.passes for matrix in passes] == [1]


def test_mistakes_are_one_line(monkeypatch, capsys):
    table = pd.read_csv("covar.tsv", sep="\t")
    table.drop(columns="age").to_csv("no age.tsv", sep="\t", index=False)
    table[["FID", "IID", "pc"]].to_csv("pc.tsv", sep="\t", index=False)
    table.assign(age="old").to_csv("old.tsv", sep="\t", index=False)
    table.assign(IID=[f"x{i}" for i in range(len(table))], FID="x").to_csv("strangers.tsv", sep="\t", index=False)
    before = sorted(path.name for path in Path.cwd().iterdir())
    data, covariates = ("height.slim", "cohort.bed"), ("--covariates", "covar.tsv")
    said = refusals(
        monkeypatch,
        capsys,
        "predict",
        [
            data,
            ("alone.slim", "cohort.bed", *covariates),
            (*data, "--covariates", "none.tsv"),
            (*data, "--covariates", "no age.tsv"),
            (*data, "--covariates", "pc.tsv"),
            (*data, "--covariates", "old.tsv"),
            (*data, "--covariates", "strangers.tsv"),
            (*data, *covariates, "--json", "covar.tsv"),
            (*data, *covariates, "--labels", "pheno.tsv"),
            (*data, *covariates, "--labels", "pheno.tsv", "--target", "tall"),
            (*data, *covariates, "--prevalence", "0.1"),
            ("tall.slim", "cohort.bed", *covariates, "--prevalence", "1"),
            ("both.slim", "cohort.bed", *covariates, "--labels", "pheno.tsv", "--target", "height"),
        ],
    )
    check_snapshot(Path(__file__).parent / "snapshots" / "predict traits mistakes.txt", said)
    assert sorted(path.name for path in Path.cwd().iterdir()) == before
