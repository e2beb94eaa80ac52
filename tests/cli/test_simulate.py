import inspect
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from slimline import open_matrix
from slimline.cli._simulate import simulate
from slimline.data import simulate_genotypes, write_genotypes
from tests.cli.command import run_here, start
from tests.data.plink_files import names_in, unpacked


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


SMALL = ["--samples", "40", "--variants", "700"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "format, endings",
    [("plink", {"bed", "bim", "fam"}), ("npy", {"npy"}), ("both", {"bed", "bim", "fam", "npy"})],
)
def test_what_is_written_is_said_and_the_next_command_works(tmp_path, monkeypatch, capsys, format, endings):
    assert run_here(monkeypatch, "simulate", "cohort", *SMALL, "--format", format) == 0
    assert {f.split(".", 1)[1] for f in names_in(tmp_path)} == endings | {"labels.tsv"}
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines if line.startswith("cohort.")} == set(names_in(tmp_path))
    command = shlex.split(lines[-1])
    assert command[0] == "python"
    done = subprocess.run([sys.executable, *command[1:]], capture_output=True, text=True, check=True)
    assert lines[0].startswith("cohort.npy" if format == "npy" else "cohort.bed") and " KB" in lines[0]
    people = simulate_genotypes(40, 700)
    assert np.allclose([float(x) for x in done.stdout.strip("[]\n").split()], people.X.mean(axis=0), atol=1e-6)


def test_options_reach_the_model(tmp_path, monkeypatch):
    options = ["--regions", "2", "--populations", "4", "--fst", "0.03", "--fst-region", "0.2", "--missing", "0.1"]
    assert run_here(monkeypatch, "simulate", "cohort", *SMALL, *options, "--seed", "7") == 0
    expected = simulate_genotypes(40, 700, 4, 0.03, 7, n_regions=2, fst_region=0.2, missing_rate=0.1)
    assert np.array_equal(unpacked(open_matrix("cohort.bed")), expected.X)


def test_files_are_not_replaced_without_force(tmp_path, monkeypatch, capsys):
    assert run_here(monkeypatch, "simulate", "cohort", *SMALL) == 0
    before = (tmp_path / "cohort.bed").read_bytes()
    assert run_here(monkeypatch, "simulate", "cohort", *SMALL, "--seed", "1") == 2
    message = capsys.readouterr().err
    assert "exists" in message and "--force" in message and message.count("\n") == 1
    assert (tmp_path / "cohort.bed").read_bytes() == before
    assert run_here(monkeypatch, "simulate", "cohort", *SMALL, "--seed", "1", "--force") == 0
    assert (tmp_path / "cohort.bed").read_bytes() != before


def test_defaults_are_those_of_the_function():
    of_function, of_command = (inspect.signature(f).parameters for f in (write_genotypes, simulate))
    for option, parameter in (
        ("regions", "n_regions"),
        ("populations", "n_populations"),
        ("fst", "fst"),
        ("fst_region", "fst_region"),
        ("missing", "missing_rate"),
        ("seed", "seed"),
        ("traits", "traits"),
        ("force", "overwrite"),
    ):
        assert of_command[option].default == of_function[parameter].default, option
    assert (of_command["format"].default,) == of_function["formats"].default


def test_what_the_guide_says_of_it_holds(tmp_path, monkeypatch):
    """The data of docs/data.md are those of the command that it names."""
    guide = (Path(__file__).parents[2] / "docs" / "data.md").read_text()
    (call,) = re.findall(r"^write_genotypes\(.*\)$", guide, re.MULTILINE)
    (command,) = re.findall(r"`slimline (simulate cohort [^`]*)`", guide)
    assert run_here(monkeypatch, *shlex.split(command)) == 0
    written = {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
    for name in written:
        (tmp_path / name).unlink()
    exec(call, {"write_genotypes": write_genotypes})
    assert {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)} == written


def test_mistakes_are_one_line_and_speak_of_options(tmp_path, monkeypatch, capsys):
    for arguments, said in (
        (["--fst", "0"], "--fst must"),
        (["--fst", "nan"], "--fst must"),
        (["--fst-region", "1"], "--fst-region must"),
        (["--missing", "1"], "--missing must"),
        (["--missing", "-0.1"], "--missing must"),
        (["--samples", "3"], "--populations must be at most the number of samples, 3; got 5."),
        (["--regions", "11"], "--regions must be at most the number of populations, 5; got 11."),
    ):
        assert run_here(monkeypatch, "simulate", "cohort", *SMALL, *arguments) == 2
        message = capsys.readouterr().err
        assert message.startswith(f"slimline: {said}") and message.count("\n") == 1, message
    assert run_here(monkeypatch, "simulate", "no/folder/cohort", *SMALL) == 2
    assert "no folder" in capsys.readouterr().err
    assert run_here(monkeypatch, "simulate", "cohort", *SMALL, "--format", "vcf") == 2
    assert names_in(tmp_path) == []


