"""`slimline audit` on real data, and as the documents and `--help` show it."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from sklearn.datasets import dump_svmlight_file

from slimline.cli._audit import EXAMPLES
from slimline.data import write_genotypes
from tests.cli.command import run_here

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _audit(monkeypatch, *arguments):
    """Run the command and return what it wrote as JSON."""
    assert run_here(monkeypatch, "audit", *arguments, "--json", "audit.json") == 0
    return json.loads(Path("audit.json").read_text())["audit"]


def _small_files():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 200)) + np.arange(30)[:, None] % 2, np.arange(30) % 2
    np.save("data.npy", X)
    np.save("labels.npy", y)
    Path("labels.tsv").write_text("\n".join("ab"[c] for c in y))
    dump_svmlight_file(X, y, "words.svm", zero_based=False)
    write_genotypes("cohort", 60, 400, n_populations=3, seed=1)


def _commands(text, *words):
    """Return the arguments of the commands in a text, lines that go on put together."""
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.strip().startswith(" ".join(("slimline", *words)))]


@pytest.mark.slow
def test_the_examples_of_the_help_run(monkeypatch, capsys):
    _small_files()
    examples = _commands(EXAMPLES, "audit")
    assert len(examples) == 3
    for arguments in examples:
        assert run_here(monkeypatch, *arguments) == 0, arguments
    assert Path("audit.json").exists() and Path("audit.png").exists()
    assert run_here(monkeypatch, "audit", "--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    for arguments in examples:
        assert " ".join(("slimline", *arguments)) in said


@pytest.mark.slow
def test_the_commands_of_the_guide_run_as_they_stand(monkeypatch, capsys):
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    simulate, audit, real = _commands(page)
    assert run_here(monkeypatch, *simulate) == 0 and run_here(monkeypatch, *audit, "--repeats", "2") == 0
    made = json.loads(Path("audit.json").read_text())["audit"]
    assert (made["n_samples"], made["n_features"], made["n_classes"]) == (300, 20_000, 2)
    assert imread("audit.png").shape == imread(ROOT / "docs" / "images" / "audit.png").shape
    assert real[-1] == "audit.png" and (ROOT / "docs" / "images" / "audit.png").stat().st_size < 200_000


@pytest.mark.slow
@pytest.mark.data
def test_the_picture_of_the_guide_is_what_the_page_says(monkeypatch, capsys, data_dir):
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    *_, arguments = _commands(page)
    monkeypatch.chdir(data_dir / "arcene")
    assert run_here(monkeypatch, *arguments[:-2], "--json", "-") == 0  # no picture there
    made = json.loads(capsys.readouterr().out)["audit"]
    kept = next(kept for kept in made["margins"] if kept["name"] == "normalised margin")
    ratios = [after / kept["before"] for after in kept["after"]]
    said = f"{100 * min(ratios):.0f} % to {100 * max(ratios):.0f} % of the normalised margin"
    assert made["outcome"] == "kept" and kept["positive"]["held"] == 20 and said in " ".join(page.split())
    assert (
        f"has {made['wrong_side']['after'][0]} of the 100 spectra on its wrong side after the first draw"
        in " ".join(page.split())
    )


@pytest.mark.slow
@pytest.mark.data
def test_real_genotypes_with_their_labels(monkeypatch, capsys, data_dir):
    folder = data_dir / "hapmap3_1kg"
    labels = ["--labels", str(folder / "hapmap3.labels.tsv"), "--target", "region", "--standardize"]
    few = ["--rows", "120", "--components", "400", "--repeats", "2", "--projection", "osnap"]
    made = _audit(monkeypatch, str(folder / "hapmap3.bed"), *labels, *few, "--figure", "audit.png")
    assert "5 (region of hapmap3.labels.tsv, matched by FID and IID)" in capsys.readouterr().out
    assert (made["n_samples"], made["n_rows"], made["n_features"], made["n_classes"]) == (957, 120, 14_389, 5)
    assert made["outcome"] in ("kept", "shrunk") and made["rank"] == 120  # regions are told apart by far
    assert all(check["held"] == check["draws"] for check in made["brackets"])


@pytest.mark.data
def test_real_spectra_and_genes(monkeypatch, capsys, data_dir):
    spectra = [str(data_dir / "arcene" / "arcene_train.data"), "--format", "csv"]
    spectra += ["--labels", str(data_dir / "arcene" / "arcene_train.labels")]
    made = _audit(monkeypatch, *spectra, "--repeats", "2")
    assert (made["n_samples"], made["n_features"], made["n_classes"]) == (100, 10_000, 2)
    assert made["needed_dimension"] > 10_000
    assert "and there are only 10,000 features." in " ".join(capsys.readouterr().out.replace("│", " ").split())
    genes = str(data_dir / "gene_expression" / "golub.npz")
    found = [_audit(monkeypatch, genes, *more, "--repeats", "2") for more in ([], ["--target", "y"])]
    assert found[0]["margins"] == found[1]["margins"] and found[0]["n_classes"] == 2
