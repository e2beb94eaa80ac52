"""Jobs that are cut short at every block go on where they were, and end with the same bits."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from slimline.data import Squares, open_matrix, write_genotypes
from slimline.data import _gram as gram
from slimline.data.formats import _npy as npy
from slimline.data.formats import _plink as plink
from slimline.data.formats import _svmlight as svmlight
from slimline.errors import CheckpointWarning, InvalidParameterError
from slimline.model_files import _checkpoints as pass_files
from slimline.model_files._checkpoints import RECORD, CheckpointFolder, PassFiles
from slimline.projections import Gaussian, HashEmbedding, SubsampledHadamard

rng = np.random.default_rng(0)
N, D = 30, 400
X = rng.standard_normal((N, D)).astype(np.float32)
W, A = rng.standard_normal((D, 2)), rng.standard_normal((N, 3))


class KilledError(Exception):
    pass


def job(matrix: Any) -> list[Any]:
    """Every operation, one after the other, some depending on those before."""
    squares = Squares(*matrix.shape)
    product, terms = matrix.dot(W, return_terms=True)
    back = matrix.tdot(product, squares)
    both = matrix.normal(A)
    stats = matrix.column_stats()
    out = [product, back, squares.rows, squares.columns, *both, matrix.row_norms(), terms]
    out += [stats.mean, stats.std, stats.nonzeros, stats.missing]
    for projection in (HashEmbedding(D, 64, seed=0), Gaussian(D, 8, seed=0)):
        out.append(matrix.sketch(projection))
    out.append(matrix.gram())
    return [*out, matrix.passes]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def plain(matrix: Any) -> Any:
    return matrix


def standardised(matrix: Any) -> Any:
    return matrix.standardised("mean", "std", "mean")


def some_rows(matrix: Any) -> Any:
    return matrix.rows(np.arange(N)[::-1])


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(gram, "_HELD_BYTES", 20000)
    for module, size in ((npy, 8000), (plink, 8 * 64), (svmlight, 8000)):
        if hasattr(module, "BLOCK_BYTES"):
            monkeypatch.setattr(module, "BLOCK_BYTES", size)


@pytest.fixture(params=["npy", "fortran", "plink", "svmlight", "array", "csr"])
def source(request, tmp_path, small_blocks) -> Callable[[], Any]:
    kind = request.param
    path: Any = tmp_path / "data"
    if kind in ("npy", "fortran"):
        np.save(tmp_path / "x.npy", np.asfortranarray(X) if kind == "fortran" else X)
        path = tmp_path / "x.npy"
    elif kind == "plink":
        write_genotypes(path, N, D, missing_rate=0.0, seed=0)
        path = tmp_path / "data.bed"
    elif kind == "svmlight":
        path = tmp_path / "x.svm"
        lines = (" ".join([str(i % 2), *(f"{j + 1}:{v:.6g}" for j, v in enumerate(row))]) for i, row in enumerate(X))
        path.write_text("\n".join(lines) + "\n")
    elif kind == "csr":
        path = sp.csr_array(X * (X > 1))
    else:
        path = X
    return lambda: open_matrix(path)


def run(matrix: Any, view: Callable[[Any], Any], keeper: PassFiles | None, blocks: int) -> tuple[list[Any], int]:
    """Run the job until so many blocks have gone by; return what it found, and passes."""
    left = blocks

    def count(now: Any) -> None:
        nonlocal left
        if 0.0 < now.fraction < 1.0:
            left -= 1
            if left < 0:
                raise KilledError

    matrix.listen(count)
    matrix.keep(keeper)
    found = job(view(matrix))
    return found, blocks - left


@pytest.mark.parametrize("view", [plain, standardised, some_rows])
def test_cut_short_anywhere(tmp_path, source, view):
    expected, total = run(source(), view, None, 10**6)
    every = 0.0  # a file after every block
    for blocks in {1, 2, 3, 5, total // 3, total // 2, total - 1} - {0}:
        folder = tmp_path / f"resume-{blocks}"
        with pytest.raises(KilledError):
            run(source(), view, PassFiles(folder, "key", every), blocks)
        keeper = PassFiles(folder, "key", every)
        found, went_by = run(source(), view, keeper, 10**6)
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(one, other)  # to the last bit
        assert went_by <= total - blocks + 1  # the one it was killed at may be lost, no other
        assert keeper.passes_found + keeper.blocks_found > 0 or blocks == 1
        keeper.remove()
        assert not folder.exists()


def test_killed_again_and_again(tmp_path, source):
    expected, total = run(source(), standardised, None, 10**6)
    for _ in range(total + 1):
        try:
            found, _ = run(source(), standardised, PassFiles(tmp_path / "resume", "key", 0.0), 2)
            break
        except KilledError:
            continue
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_count_of_passes_goes_on(tmp_path):
    first = open_matrix(X)
    first.keep(PassFiles(tmp_path / "resume", "key"))
    job(first)
    again = open_matrix(X)
    keeper = PassFiles(tmp_path / "resume", "key")
    again.keep(keeper)
    job(again)
    assert again.passes == first.passes == keeper.passes_found


def test_other_data_or_settings_take_nothing(tmp_path):
    one = open_matrix(X)
    one.keep(PassFiles(tmp_path / "resume", "one"))
    one.dot(W)
    keeper = PassFiles(tmp_path / "resume", "other")
    assert keeper.replaced and not keeper.goes_on
    assert names(tmp_path / "resume") == [RECORD]
    other = open_matrix(-X)
    other.keep(keeper)
    np.testing.assert_array_equal(other.dot(W), open_matrix(-X).dot(W))
    assert keeper.passes_found == 0


def test_another_job_at_the_same_time_gives_nothing_away(tmp_path):
    one, other = open_matrix(X), open_matrix(-X[::-1])
    first = PassFiles(tmp_path / "resume", "one")
    one.keep(first)
    keeper = PassFiles(tmp_path / "resume", "other")
    other.keep(keeper)
    with pytest.warns(CheckpointWarning, match="another job"):
        one.row_norms()  # the first pass of both, and nothing but the job tells them apart
    first.remove()
    np.testing.assert_array_equal(other.row_norms(), open_matrix(-X[::-1]).row_norms())
    assert keeper.passes_found == 0 and not keeper.gave_up
    assert names(tmp_path / "resume") == [RECORD, "pass-0001"]


def test_the_same_job_twice_at_the_same_time(tmp_path):
    one, two = open_matrix(X), open_matrix(X)
    first, second = (PassFiles(tmp_path / "resume", "key") for _ in range(2))
    one.keep(first)
    two.keep(second)
    one.dot(W)
    np.testing.assert_array_equal(two.dot(W), open_matrix(X).dot(W))
    first.remove()
    np.testing.assert_array_equal(two.tdot(A), open_matrix(X).tdot(A))
    assert second.passes_found == 1 and not first.goes_on


@pytest.mark.parametrize("change", ["inputs", "operation", "shape", "projection"])
def test_another_pass_in_its_place(tmp_path, change):
    one = open_matrix(X)
    one.keep(PassFiles(tmp_path / "resume", "key"))
    one.sketch(HashEmbedding(D, 64, seed=0)) if change == "projection" else one.dot(W)
    other = open_matrix(X)
    keeper = PassFiles(tmp_path / "resume", "key")
    other.keep(keeper)
    call = {
        "inputs": lambda matrix: matrix.dot(W + 1.0),
        "operation": lambda matrix: matrix.tdot(A),
        "shape": lambda matrix: matrix.dot(W[:, :1]),
        "projection": lambda matrix: matrix.sketch(SubsampledHadamard(D, 64, seed=0)),
    }[change]
    np.testing.assert_array_equal(call(other), call(open_matrix(X)))
    assert keeper.passes_found == 0


@pytest.mark.parametrize("operation", ["row_norms", "gram"])
def test_another_view_in_its_place(tmp_path, operation):
    one, other = open_matrix(X), open_matrix(X)
    one.keep(PassFiles(tmp_path / "resume", "key"))
    getattr(one.rows(slice(0, 10)), operation)()
    keeper = PassFiles(tmp_path / "resume", "key")
    other.keep(keeper)
    found = getattr(other.rows(slice(10, 20)), operation)()
    np.testing.assert_array_equal(found, getattr(open_matrix(X[10:20]), operation)())
    assert keeper.passes_found == 0


def test_damaged_files_are_made_again(tmp_path):
    expected = open_matrix(X).dot(W)
    one = open_matrix(X)
    one.keep(PassFiles(tmp_path / "resume", "key"))
    one.dot(W)
    path = tmp_path / "resume" / "pass-0001"
    whole = path.read_bytes()
    for damaged in (
        whole[:-1],
        whole[: len(whole) // 2],
        b"",
        whole[:-1] + bytes([whole[-1] ^ 1]),
        b"\x00" * len(whole),
    ):
        path.write_bytes(damaged)
        again = open_matrix(X)
        keeper = PassFiles(tmp_path / "resume", "key")
        again.keep(keeper)
        np.testing.assert_array_equal(again.dot(W), expected)
        assert keeper.passes_found == 0


def test_files_come_every_so_often(tmp_path, monkeypatch, small_blocks):
    np.save(tmp_path / "x.npy", X)
    clock = iter(np.arange(0.0, 1e6, 10.0))  # ten seconds from look to look
    monkeypatch.setattr(pass_files, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    matrix, written = open_matrix(tmp_path / "x.npy"), []
    keeper = PassFiles(tmp_path / "resume", "key", every=30.0)
    write = keeper._write
    keeper._write = lambda sums, blocks, done: (written.append((blocks, done)), write(sums, blocks, done))
    matrix.keep(keeper)
    matrix.dot(W)
    assert written[-1] == (0, True)
    assert [blocks for blocks, done in written if not done] == [3, 6]  # of 6


def test_a_full_disk_does_not_end_the_job(tmp_path, monkeypatch):
    matrix, keeper = open_matrix(X), PassFiles(tmp_path / "resume", "key")
    matrix.keep(keeper)
    matrix.row_norms()

    def full(*_):
        yield b"a few bytes"
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("slimline.model_files._checkpoints.tensor_pieces", full)
        with pytest.warns(CheckpointWarning, match="No space left") as told:
            found = [matrix.dot(W), matrix.tdot(A)]
    assert len(told) == 1 and keeper.gave_up
    found.append(matrix.dot(W))  # there is room again, and nobody knows what comes next
    for one, other in zip(found, (X @ W, X.T @ A, X @ W), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    assert names(tmp_path / "resume") == [RECORD, "pass-0001"]
    again = PassFiles(tmp_path / "resume", "key")
    matrix = open_matrix(X)
    matrix.keep(again)
    np.testing.assert_array_equal([matrix.row_norms()], [open_matrix(X).row_norms()])
    assert again.passes_found == 1
    again.remove()
    assert not again.folder.exists()


def test_a_folder_that_cannot_be_made(tmp_path):
    with pytest.raises(InvalidParameterError, match="another folder"):
        PassFiles(tmp_path / "absent" / "resume", "key")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_somebody_else_made(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "link").symlink_to("mine")
    (tmp_path / "file").touch()
    for name in ("mine", "link", "file"):
        with pytest.raises(InvalidParameterError, match="slimline did not make it"):
            PassFiles(tmp_path / name, "key")
        CheckpointFolder(tmp_path / name).remove()
    assert names(tmp_path) == ["file", "link", "mine"] and not names(tmp_path / "mine")


def test_a_folder_that_somebody_else_puts_there_meanwhile(tmp_path):
    matrix, keeper = open_matrix(X), PassFiles(tmp_path / "resume", "key")
    matrix.keep(keeper)
    keeper.remove()
    (tmp_path / "resume").mkdir()
    with pytest.warns(CheckpointWarning, match="slimline did not make it"):
        matrix.row_norms()
    keeper.remove()
    assert names(tmp_path / "resume") == []


def test_a_pass_that_cannot_be_read_is_made_again(tmp_path):
    PassFiles(tmp_path / "resume", "key")
    (tmp_path / "resume" / "pass-0001").mkdir()
    matrix = open_matrix(X)
    matrix.keep(PassFiles(tmp_path / "resume", "key"))
    with pytest.warns(CheckpointWarning):
        np.testing.assert_array_equal(matrix.row_norms(), open_matrix(X).row_norms())


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"[]",
        b"null",
        b"[" * 100_000,
        b"\xff",
        b'{"kind": "slimline checkpoint"}',
        b'{"kind": "slimline checkpoint", "key": 1, "results": []}',
        b'{"kind": "slimline checkpoint", "key": "key", "results": {}}',
    ],
)
def test_a_damaged_record(tmp_path, record):
    folder = CheckpointFolder(tmp_path / "resume")
    folder.begin("key")
    (folder.path / RECORD).write_bytes(record)
    assert folder.key() is None and not folder.wrote(folder.path)
    with pytest.raises(FileExistsError):
        folder.begin("key")
    folder.remove()
    assert names(folder.path) == [RECORD]


def test_it_knows_what_the_job_wrote(tmp_path):
    folder, file = CheckpointFolder(tmp_path / "resume"), tmp_path / "result"
    folder.begin("key")
    file.write_text("first")
    assert not folder.wrote(file)
    folder.note_result("key", file)
    folder.note_result("other", folder.path / RECORD)
    assert folder.wrote(file) and folder.wrote(file, "key") and not folder.wrote(file, "other")
    assert not folder.wrote(folder.path / RECORD)
    (tmp_path / "other").write_bytes(file.read_bytes())
    assert not folder.wrote(tmp_path / "other")
    os.utime(file, ns=(0, 0))
    assert not folder.wrote(file)
    folder.note_result("key", file)
    folder.begin("other")
    assert not folder.wrote(file) and not folder.wrote(file, "other")
