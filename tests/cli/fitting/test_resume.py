"""A fit that is killed goes on where it was."""

import json
import multiprocessing
import os
import time
from pathlib import Path

import numpy as np
import pytest

from slimline import CertifiedClassifier
from slimline.cli._fit_view import FitDisplay
from slimline.data import write_genotypes
from slimline.model_files import StoredModel
from tests.cli.command import run_here
from tests.cli.fitting.fit_that_tells import fit_that_tells

KILLS = 20


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cohort")
    write_genotypes(folder / "cohort", 300, 40_000, n_populations=2, seed=1, missing_rate=0.01)
    return folder


def _options(model):
    return [
        *("cohort.bed", "--labels", "cohort.labels.tsv", "--target", "population", "--method", "sketch"),
        *("--components", "256", "--tol", "1e-3", "--C", "1e-4", "--no-report", "--threads", "1", "--model", model),
    ]


def _start(folder, log, model):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.cli.fitting.fit_that_tells"])  # importing it takes longer than a fit
    process = context.Process(target=fit_that_tells, args=(str(folder), str(log), *_options(model)))
    process.start()
    return process


def _reads(log):
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def _words(log):
    return " ".join(Path(f"{log}.txt").read_text().split())


@pytest.mark.nightly
def test_killed_at_twenty_moments_it_repeats_at_most_a_pass_each_time(cohort, tmp_path):
    whole = tmp_path / "whole"
    process = _start(cohort, whole, "whole.slim")
    process.join(120)
    assert process.exitcode == 0, _words(whole)
    exact, reads = CertifiedClassifier.load(cohort / "whole.slim"), _reads(whole)
    passes = _passes(cohort / "whole.slim")
    rng, log, kills = np.random.default_rng(0), tmp_path / "killed", 0
    while True:
        before = len(_reads(log))
        process = _start(cohort, log, "killed.slim")
        moment = int(rng.integers(0, 2 * len(reads) // passes + 1))
        while kills < KILLS and process.is_alive() and len(_reads(log)) - before < moment:
            time.sleep(0.001)
        if kills >= KILLS or not process.is_alive():
            break
        process.kill()
        process.join()
        kills += 1
    process.join(120)
    assert process.exitcode == 0, _words(log)
    assert kills >= 5  # the fit has so many passes that it can be killed that often
    assert sum(_reads(log)) <= sum(reads) * (1 + (kills + 1) / passes)
    again = CertifiedClassifier.load(cohort / "killed.slim")
    assert np.array_equal(exact.coef_, again.coef_) and np.array_equal(exact.intercept_, again.intercept_)
    assert not (cohort / "killed.slim.resume").exists()
    assert "going on from an earlier run" in _words(log)


def _passes(path):
    return StoredModel.read(path).details["n_passes"] + 3  # held-out rows, and two for near-duplicates


@pytest.mark.slow
def test_changed_data_or_settings_begin_anew(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_genotypes(tmp_path / "cohort", 80, 3000, n_populations=2, seed=1)
    options = ["fit", *_options("m.slim"), "--json", "out.json", "--force"]
    resume = Path("m.slim.resume")

    def interrupted(*more):
        def stop(self, step):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(FitDisplay, "on_step", stop)
            assert run_here(monkeypatch, *options, *more) == 130
        assert any(resume.glob("pass-*"))

    def resumed(*more):
        capsys.readouterr()
        assert run_here(monkeypatch, *options, *more) == 0
        assert not resume.exists()
        told, said = json.loads(Path("out.json").read_text()), capsys.readouterr().err
        found = told["cost"]["resumed"]
        assert ("Going on from where" in said, "beginning anew" in said) == (found, not found)
        assert any("began anew" in note for note in told["notes"]) != found
        return found

    interrupted()
    assert resumed()
    interrupted()
    assert not resumed("--C", "1e-3")
    interrupted()
    os.utime("cohort.bed", ns=(0, 0))  # written again, perhaps
    assert not resumed()
    interrupted()
    labels = Path("cohort.labels.tsv")
    labels.write_text(labels.read_text().replace("POP1", "POP3", 1))
    assert not resumed()
