"""Data sets from the network: a server on this machine takes its place."""

import builtins
import gzip
import hashlib
import logging

import pytest

from papers.tests.sources.served import served, zipped
from slimline.errors import DataError, FileFormatError, MissingDataSetError
from slimline_papers.sources.locate import locate
from slimline_papers.sources.source import Source

pooch = pytest.importorskip("pooch", reason="pooch, which fetches data sets, is not installed")
WORDS, MORE, THIRD = b"some words\n", b"more words\n", b"1 2 3\n"
FILES = {"a.txt": hashlib.sha256(WORDS).hexdigest(), "b.txt": hashlib.sha256(MORE).hexdigest()}
ARCHIVE = {"SAMPLE/a.txt": WORDS, "b.txt": MORE, "SAMPLE/c.data": THIRD, "SAMPLE/readme": b"not asked for"}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache" / "slimline" / "sample_set"


def a_source(address, files=FILES, choices=(("c.data", "c.npz"),)) -> Source:
    return Source(
        name="sample", folder="sample_set", about="", files=files, choices=choices, read=lambda folder: folder,
        address=address,
    )  # fmt: skip


def test_an_archive_is_fetched_once(cache):
    with served({"/sample.zip": zipped(ARCHIVE)}) as (address, asked):
        source = a_source(f"{address}/sample.zip")
        assert locate(source) == cache
        assert locate(source) == cache
        assert asked == ["/sample.zip"]
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == {
        "a.txt": WORDS,
        "b.txt": MORE,
        "c.data": THIRD,
    }
    assert locate(source) == cache  # with no server


def test_files_are_fetched_one_by_one(cache):
    content = {"a.txt.gz": gzip.compress(WORDS, 1), "b.txt.gz": gzip.compress(MORE, 9)}
    files = {f"{name}.gz": known for name, known in FILES.items()}
    with served({f"/set/{name}": data for name, data in content.items()}) as (address, asked):
        assert locate(a_source(f"{address}/set", files, ())) == cache
        assert asked == ["/set/a.txt.gz", "/set/b.txt.gz"]
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == content


def test_what_is_at_hand_is_not_fetched(tmp_path):
    folder = tmp_path / "data" / "sample_set"
    folder.mkdir(parents=True)
    for name, data in {"a.txt": WORDS, "b.txt": MORE, "c.npz": b""}.items():
        (folder / name).write_bytes(data)
    with served({}) as (address, asked):
        assert locate(a_source(f"{address}/sample.zip"), tmp_path / "data") == folder
        assert asked == []


def test_a_wrong_content_is_not_kept(cache):
    answers = {"/sample.zip": zipped({**ARCHIVE, "b.txt": b"other"})}
    with served(answers) as (address, _):
        source = a_source(f"{address}/sample.zip")
        with pytest.raises(DataError, match=r"b\.txt is damaged.*came from http.*the next run asks again"):
            locate(source)
        answers["/sample.zip"] = zipped(ARCHIVE)
        assert locate(source) == cache


def with_damage(archive: bytes) -> bytes:
    """The archive, the first bytes of its first entry of a kind that cannot be."""
    start = 30 + len("SAMPLE/a.txt")  # after the entry's header and name
    return archive[:start] + b"\xff\xff" + archive[start + 2 :]


@pytest.mark.parametrize(
    "archive, message",
    [
        (b"<html>not here</html>", "cannot be unpacked"),
        (zipped(ARCHIVE)[:-30], "cannot be unpacked"),
        (with_damage(zipped(ARCHIVE)), "cannot be unpacked"),
        (zipped({"SAMPLE/a.txt": WORDS, "SAMPLE/c.data": THIRD}), "0 files called b.txt"),
        (zipped({**ARCHIVE, "OTHER/a.txt": WORDS}), "2 files called a.txt"),
    ],
)
def test_an_archive_of_another_kind(cache, archive, message):
    answers = {"/sample.zip": archive}
    with served(answers) as (address, _):
        source = a_source(f"{address}/sample.zip")
        with pytest.raises(FileFormatError, match=rf"{message}.*It came from {address}/sample.zip"):
            locate(source)
        answers["/sample.zip"] = zipped(ARCHIVE)
        assert locate(source) == cache


@pytest.mark.parametrize("evil", ["../../a.txt", "/a.txt", "..\\..\\a.txt", "SAMPLE/../../a.txt"])
def test_no_entry_chooses_where_it_goes(cache, tmp_path, evil):
    entries = {name: data for name, data in ARCHIVE.items() if name != "SAMPLE/a.txt"}
    with served({"/sample.zip": zipped({evil: WORDS, "../outside.txt": b"evil", **entries})}) as (address, _):
        locate(a_source(f"{address}/sample.zip"))
    written = {path.relative_to(cache).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {"a.txt", "b.txt", "c.data"}


def test_an_address_that_has_nothing():
    with served({}) as (address, _), pytest.raises(MissingDataSetError, match=r"could not be fetched.*404.*Put a\.txt"):
        locate(a_source(f"{address}/sample.zip"))


def test_no_network():
    with served({}) as (address, _):
        pass
    message = r"SLIMLINE_DATA is not set\), and could not be fetched.*Put a\.txt, b\.txt, c\.data or c\.npz into"
    with pytest.raises(MissingDataSetError, match=message):
        locate(a_source(f"{address}/sample.zip"))


def test_no_pooch(monkeypatch):
    importing = builtins.__import__

    def without_pooch(name, *rest):
        if name == "pooch":
            raise ImportError("No module named 'pooch'")
        return importing(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_pooch)
    with pytest.raises(MissingDataSetError, match=r"pip install pooch .*Put a\.txt"):
        locate(a_source("http://127.0.0.1/sample.zip"))


def test_it_is_logged_and_not_printed(caplog, capfd):
    with served({"/sample.zip": zipped(ARCHIVE)}) as (address, _), caplog.at_level(logging.INFO, "slimline"):
        locate(a_source(f"{address}/sample.zip"))
    assert f"fetching sample from {address}/sample.zip" in caplog.text
    assert capfd.readouterr() == ("", "")
