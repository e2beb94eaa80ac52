import subprocess
import sys

import pytest

from slimline import open_matrix
from slimline.data import _files as readers
from slimline.errors import FileChangedError, FileFormatError, InvalidParameterError, MissingReaderError


@pytest.mark.parametrize(
    "ending, package, extra",
    [(".h5", "h5py", "hdf5"), (".h5ad", "h5py", "hdf5"), (".parquet", "pyarrow", "parquet"), (".zarr", "zarr", "zarr")],
)
def test_an_absent_reader_is_asked_for(tmp_path, monkeypatch, ending, package, extra):
    path = tmp_path / f"x{ending}"
    path.write_bytes(b"anything")
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingReaderError) as error:
        open_matrix(path)
    assert f'pip install "slimline[{extra}]"' in str(error.value) and package in str(error.value)
    assert isinstance(error.value, ImportError)


def test_an_old_zarr_is_refused(tmp_path, monkeypatch):
    zarr = pytest.importorskip("zarr")
    monkeypatch.setattr(zarr, "__version__", "2.18.3")
    (tmp_path / "x.zarr").mkdir()
    with pytest.raises(MissingReaderError, match=r"zarr 3 or later, and 2\.18\.3"):
        open_matrix(tmp_path / "x.zarr")


@pytest.mark.slow
def test_readers_are_imported_when_used():
    """The modules of the formats must not bring what they read with."""
    code = """
import sys
import sklearn.utils  # brings pandas, and that pyarrow, where they are installed
before = set(sys.modules)
import slimline.data.formats._hdf5_zarr, slimline.data.formats._parquet, slimline.data.formats._hdf5_zarr
print({"h5py", "zarr", "pyarrow", "anndata"} & (set(sys.modules) - before))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


class _Source:
    def __init__(self, changed):
        self._changed = changed

    def __str__(self):
        return "some/file"

    def require_unchanged(self):
        if self._changed:
            raise FileChangedError("some/file changed")


@pytest.mark.parametrize("raised", [OSError("bad"), KeyError("x"), MemoryError(), RuntimeError("a\n b")])
def test_what_libraries_raise_names_the_file(raised):
    with (
        pytest.raises(FileFormatError, match="some/file cannot be read as a thing"),
        readers.translated_errors(_Source(False), "a thing"),
    ):
        raise raised
    with pytest.raises(FileChangedError), readers.translated_errors(_Source(True), "a thing"):
        raise raised


def test_our_own_errors_and_interrupts_pass():
    for error in (InvalidParameterError("mine"), KeyboardInterrupt()):
        with pytest.raises(type(error)), readers.translated_errors(_Source(True), "a thing"):
            raise error
