"""R is never stored: a sketch takes less than 50 MB beside the data and the result.

Measured cold, in a process of its own: after a first transform the allocator keeps what it was given, and a second
one would seem to need nothing. X is so large that a single copy of it, or of a wider type, is above the limit.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.estimators.transformers import TRANSFORMERS

LIMIT = 50

_SCRIPT = """
import sys
import numpy as np, scipy.sparse as sp
from tests.estimators.transformers import TRANSFORMERS

n, d, r = 16, 1_000_000, 1024
family, storage = sys.argv[1:]
rng = np.random.default_rng(0)

def compressed(dtype):
    stored = d // 2
    indices = np.concatenate([np.sort(rng.choice(d, stored, replace=False)) for _ in range(n)]).astype(np.int32)
    return sp.csr_array((np.ones(n * stored, dtype), indices, np.arange(n + 1, dtype=np.int32) * stored), shape=(n, d))

X = {
    "dense": lambda: rng.random((n, d), dtype=np.float32),
    "bytes": lambda: rng.integers(0, 3, size=(n, d), dtype=np.int8),
    "columns": lambda: np.asfortranarray(rng.random((n, d))),
    "csr": lambda: compressed(np.float32),
    "csr_bytes": lambda: compressed(np.int8),
    "csc": lambda: compressed(np.float32).tocsc(),
}[storage]()

def kilobytes(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name + ":"))

if family == "control":  # a transform that copies X
    transform = lambda X: X.astype(np.float32, copy=True)[:, :r]
else:
    nothing = sp.csr_array((1, d), dtype=np.float32)
    transform = TRANSFORMERS[family](n_components=r, random_state=0).fit(nothing).transform
with open("/proc/self/clear_refs", "w") as f:
    f.write("5")  # resets the peak
before = kilobytes("VmRSS")
Z = transform(X)
print((kilobytes("VmHWM") - before) / 1024 - n * r * 4 / 2**20)
"""

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak of memory can only be reset on Linux"
)


def _megabytes(family: str, storage: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, family, storage], capture_output=True, text=True, timeout=300,
        cwd=Path(__file__).parents[2], check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def test_the_measurement_sees_a_copy():
    assert _megabytes("control", "dense") > LIMIT
    assert _megabytes("control", "bytes") > LIMIT


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("family", TRANSFORMERS)
def test_every_family(family, storage):
    assert _megabytes(family, storage) < LIMIT


@pytest.mark.parametrize("storage", ["bytes", "columns", "csr_bytes", "csc"])
@pytest.mark.parametrize("family", ["gaussian", "very_sparse", "srht", "cw"])  # one of each kind of kernel
def test_every_storage(family, storage):
    assert _megabytes(family, storage) < LIMIT
