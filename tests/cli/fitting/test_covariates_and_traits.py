"""`slimline fit` with covariates, and of numbers: against exact solutions, and what it says, stores and refuses."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from slimline import CertifiedClassifier, open_matrix
from slimline.cli._covariates import covariates_of_model
from slimline.cli._fit_samples import CovariateSource, LabelSource, held_out_rows, samples_of
from slimline.cli._fit_settings import job_key
from slimline.data import write_genotypes
from slimline.estimators._persistence import load_model
from slimline.model_files import StoredModel
from tests.cli.command import run_here

N, D = 60, 300
LAMBDA = 20.0


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _table(names, X, ids, seed=0):
    """Write a data table, and covariates and traits of its samples in another order; return these, in the data's."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(20, 80, len(X)), rng.integers(0, 2, len(X))
    trait = np.round(160 + X[:, :10].sum(axis=1) + 12 * sex - 0.05 * age + rng.standard_normal(len(X)), 3)
    score = trait - np.median(trait) - 6 * rng.standard_normal(len(X))
    case = np.where(score > 0, "yes", "no")
    head = ",".join(["who", *(f"f{k}" for k in range(D))])
    body = [",".join([name, *map(repr, row.tolist())]) for name, row in zip(ids, X, strict=True)]
    Path(f"{names}.csv").write_text("\n".join([head, *body]))
    order = rng.permutation(len(X))
    lines = [f"{ids[k]}\t{age[k]}\t{'MF'[sex[k]]}\t{trait[k]}\t{case[k]}" for k in order]
    Path(f"{names}.tsv").write_text("\n".join(["who\tage\tsex\theight\tcase", *lines]))
    return np.column_stack([age, 1 - sex]).astype(float), trait, case  # F is 0, M is 1


def _data(names="data", first=0, seed=0):
    X = np.random.default_rng(seed + 1).standard_normal((N, D))
    return X, *_table(names, X, [f"p{k}" for k in range(first, first + N)], seed)


def _fit(monkeypatch, *arguments):
    options = ["--id", "who", "--json", "out.json", "--no-resume", *arguments]
    code = run_here(monkeypatch, "fit", "data.csv", "--labels", "data.tsv", *options)
    return code, json.loads(Path("out.json").read_text()) if Path("out.json").exists() else {}


COVARIATES = ["--covariates", "data.tsv", "--covariate-columns", "age,sex"]


def _ridge(X, y, U):
    """Return the exact ridge weights beside free columns, by the normal equations."""
    free = np.column_stack([np.ones(len(X)), U])
    both = np.hstack([X, free])
    penalty = np.diag(np.r_[np.full(X.shape[1], LAMBDA), np.zeros(free.shape[1])])
    found = np.linalg.solve(both.T @ both + penalty, both.T @ y)
    return found[: X.shape[1]], found[X.shape[1] :]


@pytest.mark.parametrize("refit", ["--refit", "--no-refit"])
def test_a_regression_beside_covariates_is_the_exact_one(monkeypatch, capsys, refit):
    X, U, trait, _ = _data()
    options = ["--target", "height", *COVARIATES, "--C", str(1 / LAMBDA), "--tol", "1e-6", "--seed", "4", refit]
    code, told = _fit(monkeypatch, *options)
    assert code == 0
    train, test = held_out_rows(np.zeros(N), 0.2, 4)
    assert len(test) == 12
    part = _ridge(X[train], trait[train], U[train])
    weights, effects = _ridge(X, trait, U) if refit == "--refit" else part
    model = load_model("data.slim")
    assert np.linalg.norm(model.coef_ - weights) <= 2e-6 * np.linalg.norm(weights)
    assert np.allclose([model.intercept_, *model.covariate_coef_[0]], effects, rtol=1e-5, atol=1e-6)
    predicted = X[test] @ part[0] + part[1][0] + U[test] @ part[1][1:]
    (held,) = told["held_out_targets"]
    deviations = np.sum((trait[test] - trait[test].mean()) ** 2)
    r2 = 1 - np.sum((trait[test] - predicted) ** 2) / deviations
    assert held["r2"]["value"] == pytest.approx(r2, abs=1e-5) and held["r2"]["lower"] <= r2 <= held["r2"]["upper"]
    null = np.column_stack([np.ones(N), U])
    null = null @ np.linalg.lstsq(null[train], trait[train], rcond=None)[0]
    assert held["baseline_r2"] == pytest.approx(1 - np.sum((trait - null)[test] ** 2) / deviations)
    assert told["data"]["targets"][0]["name"] == "height" and told["data"]["left_out"] == 0
    said = capsys.readouterr().out
    assert "height" in said and "sex: F = 0, M = 1" in said and "R²" in said


