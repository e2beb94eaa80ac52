"""R is never stored: a sketch takes less than 50 MB beside the data and the result."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.estimators.transformers import TRANSFORMERS

_SCRIPT = """
import numpy as np, scipy.sparse as sp, sys
from threadpoolctl import threadpool_limits
threadpool_limits(1, user_api="blas")  # OpenBLAS spins: see conftest.py
from tests.estimators.transformers import TRANSFORMERS

d, r, n = 1_000_000, 1024, 3
rng = np.random.default_rng(0)
data = {
    "dense": rng.random((n, d), dtype=np.float32),
    "bytes": rng.integers(0, 3, size=(n, d), dtype=np.int8),
    "csr": sp.random_array((n, d), density=0.01, format="csr", dtype=np.float32, rng=rng),
}
X = data[sys.argv[2]]
projection = TRANSFORMERS[sys.argv[1]](n_components=r, random_state=0)
projection.fit(X[:, :d])
projection.transform(X)[:1, :1]  # what BLAS and the loader keep for good is not what is asked about

def kilobytes(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name + ":"))

with open("/proc/self/clear_refs", "w") as f:
    f.write("5")  # resets the peak
before = kilobytes("VmRSS")
Z = projection.transform(X)
print((kilobytes("VmHWM") - before) / 1024 - Z.nbytes / 2**20)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak of memory can only be reset on Linux")
@pytest.mark.parametrize("storage", ["dense", "bytes", "csr"])
@pytest.mark.parametrize("family", TRANSFORMERS)
def test_peak_memory_of_a_wide_transform(family, storage):
    if storage == "bytes" and family not in ("gaussian", "srht", "cw", "very_sparse"):
        pytest.skip("one family of each kind of kernel suffices for bytes")
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, family, storage], capture_output=True, text=True, timeout=300,
        cwd=Path(__file__).parents[2], check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 50
