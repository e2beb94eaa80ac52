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
from tests.tiers import rest_nightly

FAMILIES = ["gaussian", "achlioptas", "very_sparse", "srht", "cw", "osnap"]
X = np.random.default_rng(0).standard_normal((40, 20_000)).astype(np.float32)


def _sketch(family, data, seed):
    return TRANSFORMERS[family](n_components=64, random_state=seed).fit_transform(data)


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


# processes share nothing: there one family of each kind of kernel suffices
@pytest.mark.parametrize(
    ("family", "backend"), [(f, "threading") for f in FAMILIES] + [(f, "loky") for f in ("gaussian", "srht", "cw")]
)
def test_joblib(family, backend):
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


_INTERRUPT = """
import signal, sys, threading, time
import numpy as np
from slimline.projections import Gaussian, HashEmbedding, SparseSign, SubsampledHadamard

make, n, d = {
    "gaussian": (lambda: Gaussian(d, 4096, 0), 64, 60_000),
    "very_sparse": (lambda: SparseSign(d, 8192, 0, 0.1), 64, 60_000),
    "grouped": (lambda: HashEmbedding(d, 65536, 0, nnz_per_feature=4096), 64, 40_000),
    "independent": (lambda: HashEmbedding(d, 4096, 0, nnz_per_feature=1024, hash="independent"), 64, 60_000),
    "srht": (lambda: SubsampledHadamard(d, 2**18, 0), 96, 2**19),
}[sys.argv[1]]
projection, X = make(), np.ones((n, d), dtype=np.int8)
begin = time.perf_counter()
expected = projection.apply(X)
whole = time.perf_counter() - begin
for _ in range(3):  # a busy machine may stretch one of them
    timer = threading.Timer(whole / 5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    begin = time.perf_counter()
    try:
        projection.apply(X)
    except KeyboardInterrupt:
        part = time.perf_counter() - begin
        if part < whole / 2:
            same = np.array_equal(projection.apply(X), expected)
            print("cut short", "and works again" if same else "and is broken")
            break
        print("late:", part, "of", whole)
    timer.join()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "family", rest_nightly(["srht"], ["gaussian", "very_sparse", "grouped", "independent", "srht"])
)
def test_interrupt(family):
    """Ctrl-C ends a call in the middle: that an exception comes is not enough, it would come after the call as well."""
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPT, family], capture_output=True, text=True, timeout=200, check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1:] == ["cut short and works again"], done.stdout


def test_errors_leave_threads_behind_in_good_order(family):
    # an index outside is found by a worker thread; the exception must reach Python, and the next call must work
    transformer = TRANSFORMERS[family](n_components=64, random_state=0).fit(X)
    S = sp.csc_array(X) if family in ("gaussian", "achlioptas") else sp.csr_array(X)
    S.indices[-5] = 2**31 - 1
    for _ in range(3):
        with pytest.raises(ValueError, match="damaged"):
            transformer.projection_.apply(S)
    np.testing.assert_array_equal(transformer.transform(X), _sketch(family, X, 0))
