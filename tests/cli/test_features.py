"""`slimline features` against the library."""

import csv
import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from slimline import CertifiedClassifier, CertifiedRegressor, open_matrix
from slimline._base.text import rounded_up
from slimline.cli._features import features_view
from slimline.data._names import PackedStrings
from slimline.errors import CovariateWarning
from slimline.estimators._decisions import ranking_of
from slimline.learning import rank_bounds
from slimline.model_files import StoredModel
from tests.cli.command import enter_copy, refusals, run_here
from tests.cli.models import D, write_models
from tests.snapshots import check_snapshot


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    write_models(folder)
    return folder


@pytest.fixture(autouse=True)
def _in_a_folder(models, tmp_path, monkeypatch):
    enter_copy(models, tmp_path, monkeypatch)


def _table(path):
    return list(csv.DictReader(Path(path).read_text(encoding="utf-8").splitlines()))


def test_the_table_is_that_of_top_features(monkeypatch, capsys):
    assert run_here(monkeypatch, "features", "table.slim", "--top", "7", "--csv", "top.csv", "--json", "top.json") == 0
    said = capsys.readouterr().out
    top = CertifiedClassifier.load("table.slim").top_features(7)
    rows = _table("top.csv")
    assert [row["name"] for row in rows] == list(top.name)
    for name in ("weight", "lower", "upper"):
        assert [float(row[name]) for row in rows] == getattr(top, name).tolist()
    assert [row["proved_in_top"] == "true" for row in rows] == top.proved.tolist()
    assert [int(row["place"]) for row in rows] == list(range(1, 8))
    found = json.loads(Path("top.json").read_text())
    assert found["n_features"] == D and found["top"] == 7 and found["label"] is None
    assert [entry["weight"] for entry in found["features"]] == top.weight.tolist()
    assert all(name in said for name in top.name) and said.count("proved") == top.proved.sum()
    assert "Weights above 0 speak for well." in said and "not about causes" in said.replace("\n", " ")


def test_places_and_coefficients_of_every_column(monkeypatch, capsys):
    assert run_here(monkeypatch, "features", "cohort.slim", "--top", "all", "--csv", "all.csv") == 0
    assert "Written: all.csv" in capsys.readouterr().out
    model, rows = CertifiedClassifier.load("cohort.slim"), _table("all.csv")
    assert len(rows) == 300 and "proved_in_top" not in rows[0]
    number = [int(row["name"].removeprefix("snp")) - 1 for row in rows]
    assert sorted(number) == list(range(300))
    best, worst = rank_bounds(model.certificate_.interval_centre, model.certificate_.interval_radius)
    assert [int(row["best_place"]) for row in rows] == best[number].tolist()
    assert [int(row["worst_place"]) for row in rows] == worst[number].tolist()
    whose = [int(np.flatnonzero(model.classes_ == row["class"])[0]) for row in rows]
    np.testing.assert_allclose([float(row["coefficient"]) for row in rows], model.coef_[whose, number], rtol=1e-12)
    lines = [line.split("\t") for line in Path("cohort.bim").read_text().splitlines()]
    facts = [[lines[j][k] for k in (0, 3, 4, 5)] for j in number]
    assert [[row[k] for k in ("chromosome", "position", "allele1", "allele2")] for row in rows] == facts
    sizes = np.abs([float(row["weight"]) for row in rows])
    assert (np.diff(sizes) <= 0).all()


@pytest.mark.parametrize(("model", "label"), [("cohort.slim", "POP2"), ("two.slim", "False"), ("plain.slim", "0")])
def test_weights_of_one_class(monkeypatch, capsys, model, label):
    assert run_here(monkeypatch, "features", model, "--top", "4", "--label", label, "--csv", "-") == 0
    said = capsys.readouterr()
    rows = list(csv.DictReader(said.out.splitlines()))
    loaded = CertifiedClassifier.load(model)
    own = next(c for c in loaded.classes_ if str(c) == label)
    assert [float(row["weight"]) for row in rows] == loaded.top_features(4, label=own).weight.tolist()
    assert f"Weights above 0 speak for {label}." in said.err  # the table goes where it does not disturb


