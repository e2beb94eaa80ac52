import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline import open_matrix
from slimline.data.formats import _npz as npz
from slimline.data.formats import _npz as npz_sparse
from slimline.data.formats._npz import NpzCompressedMatrix, NpzStoredMatrix, open_npz
from slimline.errors import FileFormatError, InvalidParameterError, SlimlineError
from tests.data.formats.explicit import check_passes, dense_of
from tests.pairwise import pairwise

SAVERS = {"stored": np.savez, "compressed": np.savez_compressed}


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few numbers, so that small files have many."""
    monkeypatch.setattr(npz, "BLOCK_BYTES", 512)
    monkeypatch.setattr(npz_sparse, "BLOCK_BYTES", 512)


def saved(save, *args, **arrays):
    stream = io.BytesIO()
    save(stream, *args, **arrays)
    return stream.getvalue()


def write(tmp_path, content, name="x.npz"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "order, dtype, save", pairwise(["C", "F"], ["f8", "f4", "f2", "i1", "u1", "i2", "i4", ">f4", "?"], SAVERS)
)
def test_arrays(tmp_path, save, dtype, order):
    values = np.random.default_rng(0).integers(0, 100, (37, 23))
    array = np.array(values if dtype != "?" else values % 2, dtype=dtype, order=order)
    X = open_matrix(write(tmp_path, saved(SAVERS[save], array)))
    assert isinstance(X, NpzStoredMatrix if save == "stored" else NpzCompressedMatrix)
    assert X.dtype == (np.float64 if dtype == "i4" else array.dtype.newbyteorder("="))
    assert X.passes == (1 if save == "stored" else 0)
    np.testing.assert_array_equal(dense_of(X), array)
    if dtype in ("f8", "f4", "i1"):
        check_passes(X, array)


@pytest.mark.parametrize("save", SAVERS)
def test_members_and_labels(tmp_path, save):
    a, b, y = np.eye(3), np.ones((3, 2)), np.array(["p", "q", "p"])
    content = saved(SAVERS[save], first=a, second=b, y=y, cube=np.ones((2, 2, 2)), words=np.array([["a"]]))
    path = write(tmp_path, content)
    with pytest.raises(FileFormatError, match=r"several arrays.*first, second.*member="):
        open_npz(path)
    X = open_npz(path, member="second")
    np.testing.assert_array_equal(dense_of(X), b)
    assert X.labels.tolist() == ["p", "q", "p"]
    with pytest.raises(InvalidParameterError, match="'third' is no array"):
        open_npz(path, member="third")
    with pytest.raises(InvalidParameterError, match="'third' is no array"):
        open_npz(path, member="first", labels="third")
    for name in ("cube", "words", "y"):
        with pytest.raises(FileFormatError, match=name):
            open_npz(path, member=name)
    with pytest.raises(FileFormatError, match="labels are 3"):
        open_npz(path, member="first", labels="cube")
    X = open_npz(write(tmp_path, saved(SAVERS[save], other=a, X=b, t=np.arange(3)), "p.npz"), labels="t")
    assert X.shape == (3, 2) and X.labels.tolist() == [0, 1, 2]
    with pytest.raises(FileFormatError, match="no array of real numbers"):
        open_npz(write(tmp_path, saved(SAVERS[save], y=y), "q.npz"))


def test_objects_are_never_unpickled(tmp_path):
    path = write(tmp_path, saved(np.savez, X=np.eye(2), y=np.array([{}, []], dtype=object)))
    assert open_npz(path).labels is None
    with pytest.raises(FileFormatError):
        open_npz(path, labels="y")


def test_missing_values(tmp_path):
    X = open_npz(
        write(tmp_path, saved(np.savez_compressed, np.array([[1, -127], [3, 4]], dtype=np.int8))), missing=-127
    )
    np.testing.assert_array_equal(X.column_stats().missing, [0, 1])


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "compressed, dtype, layout, kind",
    pairwise([True, False], ["f8", "f4", "i1", "u2"], ["csr", "csc"], ["array", "matrix"]),
)
def test_sparse_matrices(tmp_path, kind, layout, dtype, compressed):
    rng = np.random.default_rng(1)
    dense = (rng.integers(1, 100, (40, 31)) * (rng.random((40, 31)) < 0.3)).astype(dtype)
    dense[5] = 0
    x = getattr(sp, f"{layout}_{kind}")(dense)
    X = open_matrix(write(tmp_path, saved(sp.save_npz, x, compressed=compressed)))
    assert X.whole_columns == (layout == "csc") and X.passes == 0
    assert X.dtype == (np.float64 if dtype == "u2" else np.dtype(dtype))
    assert sum(1 for _ in X.blocks()) > 3
    np.testing.assert_array_equal(dense_of(X), dense)
    check_passes(X, dense)


def parts(**changes):
    x = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]]))
    whole = {"indices": x.indices, "indptr": x.indptr, "format": b"csr", "shape": x.shape, "data": x.data}
    return {name: part for name, part in (whole | changes).items() if part is not None}


@pytest.mark.parametrize(
    "changes, match",
    [
        ({"format": b"coo"}, "'coo' layout.*tocsr"),
        ({"format": 3}, "format is not a text"),
        ({"indptr": None}, "indices or indptr"),
        ({"indptr": np.array([0, 2])}, "do not fit together"),
        ({"indptr": np.array([0, 2, 4])}, "does not ascend"),
        ({"indptr": np.array([1, 2, 3])}, "does not ascend"),
        ({"indptr": np.array([0, 4, 3])}, "does not ascend"),
        ({"indptr": np.array([0.0, 2, 3])}, "indptr has the wrong shape or element type"),
        ({"indices": np.array([0, 2])}, "do not fit together"),
        ({"indices": np.array([[0, 2, 1]])}, "indices has the wrong"),
        ({"shape": np.array([2, 3, 4])}, "not the shape"),
        ({"shape": np.array([-2, 3])}, "not the shape"),
        ({"data": np.array(["a", "b", "c"])}, "data has the wrong"),
    ],
)
def test_parts_that_do_not_fit(tmp_path, changes, match):
    with pytest.raises(FileFormatError, match=r"x\.npz.*" + match):
        open_npz(write(tmp_path, saved(np.savez, **parts(**changes))))


@pytest.mark.parametrize("bad", [3, -1])
def test_an_index_outside_is_located(tmp_path, bad):
    X = open_npz(write(tmp_path, saved(np.savez, **parts(indices=np.array([0, 2, bad])))))
    with pytest.raises(FileFormatError, match=f"index {bad} in row 1 lies outside of the 3 columns"):
        X.dot(np.ones(3))


def test_indices_that_do_not_ascend_or_come_twice(tmp_path):
    X = open_npz(write(tmp_path, saved(np.savez, **parts(indices=np.array([2, 2, 1])))))
    np.testing.assert_array_equal(X.column_stats().nonzeros, [0, 1, 1])
    np.testing.assert_array_equal(dense_of(X), [[0, 0, 3], [0, 3, 0]])


SMALL = {
    "stored": saved(np.savez, X=np.arange(6.0).reshape(2, 3), y=np.arange(2)),
    "compressed": saved(np.savez_compressed, X=np.arange(6.0).reshape(2, 3), y=np.arange(2)),
    "sparse": saved(sp.save_npz, sp.csr_array(np.eye(3))),
    "sparse, stored": saved(sp.save_npz, sp.csc_array(np.eye(3)), compressed=False),
}


@pytest.mark.parametrize("name", ["stored", "compressed", "sparse"])
def test_a_file_cut_anywhere_is_refused(tmp_path, name):
    for size in range(len(SMALL[name])):
        with pytest.raises(FileFormatError):
            open_npz(write(tmp_path, SMALL[name][:size]))


@pytest.mark.parametrize("name", SMALL)
def test_a_wrong_checksum_is_found(tmp_path, name):
    data = bytearray(SMALL[name])
    member = b"data.npy" if "sparse" in name else b"X.npy"
    entry = data.rindex(member) - 46  # in the directory at the end of the file
    assert data[entry : entry + 4] == b"PK\x01\x02"
    data[entry + 16] ^= 1
    path = write(tmp_path, data)
    with pytest.raises(FileFormatError, match="CRC"):
        open_npz(path).dot(np.ones(3))


def test_a_wrong_byte_is_found_when_the_file_is_opened(tmp_path):
    array = np.random.default_rng(0).standard_normal((50, 400))
    data = bytearray(saved(np.savez, X=array))
    at = data.index(array[30].tobytes())
    data[at + 5] ^= 4
    path = write(tmp_path, data)
    with pytest.raises(FileFormatError, match="CRC"):
        open_npz(path)
    X = open_npz(path, check=False)
    assert X.passes == 0 and (dense_of(X) != array).sum() == 1


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(SMALL)),
    st.lists(st.tuples(st.integers(0, 9999), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_any_damage_is_survived(tmp_path_factory, name, changes):
    data = bytearray(SMALL[name])
    for at, byte in changes:
        data[at % len(data)] = byte
    path = tmp_path_factory.getbasetemp() / "fuzz.npz"
    path.write_bytes(data)
    try:
        X = open_npz(path)
        if X.shape[0] * X.shape[1] < 1000:
            dense_of(X)
    except SlimlineError:
        return


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["stored", "compressed", "sparse"])
def test_every_single_wrong_byte_is_survived(tmp_path, name):
    expected = dense_of(open_npz(write(tmp_path, SMALL[name])))
    for at in range(len(SMALL[name])):
        data = bytearray(SMALL[name])
        data[at] ^= 0x81
        path = write(tmp_path, data)
        try:
            X = open_npz(path)
            got = dense_of(X)
        except SlimlineError:
            continue
        np.testing.assert_array_equal(got, expected)


def test_sizes_that_cannot_be_are_refused_before_memory_is_taken(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)})
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("X.npy", header.getvalue())
    with pytest.raises(FileFormatError, match="its shape"):
        open_npz(write(tmp_path, stream.getvalue()))


def test_foreign_files(tmp_path):
    for content in (b"", b"PK", b"hello", saved(np.save, np.eye(2))):
        with pytest.raises(FileFormatError, match=r"not a sound \.npz file"):
            open_npz(write(tmp_path, content))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("readme.txt", "nothing")
    with pytest.raises(FileFormatError, match="no array"):
        open_npz(write(tmp_path, stream.getvalue()))
    with pytest.raises(InvalidParameterError, match="member"):
        open_npz(write(tmp_path, SMALL["sparse"]), member="data")


@pytest.mark.data
@pytest.mark.parametrize("name", ["dorothea/dorothea_train", "newsgroups20/counts_train", "farm_ads/farm_ads"])
def test_real_sparse_matrices(data_dir, name):
    path = data_dir / f"{name}.npz"
    X, expected = open_matrix(path), sp.load_npz(path).astype(np.float64)
    got = sp.vstack([block.values.copy() for block in X.blocks()], format="csr")
    assert X.shape == expected.shape and (got.astype(np.float64) != expected).nnz == 0
    w, a = np.random.default_rng(0).integers(-5, 6, (2, max(X.shape))).astype(float)
    w, a = w[: X.shape[1]], a[: X.shape[0]]
    np.testing.assert_array_equal(X.dot(w), expected @ w)  # whole numbers: exact
    np.testing.assert_array_equal(X.tdot(a), expected.T @ a)


@pytest.mark.data
@pytest.mark.parametrize("name", ["golub", "alon", "gordon", "singh"])
def test_real_arrays(data_dir, name):
    path = data_dir / "gene_expression" / f"{name}.npz"
    X = open_matrix(path)
    with np.load(path) as archive:
        np.testing.assert_array_equal(dense_of(X), archive["X"])
        np.testing.assert_array_equal(X.labels, archive["y"])
        assert X.dtype == np.float32
        if name == "golub":
            check_passes(X, archive["X"])


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
def test_several_values_for_one_place_that_the_type_does_not_hold_are_refused(make, tmp_path):
    for values, sound in (([50, 50], True), ([100, 100], False)):
        parts = np.array(values, np.int8), np.array([0, 0]), np.array([0, 2])
        sp.save_npz(tmp_path / "x.npz", make(parts, shape=(1, 1)))
        matrix = open_matrix(tmp_path / "x.npz")
        if sound:
            assert matrix.dot(np.ones(1)).tolist() == [100.0]
            continue
        with pytest.raises(FileFormatError, match=r"add up to more than int8 holds\. Save it again, as float32"):
            matrix.dot(np.ones(1))


@pytest.mark.nightly
@pytest.mark.parametrize("save", SAVERS)
def test_no_flipped_bit_loses_the_labels(tmp_path, save):
    """Every bit of names, sizes and the directory, and one of each byte that a checksum covers."""
    x, y = np.arange(6.0).reshape(3, 2), np.array([4, 5, 4])
    content = saved(SAVERS[save], X=x, y=y, Z=x + 1, labels=y + 1)
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        bodies = [slice(i.header_offset + 64, i.header_offset + 64 + i.compress_size - 16) for i in file.infolist()]
    covered = np.zeros(len(content), dtype=bool)
    for body in bodies:
        covered[body] = True
    lost = []
    for place in [8 * k + bit for k in range(len(content)) for bit in range(1 if covered[k] else 8)]:
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << place % 8
        path = write(tmp_path, damaged)
        try:
            found = open_npz(path)
            values = dense_of(found)
        except FileFormatError:
            continue
        if not np.array_equal(found.labels, y) or not np.array_equal(values, x):
            lost.append((place // 8, content[max(place // 8 - 20, 0) : place // 8 + 20], found.labels))
    assert not lost


def test_members_that_are_not_arrays(tmp_path):
    path = write(tmp_path, saved(np.savez, X=np.eye(2), y=np.arange(2)))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("readme.txt", "of what is in here")
    with pytest.raises(FileFormatError, match=r"'readme\.txt' is no array"):
        open_npz(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name(tmp_path):
    path = write(tmp_path, saved(np.savez, X=np.eye(2), y=np.arange(2)))
    with zipfile.ZipFile(path, "a") as file, file.open("y.npy", "w") as member:
        np.save(member, np.zeros(2))
    with pytest.raises(FileFormatError, match=r"'y\.npy' is there twice"):
        open_npz(path)
