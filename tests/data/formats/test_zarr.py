import json
import os
import shutil

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.data._files import DataFolder
from slimline.errors import FileChangedError, FileFormatError, InvalidParameterError, NonFiniteError
from tests.data.formats.conftest import BLOCKS
from tests.data.formats.damage import attack
from tests.data.formats.explicit import check_passes, dense_of, in_several_pieces, numbers
from tests.pairwise import pairwise

zarr = pytest.importorskip("zarr", minversion="3")


def write(path, x, name=None, **options):
    options = {"chunks": (7, 5)} | options
    array = zarr.create_array(path, name=name, shape=x.shape, dtype=x.dtype, overwrite=name is None, **options)
    array[...] = x
    return path


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i1", "u1", "i2", "?", "i4", "u2", "i8", ">f4"])
@pytest.mark.parametrize("version", [2, 3])
def test_every_type(tmp_path, dtype, version):
    x = numbers(40, 23, dtype)
    check_passes(open_matrix(write(tmp_path / "x.zarr", x, zarr_format=version)), x)


@pytest.mark.parametrize(
    "options",
    [
        {"chunks": (90, 60)},
        {"chunks": (1, 60), "compressors": None},
        {"chunks": (90, 2), "order": "F", "zarr_format": 2},
        {"chunks": (5, 4), "shards": (20, 12)},
        {"chunks": (16, 16), "compressors": [zarr.codecs.BloscCodec(cname="lz4")]},
        {"chunks": (16, 16), "compressors": [zarr.codecs.GzipCodec()]},
    ],
)
def test_every_layout(tmp_path, block_bytes, options):
    x = numbers(90, 60)
    matrix = open_matrix(write(tmp_path / "x.zarr", x, **options))
    check_passes(matrix, x)
    for whole in [False, True] if matrix.whole_columns else [False]:
        assert np.array_equal(dense_of(matrix, whole), x)


@pytest.mark.slow
@pytest.mark.parametrize(
    "block_bytes, format, several", pairwise(BLOCKS, ["csr", "csc"], [True, False]), indirect=["block_bytes"]
)
def test_sparse_groups(tmp_path, block_bytes, format, several):
    x = sp.random_array((90, 61), density=0.15, format=format, rng=1, dtype="f4")
    if several:
        whole = sp.random_array((90, 61), density=0.15, format=format, rng=1) * 50
        x = in_several_pieces(whole.astype("i2").astype("f4"))
    group = zarr.open_group(tmp_path / "x.zarr", mode="w").create_group("counts")
    for part in ("data", "indices", "indptr"):
        values = getattr(x, part)
        group.create_array(part, shape=values.shape, dtype=values.dtype, chunks=(40,))[:] = values
    group.attrs.update({"shape": list(x.shape), "encoding-type": f"{format}_matrix"})
    check_passes(open_matrix(tmp_path / "x.zarr"), x.toarray())


def test_missing_values_and_chunks_that_were_never_written(tmp_path):
    x = numbers(50, 12, "i1")
    x[3, 4] = x[7, 0] = -127
    path = write(tmp_path / "x.zarr", x)
    check_passes(open_matrix(path, missing=-127), np.where(x == -127, np.nan, x.astype(float)))
    zarr.create_array(tmp_path / "y.zarr", shape=(30, 20), dtype="f4", chunks=(10, 10), fill_value=2.5)[:10] = 3.0
    assert open_matrix(tmp_path / "y.zarr").dot(np.ones(20)).tolist() == [60.0] * 10 + [50.0] * 20


@pytest.mark.parametrize("options", [{}, {"shards": (20, 10)}, {"zarr_format": 2}])
def test_all_chunks_can_be_asked_for(tmp_path, options):
    x = numbers(40, 20)
    x[:10, :10] = 0
    path = write(tmp_path / "x.zarr", x, name="deep/x", chunks=(10, 10), config={"write_empty_chunks": True}, **options)
    check_passes(open_matrix(path, all_chunks=True), x)
    chunk = max(
        file for file in path.rglob("*") if file.is_file() and not file.name.endswith(("json", "zarray", "zattrs"))
    )
    chunk.unlink()
    open_matrix(path)  # as Zarr reads it
    count = "2 of 8" if "shards" in options else "1 of 8"
    with pytest.raises(
        FileFormatError, match=rf"x\.zarr, array 'deep/x': {count} chunks are not there.*fill value \(0"
    ):
        open_matrix(path, all_chunks=True)


