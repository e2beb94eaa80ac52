"""A pass over a file holds a few blocks of it, however large it is."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

pytestmark = pytest.mark.nightly

SCRIPT = """
import sys, threading
from slimline import open_matrix
from slimline.data._passes import Pass
import slimline.data.formats._delimited, slimline.data.formats._npz, slimline.data.formats._svmlight

def held():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024

most, done = [held()], threading.Event()
start = most[0]

def watch():
    while not done.wait(0.002):
        most[0] = max(most[0], held())

watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
X = open_matrix(sys.argv[1])
size = sum(block.nbytes for block, _ in X._pass(Pass("read"))) / 2**20
done.set()
watcher.join()
print(size, most[0] - start)
"""


def _svmlight():
    line = b"1 " + b" ".join(b"%d:0.25" % i for i in range(1, 2000)) + b"\n"
    return line * 6000


def _write(path, kind):
    if kind == "svmlight":
        path.write_bytes(_svmlight())
    elif kind == "svmlight.gz":
        path.write_bytes(gzip.compress(_svmlight(), 1))
    elif kind == "csv":
        path.write_bytes((b"1,2,3,4,5,6,7,8,9," * 100 + b"0\n") * 20_000)
    elif kind == "compressed.npz":
        np.savez_compressed(path, X=np.zeros((3000, 6000)))
    else:
        x = sp.csr_array((np.ones(12_000_000), np.tile(np.arange(1000), 12_000), np.arange(0, 12_000_001, 1000)))
        sp.save_npz(path, x)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize("kind", ["svmlight", "svmlight.gz", "csv", "compressed.npz", "sparse.npz"])
def test_memory_of_a_pass(tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    _write(path, kind)
    run = subprocess.run([sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True, check=True)
    size, grown = map(float, run.stdout.split())
    assert size > 100
    assert grown < 48
