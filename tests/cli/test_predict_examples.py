"""`slimline predict` and `features` as the guide and `--help` show them, and on real genotypes of two projects."""

import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from slimline import CertifiedClassifier, open_matrix
from slimline.cli import _features as features
from slimline.cli import _predict as predict
from slimline.data import write_genotypes
from slimline.estimators import aligned_decisions
from slimline.model_files import StoredModel
from tests.cli.command import run_here
from tests.cli.models import write_models
from tests.estimators.aligned import explicit_scores

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "predict.md"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _commands(text, indent=""):
    """Return the arguments of the commands in a text; lines that go on are put together."""
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith(f"{indent}slimline ")]


def test_the_commands_of_the_guide_run_as_they_stand(monkeypatch, capsys):
    page = GUIDE.read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(block, names)
    capsys.readouterr()
    commands = _commands(page, indent=4 * " ")
    assert [arguments[0] for arguments in commands] == ["predict"] * 3 + ["features"] * 4
    said = ""
    for arguments in commands:
        assert run_here(monkeypatch, *arguments) == 0, arguments
        said += capsys.readouterr().err
    for text in re.findall(r"```text\n(.*?)```", page, flags=re.DOTALL):
        assert all(line in said for line in text.splitlines())
    head = Path("predictions.csv").read_text().splitlines()[0].split(",")
    labels, values = (
        re.findall(r"^\| `(\w+)`(?:, `(\w+)`)? \|", part, re.MULTILINE) for part in page.split("## Quantitative traits")
    )
    assert Path("heights.csv").read_text().splitlines()[0].split(",") == [
        name for row in values for name in row if name
    ]
    named = [name for name, _ in labels]
    assert [name for name in head if not name.startswith("score_")] == [n for n in named if n in head]
    assert set(named) - set(head) == {"probability", "score_CLASS"}
    assert len(Path("every_variant.tsv").read_text().splitlines()) == 5001
    for name in ("lower", "upper", "best_place", "worst_place", "coefficient"):
        assert f"`{name}`" in page and name in Path("top.csv").read_text().splitlines()[0]
    alignment = json.loads(Path("predictions.json").read_text())["columns"]
    for name in ("swapped", "palindromic", "absent", "other_alleles", "ignored", "reordered"):
        assert f"`{name}`" in page and name in alignment


def test_the_examples_of_the_help_run(monkeypatch, capsys, tmp_path):
    write_models(tmp_path)
    write_genotypes("new", 40, 300, n_populations=3, fst=0.2, seed=0)
    shutil.copy("words.svm", "new.svm")
    for command in (predict, features):
        examples = _commands(command.EXAMPLES.replace(" | head", ""))
        assert len(examples) == 3
        for arguments in examples:
            assert run_here(monkeypatch, *arguments) == 0, arguments
    for name in ("predictions.csv", "predictions.tsv", "new.json", "top.csv", "every_variant.tsv"):
        assert Path(name).stat().st_size > 100


@pytest.mark.data
def test_genotypes_of_another_project(monkeypatch, capsys, data_dir):
    """HapMap 3 trains, 1000 Genomes is predicted: other order, other alleles counted, 310 variants absent."""
    folder = data_dir / "hapmap3_1kg"
    train, new = open_matrix(folder / "hapmap3.bed"), open_matrix(folder / "1kg_phase1_overlap.bed")
    region = np.loadtxt(folder / "hapmap3.labels.tsv", dtype=str, delimiter="\t", skiprows=1, usecols=3)
    strangers = np.flatnonzero(~np.isin(np.asarray(train.sample_ids), np.asarray(new.sample_ids)))  # in one only
    model = CertifiedClassifier(1e-4, standardize=True, tol=1e-3, random_state=0)
    model.fit(train.rows(strangers), region[strangers]).save("hapmap.slim", trained_on=train.rows(strangers))
    options = ("--labels", str(folder / "1kg_phase1_overlap.labels.tsv"), "--target", "region", "--json", "kg.json")
    data = str(folder / "1kg_phase1_overlap.bed")
    assert run_here(monkeypatch, "predict", "hapmap.slim", data, *options, "--out", "kg.csv") == 0
    found = json.loads(Path("kg.json").read_text())
    columns = found["columns"]
    assert (columns["used"], columns["swapped"], columns["absent"], columns["ignored"]) == (14_079, 3_368, 310, 0)
    assert columns["reordered"] and columns["other_alleles"] == 0 and found["accuracy"]["rows"] == 1047
    truth = np.loadtxt(folder / "1kg_phase1_overlap.labels.tsv", dtype=str, delimiter="\t", skiprows=1, usecols=3)
    told = np.array([line.split(",")[1:3] for line in Path("kg.csv").read_text().splitlines()[1:]])
    known = np.isin(truth, ["AFR", "EAS", "EUR"])  # three people of AMR were left to train on
    assert np.mean(told[known, 0] == truth[known]) > 0.97 and np.mean(told[:, 1] == "true") > 0.9
    # the file that does not say its alleles: what the same model is worth without swapping
    blind, alignment = aligned_decisions(model, new)
    assert alignment.swapped == 0 and np.mean(blind.labels[known] == truth[known]) < 0.8
    # the scores are those of the genotypes written out
    stored = StoredModel.read("hapmap.slim")
    decisions, _ = aligned_decisions(stored, new)
    rows = np.repeat(stored.fill[None, :], 50, axis=0)
    place = {name: j for j, name in enumerate(new.feature_names)}
    values = np.concatenate([block.values.unpack()[:50].astype(float) for block in new.blocks()], axis=1)
    ours, theirs = train.variants, new.variants
    for j, name in enumerate(train.feature_names):
        k = place.get(name, -1)
        if k < 0 or {ours.allele1[j], ours.allele2[j]} != {theirs.allele1[k], theirs.allele2[k]}:
            continue
        copies = values[:, k] if ours.allele1[j] == theirs.allele1[k] else 2.0 - values[:, k]
        rows[:, j] = np.where(values[:, k] < 0, stored.fill[j], copies)
    np.testing.assert_allclose(decisions.scores[:50], explicit_scores(stored, rows), rtol=1e-8, atol=1e-8)
