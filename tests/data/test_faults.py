"""Tests of faulty data: a clear error, at once, and nothing left behind."""

import copy
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.data import ALL_BLOCKS, Block, ColumnStats, Matrix
from slimline.data._files import DataFile
from slimline.data._passes import read_ahead
from slimline.errors import (
    DataError,
    FileChangedError,
    FileFormatError,
    FileReadError,
    InvalidParameterError,
    NonFiniteError,
)
from slimline.projections import Gaussian, HashEmbedding
from slimline.testing import block_bytes
from tests.pairwise import pairwise
from tests.refusals import refuses

X = np.random.default_rng(0).standard_normal((64, 48)).astype(np.float32)


@pytest.fixture(params=["C", "F"])
def path(request, tmp_path):
    np.save(tmp_path / "x.npy", np.array(X, order=request.param))
    return tmp_path / "x.npy"


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    assert not [t for t in threading.enumerate() if t.name == "slimline-read-ahead"]


PASSES = {
    "dot": lambda m: m.dot(np.ones(m.shape[1])),
    "tdot": lambda m: m.tdot(np.ones(m.shape[0])),
    "normal": lambda m: m.normal(np.ones(m.shape[0])),
    "gram": lambda m: m.gram(),
    "row_norms": lambda m: m.row_norms(),
    "column_stats": lambda m: m.column_stats(),
    "cw": lambda m: m.sketch(HashEmbedding(m.shape[1], 16, 0)),
    "gaussian": lambda m: m.sketch(Gaussian(m.shape[1], 16, 0)),
    "standardised": lambda m: m.standardised(fill="mean").dot(np.ones(m.shape[1])),
    "rows": lambda m: m.rows(np.arange(m.shape[0])[::-1]).tdot(np.ones(m.shape[0])),
}


def _later(path):
    """Move the time of change, by more than any file system's resolution."""
    state = path.stat()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 10**9))


# Files ------------------------------------------------------------------------------------------------


def test_a_file_that_changed_has_no_fingerprint(path):
    matrix = open_matrix(path)
    assert matrix.fingerprint == open_matrix(path).fingerprint
    _later(path)
    with pytest.raises(FileChangedError, match="changed"):
        _ = matrix.fingerprint
    matrix = open_matrix(path)
    path.unlink()
    with pytest.raises(FileChangedError, match="vanished"):
        _ = matrix.fingerprint


@pytest.mark.parametrize("order", ["C", "F"])
def test_truncation_at_every_byte(tmp_path, order):
    stream = io.BytesIO()
    np.save(stream, np.array(X[:3, :5], order=order))
    whole = stream.getvalue()
    path = tmp_path / "x.npy"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(FileFormatError, match=r"x\.npy"):
            open_matrix(path)
    path.write_bytes(whole + b"something behind")
    assert np.array_equal(open_matrix(path).dot(np.eye(5)), X[:3, :5])


@pytest.mark.parametrize(
    "array, message",
    [
        (np.zeros(3), "two dimensions"),
        (np.zeros((2, 2, 2)), "two dimensions"),
        (np.zeros((2, 2), complex), "complex128"),
        (np.array([["a", "b"]]), "real numbers"),
        (np.zeros((2, 2), "f4,i4"), "real numbers"),
        (np.zeros((2, 2), "M8[s]"), "real numbers"),
    ],
)
def test_arrays_that_are_no_matrix(tmp_path, array, message):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(FileFormatError, match=message):
        open_matrix(tmp_path / "x.npy")
    with pytest.raises(InvalidParameterError):
        open_matrix(array)


def test_pickled_objects_are_not_opened(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[{}, []]], dtype=object))
    with pytest.raises(FileFormatError, match="real numbers"):
        open_matrix(tmp_path / "x.npy")