def test_a_full_disk_is_one_line(tmp_path, monkeypatch, capsys):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    assert run_here(monkeypatch, "simulate", "cohort", *SMALL) == 2
    message = capsys.readouterr().err
    assert "disk is full" in message and message.count("\n") == 1
    assert names_in(tmp_path) == []


@pytest.mark.slow
def test_interruption_leaves_nothing(tmp_path):
    process = start("simulate", "cohort", "--samples", "1000", "--variants", "3000000", "--format", "npy", cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not any(f.startswith(".cohort.npy") for f in names_in(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in error
    assert "slimline: stopped. What had been written was removed." in error
    assert names_in(tmp_path) == []


def test_help_has_examples(monkeypatch, capsys):
    assert run_here(monkeypatch, "simulate", "--help") == 0
    text = capsys.readouterr().out
    assert "Examples" in text and "slimline simulate cohort" in text


def test_what_was_made_as_json(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments = ["simulate", "cohort", "--samples", "20", "--variants", "50", "--json", "-"]
    assert run_here(monkeypatch, *arguments) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["people"] == 20 and made["variants"] == 50
    assert {entry["path"]: entry["bytes"] for entry in made["files"]}["cohort.bed"] == 3 + 50 * 5


def test_traits_and_covariates_beside_the_same_genotypes(monkeypatch):
    size = ["--samples", "1500", "--variants", "1100", "--populations", "3", "--missing", "0.01"]
    assert run_here(monkeypatch, "simulate", "plain", *size) == 0
    assert run_here(monkeypatch, "simulate", "cohort", *size, "--traits") == 0
    for ending in ("bed", "bim", "fam", "labels.tsv"):
        assert Path(f"plain.{ending}").read_bytes() == Path(f"cohort.{ending}").read_bytes()
    first = Path("cohort.pheno.tsv").read_bytes(), Path("cohort.covar.tsv").read_bytes()
    assert run_here(monkeypatch, "simulate", "cohort", *size, "--traits", "--force") == 0
    assert first == (Path("cohort.pheno.tsv").read_bytes(), Path("cohort.covar.tsv").read_bytes())

    def columns(name, head):
        lines = [line.split("\t") for line in Path(name).read_text().splitlines()]
        assert lines[0] == ["FID", "IID", *head] and [line[1] for line in lines[1:]] == list(X.sample_ids)
        return np.array([line[2:] for line in lines[1:]], dtype=float).T

    X = open_matrix("cohort.bed")
    height, case = columns("cohort.pheno.tsv", ["height", "case"])
    age, sex, *components = columns("cohort.covar.tsv", ["age", "sex", "PC1", "PC2"])
    assert set(sex) == {1, 2} and age.min() >= 20 and age.max() <= 80
    assert set(case) == {1, 2} and np.mean(case == 2) == pytest.approx(0.3, abs=0.001)
    assert height[sex == 1].mean() - height[sex == 2].mean() == pytest.approx(13, abs=2)  # 6 deviations
    assert np.std(components, axis=1) == pytest.approx(1, abs=1e-4) and abs(np.corrcoef(components)[0, 1]) < 1e-3
    # PC1 and PC2 are those of the first 512 variants, up to signs
    G = unpacked(X)[:, :512].astype(float)
    G = np.where(G < 0, np.nan, G)
    G = np.nan_to_num((G - np.nanmean(G, axis=0)) / np.nanstd(G, axis=0))
    left = np.linalg.svd(G, full_matrices=False)[0][:, :2].T
    assert np.abs(np.sum(left * components, axis=1)) / np.sqrt(1500) == pytest.approx(1, abs=1e-5)
    # half of what sex and age leave of the height is a linear function of the genotypes
    free = np.column_stack([np.ones(1500), sex, age])
    rest = height - free @ np.linalg.lstsq(free, height, rcond=None)[0]
    assert rest.std() == pytest.approx(6, rel=0.15)
