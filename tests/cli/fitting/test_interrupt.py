"""Ctrl-C in a fit: a code that scripts know, a word of what to do, and nothing half-written."""

import signal
import time

import numpy as np
import pytest

from tests.cli.command import start


@pytest.mark.slow
def test_ctrl_c(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "data.npy", rng.standard_normal((1500, 20_000), dtype=np.float32))
    np.save(tmp_path / "labels.npy", np.arange(1500) % 2)
    options = ["--C", "10", "--tol", "1e-12", "--method", "sketch", "--components", "64", "--max-passes", "100000"]
    process = start("fit", "data.npy", "--labels", "labels.npy", *options, cwd=tmp_path)
    until = time.monotonic() + 60
    while not list(tmp_path.glob("data.slim.resume/pass-*")) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "The same command goes on where it was." in said and "Traceback" not in said
    assert not (tmp_path / "data.slim").exists() and not (tmp_path / "data.html").exists()
    assert (tmp_path / "data.slim.resume" / "checkpoint.json").exists()