@pytest.mark.parametrize("name", PASSES)
def test_changed_between_passes(path, name):
    matrix = open_matrix(path)
    PASSES[name](matrix)
    _later(path)
    with pytest.raises(FileChangedError, match=r"x\.npy changed"):
        PASSES[name](matrix)
    PASSES[name](open_matrix(path))
    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(FileChangedError, match="bytes"):
        PASSES[name](matrix)
    path.unlink()
    with pytest.raises(FileChangedError, match="vanished"):
        PASSES[name](matrix)


@pytest.mark.parametrize("harm", ["time", "cut", "grow", "vanish"])
def test_changed_during_a_pass(path, harm):
    matrix = open_matrix(path)
    done = []

    def listener(now):
        if done or now.fraction == 0:
            return
        done.append(now)
        if harm == "time":
            _later(path)
        elif harm == "cut":
            os.truncate(path, 2000)
        elif harm == "grow":
            with path.open("ab") as file:
                file.write(b"more")
        else:
            path.unlink()

    with block_bytes(1024):
        matrix.listen(listener)
        with pytest.raises(FileChangedError, match=r"x\.npy"):
            matrix.dot(np.ones(48))
    assert done and matrix.passes == 0


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_matrix(tmp_path / "x.npy")
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(FileFormatError, match="not a file"):
        open_matrix(tmp_path / "folder.npy")
    (tmp_path / "x.docx").touch()
    with pytest.raises(FileFormatError, match="ending"):
        open_matrix(tmp_path / "x.docx")
    np.save(tmp_path / "y.npy", X)
    with pytest.raises(FileNotFoundError, match=r"y\.npy/z\.npy: no such file"):
        open_matrix(tmp_path / "y.npy" / "z.npy")
    with pytest.raises(FileNotFoundError, match=r"a\\0b\.npy: no file can have this name"):
        open_matrix("a\0b.npy")


def test_a_folder_that_became_a_file(tmp_path):
    (tmp_path / "folder").mkdir()
    np.save(tmp_path / "folder" / "x.npy", X)
    matrix = open_matrix(tmp_path / "folder" / "x.npy")
    (tmp_path / "folder").rename(tmp_path / "elsewhere")
    (tmp_path / "folder").write_text("")
    with pytest.raises(FileChangedError, match=r"x\.npy vanished"):
        matrix.dot(np.ones(48))