def test_a_classification_beside_covariates_is_the_exact_one(monkeypatch):
    X, U, _, case = _data()
    options = ["--target", "case", *COVARIATES, "--loss", "logistic", "--C", "0.01", "--tol", "1e-7", "--holdout", "0"]
    assert _fit(monkeypatch, *options, "--no-report")[0] == 0
    model = load_model("data.slim")
    free = np.column_stack([np.ones(N), U])
    values = X @ model.coef_[0] + free @ np.r_[model.intercept_, model.covariate_coef_[0]]
    y = np.where(case == "yes", 1.0, -1.0)
    slope = 0.01 * y / (1 + np.exp(y * values))  # of the loss, times C: its sums are the optimality conditions
    assert np.linalg.norm(X.T @ slope - model.coef_[0]) <= 1e-5 * np.linalg.norm(model.coef_)
    assert np.abs(free.T @ slope).max() <= 1e-5 * np.abs(free * slope[:, None]).sum()
    direct = CertifiedClassifier(C=0.01, loss="logistic", intercept="free", tol=1e-7, random_state=0)
    direct.fit(X, case, covariates=U)
    assert np.allclose(model.coef_, direct.coef_, rtol=1e-5, atol=1e-9)


def test_samples_without_covariates_are_left_out_and_counted(monkeypatch, capsys):
    X, U, trait, _ = _data()
    lines = Path("data.tsv").read_text().splitlines()
    gone = lines[1].split("\t")[0], lines[2].split("\t")[0]
    lines[1] = "\t".join([gone[0], "", *lines[1].split("\t")[2:]])
    Path("covar.tsv").write_text("\n".join(["#IID\t" + lines[0].split("\t", 1)[1], lines[1], *lines[3:]]))
    options = ["--target", "height", "--covariates", "covar.tsv", "--covariate-columns", "age", "--C", str(1 / LAMBDA)]
    code, told = _fit(monkeypatch, *options, "--holdout", "0", "--tol", "1e-6")
    assert code == 0 and told["data"]["left_out"] == 2 and told["data"]["n_rows"] == N - 2
    kept = [k for k in range(N) if f"p{k}" not in gone]
    weights, _ = _ridge(X[kept], trait[kept], U[kept, :1])
    assert np.linalg.norm(load_model("data.slim").coef_ - weights) <= 2e-6 * np.linalg.norm(weights)
    (note,) = (note for note in told["notes"] if "covariates" in note)
    assert "2 of 60 rows" in note and "1 are not in covar.tsv" in note and "age 1" in note
    assert "2 of 60 rows" in " ".join(capsys.readouterr().out.split())


def test_the_coding_goes_into_the_model_file_and_to_held_out_rows(monkeypatch):
    X, U, trait, _ = _data()
    new_X, new_U, new_trait, _ = _data("later", first=N, seed=7)
    later = Path("later.tsv").read_text()
    Path("both.tsv").write_text(Path("data.tsv").read_text() + "\n" + later.split("\n", 1)[1])
    common = ["--target", "height", "--covariates", "data.tsv", "--covariate-columns", "sex,age"]
    common += ["--C", str(1 / LAMBDA), "--tol", "1e-7", "--test", "later.csv", "--force"]
    found = []
    run_here(monkeypatch, "fit", "data.csv", "--labels", "both.tsv", "--id", "who", *common)  # no covariates: refused
    assert not Path("data.slim").exists()
    for options in (["--test-covariates", "later.tsv"], ["--covariates", "both.tsv"]):
        arguments = ["--labels", "both.tsv", "--id", "who", *common, *options, "--json", "out.json"]
        assert run_here(monkeypatch, "fit", "data.csv", *arguments) == 0
        found.append(json.loads(Path("out.json").read_text())["held_out_targets"][0])
    weights, effects = _ridge(X, trait, U)
    predicted = new_X @ weights + effects[0] + new_U @ effects[1:]
    r2 = 1 - np.sum((new_trait - predicted) ** 2) / np.sum((new_trait - new_trait.mean()) ** 2)
    for held in found:
        assert held["n_rows"] == N and held["r2"]["value"] == pytest.approx(r2, abs=1e-5)
    stored = StoredModel.read("data.slim")
    assert stored.details["covariates"]["coding"] == {"sex": {"F": 0, "M": 1}}
    again = covariates_of_model(Path("later.tsv"), stored, open_matrix("later.csv", id="who"))
    assert again.names == ("sex", "age") and np.array_equal(again.values, new_U[:, ::-1])


