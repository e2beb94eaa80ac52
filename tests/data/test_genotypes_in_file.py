"""Genotypes that kernels read from their file by themselves."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from slimline._kernels import _native
from slimline.data._arrays import LazyGenotypes
from slimline.data.formats import _plink as plink
from slimline.data.formats._plink import open_plink
from slimline.errors import FileChangedError, FileFormatError, FileReadError
from slimline.projections import HashEmbedding
from slimline.testing import check_matrix
from tests._kernels import flat
from tests.data.plink_files import random_genotypes, write_plink

EPS = np.finfo(np.float64).eps


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(plink, "BLOCK_BYTES", 1 << 14)


def reads_itself():
    return pytest.mark.skipif(not _native.reads_genotypes(), reason="this instruction set unpacks genotypes first")


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("n", [1, 3, 4, 255, 256, 1001])
def test_products_from_the_file_and_from_memory_are_the_same(tmp_path, monkeypatch, small_blocks, n, threads):
    monkeypatch.setenv("SLIMLINE_NUM_THREADS", threads)
    genotypes = random_genotypes(n, 700)
    X = open_plink(write_plink(tmp_path / "a", genotypes)).standardised(centre=None, scale=None, fill=0.25)
    rng = np.random.default_rng(0)
    filled = np.where(genotypes < 0, 0.25, genotypes)
    for k in (1, 2, 5):
        W, A = rng.normal(size=(700, k)), rng.normal(size=(n, k))
        results = {}
        for from_file in (True, False):
            with pytest.MonkeyPatch.context() as patch:
                if not from_file:
                    patch.setattr(LazyGenotypes, "streamed", read_first)
                results[from_file] = (X.dot(W), X.tdot(A), *X.normal(A))
        for one, other in zip(*results.values(), strict=True):
            assert np.array_equal(one, other)
        assert np.all(np.abs(results[True][0] - filled @ W) <= 700 * EPS * (filled @ np.abs(W)))
        assert np.all(np.abs(results[True][1] - filled.T @ A) <= n * EPS * (filled.T @ np.abs(A)))


def read_first(self):
    self.packed  # noqa: B018
    return super(LazyGenotypes, self).streamed()


@reads_itself()
def test_a_product_needs_no_memory_for_the_genotypes(tmp_path, monkeypatch, small_blocks):
    def asked(*arguments):
        raise AssertionError("genotypes were read into memory")

    X = open_plink(write_plink(tmp_path / "a", random_genotypes(50, 900, missing=0)))
    monkeypatch.setattr("slimline.data._files.OpenFile.read_into", asked)
    X.dot(np.ones(900)), X.tdot(np.ones(50)), X.normal(np.ones(50)), X.column_stats()
    with pytest.raises(AssertionError, match="into memory"):
        X.sketch(HashEmbedding(900, 64, 0))
    with pytest.raises(AssertionError, match="into memory"):
        X.column_stats(np.ones(50))


OPERATIONS = {
    "dot": lambda X: X.dot(np.ones(X.shape[1])),
    "tdot": lambda X: X.tdot(np.ones(X.shape[0])),
    "normal": lambda X: X.normal(np.ones(X.shape[0])),
    "column_stats": lambda X: X.column_stats(),
    "sketch": lambda X: X.sketch(HashEmbedding(X.shape[1], 64, 0)),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_file_that_is_cut_short_under_a_pass(tmp_path, small_blocks, operation):
    path = write_plink(tmp_path / "a", random_genotypes(50, 9000, missing=0))
    X = open_plink(path)
    told = []

    def cut(progress):
        told.append(progress)
        if len(told) == 2:
            os.truncate(path, 70_000)

    X.listen(cut)
    with pytest.raises((FileChangedError, FileFormatError), match=r"a\.bed"):
        OPERATIONS[operation](X)
    assert len(told) >= 2


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_the_system_says_names_the_file(tmp_path, monkeypatch, small_blocks, operation):
    X = open_plink(write_plink(tmp_path / "a", random_genotypes(50, 900, missing=0)))
    wrong = os.open(tmp_path, os.O_RDONLY)  # a folder
    monkeypatch.setattr("slimline.data._files.DataFile.descriptor", lambda self: os.dup(wrong))
    with pytest.raises(FileReadError, match=r"a\.bed could not be read between bytes 3 and \d[\d,]*: Is a directory"):
        OPERATIONS[operation](X)
    os.close(wrong)


def test_a_block_is_of_no_use_after_its_pass(tmp_path):
    X = open_plink(write_plink(tmp_path / "a", random_genotypes(50, 90)))
    (block,) = X.blocks()
    with pytest.raises(FileReadError, match=r"a\.bed could not be read"):
        _ = block.values.packed
    with pytest.raises(FileReadError, match=r"a\.bed could not be read"), block.values.streamed() as x:
        flat.block_tdot(x, 50, None, np.ones((50, 1)), None, np.zeros(90), np.zeros((90, 1)), 1)


VIEWS = {
    "all people": lambda X: (X.rows(slice(None)), np.s_[:], np.s_[:]),
    "some people": lambda X: (X.rows([1, 3, 30]), [1, 3, 30], np.s_[:]),
    "people again": lambda X: (X.rows([3, 1, 30, 3]), [3, 1, 30, 3], np.s_[:]),
    "all variants": lambda X: (X.columns(slice(None)), np.s_[:], np.s_[:]),
    "all variants but one": lambda X: (X.columns(np.r_[0:1500, 1501:9000]), np.s_[:], np.r_[0:1500, 1501:9000]),
    "few variants": lambda X: (X.columns(np.arange(7, 9000, 11)), np.s_[:], np.arange(7, 9000, 11)),
    "all variants of all people": lambda X: (X.rows(slice(None)).columns(slice(None)), np.s_[:], np.s_[:]),
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_that_leave_blocks_whole_and_views_that_cut_them(tmp_path, small_blocks, view):
    genotypes = random_genotypes(40, 9000, missing=0)
    X = open_plink(write_plink(tmp_path / "a", genotypes))
    seen, people, variants = VIEWS[view](X)
    exact = genotypes[people][:, variants].astype(np.float64)
    n, d = exact.shape
    W, A = np.random.default_rng(0).normal(size=(d, 2)), np.random.default_rng(1).normal(size=(n, 2))
    embedding = HashEmbedding(d, 64, 0)
    for matrix, values in ((seen, exact), (seen.standardised(scale=None), exact - exact.mean(axis=0))):
        assert np.allclose(matrix.dot(W), values @ W)
        assert np.allclose(matrix.tdot(A), values.T @ A)
        assert np.allclose(matrix.normal(A)[1], values @ (values.T @ A))
        assert np.allclose(matrix.column_stats().mean, values.mean(axis=0), atol=1e-12)
        assert np.allclose(matrix.row_norms(), np.linalg.norm(values, axis=1))
        assert np.allclose(matrix.gram(), values @ values.T)
        sketch = matrix.sketch(embedding)
        assert sketch.flags.c_contiguous and np.allclose(sketch, values @ embedding.rows().toarray(), atol=1e-3)


@pytest.mark.slow
def test_the_checks_for_formats(tmp_path):
    genotypes = random_genotypes(40, 900, missing=0)
    path = write_plink(tmp_path / "a", genotypes)
    check_matrix(lambda: open_plink(path), genotypes)


def test_long_variants_are_read_ahead(tmp_path, monkeypatch):
    genotypes = random_genotypes(40, 900, missing=0)
    path = write_plink(tmp_path / "a", genotypes)
    assert not open_plink(path).traits.prefetch
    monkeypatch.setattr(plink, "_LONGEST_LINE", 9)
    X = open_plink(path)
    assert X.traits.prefetch and X.standardised().traits.prefetch
    assert np.array_equal(X.tdot(np.ones(40)), genotypes.sum(axis=0))
    assert np.array_equal(X.column_stats().sum, genotypes.sum(axis=0))


def again_and_again(work):
    while True:
        work()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize("raised", [TimeoutError("my deadline"), EOFError(), OSError(5, "mine")])
def test_what_a_signal_raises_is_none_of_the_file(tmp_path, raised):
    X = open_plink(write_plink(tmp_path / "a", random_genotypes(3000, 3000, missing=0)))

    def handler(*_):
        raise raised

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(type(raised)) as caught:
            again_and_again(lambda: X.normal(np.ones((3000, 8))))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert caught.value is raised


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_error_that_is_kept_keeps_no_file_open(tmp_path, small_blocks, operation):
    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not tell which files are open")
    path = write_plink(tmp_path / "a", random_genotypes(50, 9000, missing=0))
    X = open_plink(path)
    X._bed.require_unchanged = lambda: os.truncate(path, 70_000)
    X.require_unchanged = lambda: None
    with pytest.raises(FileFormatError, match=r"a\.bed ends at byte 70,000") as kept:
        OPERATIONS[operation](X)
    assert str(path.resolve()) not in [os.path.realpath(name) for name in Path("/proc/self/fd").iterdir()]
    del kept


# The boundary of the kernels -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows, samples, message",
    [
        ((0, 3, 90, 12), 50, "bytes a variant"),
        ((0, 3, 90, 13), 0, "bytes a variant"),
        ((0, -1, 90, 13), 50, "bytes a variant"),
        ((0, 3, 91, 13), 50, "wrong shape"),
    ],
)
@reads_itself()
def test_rows_of_a_file_that_do_not_fit_are_refused(rows, samples, message):
    with pytest.raises(ValueError, match=message):
        flat.block_tdot(
            _native.FileRows(*rows), samples, None, np.ones((50, 1)), None, np.zeros(rows[2]), np.zeros((90, 1)), 1
        )


@reads_itself()
def test_the_byte_where_a_file_ends_is_told(tmp_path):
    (tmp_path / "a").write_bytes(bytes(1000))
    with (tmp_path / "a").open("rb") as file:
        rows = _native.FileRows(file.fileno(), 3, 90, 13)
        with pytest.raises(_native.ReadError) as error:
            flat.block_tdot(rows, 50, None, np.ones((50, 1)), None, np.zeros(90), np.zeros((90, 1)), 2)
    assert error.value.args == (0, 1000)


@reads_itself()
def test_weights_of_people_need_genotypes_in_memory():
    d = 9
    results = [np.zeros(d) for _ in range(3)] + [np.zeros(d, np.int64) for _ in range(2)]
    with pytest.raises(ValueError, match="in memory"):
        flat.block_statistics(_native.FileRows(0, 3, d, 13), 50, None, np.ones(50), *results, 1)
