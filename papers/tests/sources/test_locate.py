"""Tests of locating a data set."""

import gzip
import hashlib

import pytest

from slimline.errors import DataError, FileFormatError, InvalidParameterError, MissingDataSetError
from slimline_papers.sources import SOURCES, load
from slimline_papers.sources.checking import content_sum
from slimline_papers.sources.locate import locate
from slimline_papers.sources.source import Source

WORDS, MORE = b"some words\n", b"more words\n"


def a_source(**settings) -> Source:
    files = {"a.txt": hashlib.sha256(WORDS).hexdigest(), "b.txt.gz": hashlib.sha256(MORE).hexdigest()}
    return Source(name="sample", folder="sample_set", about="", files=files, read=lambda folder: folder, **settings)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "sample_set"
    folder.mkdir()
    (folder / "a.txt").write_bytes(WORDS)
    (folder / "b.txt.gz").write_bytes(gzip.compress(MORE))
    return tmp_path


def test_a_folder_that_is_named(data):
    assert locate(a_source(), data) == data / "sample_set"


def test_the_folder_of_the_environment(data, monkeypatch):
    monkeypatch.setenv("SLIMLINE_DATA", str(data))
    assert locate(a_source()) == data / "sample_set"


def test_a_file_compressed_anew_is_the_same(data):
    path = data / "sample_set" / "b.txt.gz"
    before = path.read_bytes()
    path.write_bytes(gzip.compress(MORE, compresslevel=1, mtime=1))
    assert path.read_bytes() != before
    assert locate(a_source(), data) == data / "sample_set"


@pytest.mark.parametrize(
    "name, content", [("a.txt", b"other"), ("b.txt.gz", gzip.compress(b"other", mtime=0))], ids=["text", "gzip"]
)
def test_another_content_is_named(data, name, content):
    (data / "sample_set" / name).write_bytes(content)
    with pytest.raises(
        DataError, match=rf"{name} is damaged, or another version.*{hashlib.sha256(b'other').hexdigest()}"
    ):
        locate(a_source(), data)


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(MORE, mtime=0)[:-12], b""], ids=["other", "cut", "empty"]
)
def test_a_file_that_cannot_be_unpacked_is_named(data, content):
    path = data / "sample_set" / "b.txt.gz"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"b\.txt\.gz") as caught:
        locate(a_source(), data)
    assert isinstance(caught.value, FileFormatError) or content == b""


def test_no_folder_at_all(tmp_path, monkeypatch):
    with pytest.raises(
        MissingDataSetError, match=r"no folder .*sample_set.*Put a\.txt, b\.txt\.gz into a folder called"
    ):
        locate(a_source(), tmp_path)
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)
    with pytest.raises(MissingDataSetError, match=r"SLIMLINE_DATA is not set.*--data or SLIMLINE_DATA"):
        locate(a_source())


def test_a_file_that_is_absent_is_named(data):
    (data / "sample_set" / "a.txt").unlink()
    with pytest.raises(MissingDataSetError, match=r"sample_set lacks a\.txt\)"):
        locate(a_source(), data)


def test_one_of_several_is_enough(data):
    source = a_source(choices=(("c.data", "c.npz"),))
    with pytest.raises(MissingDataSetError, match=r"lacks c\.data or c\.npz"):
        locate(source, data)
    (data / "sample_set" / "c.npz").write_bytes(b"")
    assert locate(source, data) == data / "sample_set"


def test_sums_of_content(tmp_path):
    for name, content in {"x": WORDS, "x.gz": gzip.compress(WORDS)}.items():
        (tmp_path / name).write_bytes(content)
        assert content_sum(tmp_path / name) == hashlib.sha256(WORDS).hexdigest()


def test_every_source_can_be_described():
    for name, source in SOURCES.items():
        assert source.name == name and source.contents and source.about
        assert all(len(known) == 64 and int(known, 16) for known in source.files.values())


def test_a_name_that_is_none():
    with pytest.raises(
        InvalidParameterError, match=r"no data set called 'iris'; there are arcene, dorothea, techtc300"
    ):
        load("iris")


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in SOURCES if name != "techtc300"])
def test_the_data_sets_are_the_right_ones(name, data_dir):
    assert load(name, data_dir) is not None
