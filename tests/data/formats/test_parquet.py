import os

import numpy as np
import pytest

from slimline import open_matrix
from slimline.data.formats import _parquet as parquet
from slimline.errors import FileChangedError, FileFormatError, InvalidParameterError, NonFiniteError
from tests.data.formats.conftest import BLOCKS
from tests.data.formats.damage import attack
from tests.data.formats.explicit import check_passes, dense_of, numbers
from tests.pairwise import pairwise

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def table(x, **more):
    return pa.table({f"c{j}": np.ascontiguousarray(x[:, j]) for j in range(x.shape[1])} | more)


def write(path, x, row_group_size=17, **options):
    pq.write_table(x if isinstance(x, pa.Table) else table(x), path, row_group_size=row_group_size, **options)
    return path


@pytest.mark.parametrize(
    "dtype, seen",
    [(kind, kind) for kind in ("f8", "f4", "f2", "i1", "u1", "i2", "?")]
    + [(kind, "f8") for kind in ("i4", "u2", "i8", "u8")],
)
def test_every_type(tmp_path, dtype, seen):
    x = numbers(60, 13, dtype)
    matrix = open_matrix(write(tmp_path / "x.parquet", x))
    assert matrix.dtype == np.dtype(seen)
    assert list(matrix.feature_names) == [f"c{j}" for j in range(13)]
    check_passes(matrix, x)


@pytest.mark.parametrize(
    "row_group_size, block_bytes, options",
    pairwise([17, 1, 90, 1000], BLOCKS, [{"compression": "none", "use_dictionary": False}, {"compression": "zstd"}]),
    indirect=["block_bytes"],
)
def test_every_layout(tmp_path, block_bytes, row_group_size, options):
    x = numbers(90, 60 if row_group_size > 1 else 8)
    matrix = open_matrix(write(tmp_path / "x.parquet", x, row_group_size, **options))
    check_passes(matrix, x)
    for whole in [False, True] if matrix.whole_columns else [False]:
        assert np.array_equal(dense_of(matrix, whole), x)


def test_columns_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 100)
    monkeypatch.setattr(parquet, "_PANEL_BYTES", 200)
    x = numbers(90, 6)
    matrix = open_matrix(write(tmp_path / "x.parquet", x, 70))
    assert not matrix.whole_columns
    assert max(block.nbytes for block in matrix.blocks()) <= 100
    check_passes(matrix, x)


def test_mixed_types(tmp_path):
    small = pa.table({"a": pa.array([1, 2], pa.int8()), "b": pa.array([0.5, 1], pa.float16())})
    assert open_matrix(write(tmp_path / "x.parquet", small)).dtype == np.float16
    small = small.append_column("c", pa.array([1, -2], pa.int16()))
    assert open_matrix(write(tmp_path / "x.parquet", small)).dtype == np.float32
    small = small.append_column("d", pa.array([True, False]))
    assert open_matrix(write(tmp_path / "x.parquet", small)).dot(np.ones(4)).tolist() == [3.5, 1.0]
    large = small.append_column("e", pa.array([1, 2], pa.int32()))
    assert open_matrix(write(tmp_path / "x.parquet", large)).dtype == np.float64


@pytest.mark.parametrize(
    "kind, seen", [("int8", "f4"), ("int64", "f8"), ("bool", "f4"), ("float32", "f4"), ("uint16", "f4")]
)
@pytest.mark.parametrize("statistics", [True, False])
def test_missing_values(tmp_path, kind, seen, statistics):
    values = [[1, None, 0, 1], [0, 1, 1, None], [1, 0, 0, 1]]
    columns = {
        f"c{j}": pa.array([None if v is None else (bool(v) if kind == "bool" else v) for v in c], kind)
        for j, c in enumerate(values)
    }
    path = write(tmp_path / "x.parquet", pa.table(columns), 3, write_statistics=statistics)
    matrix = open_matrix(path)
    exact = np.array([[np.nan if v is None else v for v in c] for c in values]).T
    assert matrix.dtype == (np.float64 if kind == "uint16" else np.dtype(seen))
    check_passes(matrix, exact)
    with pytest.raises(NonFiniteError, match=r"row 1 .*column 0 \(c0\)|row 1, column 0 \(c0\)"):
        matrix.dot(np.ones(3))