def test_more_than_there_are(monkeypatch, capsys):
    assert run_here(monkeypatch, "features", "words.slim", "--json", "-") == 0
    said = capsys.readouterr()
    assert len(json.loads(said.out)["features"]) == 3 and "top 3" in said.err


def test_mistakes_are_one_line(monkeypatch, capsys):
    said = refusals(
        monkeypatch,
        capsys,
        "features",
        [
            ["none.slim"],
            ["cohort.bed"],
            ["cohort.slim", "--top", "0"],
            ["cohort.slim", "--top", "many"],
            ["cohort.slim", "--top", "all"],
            ["cohort.slim", "--label", "POP9"],
            ["cohort.slim", "--csv", "x.txt"],
            ["cohort.slim", "--csv", "table.csv"],
            ["cohort.slim", "--json", "no/x.json"],
        ],
    )
    check_snapshot(Path(__file__).parent / "snapshots" / "features mistakes.txt", said)


def test_names_are_not_read_as_markup(monkeypatch, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((30, 3)), columns=["[red]a", "[/bold]", "x" * 500])
    CertifiedClassifier(0.1).fit(frame, (frame["[red]a"] > 0).astype(int)).save("odd.slim")
    assert run_here(monkeypatch, "features", "odd.slim") == 0
    said = capsys.readouterr().out
    assert "[red]a" in said and "[/bold]" in said and "xxx…" in said.replace("\n", "")


def test_names_and_places_of_variants_are_whole_in_eighty_letters():
    stored = StoredModel.read("cohort.slim")
    fitted = CertifiedClassifier.load("cohort.slim")
    stored = replace(
        stored,
        feature_names=PackedStrings.of([f"rs{10**8 + j}" for j in range(stored.n_features)]),
        position=np.full(stored.n_features, 179_013_111),
    )
    console = Console(width=80, file=StringIO())
    console.print(features_view(stored, ranking_of(fitted.certificate_, fitted.classes_, None), 20, None))
    said = console.file.getvalue()
    assert said.count(":179013111 ") == 20 and len(re.findall(r"rs\d{9} ", said)) == 20


def test_a_certificate_that_is_infinite(monkeypatch, capsys):
    stored, fitted = StoredModel.read("cohort.slim"), CertifiedClassifier.load("cohort.slim")
    bound = {name: np.array(getattr(stored, name)) for name in ("gap", "radius", "relative_error")}
    each = {name: np.array(getattr(stored, name)) for name in ("interval_radius", "coordinate_radius")}
    for value in (bound | each).values():
        value[1] = np.inf
    replace(stored, **bound, **each).write("one.slim")
    assert run_here(monkeypatch, "features", "one.slim", "--top", "5", "--csv", "top.csv", "--json", "top.json") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Nothing is proved about the weights of POP2: their certificate is infinite." in said
    found = json.loads(Path("top.json").read_text(), parse_constant=pytest.fail)["features"]
    assert not any(entry["proved_in_top"] for entry in found)
    assert run_here(monkeypatch, "features", "one.slim", "--top", "5", "--label", "POP2", "--json", "-") == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["features"]
    assert all(entry["lower"] is entry["upper"] is None for entry in found)
    assert run_here(monkeypatch, "predict", "one.slim", "cohort.bed", "--out", "p.csv", "--json", "p.json") == 0
    assert "its certificate is infinite" in capsys.readouterr().err
    assert json.loads(Path("p.json").read_text())["certified"] == 0
    assert [row["label"] for row in _table("p.csv")] == fitted.predict(open_matrix("cohort.bed")).tolist()


# Regressions and covariates --------------------------------------------------------------------------


