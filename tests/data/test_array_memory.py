"""Arrays in memory: what a pass needs beside them and its result, in a process of its own (see test_memory.py)."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="RssAnon is told by Linux only"),
]

_SCRIPT = """
import sys, threading, time
import numpy as np
from slimline import open_matrix

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon:")) / 1024

run = eval("lambda: " + sys.argv[2], {"X": eval(sys.argv[1]), "np": np, "open_matrix": open_matrix})
open_matrix(np.ones((30, 64), np.int8)).dot(np.ones(64))
peak = before = anonymous()
done = threading.Event()
def watch():
    global peak
    while not done.is_set():
        peak = max(peak, anonymous())
        time.sleep(0.001)
watcher = threading.Thread(target=watch)
watcher.start()
result = run()
done.set()
watcher.join()
print(peak - before - sum(part.nbytes for part in (result if isinstance(result, tuple) else (result,))) / 2**20)
"""


@pytest.mark.parametrize(
    ("array", "run", "most"),
    [
        # 37 MB are the weights
        ("np.zeros((1000, 100_000), np.int8)", "open_matrix(X).dot(np.ones((100_000, 48)))", 37 + 12),
        (
            "np.ones((2000, 20_000), np.float32, 'F')",
            "open_matrix(X).rows(np.arange(2000)[::-1]).normal(np.ones(2000))",
            40,
        ),
        ("np.ones((2000, 40_000), np.int8)", "open_matrix(X).rows(np.arange(2000)[::-1]).normal(np.ones(2000))", 40),
        ("np.ones((500_000, 32), np.int64, 'F')", "open_matrix(X).dot(np.ones(32))", 40),
    ],
    ids=["many vectors", "rows of columns", "rows", "columns to be converted"],
)
def test_a_pass_needs_little_beside_its_result(array, run, most):
    script = [sys.executable, "-c", _SCRIPT, array, run]
    said = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    assert float(said) < most
