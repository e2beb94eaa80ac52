"""A fit that is killed goes on where it was."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from slimline import CertifiedClassifier
from slimline.data import write_genotypes
from tests.cli.command import run_here

KILLS = 20


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cohort")
    write_genotypes(folder / "cohort", 300, 200_000, n_populations=2, seed=1, missing_rate=0.01)
    return folder


def _options(model):
    return [
        *("cohort.bed", "--labels", "cohort.labels.tsv", "--target", "population", "--method", "sketch"),
        *("--dimensions", "256", "--tol", "1e-3", "--C", "1e-4", "--no-report", "--threads", "1", "--model", model),
    ]


def _start(folder, log, model):
    script = Path(__file__).with_name("fit_that_tells.py")
    command = [sys.executable, str(script), str(log), "fit", *_options(model)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _reads(log):
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def test_killed_at_twenty_moments_it_repeats_at_most_a_pass_each_time(cohort, tmp_path):
    whole = tmp_path / "whole.log"
    process = _start(cohort, whole, "whole.slim")
    assert process.wait(120) == 0, process.stderr.read().decode()
    exact = CertifiedClassifier.load(cohort / "whole.slim")
    reads = _reads(whole)
    a_pass = sum(reads) / exact_passes(cohort / "whole.slim")
    rng, log, kills = np.random.default_rng(0), tmp_path / "killed.log", 0
    blocks_of_a_pass = max(1, round(len(reads) * a_pass / sum(reads)))
    while True:
        before = len(_reads(log))
        process = _start(cohort, log, "killed.slim")
        moment = int(rng.integers(0, 2 * blocks_of_a_pass + 1))
        while kills < KILLS and process.poll() is None and len(_reads(log)) - before < moment:
            time.sleep(0.002)
        if kills >= KILLS or process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close(), process.stderr.close()
        kills += 1
    said = process.communicate(timeout=120)
    assert process.returncode == 0, said[1].decode()
    assert kills >= 5  # the fit has so many passes that it can be killed that often
    assert sum(_reads(log)) <= sum(reads) + (kills + 1) * a_pass
    again = CertifiedClassifier.load(cohort / "killed.slim")
    assert np.array_equal(exact.coef_, again.coef_) and np.array_equal(exact.intercept_, again.intercept_)
    assert not (cohort / "killed.slim.resume").exists()
    assert b"going on from an earlier run" in said[0]


def exact_passes(path):
    from slimline.model_files import StoredModel

    return StoredModel.read(path).details["n_passes"] + 3  # held-out rows, and two for near-duplicates


def test_changed_data_or_settings_begin_anew(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_genotypes(tmp_path / "cohort", 80, 3000, n_populations=2, seed=1)
    options = ["fit", *_options("m.slim"), "--json", "out.json", "--overwrite"]
    resume = Path("m.slim.resume")

    def interrupted(*more):
        from slimline.estimators import CertifiedClassifier as kind

        def stop(self, step, callbacks):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(kind, "_tell", stop)
            assert run_here(monkeypatch, *options, *more) == 130
        assert any(resume.glob("pass-*"))

    def resumed(*more):
        assert run_here(monkeypatch, *options, *more) == 0
        assert not resume.exists()
        return json.loads(Path("out.json").read_text())["cost"]["resumed"]

    interrupted()
    assert resumed()
    interrupted()
    assert not resumed("--C", "1e-3")
    interrupted()
    os.utime("cohort.bed", ns=(0, 0))  # written again, perhaps
    assert not resumed()
    interrupted()
    labels = Path("cohort.labels.tsv")
    lines = labels.read_text().splitlines()
    labels.write_text("\n".join([*lines[:-1], "\t".join([*lines[-1].split("\t")[:-1], "NA"])]) + "\n")
    assert not resumed()
