import os

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.data import BlockRequest
from slimline.data.formats._chunked import ChunkedMatrix
from slimline.data.formats._hdf5_zarr import ContiguousDataset
from slimline.errors import FileChangedError, FileFormatError, InvalidParameterError, NonFiniteError
from tests.data.formats.conftest import BLOCKS
from tests.data.formats.damage import attack
from tests.data.formats.explicit import check_passes, dense_of, in_several_pieces, numbers
from tests.pairwise import pairwise

h5py = pytest.importorskip("h5py")

TYPES = ["f8", "f4", "f2", "i1", "u1", "i2", "?", "i4", "u2", "i8", "u8", ">f4", ">i2", ">f8"]


def write(path, x, name="x", **options):
    with h5py.File(path, "w") as file:
        file.create_dataset(name, data=x, **options)
    return path


def write_sparse(group, x, **options):
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(x, part), **options)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("chunks", [None, (7, 5)])
def test_every_type(tmp_path, dtype, chunks):
    x = numbers(40, 23, dtype)
    check_passes(open_matrix(write(tmp_path / "x.h5", x, chunks=chunks)), x)


COMPRESSED = {"compression": "gzip", "shuffle": True}
CHUNKS = [(7, 5), None, (1, 60), (90, 1), (90, 60), (64, 2), (3, 60), (10, 1)]


def has_chunks(block_bytes, chunks, options):
    return chunks is not None or not options


@pytest.mark.parametrize(
    "block_bytes, chunks, options",
    pairwise(BLOCKS, CHUNKS, [{}, COMPRESSED], where=has_chunks),
    indirect=["block_bytes"],
)
def test_every_layout(tmp_path, block_bytes, chunks, options):
    x = numbers(90, 60)
    matrix = open_matrix(write(tmp_path / "x.h5", x, chunks=chunks, **options))
    assert isinstance(matrix, ContiguousDataset if chunks is None else ChunkedMatrix)
    check_passes(matrix, x)
    for whole in [False, True] if matrix.whole_columns else [False]:
        assert np.array_equal(dense_of(matrix, whole), x)


