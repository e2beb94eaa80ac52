"""Symbolic links that lead in a circle, and links that lead on to what is there."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest

from slimline import open_matrix
from slimline.cli._labels import labels_in_file
from slimline.data._files import DataFile, DataFolder
from slimline.errors import FileChangedError, FileFormatError, SlimlineError
from slimline.model_files import StoredModel

ENDINGS = ["npy", "npz", "svm", "svm.gz", "csv", "csv.xz", "bed", "parquet", "h5", "h5ad", "zarr"]


@pytest.mark.parametrize("name", [*(f"x.{ending}" for ending in ENDINGS), "no_ending"])
def test_a_path_that_leads_to_itself(tmp_path, name):
    path = tmp_path / name
    path.symlink_to(path.name)
    with pytest.raises(FileFormatError, match=rf"{name}: its symbolic links lead in a circle"):
        open_matrix(path)


def test_parts_of_a_plink_file(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((4, 2)))
    (tmp_path / "x.bed").write_bytes(b"\x6c\x1b\x01")
    (tmp_path / "x.bim").symlink_to("x.fam")
    (tmp_path / "x.fam").symlink_to("x.bim")
    with pytest.raises(FileFormatError, match=r"x\.(bim|fam): its symbolic links lead in a circle"):
        open_matrix(tmp_path / "x.bed")


@pytest.mark.parametrize("name", ["y.tsv", "y.tsv.gz", "y.npy", "m.slim"])
def test_labels_and_models(tmp_path, name):
    matrix, path = open_matrix(np.ones((4, 2))), tmp_path / name
    path.symlink_to(name)
    with pytest.raises(FileFormatError, match=f"{name}: its symbolic links lead in a circle"):
        StoredModel.read(path) if name == "m.slim" else labels_in_file(path, None, matrix)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [("fit", "loop.npy"), ("fit", "x.npy", "--labels", "loop.npy"), ("predict", "loop.npy", "x.npy")]
)
def test_on_the_command_line(tmp_path, arguments):
    np.save(tmp_path / "x.npy", np.ones((4, 2)))
    (tmp_path / "loop.npy").symlink_to("loop.npy")
    done = subprocess.run(
        [sys.executable, "-m", "slimline.cli", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "lead in a circle; point them to a file." in done.stderr
    assert "Errno" not in done.stderr and "Traceback" not in done.stderr


@pytest.fixture
def store(tmp_path):
    folder = tmp_path / "x.zarr"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "chunk").write_bytes(b"1")
    return folder


@pytest.mark.parametrize(
    "links",
    [
        {"up": ".."},
        {"self": "."},
        {"a/b/up": "../.."},
        {"a/to": "../c", "c/to": "../a"},
        {"a/loop": "loop"},
        {"a/nowhere": "gone"},
        # 40 links after one another are one path too long for the system; 2⁴⁰ ways lead there
        {f"f{k}/{name}": f"../f{k + 1}" for k in range(38) for name in "lr"},
    ],
    ids=lambda links: next(iter(links)),
)
def test_a_folder_that_leads_in_circles(store, links):
    for link, target in links.items():
        (store / link).parent.mkdir(exist_ok=True)
        (store / link).symlink_to(target)
    (store / "f38").mkdir()
    with pytest.raises(FileFormatError, match=r"x\.zarr"):
        DataFolder(store)
    with pytest.raises(FileFormatError, match=r"x\.zarr"):
        open_matrix(store)


def test_links_to_what_is_there(tmp_path, store):
    zarr = pytest.importorskip("zarr")
    x = np.arange(12.0).reshape(4, 3)
    zarr.save_array(tmp_path / "other.zarr", x)
    root = zarr.open_group(tmp_path / "group.zarr", mode="w")
    assert root is not None
    for name in ("one", "two"):
        (tmp_path / "group.zarr" / name).symlink_to("../other.zarr")
    matrix = open_matrix(tmp_path / "group.zarr", array="two")
    np.testing.assert_array_equal(matrix.dot(np.ones(3)), x.sum(axis=1))
    (tmp_path / "y.npy").symlink_to("z.npy")
    np.save(tmp_path / "z.npy", x)
    assert open_matrix(tmp_path / "y.npy").shape == (4, 3)


def test_a_circle_that_appears_later(store):
    folder = DataFolder(store)
    (store / "a" / "up").symlink_to("..")
    with pytest.raises(FileChangedError):
        folder.require_unchanged()


def test_other_errors_of_the_system_are_passed_on(tmp_path):
    with pytest.raises(OSError) as error:
        DataFile(tmp_path / ("x" * 300))
    assert error.value.errno == errno.ENAMETOOLONG and not isinstance(error.value, SlimlineError)
    with pytest.raises(FileNotFoundError, match="no file can have this name"):
        DataFile(os.fspath(tmp_path) + "/a\0b")