@pytest.mark.parametrize("loss", ["huber", "epsilon_insensitive", "squared_epsilon_insensitive", "quantile", "squared"])
def test_every_loss_of_a_regression_with_its_penalty_chosen(monkeypatch, loss):
    _data()
    options = ["--target", "height", *COVARIATES, "--loss", loss, "--tol", "0.05", "--no-report"]
    code, told = _fit(monkeypatch, *options)
    assert code in (0, 3) and told["model"]["loss"] == loss
    assert told["search"]["penalties"] and told["model"]["C"] in told["search"]["penalties"]
    assert told["held_out_targets"][0]["n_rows"] == 12


def test_the_command_on_the_page_makes_the_same_model_and_the_code_runs(monkeypatch, capsys):
    _data()
    options = [
        "--target",
        "height",
        *COVARIATES,
        "--loss",
        "huber",
        "--delta",
        "2",
        "--C",
        "0.01",
        "--task",
        "regression",
    ]
    assert _fit(monkeypatch, *options)[0] == 0
    told = json.loads(Path("out.json").read_text())["reproduction"]
    first = load_model("data.slim").coef_
    shutil.move("data.slim", "first.slim")
    words = told["command"].split()
    assert words[:2] == ["slimline", "fit"] and run_here(monkeypatch, *words[1:], "--force") == 0
    assert np.array_equal(load_model("data.slim").coef_, first)
    capsys.readouterr()
    exec(told["python"], {})
    assert "sex  " in capsys.readouterr().out


