"""TechTC-300 in its own layout: a made-up folder."""

import gzip

import numpy as np
import pytest

from slimline.errors import DataError, FileFormatError, MissingDataSetError
from slimline_papers.sources import load
from slimline_papers.sources.techtc import read_techtc

DOCUMENTS, WORDS = 100, 5_000


def vectors(counts, labels) -> str:
    """svmlight, a comment before each document, as the collection has it."""
    lines = ["# a pair of categories", ""]
    for number, (row, label) in enumerate(zip(counts, labels, strict=True)):
        lines += [f"# document {number}", f"{label} " + " ".join(f"{j + 1}:{row[j]}" for j in np.flatnonzero(row))]
    return "\n".join(lines) + "\n"


def index(words) -> str:
    return "# words\n\n" + "".join(f"{number} word{number}\n" for number in range(1, words + 1))


@pytest.fixture
def pair(tmp_path):
    """One pair, its counts and its labels."""
    random = np.random.default_rng(0)
    counts = random.poisson(0.01, (DOCUMENTS, WORDS))
    counts[:, 17] = 0
    labels = np.where(np.arange(DOCUMENTS) < 60, 1, -1)
    folder = tmp_path / "techtc300" / "Exp_1092_1110"
    folder.mkdir(parents=True)
    (folder / "vectors.dat").write_text(vectors(counts, labels))
    (folder / "features.idx").write_text(index(WORDS))
    return folder, counts, labels


def test_a_pair_is_read(pair, tmp_path):
    folder, counts, labels = pair
    (folder.parent / "notes").mkdir()
    (found,) = load("techtc300", tmp_path)
    assert found.name == "1092 / 1110"
    assert np.array_equal(found.X.toarray(), counts[:, counts.sum(axis=0) > 0])
    assert found.X.shape[1] < WORDS and found.X.dtype == np.float64
    assert np.array_equal(found.y, labels)


def test_compressed_files_are_the_same(pair):
    folder, counts, _ = pair
    for name in ("vectors.dat", "features.idx"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        (folder / name).unlink()
    (found,) = read_techtc(folder.parent)
    assert np.array_equal(found.X.toarray(), counts[:, counts.sum(axis=0) > 0])


def test_pairs_come_in_the_order_of_their_numbers(pair):
    folder, *_ = pair
    for name in ("Exp_99_7", "Exp_1092_9"):
        other = folder.parent / name
        other.mkdir()
        for file in folder.iterdir():
            (other / file.name).write_bytes(file.read_bytes())
    assert [found.name for found in read_techtc(folder.parent)] == ["99 / 7", "1092 / 9", "1092 / 1110"]


def test_both_classes_are_required(pair):
    folder, counts, _ = pair
    for labels in (np.ones(DOCUMENTS, int), np.arange(DOCUMENTS) % 3):
        (folder / "vectors.dat").write_text(vectors(counts, labels))
        with pytest.raises(DataError, match=r"vectors\.dat: its documents must be of two classes, -1 and 1"):
            read_techtc(folder.parent)


def test_a_plausible_size_is_required(pair):
    folder, counts, labels = pair
    (folder / "vectors.dat").write_text(vectors(counts[20:80], labels[20:80]))
    with pytest.raises(DataError):
        read_techtc(folder.parent)
    (folder / "vectors.dat").write_text(vectors(counts[:, :900], labels))
    (folder / "features.idx").write_text(index(900))
    with pytest.raises(DataError):
        read_techtc(folder.parent)


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("vectors.dat", b"1 1:2 nonsense\n", "cannot be read as svmlight text"),
        ("vectors.dat", b"1 1:2 9000:1\n-1 3:1\n", "cannot be read as svmlight text of 5,000 words"),
        ("vectors.dat", b"1 0:2\n-1 3:1\n", "cannot be read as svmlight text"),
        ("features.idx", b"# words\n1 one\n3 three\n", "must list words as NUMBER WORD"),
        ("features.idx", b"one 1\n", "must list words as NUMBER WORD"),
    ],
)
def test_a_file_of_another_kind_is_named(pair, name, content, message):
    folder, *_ = pair
    (folder / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=rf"{name} .*{message}"):
        read_techtc(folder.parent)


@pytest.mark.parametrize("name", ["vectors.dat", "features.idx"])
def test_a_damaged_archive_is_named(pair, name):
    folder, *_ = pair
    (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes())[:-100])
    (folder / name).unlink()
    with pytest.raises(FileFormatError, match=rf"{name}\.gz cannot be read"):
        read_techtc(folder.parent)


def test_what_is_absent_is_named(pair, tmp_path):
    folder, *_ = pair
    (folder / "features.idx").unlink()
    with pytest.raises(MissingDataSetError, match=r"Exp_1092_1110 has no features\.idx"):
        read_techtc(folder.parent)
    (tmp_path / "empty" / "techtc300").mkdir(parents=True)
    with pytest.raises(MissingDataSetError, match=r"no folders Exp_ID1_ID2: unpack techtc300_preprocessed\.zip"):
        load("techtc300", tmp_path / "empty")
    with pytest.raises(MissingDataSetError):
        load("techtc300", tmp_path / "nowhere")
