"""Usual loaders of each kind of file: whole, and then multiplied."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from slimline_benchmarks.case import Contender
from slimline_benchmarks.matrix.files import FileKind
from slimline_benchmarks.matrix.streams import read_bed


def loading(kind: FileKind, size: int) -> tuple[Contender, ...]:
    """Return the peer that loads a whole file and multiplies it with a vector.

    Parameters
    ----------
    kind : FileKind
        Which format.
    size : int
        Bytes of the content.

    Returns
    -------
    contenders : tuple of Contender
        One, or none for a format that nobody else reads whole.
    """
    name, load, modules, factor, rate = _LOADERS[kind.name]

    def run(path: Path) -> Any:
        X = load(path)
        return X @ np.ones(X.shape[1], dtype=X.dtype)

    peer = Contender(
        f"{name}, then X @ w",
        "peer",
        run,
        setup=lambda subject: subject.source,
        requires=modules,
        estimated_bytes=factor * size,
        estimated_seconds=size / rate,
        needed_as="to load it whole",
        task="dot",
    )
    return (peer,)


def _npz(path: Path) -> Any:
    with np.load(path) as archive:
        return archive["X"]


def _svmlight(path: Path) -> Any:
    return import_module("sklearn.datasets").load_svmlight_file(str(path), dtype=np.float64)[0]


def _csv(path: Path) -> Any:
    return import_module("pandas").read_csv(path).to_numpy()


def _hdf5(path: Path) -> Any:
    with import_module("h5py").File(path, "r") as file:
        return file["X"][:]


def _h5ad(path: Path) -> Any:
    return import_module("anndata").read_h5ad(path).X


def _parquet(path: Path) -> Any:
    return import_module("pandas").read_parquet(path).to_numpy()


def _zarr(path: Path) -> Any:
    return import_module("zarr").open_array(store=str(path), mode="r")[:]


_NPY: tuple[str, Callable[[Path], Any], tuple[str, ...], float, float] = ("NumPy load", np.load, (), 1.0, 500e6)
#: Name, loader, modules, and roughly: bytes in memory for one of the content, bytes a second of one core.
_LOADERS: dict[str, tuple[str, Callable[[Path], Any], tuple[str, ...], float, float]] = {
    "npy": _NPY,
    "npy-columns": _NPY,
    "npz": ("NumPy load", _npz, (), 1.0, 300e6),
    "plink": ("bed-reader", read_bed, ("bed_reader",), 16.0, 25e6),
    "svmlight": ("scikit-learn load", _svmlight, ("sklearn.datasets",), 3.0, 20e6),
    "svmlight-gz": ("scikit-learn load", _svmlight, ("sklearn.datasets",), 3.0, 15e6),
    "csv": ("pandas read_csv", _csv, ("pandas",), 3.0, 30e6),
    "hdf5": ("h5py", _hdf5, ("h5py",), 1.0, 300e6),
    "h5ad": ("anndata", _h5ad, ("anndata",), 1.5, 200e6),
    "parquet": ("pandas read_parquet", _parquet, ("pandas", "pyarrow"), 2.5, 200e6),
    "zarr": ("zarr", _zarr, ("zarr",), 1.2, 100e6),
}