def test_all_chunks_of_a_sparse_group_can_be_asked_for(tmp_path):
    x = sp.random_array((90, 61), density=0.15, format="csr", rng=1, dtype="f4")
    group = zarr.open_group(tmp_path / "x.zarr", mode="w").create_group("counts")
    for part in ("data", "indices", "indptr"):
        values = getattr(x, part)
        group.create_array(part, shape=values.shape, dtype=values.dtype, chunks=(40,))[:] = values
    group.attrs.update({"shape": list(x.shape), "encoding-type": "csr_matrix"})
    check_passes(open_matrix(tmp_path / "x.zarr", all_chunks=True), x.toarray())
    (tmp_path / "x.zarr" / "counts" / "data" / "c" / "1").unlink()
    with pytest.raises(FileFormatError, match="array 'counts/data': 1 of"):
        open_matrix(tmp_path / "x.zarr", all_chunks=True)


def test_which_array(tmp_path):
    root = zarr.open_group(tmp_path / "x.zarr", mode="w")
    for name, shape in (("a/one", (4, 3)), ("two", (5, 2)), ("vector", (4,))):
        root.create_array(name, shape=shape, dtype="f4")[...] = 1.0
    with pytest.raises(InvalidParameterError, match=r"a/one \(4, 3\), two \(5, 2\)") as caught:
        open_matrix(tmp_path / "x.zarr")
    assert caught.value.parameter == "array"
    assert open_matrix(tmp_path / "x.zarr", array="a/one", label="vector").labels.tolist() == [1.0] * 4
    with pytest.raises(InvalidParameterError, match="vector"):
        open_matrix(tmp_path / "x.zarr", array="vector")
    with pytest.raises(InvalidParameterError, match="three"):
        open_matrix(tmp_path / "x.zarr", array="three")


def test_zip_files(tmp_path):
    x = numbers(40, 23)
    with zarr.storage.ZipStore(tmp_path / "x.zarr", mode="w") as store:
        zarr.create_array(store, shape=x.shape, dtype=x.dtype, chunks=(11, 6))[...] = x
    check_passes(open_matrix(tmp_path / "x.zarr"), x)
    whole = (tmp_path / "x.zarr").read_bytes()
    (tmp_path / "x.zarr").write_bytes(whole[:-40])
    with pytest.raises(FileFormatError, match=r"x\.zarr"):
        open_matrix(tmp_path / "x.zarr")


def chunk_files(path):
    return sorted(file for file in (path / "c").rglob("*") if file.is_file())


def test_changes_are_noticed(tmp_path):
    x = numbers(50, 20)
    path = write(tmp_path / "x.zarr", x)
    fingerprint = open_matrix(path).fingerprint
    shutil.copytree(path, tmp_path / "copy.zarr")
    assert open_matrix(tmp_path / "copy.zarr").fingerprint == fingerprint

    def removed():
        chunk_files(path)[3].unlink()

    def touched():
        os.utime(chunk_files(path)[5], ns=(1, 1))

    def added():
        (path / "c" / "0" / "9").write_bytes(b"x")

    def described_anew():
        (path / "zarr.json").write_text((path / "zarr.json").read_text() + " ")

    for change in (removed, touched, added, described_anew, lambda: shutil.rmtree(path)):
        matrix = open_matrix(path)
        change()
        with pytest.raises(FileChangedError, match=r"x\.zarr"):
            matrix.dot(np.ones(20))
        with pytest.raises(FileChangedError, match=r"x\.zarr"):
            _ = matrix.fingerprint
    with pytest.raises(FileNotFoundError):
        open_matrix(path)