def test_a_population_with_another_share_of_cases(monkeypatch):
    *_, case = _data()
    options = ["--target", "case", "--loss", "logistic", "--C", "0.01", "--prevalence", "0.01", "--no-report"]
    code, told = _fit(monkeypatch, *options)
    assert code == 0 and told["prevalence"]["prevalence"] == 0.01
    assert run_here(monkeypatch, "predict", "data.slim", "data.csv", "--id", "who", "--out", "out.csv") == 0
    lines = [line.split(",") for line in Path("out.csv").read_text().splitlines()]
    label, probability = (lines[0].index(name) for name in ("label", "probability"))
    share, scores = np.mean(case == "yes"), load_model("data.slim").decision_function(open_matrix("data.csv", id="who"))
    for line, odds in zip(lines[1:], np.exp(scores), strict=True):
        yes = 1 / (1 + share / (1 - share) * 99 / odds)
        assert float(line[probability]) == pytest.approx(yes if line[label] == "yes" else 1 - yes, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--covariate-columns", "age"], "--covariate-columns"),
        (["--test-covariates", "data.tsv"], "--test-covariates"),
        ([*COVARIATES, "--test-covariates", "data.tsv"], "--test-covariates"),
        ([*COVARIATES, "--intercept", "penalised"], "--intercept"),
        ([*COVARIATES[:3], "age,weight"], "--covariate-columns"),
        (["--intercept", "free", "--no-intercept"], "--intercept"),
        (["--loss", "logistic"], "--loss"),
        (["--class-weight", "balanced"], "--class-weight"),
        (["--prevalence", "0.1"], "--prevalence"),
        (["--delta", "1"], "--delta"),
        (["--loss", "huber", "--delta", "-1"], "--delta"),
        (["--scoring", "accuracy"], "--scoring"),
        (["--task", "classification"], "--labels"),
        (["--target", "case", "--task", "regression"], "--labels"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_option(monkeypatch, capsys, arguments, option):
    _data()
    assert _fit(monkeypatch, "--target", "height", *arguments)[0] == 2
    (line,) = (line for line in capsys.readouterr().err.splitlines() if line.startswith("slimline: "))
    assert option in line and not Path("data.slim").exists()


def test_covariates_that_separate_classes_name_the_samples(monkeypatch, capsys):
    _, _, _, case = _data()
    lines = [f"p{k},{int(label == 'yes')}" for k, label in enumerate(case)]
    Path("dose.csv").write_text("\n".join(["who,dose", *lines]))
    assert _fit(monkeypatch, "--target", "case", "--covariates", "dose.csv", "--C", "1")[0] == 2
    said = capsys.readouterr().err
    assert "'p0'" in said and "dose" in said and "separate 'yes'" in said


def test_dependent_covariates_are_noted_once(monkeypatch):
    _data()
    lines = Path("data.tsv").read_text().splitlines()
    ages = [line.split("\t")[:2] for line in lines[1:]]
    Path("twice.csv").write_text("\n".join(["who,age,days", *(f"{who},{age},{365 * int(age)}" for who, age in ages)]))
    code, told = _fit(monkeypatch, "--target", "height", "--covariates", "twice.csv", "--C", "0.1", "--no-report")
    assert code == 0 and sum("days" in note for note in told["notes"]) == 1
    assert np.isnan(load_model("data.slim").covariate_coef_[0, 1])


def test_covariates_that_are_features_leave_nothing_to_these(monkeypatch):
    X, _, trait, _ = _data()
    options = ["--covariates", "data.csv", "--covariate-columns", "f3,f5-f6", "--C", str(1 / LAMBDA), "--tol", "1e-6"]
    assert _fit(monkeypatch, "--target", "height", *options, "--holdout", "0", "--no-report")[0] == 0
    model, rest = load_model("data.slim"), np.delete(X, [3, 5, 6], axis=1)
    weights, effects = _ridge(rest, trait, X[:, [3, 5, 6]])
    size = np.linalg.norm(weights)
    assert np.linalg.norm(model.coef_[[3, 5, 6]]) <= 2e-6 * size
    assert np.linalg.norm(np.delete(model.coef_, [3, 5, 6]) - weights) <= 2e-6 * size
    assert np.allclose(model.covariate_coef_[0], effects[1:], rtol=1e-5)


def test_another_covariate_is_another_job():
    _data()
    data, labels = open_matrix("data.csv", id="who"), LabelSource(Path("data.tsv"), "height", "who")
    keys = set()
    for columns in ("age,sex", "sex,age", "age", None):
        source = None if columns is None else CovariateSource(Path("data.tsv"), columns, "who")
        keys.add(job_key(Path("data.csv"), samples_of(data, labels, 0.2, 0, None, source), {}))
    text = Path("data.tsv").read_text()
    Path("other.tsv").write_text(text.replace("\tM\t", "\tF\t", 1))
    source = CovariateSource(Path("other.tsv"), "age,sex", "who")
    keys.add(job_key(Path("data.csv"), samples_of(data, labels, 0.2, 0, None, source), {}))
    assert len(keys) == 5
    source = CovariateSource(Path("data.tsv"), "age,sex", "who")
    assert job_key(Path("data.csv"), samples_of(data, labels, 0.2, 0, None, source), {}) in keys


def test_a_trait_of_the_fam_file_and_of_plink_files_without_names(monkeypatch):
    write_genotypes("cohort", 50, 400, n_populations=2, missing_rate=0.01)
    people = [line.split()[:2] for line in Path("cohort.fam").read_text().splitlines()]
    rng = np.random.default_rng(0)
    trait, age = np.round(rng.normal(0, 9, 50), 2), rng.integers(20, 80, 50)
    trait[3] = -9.0  # PLINK's for a missing one
    lines = [f"{f} {i} 0 0 0 {t:g}\n" for (f, i), t in zip(people, trait, strict=True)]
    Path("cohort.fam").write_text("".join(lines))
    Path("pheno.txt").write_text("".join(f"{f} {i} {t:g}\n" for (f, i), t in zip(people, trait, strict=True)))
    Path("covar.txt").write_text("".join(f"{f} {i} {a}\n" for (f, i), a in zip(people, age, strict=True)))
    found = []
    for labels in ([], ["--labels", "pheno.txt"]):
        options = [
            *labels,
            "--covariates",
            "covar.txt",
            "--C",
            "1e-3",
            "--holdout",
            "0",
            "--json",
            "out.json",
            "--force",
        ]
        assert run_here(monkeypatch, "fit", "cohort.bed", *options) == 0
        told = json.loads(Path("out.json").read_text())
        assert told["data"]["left_out"] == 1 and told["data"]["targets"][0]["mean"] == pytest.approx(
            np.delete(trait, 3).mean()
        )
        assert [effect["name"] for effect in told["effects"]] == ["intercept", "COVAR1"]
        found.append(load_model("cohort.slim").coef_)
    assert np.array_equal(*found)


def _with_factors(monkeypatch, text, *options):
    Path("factors.tsv").write_text(text)
    arguments = ["--target", "height", *COVARIATES, "--penalty-factors", "factors.tsv", "--C", str(1 / LAMBDA)]
    return _fit(monkeypatch, *arguments, "--holdout", "0", "--tol", "1e-7", *options)


@pytest.mark.parametrize("head", ["feature\tfactor\n", ""])
def test_penalty_factors_of_a_file_are_those_of_the_exact_model(monkeypatch, head):
    X, U, trait, _ = _data()
    code, told = _with_factors(monkeypatch, head + "f3\t0\nf7\t9\nf5\tinf\nf0\t0.25\n")
    assert code == 0 and "--penalty-factors factors.tsv" in told["reproduction"]["command"]
    scale = np.ones(D)
    scale[[0, 7, 5]] = 2.0, 1 / 3, 0.0
    kept = np.arange(D) != 3
    weights, effects = _ridge((X * scale)[:, kept], trait, np.column_stack([U, X[:, 3]]))
    exact = np.empty(D)
    exact[kept], exact[3] = weights * scale[kept], effects[-1]
    model = load_model("data.slim")
    assert np.linalg.norm(model.coef_ - exact) <= 1e-6 * np.linalg.norm(exact)
    assert model.coef_[5] == 0.0
    assert np.allclose([model.intercept_, *model.covariate_coef_[0]], effects[:-1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("f1\t2\nnobody\t3\n", "'nobody'"),
        ("f1\t2\nf1\t3\n", "f1"),
        ("f1\ttwo\n", "'two'"),
        ("f1\t2\nf2\tnan\n", "'nan'"),
        ("f1\t-1\n", "-1 for f1"),
        ("f1\t1\t2\n", "3 columns"),
    ],
)
def test_a_file_of_penalty_factors_that_says_nothing_sure_is_refused(monkeypatch, capsys, text, named):
    _data()
    assert _with_factors(monkeypatch, text)[0] == 2
    assert named in " ".join(capsys.readouterr().err.split())
    assert not Path("data.slim").exists()


def test_penalty_factors_need_names(monkeypatch, capsys):
    np.save("plain.npy", np.random.default_rng(0).standard_normal((20, 30)))
    np.save("y.npy", np.random.default_rng(1).standard_normal(20))
    Path("factors.csv").write_text("a,2\n")
    arguments = ["plain.npy", "--labels", "y.npy", "--penalty-factors", "factors.csv"]
    assert run_here(monkeypatch, "fit", *arguments) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--penalty-factors" in said and "--feature-names" in said
    Path("names.txt").write_text("\n".join("abcdefghijklmnopqrstuvwxyz1234"))
    assert run_here(monkeypatch, "fit", *arguments, "--feature-names", "names.txt", "--C", "0.1") == 0
    assert load_model("plain.slim").penalty_factor[0] == 2.0


def test_a_checkpoint_belongs_to_its_penalty_factors(monkeypatch):
    keys = []

    def keyed(*arguments):
        keys.append(job_key(*arguments))
        return keys[-1]

    monkeypatch.setattr("slimline.cli._fit_job.job_key", keyed)
    _data()
    for text in ("f1\t2\n", "f1\t3\n", "name\tfactor\nf1\t2\n"):
        assert _with_factors(monkeypatch, text, "--no-report", "--force")[0] == 0
    assert keys[0] == keys[2] != keys[1]


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss"])
def test_scores_other_than_accuracy_choose_C(monkeypatch, capsys, scoring):
    _data()
    code, told = _fit(monkeypatch, "--target", "case", "--loss", "logistic", "--scoring", scoring)
    search = told["search"]
    assert code == 0 and search["scoring"] == scoring
    least, most = (0.0, 1.0) if scoring == "roc_auc" else (-np.inf, 0.0)
    assert all(least <= score <= most for score in search["scores"])
    more = ["--scoring", "neg_log_loss", "--force"]  # the default loss has no probabilities
    assert _fit(monkeypatch, "--target", "case", *more)[0] == 2
    assert "--scoring" in capsys.readouterr().err