def test_each_chunk_is_read_once(tmp_path, block_bytes):
    """With blocks at least as large as a chunk no chunk is in two blocks; for whole columns, in no more than two."""
    for chunk in [(7, 5), (1, 60), (90, 1), (16, 8)]:
        matrix = open_matrix(write(tmp_path / "x.h5", numbers(90, 60), chunks=chunk))
        if 4 * chunk[0] * chunk[1] > block_bytes:
            continue
        for whole in [False, True] if matrix.whole_columns else [False]:
            reads = np.zeros((-(-90 // chunk[0]), -(-60 // chunk[1])), dtype=int)
            for block in matrix.blocks(BlockRequest(whole_columns=whole)):
                rows = slice(block.rows.start // chunk[0], -(-block.rows.stop // chunk[0]))
                columns = slice(block.columns.start // chunk[1], -(-block.columns.stop // chunk[1]))
                reads[rows, columns] += 1
                assert block.nbytes <= (2 * block_bytes if whole else block_bytes)
            assert reads.max() <= (2 if whole else 1)


@pytest.mark.parametrize("held", [1, 7000, 1 << 20])
def test_row_chunks_do_not_promise_whole_columns(tmp_path, monkeypatch, held):
    from slimline.data import _gram as gram
    from slimline.data.formats import _chunked as chunked

    monkeypatch.setattr(gram, "_HELD_BYTES", held)

    monkeypatch.setattr(chunked, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(chunked, "_PANEL_BYTES", 2000)
    x = numbers(90, 60)
    matrix = open_matrix(write(tmp_path / "x.h5", x, chunks=(2, 30)))
    assert not matrix.whole_columns
    check_passes(matrix, x)  # gram from blocks that are parts of rows
    assert open_matrix(write(tmp_path / "y.h5", x, chunks=(30, 2))).whole_columns


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 1), (1, 300), (300, 1)])
@pytest.mark.parametrize("chunked", [False, True])
def test_odd_shapes(tmp_path, shape, chunked):
    x = numbers(*shape)
    options = {"chunks": True, "maxshape": (None, None)} if chunked else {}
    matrix = open_matrix(write(tmp_path / "x.h5", x, **options))
    assert np.array_equal(matrix.dot(np.ones(shape[1])), x.astype(float) @ np.ones(shape[1]))
    assert matrix.tdot(np.ones(shape[0])).shape == (shape[1],)


def test_fill_values_user_blocks_and_compact_data(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w", userblock_size=1024) as file:
        file["x"] = numbers(30, 20)
        file.create_dataset("never written", shape=(30, 20), dtype="f4", fillvalue=2.5)
        file.create_dataset("partly", shape=(30, 20), dtype="f4", fillvalue=-1.0, chunks=(10, 10))[:10] = 3.0
    check_passes(open_matrix(path, dataset="x"), numbers(30, 20))
    assert (open_matrix(path, dataset="never written").dot(np.ones(20)) == 50).all()
    assert open_matrix(path, dataset="partly").dot(np.ones(20)).tolist() == [60.0] * 10 + [-20.0] * 20


def test_missing_whole_numbers(tmp_path):
    x = numbers(50, 12, "i1")
    x[3, 4] = x[7, 0] = -127
    exact = np.where(x == -127, np.nan, x.astype(float))
    for chunks in (None, (8, 5)):
        check_passes(open_matrix(write(tmp_path / "x.h5", x, chunks=chunks), missing=-127), exact)


@pytest.mark.parametrize(
    "dtype, block_bytes, format, options",
    pairwise(["f4", "f8", "i8", "i1"], BLOCKS, ["csr", "csc"], [{}, {"chunks": (37,), "compression": "gzip"}]),
    indirect=["block_bytes"],
)
def test_sparse_groups(tmp_path, block_bytes, format, dtype, options):
    x = sp.random_array((90, 61), density=0.15, format=format, rng=1) * 50
    x = x.astype(dtype)
    x.indices = x.indices.astype(np.int64 if dtype == "f8" else np.int32)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("counts")
        write_sparse(group, x, **options)
        group.attrs["shape"] = x.shape
        group.attrs["encoding-type"] = f"{format}_matrix"
    matrix = open_matrix(tmp_path / "x.h5")
    assert matrix.whole_columns == (format == "csc")
    check_passes(matrix, x.toarray())


@pytest.mark.parametrize(
    "block_bytes, format, dtype", pairwise(BLOCKS, ["csr", "csc"], ["f4", "i1"]), indirect=["block_bytes"]
)
def test_sparse_groups_with_several_values_for_one_place(tmp_path, block_bytes, format, dtype):
    x = (sp.random_array((90, 61), density=0.15, format=format, rng=1) * 50).astype("i1").astype(dtype)
    pieces = in_several_pieces(x)
    assert pieces.nnz > x.nnz
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("counts")
        write_sparse(group, pieces, chunks=(37,))
        group.attrs.update({"shape": x.shape, "encoding-type": f"{format}_matrix"})
    check_passes(open_matrix(tmp_path / "x.h5"), x.toarray())


def test_values_for_one_place_that_are_too_large_together(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("counts")
        group["data"], group["indices"], group["indptr"] = (
            np.array([100, 100], "i1"),
            np.zeros(2, "i4"),
            np.array([0, 2]),
        )
        group.attrs.update({"shape": (1, 3), "encoding-type": "csr_matrix"})
    matrix = open_matrix(tmp_path / "x.h5")
    with pytest.raises(FileFormatError, match=r"x\.h5.*'counts'.*one place add up to more than int8 holds"):
        matrix.dot(np.ones(3))


def test_sparse_groups_that_say_less(tmp_path):
    x = sp.random_array((40, 30), density=0.2, format="csc", rng=0)
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        write_sparse(file, x)
        file["shape"] = x.shape
    # the root itself is the group: it has no name to be found by
    with h5py.File(path, "w") as file:
        write_sparse(file.create_group("m"), x)
        file["m"]["shape"] = x.shape
    check_passes(open_matrix(path), x.toarray())
    with h5py.File(path, "a") as file:
        file["m"]["format"] = b"csc"
    check_passes(open_matrix(path, dataset="/m"), x.toarray())
    square = sp.eye_array(5, format="csr")
    with h5py.File(path, "w") as file:
        write_sparse(file.create_group("m"), square)
        file["m"]["shape"] = square.shape
    with pytest.raises(FileFormatError, match="CSR or CSC"):
        open_matrix(path)


def test_counts_of_cell_ranger(tmp_path):
    genes_by_cells = sp.random_array((30, 50), density=0.2, format="csc", rng=0) * 9
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("matrix")
        write_sparse(group, genes_by_cells.astype("i4"))
        group["shape"] = genes_by_cells.shape
        group["barcodes"] = [f"CELL-{i}".encode() for i in range(50)]
        group["features/name"] = [f"GENE{i}".encode() for i in range(30)]
    matrix = open_matrix(tmp_path / "x.h5")
    check_passes(matrix, genes_by_cells.astype("i4").toarray().T)
    assert matrix.sample_ids[49] == "CELL-49" and matrix.feature_names[29] == "GENE29"


@pytest.mark.parametrize(
    "harm, said",
    [
        (lambda g: g["indices"].__setitem__(3, 61), "columns"),
        (lambda g: g["indices"].__setitem__(3, -1), "columns"),
        (lambda g: g["indptr"].__setitem__(0, 1), "rise"),
        (lambda g: g["indptr"].__setitem__(5, 10**6), "rise"),
        (lambda g: g["indptr"].__setitem__(-1, 10**6), "truncated"),
        (lambda g: g.attrs.__setitem__("shape", (91, 61)), "91"),
        (lambda g: g.attrs.__delitem__("shape"), "shape"),
    ],
)
def test_damaged_sparse_groups(tmp_path, harm, said):
    x = sp.random_array((90, 61), density=0.15, format="csr", rng=1)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("s")
        write_sparse(group, x)
        group.attrs["shape"], group.attrs["encoding-type"] = x.shape, "csr_matrix"
        harm(group)
    with pytest.raises(FileFormatError, match=said) as error:
        open_matrix(tmp_path / "x.h5").dot(np.ones(61))
    assert "x.h5" in str(error.value)


def test_which_dataset(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["a/one"], file["b/two"], file["vector"] = numbers(4, 3), numbers(5, 2), np.arange(4)
        file["words"] = np.array([[b"a", b"b"]])
    with pytest.raises(InvalidParameterError, match=r"a/one \(4, 3\), b/two \(5, 2\)"):
        open_matrix(path)
    assert open_matrix(path, dataset="a/one", label="vector").labels.tolist() == [0, 1, 2, 3]
    for wrong in ("vector", "words", "nothing", "a"):
        with pytest.raises(InvalidParameterError, match=wrong):
            open_matrix(path, dataset=wrong)
    with pytest.raises(InvalidParameterError, match="label"):
        open_matrix(path, dataset="a/one", label="words")
    with pytest.raises(FileFormatError, match="4 labels"):
        open_matrix(path, dataset="b/two", label="vector")
    with h5py.File(path, "w") as file:
        file["vector"] = np.arange(4)
    with pytest.raises(FileFormatError, match="holds no matrix"):
        open_matrix(path)


def test_data_in_other_files_are_refused(tmp_path):
    write(tmp_path / "other.h5", numbers(4, 3))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = h5py.ExternalLink("other.h5", "x")
        layout = h5py.VirtualLayout(shape=(4, 3), dtype="f4")
        layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "x", shape=(4, 3))
        file.create_virtual_dataset("v", layout)
        file.create_dataset("raw", shape=(4, 3), dtype="f4", external=[(str(tmp_path / "raw.bin"), 0, 48)])
    for name in ("x", "v", "raw"):
        with pytest.raises(FileFormatError, match="other files"):
            open_matrix(tmp_path / "x.h5", dataset=name)


@pytest.mark.parametrize("chunks", [None, (7, 5)])
def test_a_file_cut_during_a_pass(tmp_path, chunks, monkeypatch):
    from slimline.data.formats import _chunked as chunked
    from slimline.data.formats import _npy as npy

    monkeypatch.setattr(chunked, "BLOCK_BYTES", 400)
    monkeypatch.setattr(npy, "BLOCK_BYTES", 400)
    path = write(tmp_path / "x.h5", numbers(500, 200), chunks=chunks)
    blocks = open_matrix(path).blocks()
    next(blocks)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(FileChangedError, match="changed"):
        list(blocks)


def test_non_finite_values_are_named(tmp_path):
    x = numbers(50, 20)
    x[17, 11] = np.inf
    with pytest.raises(NonFiniteError, match="row 17, column 11"):
        open_matrix(write(tmp_path / "x.h5", x, chunks=(7, 5))).dot(np.ones(20))


def test_foreign_files(tmp_path):
    for name, content in (("text.h5", b"hello, this is no HDF5 file" * 100), ("empty.h5", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileFormatError, match=name):
            open_matrix(tmp_path / name)
    (tmp_path / "folder.h5").mkdir()
    with pytest.raises(FileFormatError, match="not a file"):
        open_matrix(tmp_path / "folder.h5")


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["plain", "gzip", "sparse"])
def test_damaged_files(tmp_path, kind, global_random_seed):
    """No cut file is answered from: HDF5 knows where a file should end.

    The attribute is a string of fixed length. One of variable length lies in HDF5's global heap, and HDF5 2.0 goes
    round in circles for ever in some damaged heaps, where no caller can reach it.
    """
    path = tmp_path / "x.h5"
    x = np.round(numbers(40, 20) * 2)
    if kind == "sparse":
        with h5py.File(path, "w") as file:
            group = file.create_group("s")
            write_sparse(group, sp.csr_array(x), chunks=(30,), compression="gzip")
            group.attrs["shape"], group.attrs["encoding-type"] = x.shape, np.bytes_("csr_matrix")
    else:
        write(path, x, **({} if kind == "plain" else {"chunks": (11, 7), "compression": "gzip"}))
    assert attack(path, [path], seed=global_random_seed, flips=40) == 0