def _trait(targets=1, **settings):
    """Return a regression of named features beside named covariates, of which the last depends on the others."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, 30)), columns=[f"gène {j}" for j in range(30)])
    U = pd.DataFrame({"age": rng.integers(20, 80, 60), "[sex]": rng.integers(0, 2, 60)})
    U["both"] = U["age"] - U["[sex]"]
    y = X.iloc[:, :targets].to_numpy() * [5.0, -2.0][:targets] + U[["age"]].to_numpy()
    y = y[:, 0] if targets == 1 else y
    with pytest.warns(CovariateWarning):
        return CertifiedRegressor(C=1.0, score_bounds=True, **settings).fit(X, y, covariates=U)


def test_a_regression_and_the_effects_of_its_covariates(monkeypatch, capsys):
    model = _trait()
    model.save("trait.slim")
    assert run_here(monkeypatch, "features", "trait.slim", "--top", "5", "--csv", "t.csv", "--json", "t.json") == 0
    said = capsys.readouterr().out
    top, effects = model.top_features(5), model.covariate_effects()
    assert [row["name"] for row in _table("t.csv")] == list(top.name)
    assert [float(row["weight"]) for row in _table("t.csv")] == top.weight.tolist()
    assert "Weights above 0 raise the prediction. Proved" in " ".join(said.split())
    found = json.loads(Path("t.json").read_text(), parse_constant=pytest.fail)["effects"]
    assert [entry["name"] for entry in found] == ["intercept", "age", "[sex]", "both"]
    for part in ("effect", "lower", "upper"):
        assert [entry[part] for entry in found[:3]] == getattr(effects, part)[0, :3].tolist()
        assert found[3][part] is None  # left out of the fit
    row = next(line for line in said.splitlines() if line.startswith("age"))
    around = np.maximum(effects.upper - effects.effect, effects.effect - effects.lower)[0, 1]
    assert row.split() == ["age", f"{effects.effect[0, 1]:.4g}", rounded_up(around, 2)]
    assert "[sex]" in said and re.search(r"both +left out", said) and "no standard error" in " ".join(said.split())
    assert run_here(monkeypatch, "features", "trait.slim", "--label", "0") == 2
    assert "--label does not apply" in capsys.readouterr().err


def test_several_targets(monkeypatch, capsys):
    model = _trait(2)
    model.save("traits.slim")
    assert run_here(monkeypatch, "features", "traits.slim", "--top", "4", "--csv", "t.csv", "--json", "t.json") == 0
    said = capsys.readouterr().out
    assert [row["target"] for row in _table("t.csv")][:2] == ["0", "1"] and " target" in said
    found = json.loads(Path("t.json").read_text())["effects"]
    assert [(entry["name"], entry["target"]) for entry in found[:4]] == [
        ("intercept", "0"),
        ("intercept", "1"),
        ("age", "0"),
        ("age", "1"),
    ]
    assert run_here(monkeypatch, "features", "traits.slim", "--top", "3", "--label", "1", "--csv", "-") == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [float(row["weight"]) for row in rows] == model.top_features(3, target=1).weight.tolist()
    assert run_here(monkeypatch, "features", "traits.slim", "--label", "2") == 2
    assert "must be one of the targets 0, 1; got 2" in capsys.readouterr().err


@pytest.mark.parametrize("classes", [2, 3])
def test_effects_of_covariates_of_classes(monkeypatch, capsys, classes):
    rng = np.random.default_rng(0)
    X, U = rng.standard_normal((60, 30)), rng.standard_normal((60, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + U[:, 0] + rng.standard_normal(60), [0.0, 1.0][: classes - 1])]
    model = CertifiedClassifier(0.1, intercept="free", loss="logistic").fit(X, y, covariates=U)
    model.save("beside.slim")
    assert run_here(monkeypatch, "features", "beside.slim", "--label", "a", "--json", "f.json") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert ("Effects above 0 speak for b." in said) == (classes == 2) and "u1" in said
    found = json.loads(Path("f.json").read_text())["effects"]
    assert len(found) == 3 * len(model.certificate_.weights)
    np.testing.assert_array_equal([entry["lower"] for entry in found], model.covariate_effects().lower.T.ravel())
    assert ("class" in found[0]) == (classes == 3)
    CertifiedClassifier(0.1, intercept="free").fit(X, y).save("alone.slim")
    assert run_here(monkeypatch, "features", "alone.slim", "--json", "g.json") == 0
    assert "covariate" not in capsys.readouterr().out  # a free intercept alone is in the JSON only
    assert {entry["name"] for entry in json.loads(Path("g.json").read_text())["effects"]} == {"intercept"}