def test_a_chunk_that_is_written_again_changes_the_fingerprint(tmp_path):
    root = zarr.open_group(tmp_path / "x.zarr", mode="w")
    for name, x, chunk in (("a", numbers(300, 70, "f8"), (30, 5)), ("b", numbers(5000, 3, "f8"), (4000, 1))):
        root.create_array(name, shape=x.shape, dtype=x.dtype, chunks=chunk, compressors=None)[...] = x
    path = tmp_path / "x.zarr"  # more files than a fingerprint once looked at, and some of 32 KB
    fingerprints = {DataFolder(path).fingerprint()}
    files = sorted(file for file in path.rglob("*") if file.is_file())
    for file in files[::3]:
        content, state = bytearray(file.read_bytes()), file.stat()
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
        source = DataFolder(path)
        assert source.fingerprint() not in fingerprints
        fingerprints.add(source.fingerprint())
    shutil.copytree(path, tmp_path / "copy.zarr", copy_function=shutil.copyfile)
    assert DataFolder(tmp_path / "copy.zarr").fingerprint() == source.fingerprint()


def test_other_arrays_of_the_store_may_change(tmp_path):
    root = zarr.open_group(tmp_path / "x.zarr", mode="w")
    for name in ("a", "b"):
        root.create_array(name, shape=(4, 3), dtype="f4")[...] = 1.0
    matrix = open_matrix(tmp_path / "x.zarr", array="a")
    root["b"][...] = 2.0
    assert matrix.dot(np.ones(3)).tolist() == [3.0] * 4
    root["a"][0, 0] = 2.0
    with pytest.raises(FileChangedError):
        matrix.dot(np.ones(3))


def test_a_chunk_that_vanishes_during_a_pass(tmp_path, monkeypatch):
    """Zarr reads a chunk that is not there as zeros."""
    from slimline.data.formats import _chunked as chunked

    monkeypatch.setattr(chunked, "BLOCK_BYTES", 200)
    path = write(tmp_path / "x.zarr", numbers(50, 20))
    blocks = open_matrix(path).blocks()
    next(blocks)
    chunk_files(path)[-1].unlink()
    with pytest.raises(FileChangedError, match="changed"):
        list(blocks)


def test_corrupt_chunks_and_foreign_folders(tmp_path):
    x = numbers(50, 20)
    x[17, 11] = np.inf
    path = write(tmp_path / "x.zarr", x)
    with pytest.raises(NonFiniteError, match="row 17, column 11"):
        open_matrix(path).dot(np.ones(20))
    chunk_files(path)[4].write_bytes(b"nonsense")
    matrix = open_matrix(path)
    with pytest.raises(FileFormatError, match=r"x\.zarr cannot be read as a Zarr store"):
        matrix.dot(np.ones(20))
    (tmp_path / "empty.zarr").mkdir()
    (tmp_path / "text.zarr").write_text("hello")
    for name in ("empty.zarr", "text.zarr"):
        with pytest.raises(FileFormatError, match=name):
            open_matrix(tmp_path / name)
    said = json.loads((path / "zarr.json").read_text())
    (path / "zarr.json").write_text(json.dumps(said | {"shape": [50, 20, 3]}))
    with pytest.raises(FileFormatError, match=r"x\.zarr"):
        open_matrix(path)


@pytest.mark.nightly
@pytest.mark.parametrize("compressor", [None, "zstd", "blosc", "gzip"])
def test_damaged_stores(tmp_path, compressor, global_random_seed):
    kinds = {
        "zstd": zarr.codecs.ZstdCodec(),
        "blosc": zarr.codecs.BloscCodec(),
        "gzip": zarr.codecs.GzipCodec(),
    }
    x = np.round(numbers(40, 20) * 2)
    path = write(tmp_path / "x.zarr", x, chunks=(20, 10), compressors=kinds.get(compressor))
    files = [path / "zarr.json", *chunk_files(path)[:1]]
    assert attack(path, files, seed=global_random_seed, flips=15) == 0
