"""Safe under joblib, threads and fork; the GIL is released; Ctrl-C is heard."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import scipy.sparse as sp

from tests.estimators.transformers import TRANSFORMERS

FAMILIES = ["gaussian", "achlioptas", "very_sparse", "srht", "cw", "osnap"]
X = np.random.default_rng(0).standard_normal((40, 20_000)).astype(np.float32)


def _sketch(family, data, seed):
    return TRANSFORMERS[family](n_components=64, random_state=seed).fit_transform(data)


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib(family, backend):
    if backend == "loky" and family not in ("gaussian", "srht", "cw"):
        pytest.skip("processes share nothing: one family of each kind of kernel suffices")
    # To rounding, because joblib gives BLAS another number of threads.
    results = joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(_sketch)(family, X, seed % 2) for seed in range(6)
    )
    bound = np.abs(X).sum(axis=1, dtype=float)[:, None] * 7 * X.shape[1] * 2.0**-24
    for seed, Z in enumerate(results):
        expected = _sketch(family, X, seed % 2)
        assert np.all(np.abs(Z - expected) <= bound)
        assert np.linalg.norm(Z - expected) <= 1e-4 * np.linalg.norm(expected)


def test_many_threads_share_one_projection(family):
    transformer = TRANSFORMERS[family](n_components=64, random_state=0).fit(X)
    expected = _sketch(family, X, 0)
    start = threading.Barrier(8)

    def work(_):
        start.wait()  # all make the native object, which exists from first use on, at once
        return transformer.transform(X)

    with ThreadPoolExecutor(8) as pool:
        for Z in pool.map(work, range(8)):
            np.testing.assert_array_equal(Z, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_after_use(family):
    expected = _sketch(family, X, 0)
    lifted = TRANSFORMERS[family](n_components=64, random_state=0).fit(X).lift(expected[0])
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover
        status = 1
        try:
            Z = _sketch(family, X, 0)
            W = TRANSFORMERS[family](n_components=64, random_state=0).fit(X).lift(Z[0])
            os.write(writer, b"same" if np.array_equal(Z, expected) and np.array_equal(W, lifted) else b"differ")
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    deadline = time.monotonic() + 60
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the forked process hangs")
        time.sleep(0.01)
    assert os.read(reader, 10) == b"same"
    os.close(reader)


def test_other_threads_run_meanwhile(family):
    data = np.ones((60, 60_000), dtype=np.float32)
    transformer = TRANSFORMERS[family](n_components=512, random_state=0).fit(data)
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    counter = threading.Thread(target=count)
    counter.start()
    time.sleep(0.01)
    try:
        longest = (0.0, 0)
        for _ in range(5):
            begin = time.perf_counter()
            transformer.transform(data)
            end = time.perf_counter()
            inside = sum(begin < tick < end for tick in ticks)
            longest = max(longest, (end - begin, inside))
    finally:
        done.set()
        counter.join()
    # A transform that held the GIL would let at most a handful of ticks through, at its beginning and end.
    seconds, inside = longest
    assert inside >= 3 or seconds < 0.02


_ENDLESS = """
import sys, threading, time
import numpy as np, scipy.sparse as sp
from tests.estimators.transformers import TRANSFORMERS

n, d, r = {"srht": (4000, 200_000, 4096), "cw": (4000, 200_000, 64), "very_sparse": (4000, 200_000, 4096)}.get(
    sys.argv[1], (2000, 400_000, 4096))
X = np.broadcast_to(np.float32(1), (1, d))
row = np.ones((1, d), dtype=np.float32)
X = np.lib.stride_tricks.as_strided(row, shape=(n, d), strides=(0, 4)) if sys.argv[2] == "view" else row
projection = TRANSFORMERS[sys.argv[1]](n_components=r, random_state=0).fit(row)
print("ready", flush=True)
try:
    end = time.monotonic() + 100
    while time.monotonic() < end:
        projection.projection_.apply(X)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    Z = projection.transform(row)  # and all goes on as before
    print("finite" if np.all(np.isfinite(Z)) else "not finite", flush=True)
"""


@pytest.mark.parametrize("family", ["gaussian", "sign", "very_sparse", "srht", "cw"])
def test_interrupt(family):
    """A transform of minutes ends within seconds of Ctrl-C, with KeyboardInterrupt."""
    from pathlib import Path

    process = subprocess.Popen(
        [sys.executable, "-c", _INTERRUPT, family], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=Path(__file__).parents[2], env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        assert process.stdout.readline().strip() == "ready", process.stderr.read()
        time.sleep(0.5)
        assert process.poll() is None, "the work was too short to be interrupted"
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        out, err = process.communicate(timeout=60)
        waited = time.monotonic() - begin
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, err
    assert out.split() == ["interrupted", "in", "one", "call", "finite"]
    assert waited < 30


_INTERRUPT = """
import sys, time
import numpy as np, scipy.sparse as sp
from tests.estimators.transformers import TRANSFORMERS

# One long call, with little memory: minutes of work for every family.
family = sys.argv[1]
n, d, r = {"gaussian": (400, 200_000, 8192), "sign": (400, 200_000, 8192)}.get(family, (60_000, 16_384, 4096))
X = np.ones((n, d), dtype=np.int8)
repeat = {"gaussian": 1, "sign": 1, "very_sparse": 1}.get(family, 1)
projection = TRANSFORMERS[family](n_components=r, random_state=0).fit(X[:2])
small = X[:2]
print("ready", flush=True)
calls = 0
try:
    for _ in range(1000):
        projection.projection_.apply(X)
        calls += 1
except KeyboardInterrupt:
    # raised while the native code ran, or right after it: either way nothing is broken
    print("interrupted in one call", flush=True)
    print("finite" if np.all(np.isfinite(projection.transform(small))) else "not finite", flush=True)
"""


def test_errors_leave_threads_behind_in_good_order(family):
    # an index outside is found by a worker thread; the exception must reach Python, and the next call must work
    transformer = TRANSFORMERS[family](n_components=64, random_state=0).fit(X)
    S = sp.csc_array(X) if family in ("gaussian", "achlioptas") else sp.csr_array(X)
    S.indices[-5] = 2**31 - 1
    for _ in range(3):
        with pytest.raises(ValueError, match="damaged"):
            transformer.projection_.apply(S)
    np.testing.assert_array_equal(transformer.transform(X), _sketch(family, X, 0))
