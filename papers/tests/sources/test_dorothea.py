"""DOROTHEA as sparse matrices and as text."""

import hashlib
import io
import shutil

import numpy as np
import pytest
from scipy.sparse import csr_array, load_npz, save_npz

from slimline.errors import DataError, FileFormatError
from slimline_papers.sources import dorothea, load
from slimline_papers.sources.dorothea import read_dorothea

PARTS = {"train": [[0, 5, 99_999], [7], [1, 2]], "valid": [[3], [0, 99_999]]}


#: At one place in 23 in the full tier, at every byte in the nightly tier.
EVERY = pytest.mark.parametrize("step", [23, pytest.param(1, marks=pytest.mark.nightly)])


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder in the layout of UCI, of five samples."""
    checks = {}
    for part, rows in PARTS.items():
        starts = np.cumsum([0, *map(len, rows)])
        places = hashlib.sha256(np.concatenate([starts, *rows]).astype("<i8"))
        checks[part] = len(rows), starts[-1], places.hexdigest()
        text = "".join(" ".join(str(column + 1) for column in row) + " \n" for row in rows)
        (tmp_path / f"dorothea_{part}.data").write_text(text)
        (tmp_path / f"dorothea_{part}.labels").write_text("1\n" + "-1\n" * (len(rows) - 1))
    monkeypatch.setattr(dorothea, "_CHECKS", checks)
    return tmp_path


@pytest.fixture
def arrays(small):
    """The same as sparse matrices."""
    challenge = read_dorothea(small)
    for part, X in {"train": challenge.X, "valid": challenge.X_valid}.items():
        save_npz(small / f"dorothea_{part}.npz", csr_array(X, dtype=np.int8))
        (small / f"dorothea_{part}.data").unlink()
    return small


def test_features_count_from_one(small):
    challenge = read_dorothea(small)
    assert [row.nonzero()[0].tolist() for row in challenge.X.toarray()] == PARTS["train"]
    assert [row.nonzero()[0].tolist() for row in challenge.X_valid.toarray()] == PARTS["valid"]
    assert challenge.X.shape == (3, 100_000) and challenge.X.dtype == np.float64
    assert challenge.y.tolist() == [1, -1, -1]


def test_arrays_give_the_same(small, request):
    text = read_dorothea(small)
    request.getfixturevalue("arrays")
    stored = read_dorothea(small)
    for a, b in ((text.X, stored.X), (text.X_valid, stored.X_valid)):
        assert a.dtype == b.dtype and (a != b).nnz == 0


def test_features_of_a_line_come_in_any_order(small):
    (small / "dorothea_train.data").write_text("100000 1 6\n8\n3 2\n")
    assert [row.nonzero()[0].tolist() for row in read_dorothea(small).X.toarray()] == PARTS["train"]


@EVERY
def test_arrays_that_are_cut_short_are_named(arrays, step):
    path = arrays / "dorothea_train.npz"
    whole = path.read_bytes()
    for end in range(0, len(whole), step):
        path.write_bytes(whole[:end])
        with pytest.raises(FileFormatError, match=r"dorothea_train\.npz cannot be read as a sparse matrix"):
            read_dorothea(arrays)


@pytest.mark.slow
@EVERY
def test_a_byte_of_arrays_that_changed_is_never_overlooked(arrays, step):
    path = arrays / "dorothea_train.npz"
    whole, wanted = path.read_bytes(), read_dorothea(arrays).X
    for place in range(0, len(whole), step):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            found = read_dorothea(arrays).X
        except DataError:
            continue
        assert (found != wanted).nnz == 0  # dates and the like, which say nothing about the data


def test_other_arrays_are_named(arrays):
    other = io.BytesIO()
    np.savez(other, indices=np.arange(3))
    for content in (other.getvalue(), b"no archive"):
        (arrays / "dorothea_valid.npz").write_bytes(content)
        with pytest.raises(FileFormatError, match=r"dorothea_valid\.npz cannot be read"):
            read_dorothea(arrays)


@pytest.mark.parametrize(
    "content, message",
    [
        ("1 x\n2\n3\n", "must hold whole numbers"),
        ("0 1 2\n3 4\n5\n", "features other than 1 to 100,000"),
        ("1 2 100001\n3 4\n5\n", "features other than 1 to 100,000"),
    ],
)
def test_a_text_of_another_kind_is_named(small, content, message):
    (small / "dorothea_train.data").write_text(content)
    with pytest.raises(FileFormatError, match=rf"dorothea_train\.data.*{message}"):
        read_dorothea(small)


@pytest.mark.parametrize("content", ["1 6 100000\n8\n2\n", "1 6 100000\n8 2 3\n", ""])
def test_the_published_counts_are_required(small, content):
    (small / "dorothea_train.data").write_text(content)
    with pytest.raises(DataError, match=r"dorothea_train\.data does not have 6 ones in 3 rows"):
        read_dorothea(small)


@pytest.mark.parametrize("content", ["1 6 100000\n8\n2 4\n", "1 6 100000\n8 2\n3\n", "1 6 6\n8\n2 3\n"])
def test_ones_in_other_places_are_noticed(small, content):
    (small / "dorothea_train.data").write_text(content)
    with pytest.raises(DataError, match=r"dorothea_train\.data has ones where the original has none"):
        read_dorothea(small)


@pytest.mark.data
def test_the_original_in_both_layouts(data_dir, tmp_path):
    folder = tmp_path / "dorothea"
    folder.mkdir()
    for part in ("train", "valid"):
        shutil.copy(data_dir / "dorothea" / f"dorothea_{part}.labels", folder)
        X = csr_array(load_npz(data_dir / "dorothea" / f"dorothea_{part}.npz"))
        rows = np.split(X.indices + 1, X.indptr[1:-1])
        (folder / f"dorothea_{part}.data").write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    arrays, text = load("dorothea", data_dir), load("dorothea", tmp_path)
    assert (arrays.X != text.X).nnz == 0 and (arrays.X_valid != text.X_valid).nnz == 0
    assert np.array_equal(arrays.y, text.y) and np.array_equal(arrays.y_valid, text.y_valid)
