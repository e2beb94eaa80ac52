"""Files of every format for the benchmark, written in blocks; whole before they bear their name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from slimline.data._open import FORMATS
from slimline_benchmarks.case import LeftOut
from slimline_benchmarks.matrix import write_binary, write_text


@dataclass(frozen=True)
class FileKind:
    """A format and a way to write it.

    Parameters
    ----------
    name : str
        Name of the case.
    words : str
        What it is.
    ending : str
        Of its files.
    reader : str
        Name of the format as `open_matrix` calls it.
    write : callable
        Takes a path and the number of bytes of the content, before any compression.
    requires : tuple of str
        Modules that write and read it.
    text : bool
        Whether it is text, of which there is less.
    """

    name: str
    words: str
    ending: str
    reader: str
    write: Callable[[Path, int], None]
    requires: tuple[str, ...] = ()
    text: bool = False


KINDS = (
    FileKind("npy", ".npy, C order, float32", ".npy", "npy", write_binary.npy),
    FileKind("npy-columns", ".npy, Fortran order, float32", ".npy", "npy", write_binary.npy_columns),
    FileKind("npz", ".npz, stored, float32", ".npz", "npz", write_binary.npz),
    FileKind("plink", "PLINK .bed, 2 bits each", ".bed", "plink", write_binary.plink),
    FileKind("svmlight", "svmlight text", ".svmlight", "svmlight", write_text.svmlight, text=True),
    FileKind("svmlight-gz", "svmlight text, gzip", ".svmlight.gz", "svmlight", write_text.svmlight_gz, text=True),
    FileKind("csv", "CSV with a header", ".csv", "csv", write_text.csv, text=True),
    FileKind("hdf5", "HDF5, float32 in chunks", ".h5", "hdf5", write_binary.hdf5, ("h5py",)),
    FileKind("h5ad", "AnnData .h5ad, CSR float32", ".h5ad", "hdf5", write_binary.h5ad, ("h5py",)),
    FileKind("parquet", "Parquet, float32 columns", ".parquet", "parquet", write_binary.parquet, ("pyarrow",)),
    FileKind("zarr", "Zarr 3, float32 in chunks", ".zarr", "zarr", write_binary.zarr, ("zarr",)),
)


def require_reader(name: str) -> None:
    """Leave a case out if this version of slimline has no reader for a format.

    Parameters
    ----------
    name : str
        As `open_matrix` calls the format.
    """
    module = f"slimline.data.formats.{FORMATS[name][0]}"
    if find_spec(module) is None:
        raise LeftOut(f"this version has no reader for {name} files", "absent")


def require_modules(modules: tuple[str, ...]) -> None:
    """Leave a case out if an optional package is not installed."""
    for module in modules:
        try:
            import_module(module)
        except ImportError:
            raise LeftOut(f"{module} is not installed", "absent") from None


def require_room(folder: Path, size: int) -> None:
    """Leave a case out if its files would not fit on the disk."""
    free = shutil.disk_usage(folder).free
    if size > 0.9 * free:
        raise LeftOut(f"needs {size / 1e9:.1f} GB on the disk of {folder}, {free / 1e9:.1f} GB are free")


def write_once(kind: FileKind, folder: Path, size: int) -> Path:
    """Return the path of a file of a format, written unless it is there.

    Parameters
    ----------
    kind : FileKind
        What to write.
    folder : Path
        Where to.
    size : int
        Bytes of the content.

    Returns
    -------
    path : Path
        A file, or a folder for Zarr.
    """
    path = folder / f"{kind.name}-{size}{kind.ending}"
    if path.exists():
        return path
    require_room(folder, size)
    draft = folder / f".draft-{os.getpid()}-{path.name}"
    try:
        kind.write(draft, size)
        for companion in _companions(draft):  # first, so that a .bed file never stands alone
            companion.replace(path.with_suffix(companion.suffix))
        draft.replace(path)
    finally:
        remove(draft)
    return path


def remove(path: Path) -> None:
    """Remove a benchmark file, and what belongs to it."""
    if path.is_dir():
        shutil.rmtree(path)
    for file in (path, *_companions(path)):
        file.unlink(missing_ok=True)


def _companions(path: Path) -> list[Path]:
    return [path.with_suffix(ending) for ending in (".bim", ".fam")] if path.suffix == ".bed" else []
