import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from slimline import open_matrix
from slimline.data import simulate_genotypes
from tests.cli.command import run_here, start
from tests.data.plink_files import names_in, unpacked


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


SMALL = ["--samples", "40", "--variants", "700"]


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
    people = simulate_genotypes(40, 700, 10, 0.01, n_regions=5)
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


def test_mistakes_are_one_line(tmp_path, monkeypatch, capsys):
    for arguments in (["--fst", "0"], ["--missing", "1"], ["--samples", "3"], ["--regions", "11"]):
        assert run_here(monkeypatch, "simulate", "cohort", *SMALL, *arguments) == 2
        message = capsys.readouterr().err
        assert message.startswith("slimline: ") and message.count("\n") == 1, message
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


def test_interruption_leaves_nothing(tmp_path):
    process = start("simulate", "cohort", "--samples", "1000", "--variants", "3000000", "--format", "npy", cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not any(f.startswith(".cohort.npy") for f in names_in(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in error
    assert names_in(tmp_path) == []


def test_help_has_examples(monkeypatch, capsys):
    assert run_here(monkeypatch, "simulate", "--help") == 0
    text = capsys.readouterr().out
    assert "Examples" in text and "slimline simulate cohort" in text
