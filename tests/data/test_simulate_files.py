"""Files of simulated genotypes: the same people in every format, complete or not there."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from slimline import open_matrix
from slimline._base.system import run_with_peak
from slimline.data import _simulate as model_module
from slimline.data import _write as npy_module
from slimline.data import simulate_genotypes, write_genotypes
from slimline.errors import FileWriteError, InvalidParameterError
from tests.data.plink_files import bed_bytes, names_in, unpacked

SETTINGS = {"n_regions": 2, "n_populations": 5, "fst": 0.02, "fst_region": 0.1, "missing_rate": 0.05, "seed": 3}
BOTH = ("plink", "npy")


@pytest.mark.parametrize("n, d", [(5, 1), (101, 700), (64, 512), (63, 1025), (1030, 40)])
def test_both_formats_hold_the_people_of_the_array(tmp_path, n, d):
    X = simulate_genotypes(n, d, **SETTINGS).X
    files = write_genotypes(tmp_path / "a", n, d, **SETTINGS, formats=BOTH)
    assert [f.name for f in files] == ["a.labels.tsv", "a.npy", "a.fam", "a.bim", "a.bed"]
    assert names_in(tmp_path) == sorted(f.name for f in files)
    array = np.load(tmp_path / "a.npy")
    assert array.dtype == np.int8 and array.flags.c_contiguous and np.array_equal(array, X)
    assert (tmp_path / "a.bed").read_bytes() == bed_bytes(X)
    assert np.array_equal(unpacked(open_matrix(tmp_path / "a.bed")), X)


def test_another_reader_sees_the_same(tmp_path):
    bed_reader = pytest.importorskip("bed_reader", reason="bed-reader, which this compares with, is not installed")
    write_genotypes(tmp_path / "a", 101, 700, **SETTINGS)
    with bed_reader.open_bed(tmp_path / "a.bed", num_threads=1) as bed:
        assert np.array_equal(bed.read(dtype="int8", num_threads=1), simulate_genotypes(101, 700, **SETTINGS).X)
        assert bed.sid[699] == "snp700" and bed.iid[100] == "person101"


@pytest.mark.parametrize(
    "entries, panel",
    [(1024 * 3, 1 << 20), (1 << 22, 101 * 600), (1024 * 7, 101 * 1024), (1024, 1)],  # 1: pieces as they come
)
def test_blocks_do_not_show(tmp_path, monkeypatch, entries, panel):
    write_genotypes(tmp_path / "a", 101, 1300, **SETTINGS, formats=BOTH)
    monkeypatch.setattr(model_module, "_BLOCK_ENTRIES", entries)
    monkeypatch.setattr(npy_module, "_PANEL_BYTES", panel)
    write_genotypes(tmp_path / "b", 101, 1300, **SETTINGS, formats=BOTH)
    for ending in ("bed", "bim", "fam", "npy", "labels.tsv"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_formats_one_by_one_give_the_same_bytes(tmp_path):
    write_genotypes(tmp_path / "a", 30, 700, **SETTINGS, formats=BOTH)
    assert write_genotypes(tmp_path / "b.bed", 30, 700, **SETTINGS)[-1] == tmp_path / "b.bed"
    assert write_genotypes(str(tmp_path / "c.npy"), 30, 700, **SETTINGS, formats="npy")[-1] == tmp_path / "c.npy"
    assert (tmp_path / "a.bed").read_bytes() == (tmp_path / "b.bed").read_bytes()
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "c.npy").read_bytes()
    assert not (tmp_path / "b.npy").exists() and not (tmp_path / "c.bed").exists()


def test_names_and_labels(tmp_path):
    write_genotypes(tmp_path / "a", 40, 1000, **SETTINGS)
    X = open_matrix(tmp_path / "a.bed")
    people = simulate_genotypes(40, 1000, **SETTINGS)
    lines = [line.split("\t") for line in (tmp_path / "a.labels.tsv").read_text().splitlines()]
    assert lines[0] == ["FID", "IID", "population", "region"]
    assert [line[1] for line in lines[1:]] == list(X.sample_ids) == [f"person{k:02d}" for k in range(1, 41)]
    assert [line[2] for line in lines[1:]] == [f"POP{k + 1}" for k in people.populations]
    assert [line[3] for line in lines[1:]] == [f"REG{k + 1}" for k in people.regions]
    assert X.labels is None
    assert list(X.feature_names) == [f"snp{k}" for k in range(1, 1001)]
    v = X.variants
    chromosome = v.chromosome.astype(int)
    assert set(chromosome) == set(range(1, 23)) and np.all(np.diff(chromosome) >= 0)
    assert np.all(np.diff(v.position)[np.diff(chromosome) == 0] > 0) and v.position.max() < 2**31
    assert np.all(v.allele1 != v.allele2)


def test_progress_is_told(tmp_path):
    seen = []
    write_genotypes(tmp_path / "a", 10, 1300, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(512, 1300), (1024, 1300), (1300, 1300)]


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_memory_is_bounded(tmp_path):
    _, extra = run_with_peak(lambda: write_genotypes(tmp_path / "a", 2000, 30_000, **SETTINGS, formats=BOTH))
    assert (tmp_path / "a.npy").stat().st_size > 60e6
    assert extra < 40e6


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"n_features": 0}, "n_features"),
        ({"n_samples": 0}, "n_samples"),
        ({"fst_region": 2.0}, "fst_region"),
        ({"formats": ()}, "formats"),
        ({"formats": ("bgen",)}, "formats"),
        ({"path": "no/such/folder/a"}, "no folder"),
        ({"path": "."}, "beginning of file names"),
    ],
)
def test_bad_parameters_are_named_before_anything_is_written(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidParameterError, match=message):
        write_genotypes(**({"path": "a", "n_samples": 10, "n_features": 20} | arguments))
    assert names_in(tmp_path) == []


def test_existing_files_are_kept_unless_told_otherwise(tmp_path):
    (tmp_path / "a.fam").write_text("precious")
    with pytest.raises(InvalidParameterError, match=r"a\.fam exists"):
        write_genotypes(tmp_path / "a", 10, 20)
    assert names_in(tmp_path) == ["a.fam"] and (tmp_path / "a.fam").read_text() == "precious"
    write_genotypes(tmp_path / "a", 10, 20, overwrite=True)
    assert open_matrix(tmp_path / "a.bed").shape == (10, 20)


@pytest.mark.parametrize("first, second, left", [("plink", "npy", r"a\.bed"), ("npy", "plink", r"a\.npy")])
def test_labels_that_another_file_needs_are_not_replaced(tmp_path, first, second, left):
    write_genotypes(tmp_path / "a", 10, 20, formats=first)
    before = (tmp_path / "a.labels.tsv").read_bytes()
    with pytest.raises(InvalidParameterError, match=rf"a\.labels\.tsv belongs to {left}.*write both formats"):
        write_genotypes(tmp_path / "a", 12, 20, formats=second, overwrite=True)
    assert (tmp_path / "a.labels.tsv").read_bytes() == before
    write_genotypes(tmp_path / "a", 12, 20, formats=("plink", "npy"), overwrite=True)
    assert open_matrix(tmp_path / "a.bed").shape == open_matrix(tmp_path / "a.npy").shape == (12, 20)


# Nothing half-written is ever taken for whole ----------------------------------------------------------------


class Fails:
    """Stands for a function; the call with this number raises."""

    def __init__(self, real, number, error):
        self.real, self.left, self.error = real, number, error

    def __call__(self, *args, **kwargs):
        self.left -= 1
        if self.left == 0:
            raise self.error
        return self.real(*args, **kwargs)


FULL = OSError(errno.ENOSPC, "No space left on device")
FAULTS = [
    ("posix_fallocate", 1, FULL),
    ("posix_fallocate", 2, FULL),
    ("pwrite", 1, FULL),
    ("pwrite", 3, FULL),
    ("pwrite", 35, FULL),
    ("fsync", 1, FULL),
    ("fsync", 5, FULL),
    ("pwrite", 20, OSError(errno.EIO, "Input/output error")),
    ("open", 2, OSError(errno.EACCES, "Permission denied")),
    ("pwrite", 35, KeyboardInterrupt()),
    ("fsync", 3, KeyboardInterrupt()),
]


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("name, number, error", FAULTS)
def test_a_fault_leaves_what_was_there_before(tmp_path, monkeypatch, name, number, error, old):
    if not hasattr(os, name):
        pytest.skip(f"this system has no os.{name}")
    if old:
        write_genotypes(tmp_path / "a", 20, 600, seed=9, formats=BOTH)
    before = {file: (tmp_path / file).read_bytes() for file in names_in(tmp_path)}
    fails = Fails(getattr(os, name), number, error)
    monkeypatch.setattr(os, name, fails)
    expected = FileWriteError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        write_genotypes(tmp_path / "a", 30, 2000, **SETTINGS, formats=BOTH, overwrite=old)
    monkeypatch.undo()
    assert fails.left <= 0
    if error is FULL:
        assert "disk is full" in str(caught.value) and "a.bed" in str(caught.value)
        assert caught.value.errno == errno.ENOSPC
    assert {file: (tmp_path / file).read_bytes() for file in names_in(tmp_path)} == before


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.EIO, "Input/output error")])
def test_a_fault_while_the_files_get_their_names(tmp_path, monkeypatch, number, error):
    """The old files are gone by then; new ones without the others would not fit together."""
    write_genotypes(tmp_path / "a", 30, 600, seed=9, formats=BOTH)
    fails = Fails(Path.rename, number, error)
    monkeypatch.setattr(Path, "rename", lambda self, target: fails(self, target))
    with pytest.raises((FileWriteError, KeyboardInterrupt)):
        write_genotypes(tmp_path / "a", 30, 600, seed=8, formats=BOTH, overwrite=True)
    monkeypatch.undo()
    assert fails.left == 0 and names_in(tmp_path) == []


def test_interruption_by_the_listener(tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_genotypes(tmp_path / "a", 30, 2000, formats=BOTH, progress=stop)
    assert names_in(tmp_path) == []


def test_writes_in_parts_are_continued(tmp_path, monkeypatch):
    write_genotypes(tmp_path / "a", 100, 1300, **SETTINGS, formats=BOTH)
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, offset: real(file, data[:777], offset))
    write_genotypes(tmp_path / "b", 100, 1300, **SETTINGS, formats=BOTH)
    for ending in ("bed", "bim", "fam", "npy", "labels.tsv"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_a_file_system_that_cannot_reserve_room(tmp_path, monkeypatch):
    def cannot(*args):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "posix_fallocate", cannot, raising=False)
    write_genotypes(tmp_path / "a", 30, 700, **SETTINGS, formats=BOTH)
    assert np.array_equal(np.load(tmp_path / "a.npy"), simulate_genotypes(30, 700, **SETTINGS).X)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are a POSIX matter")
def test_a_limit_of_the_system(tmp_path):
    """The real thing, in a process of its own: no file may have more than 50,000 bytes."""
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "from slimline.data import write_genotypes\n"
        "from slimline.errors import FileWriteError\n"
        "try:\n    write_genotypes('a', 30, 2000, formats=('plink', 'npy'))\n"
        "except FileWriteError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "could not write a.bed" in done.stdout and "File too large" in done.stdout
    assert names_in(tmp_path) == []