def test_another_working_directory(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    monkeypatch.chdir(tmp_path)
    matrix = open_matrix("x.npy")
    expected = matrix.dot(np.ones(48))
    monkeypatch.chdir("/")
    assert np.array_equal(matrix.dot(np.ones(48)), expected)
    (tmp_path / "x.npy").unlink()
    with pytest.raises(FileChangedError, match=r"^x\.npy vanished"):  # named as it was given
        matrix.dot(np.ones(48))


def test_what_the_system_cannot_read_is_named(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    matrix = open_matrix(tmp_path / "x.npy")
    monkeypatch.setattr(DataFile, "descriptor", lambda _: os.open(tmp_path, os.O_RDONLY))  # of a folder
    with pytest.raises(FileReadError, match=r"x\.npy could not be read between bytes 128 and 12,416: Is a directory"):
        matrix.dot(np.ones(48))


@pytest.mark.parametrize("shape", [(-1, 4), (4, -1), (-2, -3), (1 << 40, 1 << 40)])
def test_impossible_shapes(tmp_path, shape):
    with (tmp_path / "x.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
        file.write(bytes(64))
    with pytest.raises(FileFormatError, match=r"x\.npy says that it holds .* it is damaged"):
        open_matrix(tmp_path / "x.npy")


@pytest.mark.parametrize("save", [np.save, np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_files_with_nothing_in_them(tmp_path, save, order, shape):
    path = tmp_path / ("x.npy" if save is np.save else "x.npz")
    save(path, np.zeros(shape, order=order))
    matrix = open_matrix(path)
    assert np.array_equal(matrix.dot(np.ones(shape[1])), np.zeros(shape[0]))
    assert np.array_equal(matrix.tdot(np.ones(shape[0])), np.zeros(shape[1]))


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: m.standardised(fill="mean")])
def test_what_stands_for_a_missing_value_is_in_the_fingerprint(tmp_path, wrap):
    values = np.array([[0, 1, -127], [2, 1, 0]], dtype=np.int8)
    np.save(tmp_path / "x.npy", values)
    np.savez(tmp_path / "x.npz", values)
    np.savez_compressed(tmp_path / "y.npz", values)
    for source in (tmp_path / "x.npy", tmp_path / "x.npz", tmp_path / "y.npz", values):
        plain, filled = open_matrix(source), wrap(open_matrix(source, missing=-127))
        assert wrap(plain).fingerprint != filled.fingerprint == wrap(open_matrix(source, missing=-127)).fingerprint


_CUT = """
import os, sys
import numpy as np
from slimline import open_matrix
from slimline.errors import FileChangedError, FileFormatError

path, how = sys.argv[1:]
source = np.load(path, mmap_mode="r") if how == "map" else path
matrix = open_matrix(source)
matrix.listen(lambda now: os.truncate(path, 2_000_000) if 0 < now.fraction < 1 else None)
try:
    matrix.dot(np.ones(matrix.shape[1]))
except (FileChangedError, FileFormatError) as error:
    print(error)
    sys.exit(7)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["path", "map"])
def test_a_file_cut_short_during_a_pass_does_not_kill_the_process(tmp_path, how):
    np.save(tmp_path / "x.npy", np.ones((3000, 1000), np.float32))
    done = subprocess.run(
        [sys.executable, "-c", _CUT, str(tmp_path / "x.npy"), how],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 7, (done.returncode, done.stderr)
    assert "x.npy" in done.stdout


@pytest.mark.slow
def test_no_descriptor_is_left_open(path):
    matrix = open_matrix(path)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0  # noqa: PTH208, PTH112
    if not before:
        pytest.skip("there is no /proc")
    with block_bytes(1024):
        for _ in range(20):
            blocks = read_ahead(matrix.blocks())
            next(blocks)
            blocks.close()
            matrix.listen(_interrupt)
            with pytest.raises(KeyboardInterrupt):
                matrix.dot(np.ones(48))
            matrix.listen(None)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


# Values -----------------------------------------------------------------------------------------------


def _with(value, row=33, column=17):
    bad = X.copy()
    bad[row, column] = value
    return bad


@pytest.mark.parametrize(
    "name, make, value",
    pairwise(
        [name for name in PASSES if name not in ("rows", "standardised")],
        [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, "file"],
        [np.nan, np.inf, -np.inf],
    ),
)
def test_a_value_that_is_not_finite_is_found(make, name, value, tmp_path):
    bad = _with(value)
    if make == "file":
        np.save(tmp_path / "x.npy", bad)
        matrix, where = open_matrix(tmp_path / "x.npy"), r"x\.npy.*row 33, column 17"
    else:
        names = {"feature_names": [f"f{j}" for j in range(48)], "sample_ids": [f"s{i}" for i in range(64)]}
        matrix, where = open_matrix(make(bad), **names), r"row 33 \(s33\), column 17 \(f17\)"
    if name == "column_stats" and np.isnan(value):
        assert matrix.column_stats().missing.sum() == 1
        return
    what = "missing" if np.isnan(value) else "infinite"
    # the plain kernels say themselves that infinities cancel
    with np.errstate(all="ignore"), block_bytes(2048), pytest.raises(NonFiniteError, match=f"{where}.*{what}"):
        PASSES[name](matrix)
    assert matrix.passes <= (name in ("cw", "gaussian"))  # a sketch of panels looks at its sums in the end


def test_rows_of_a_view_are_named_by_their_place_in_the_data_and_their_id():
    matrix = open_matrix(_with(np.nan), sample_ids=[f"s{i}" for i in range(64)])
    with pytest.raises(NonFiniteError, match=r"row 33 \(s33\), column 17"):
        matrix.rows(np.arange(64)[::-1]).dot(np.ones(48))
    clean = matrix.rows(np.arange(64) != 33)
    assert np.isfinite(clean.dot(np.ones(48))).all()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
def test_sums_that_overflow_are_refused(make):
    big = open_matrix(make(np.array([[1e300, 1.0], [-1e300, 2.0], [2e300, 3.0]])))
    with np.errstate(all="ignore"):
        for name in ("gram", "row_norms", "column_stats", "standardised"):
            with pytest.raises(NonFiniteError, match="exceed the largest float64"):
                PASSES[name](big)
        with pytest.raises(NonFiniteError, match="exceed"):
            big.dot([1e300, 1.0])
        with pytest.raises(NonFiniteError, match="exceed"):
            big.tdot([1e10, 0.0, 1e10])
        with pytest.raises(NonFiniteError, match="exceed the largest float32"):
            open_matrix(make(np.full((2, 64), 3e38, np.float32))).sketch(HashEmbedding(64, 1, 0, hash="independent"))
    np.testing.assert_allclose(big.dot([1.0, 0.0]), [1e300, -1e300, 2e300])


@pytest.mark.parametrize(
    "bad", [np.full(48, np.nan), np.full(48, np.inf), np.ones(47), np.ones((1, 48, 1)), np.ones(48) * 1j]
)
def test_right_hand_sides_are_looked_at(bad):
    matrix = open_matrix(X)
    with pytest.raises(InvalidParameterError):
        matrix.dot(bad)
    assert matrix.passes == 0


@pytest.mark.parametrize("bad", [-np.ones(64), np.full(64, np.nan), np.zeros(64), np.ones(63), np.full(64, 1e308)])
def test_sample_weights_are_looked_at(bad):
    with np.errstate(over="ignore"), refuses("sample_weight"):
        open_matrix(X).column_stats(bad)


# Interrupts and threads ---------------------------------------------------------------------------------


def _interrupt(now):
    if now.fraction > 0:
        raise KeyboardInterrupt


@pytest.mark.parametrize("name", PASSES)
def test_an_interrupt_ends_the_pass_and_nothing_else(path, name):
    matrix = open_matrix(path)
    expected = PASSES[name](open_matrix(path))
    with block_bytes(1024):
        matrix.listen(_interrupt)
        with pytest.raises(KeyboardInterrupt) as caught:
            PASSES[name](matrix)
        assert caught.tb is not None  # kept, as an interactive session does
        assert not [t for t in threading.enumerate() if t.name == "slimline-read-ahead"]
        assert matrix.passes == 0
        matrix.listen(None)
    again = PASSES[name](matrix)
    results = zip(_parts(again), _parts(expected), strict=True)
    assert all(np.array_equal(one, two) for one, two in results)


def _parts(result):
    if isinstance(result, ColumnStats):
        return [result.mean, result.deviation, result.nonzeros]
    return result if isinstance(result, tuple) else [result]


_LONG = """
import sys, threading, time
import numpy as np
from slimline import open_matrix

matrix = open_matrix(sys.argv[1])
W = np.ones((matrix.shape[1], 8))
def tell(now):
    if now.fraction > 0.01 and matrix.passes > 0:
        print("busy", flush=True)
matrix.listen(tell)
try:
    while True:
        matrix.dot(W)
except KeyboardInterrupt:
    end = time.monotonic() + 2  # one that was just being started ends by itself
    while threading.active_count() > 1 and time.monotonic() < end:
        time.sleep(0.01)
    left = threading.active_count() - 1
    matrix.listen(None)
    print("interrupted", left, matrix.dot(W).shape, flush=True)
"""


@pytest.mark.slow
def test_control_c_during_a_long_pass(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((500, 20_000), np.int8))
    process = subprocess.Popen(
        [sys.executable, "-c", _LONG, str(tmp_path / "x.npy")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "busy\n"
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert out.splitlines()[-1] == "interrupted 0 (500, 8)", errors
        assert time.monotonic() - start < 20
    finally:
        process.kill()


class _Failing(Matrix):
    def __init__(self, error):
        super().__init__((30, 4), np.float64, "failing")
        self.error = error

    def blocks(self, request=ALL_BLOCKS):
        for row in range(30):
            if row == 11:
                raise self.error
            yield Block(slice(row, row + 1), slice(0, 4), np.ones((1, 4)))

    @property
    def fingerprint(self):
        return "failing"


@pytest.mark.parametrize("error", [OSError("disk"), FileFormatError("row 11"), MemoryError(), SystemExit(3)])
def test_what_the_reader_raises_is_raised_by_the_pass(error):
    matrix = _Failing(error)
    with pytest.raises(type(error)) as caught:
        matrix.dot(np.ones(4))
    assert caught.value is error
    assert matrix.passes == 0


def test_a_reader_that_ends_early_is_not_taken_for_whole():
    blocks = iter([1, 2, 3])
    assert list(read_ahead(blocks)) == [1, 2, 3]
    closed = []

    def items():
        try:
            yield from range(100)
        finally:
            closed.append(True)

    ahead = read_ahead(items())
    assert next(ahead) == 0
    ahead.close()
    assert closed == [True]


def test_skipped_blocks_do_not_make_the_reader_overwrite_those_in_use(tmp_path):
    big = np.arange(40 * 600, dtype=np.float32).reshape(40, 600)
    np.save(tmp_path / "x.npy", big)
    chosen = np.flatnonzero(np.arange(40) // 4 % 3 == 0)
    with block_bytes(4 * 600 * 4):
        view = open_matrix(tmp_path / "x.npy").rows(chosen)
        seen = []
        for block in read_ahead(view.blocks()):
            time.sleep(0.02)  # time enough to read the next ones
            if block.values.shape[0]:
                assert np.array_equal(block.values, big[chosen[block.rows], block.columns])
                seen.append(block.values.size)
    assert sum(seen) == chosen.size * 600


def test_many_threads_use_many_matrices(path):
    matrices = [open_matrix(path) for _ in range(3)] + [open_matrix(X), open_matrix(sp.csr_array(X))]
    views = matrices + [m.standardised() for m in matrices] + [m.rows(np.arange(0, 64, 3)) for m in matrices]
    W = np.random.default_rng(1).standard_normal((48, 2))
    expected = [view.dot(W) for view in views]
    before = [m.passes for m in matrices]
    with block_bytes(2048), ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda k: views[k % len(views)].dot(W), range(8 * len(views))))
    for k, result in enumerate(results):
        np.testing.assert_allclose(result, expected[k % len(views)], rtol=0, atol=1e-11)
    assert [m.passes for m in matrices] == [count + 3 * 8 for count in before]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_a_forked_child_goes_on_with_the_same_matrix(path):
    matrix = open_matrix(path)
    expected = matrix.dot(np.ones(48))
    child = os.fork()
    if child == 0:
        same = False
        try:
            same = np.array_equal(matrix.dot(np.ones(48)), expected)
        finally:
            os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_matrices_and_views_can_be_pickled_and_copied(path):
    sources = [open_matrix(path), open_matrix(X, sample_ids=list(map(str, range(64)))), open_matrix(sp.csc_array(X))]
    for matrix in sources:
        matrix.listen(lambda now: None)
        for view in (matrix, matrix.standardised(), matrix.rows([3, 1])):
            for again in (pickle.loads(pickle.dumps(view)), copy.deepcopy(view)):
                assert again.fingerprint == view.fingerprint and again.sample_ids == view.sample_ids
                assert np.array_equal(again.dot(np.ones(48)), view.dot(np.ones(48)))
    stored = pickle.dumps(sources[0])
    assert len(stored) < 2000
    _later(path)
    with pytest.raises(FileChangedError):
        pickle.loads(stored).dot(np.ones(48))


def test_errors_are_of_one_family():
    assert issubclass(FileChangedError, DataError) and issubclass(NonFiniteError, DataError)
    assert issubclass(DataError, ValueError)
