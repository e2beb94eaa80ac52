"""A pass holds a few blocks: each format reads 100 MB within 60 MB of memory, in a process of its own.

What counts is RssAnon, the memory that a process has for itself; pages of files that the system keeps do not. It is
sampled every millisecond while the passes run, after everything has been imported.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.data.storage_writers import FORMATS, write

LIMIT = 60

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="RssAnon is told by Linux only"),
]

_SCRIPT = """
import importlib, json, sys, threading, time
import numpy as np
from slimline import open_matrix
from slimline.projections import HashEmbedding

path, *modules = sys.argv[1:]
for module in modules:
    importlib.import_module(module)
open_matrix(np.ones((4, 64))).sketch(HashEmbedding(64, 64, 0))

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon:")) / 1024

class Watch(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.before = self.peak = anonymous()
        self.done = False
    def run(self):
        while not self.done:
            self.peak = max(self.peak, anonymous())
            time.sleep(0.001)

peaks = {}
def watched(name, run):
    watch = Watch()
    watch.start()
    result = run()
    watch.done = True
    watch.join()
    parts = result if isinstance(result, tuple) else [result]
    size = sum(getattr(part, "nbytes", 0) for part in parts) / 2**20
    peaks[name] = watch.peak - start - size
    return result

start = anonymous()
if path == "whole":
    watched("load", lambda: np.ones(100 * 2**18, np.float32).sum())
else:
    matrix = watched("open", lambda: open_matrix(path))
    n, d = matrix.shape
    rng = np.random.default_rng(0)
    w, a = rng.standard_normal(d), rng.standard_normal(n)
    watched("sketch", lambda: matrix.sketch(HashEmbedding(d, 64, 0)))
    watched("dot", lambda: matrix.dot(w))
    watched("tdot", lambda: matrix.tdot(a))
    watched("normal", lambda: matrix.normal(a))
    watched("column_stats", matrix.column_stats)
    peaks["passes"] = matrix.passes
print(json.dumps(peaks))
"""


def _measure(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *arguments], capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_measurement_sees_a_copy():
    assert _measure("whole")["load"] > LIMIT


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_read_in_a_few_blocks(name, tmp_path):
    path = write(name, tmp_path)
    _, module, package, _ = FORMATS[name]
    peaks = _measure(str(path), f"slimline.data.formats.{module}", *([package] if package else []))
    assert peaks.pop("passes") in (5, 6, 7)  # normal may take two, and text is gone through once to find its lines
    assert max(peaks.values()) < LIMIT, peaks


@pytest.mark.parametrize("name", FORMATS)
def test_the_writers_write_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.data.storage_writers.MEGABYTES", 20)
    path = write(name, tmp_path)
    from slimline import open_matrix

    matrix = open_matrix(path)
    assert matrix.shape[0] > 1 and matrix.shape[1] > 99
    assert np.isfinite(matrix.dot(np.ones(matrix.shape[1]))).all()