def test_labels_ids_and_chosen_columns(tmp_path):
    x = numbers(30, 4)
    whole = table(x, y=[f"class {i % 3}" for i in range(30)], who=[f"s{i}" for i in range(30)])
    path = write(tmp_path / "x.parquet", whole)
    with pytest.raises(FileFormatError, match=r"column 'y' holds string.*label="):
        open_matrix(path)
    matrix = open_matrix(path, label="y", id="who")
    check_passes(matrix, x)
    assert matrix.labels[4] == "class 1" and matrix.sample_ids[29] == "s29"
    chosen = open_matrix(path, columns=["c3", "c1"])
    assert list(chosen.feature_names) == ["c3", "c1"]
    check_passes(chosen, x[:, [3, 1]])
    for wrong in ({"label": "z"}, {"id": "z"}, {"columns": ["c1", "z"]}):
        with pytest.raises(InvalidParameterError, match="'z'"):
            open_matrix(path, **wrong)
    with pytest.raises(InvalidParameterError, match="twice"):
        open_matrix(path, columns=["c1", "c1"])
    with pytest.raises(FileFormatError, match="holds string"):
        open_matrix(path, columns=["c1", "y"])


def test_dots_in_names_and_nested_columns(tmp_path):
    dotted = pa.table({"a": [1.0, 2.0], "a.b": [3.0, 4.0], "a.b.c": [5.0, 6.0]})
    path = write(tmp_path / "x.parquet", dotted)
    check_passes(open_matrix(path), np.array([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]))
    assert open_matrix(path, columns=["a"]).dot([1.0]).tolist() == [1.0, 2.0]
    nested = dotted.append_column("n", pa.array([[1.0], [2.0]]))
    with pytest.raises(FileFormatError, match="column 'n' holds list"):
        open_matrix(write(tmp_path / "y.parquet", nested))


def test_frames_of_pandas(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}, index=["s", "t"])
    frame.to_parquet(tmp_path / "x.parquet")
    matrix = open_matrix(tmp_path / "x.parquet")
    assert list(matrix.sample_ids) == ["s", "t"] and list(matrix.feature_names) == ["a", "b"]
    frame.reset_index(drop=True).to_parquet(tmp_path / "y.parquet")
    assert open_matrix(tmp_path / "y.parquet").sample_ids is None


def test_odd_shapes(tmp_path):
    empty = open_matrix(write(tmp_path / "x.parquet", numbers(0, 3)))
    assert empty.shape == (0, 3) and empty.tdot(np.ones(0)).tolist() == [0.0] * 3
    check_passes(open_matrix(write(tmp_path / "y.parquet", numbers(1, 1))), numbers(1, 1))
    none = open_matrix(write(tmp_path / "z.parquet", numbers(4, 2)), columns=[])
    assert none.shape == (4, 0) and none.dot(np.ones(0)).tolist() == [0.0] * 4


def test_a_file_cut_during_a_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 400)
    path = write(tmp_path / "x.parquet", numbers(50, 20))
    blocks = open_matrix(path).blocks()
    next(blocks)
    os.truncate(path, 100)
    with pytest.raises(FileChangedError, match="changed"):
        list(blocks)


def test_foreign_files(tmp_path):
    for name, content in (("text.parquet", b"hello, this is no Parquet file" * 100), ("empty.parquet", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileFormatError, match=name):
            open_matrix(tmp_path / name)
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(FileFormatError, match="not a file"):
        open_matrix(tmp_path / "folder.parquet")
    twice = pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    with pytest.raises(FileFormatError, match="same name: a"):
        open_matrix(write(tmp_path / "x.parquet", twice))


@pytest.mark.nightly
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_damaged_files(tmp_path, compression, global_random_seed):
    """No cut file is answered from: the end holds the table of contents."""
    path = write(tmp_path / "x.parquet", np.round(numbers(40, 5) * 2), compression=compression)
    assert attack(path, [path], seed=global_random_seed, flips=40) == 0


def test_checksums_are_looked_at(tmp_path):
    x = numbers(200, 1, "f8")
    path = write(tmp_path / "x.parquet", x, 200, compression="none", use_dictionary=False, write_page_checksum=True)
    data = bytearray(path.read_bytes())
    place = data.find(x[100].tobytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"x\.parquet"):
        open_matrix(path).dot([1.0])
