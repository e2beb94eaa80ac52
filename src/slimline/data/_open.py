"""`open_matrix`: the storage that fits a file or an object."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from slimline._base.checks import real_array
from slimline.data._files import located
from slimline.data._matrix import Matrix
from slimline.data._passes import Listener, ProgressBar
from slimline.data.formats._dense import DenseMatrix, read_frame
from slimline.data.formats._sparse import SparseMatrix
from slimline.errors import FileFormatError, InvalidParameterError

#: Name of a format: (module, function that opens it, endings of its files).
FORMATS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "npy": ("_npy", "open_npy", (".npy",)),
    "npz": ("_npz", "open_npz", (".npz",)),
    "svmlight": ("_svmlight", "open_svmlight", (".svmlight", ".svm", ".libsvm")),
    "csv": ("_delimited", "open_delimited", (".csv", ".tsv", ".tab")),
    "plink": ("_plink", "open_plink", (".bed",)),
    "parquet": ("_parquet", "open_parquet", (".parquet", ".pq")),
    "hdf5": ("_hdf5_zarr", "open_hdf5", (".h5", ".hdf5", ".h5ad")),
    "zarr": ("_hdf5_zarr", "open_zarr", (".zarr",)),
}
_COMPRESSED = (".gz", ".bz2", ".xz")


def open_matrix(source: Any, *, format: str | None = None, progress: bool | Listener = False, **options: Any) -> Matrix:
    """Return data as a `Matrix`, in memory or on disk.

    Parameters
    ----------
    source : str, path, array, sparse matrix, data frame or Matrix
        A file is recognised by its ending: .npy, .npz, .svmlight/.svm/.libsvm and .csv/.tsv/.tab (each also with .gz,
        .bz2 or .xz), .bed, .parquet, .h5/.hdf5/.h5ad, .zarr.
    format : str, optional
        One of "npy", "npz", "svmlight", "csv", "plink", "parquet", "hdf5", "zarr", if the ending does not determine it.
    progress : bool or callable
        True draws a bar for every pass; a function is called with a `PassProgress`.
    **options
        Options of the format, such as `missing` (whole number that codes a missing value), `n_features`, `zero_based`,
        `label`, `id`, `delimiter` or `dataset`; an unknown option is an error.

    Returns
    -------
    matrix : Matrix
        Of a file, only names and sizes have been read.

    See Also
    --------
    slimline.data.Matrix : The passes over the data, and their accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import open_matrix
    >>> X = open_matrix(np.arange(6, dtype=np.float32).reshape(2, 3))
    >>> X.dot([1.0, 0.0, 1.0])
    array([2., 8.])
    >>> X.passes
    1
    """
    matrix = _open(source, format, options)
    if progress:
        matrix.listen(ProgressBar() if progress is True else progress)
    return matrix


def _open(source: Any, format: str | None, options: dict[str, Any]) -> Matrix:
    if isinstance(source, Matrix):
        _require_no_format(format, source)
        _require_none(options, "a Matrix")
        return source
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return _opener(path, format)(path, **options) if not options else _with_options(path, format, options)
    _require_no_format(format, source)
    if isinstance(source, np.memmap) and (matrix := _mapped(source, options)) is not None:
        return matrix
    if sp.issparse(source):
        return _construct(SparseMatrix, source, options)
    if hasattr(source, "columns") and hasattr(source, "to_numpy"):  # pandas and polars
        array, names = read_frame(source)
        return _construct(DenseMatrix, array, names | options)
    if isinstance(source, np.ma.MaskedArray):
        source = _unmasked(source)
    if isinstance(source, (np.ndarray, list, tuple)) or hasattr(source, "__array__"):
        return _construct(DenseMatrix, real_array(source, "the matrix"), options)
    raise InvalidParameterError(
        f"open_matrix takes a path, an array, a sparse matrix or a data frame; got {type(source).__name__}."
    )


def _opener(path: Path, format: str | None) -> Callable[..., Matrix]:
    try:
        name = format or format_of(path)
    except FileFormatError:
        located(path, "file")  # which may be what is wrong
        raise
    if name not in FORMATS:
        raise InvalidParameterError(f"must be one of {', '.join(FORMATS)}; got {name!r}.", "format")
    module, function, _ = FORMATS[name]
    opener: Callable[..., Matrix] = getattr(import_module(f"slimline.data.formats.{module}"), function)
    return opener


def format_of(path: Path) -> str:
    """Return the name of the format that the ending of a file tells."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in _COMPRESSED:
        endings.pop()
    for name, (_, _, known) in FORMATS.items():
        if endings and endings[-1] in known:
            return name
    known_endings = ", ".join(ending for _, _, endings in FORMATS.values() for ending in endings)
    raise FileFormatError(
        f"{path}: the ending of the name does not determine the file format (known endings: {known_endings}; formats: "
        f"{', '.join(FORMATS)}).",
        "Pass format=NAME to open_matrix.",
        "format",
    )


def _with_options(path: Path, format: str | None, options: dict[str, Any]) -> Matrix:
    opener = _opener(path, format)
    _require_known(options, list(inspect.signature(opener).parameters)[1:], str(path))
    return opener(path, **options)


def _construct(kind: type[DenseMatrix] | type[SparseMatrix], source: Any, options: dict[str, Any]) -> Matrix:
    _require_known(options, list(inspect.signature(kind).parameters)[1:], f"a {type(source).__name__}")
    return kind(source, **options)


def _mapped(source: np.memmap[Any, Any], options: dict[str, Any]) -> Matrix | None:
    """Return a mapped file as a file: one that was cut short then raises instead of killing the process."""
    from mmap import mmap

    from slimline.data._files import DataFile
    from slimline.data.formats._npy import NpyMatrix

    whole = isinstance(source.base, mmap) and source.filename is not None and source.ndim == 2
    if not whole or source.mode not in ("r", "c", "r+") or set(options) - {"missing"}:
        return None
    if not (source.flags.c_contiguous or source.flags.f_contiguous) or source.mode == "c":
        return None
    if source.dtype.kind not in "fiub":
        return None
    fortran = not source.flags.c_contiguous
    file = DataFile(str(source.filename))
    return NpyMatrix(file, source.shape, source.dtype, fortran, source.offset, options.get("missing"))


def _unmasked(source: Any) -> Any:
    """Return a masked array as a plain one, with NaN for what is masked."""
    if source.dtype.kind == "f":
        return source.filled(np.nan)
    if np.ma.is_masked(source):
        raise InvalidParameterError(
            f"a masked array of {source.dtype} has no NaN for what is masked: open array.filled(number) with "
            "missing=number, a whole number that does not occur in it."
        )
    return source.data


def _require_no_format(format: str | None, source: Any) -> None:
    if format is not None:
        raise InvalidParameterError(f"format={format!r} is for files; a {type(source).__name__} needs none.")


def _require_none(options: dict[str, Any], what: str) -> None:
    _require_known(options, [], what)


def _require_known(options: dict[str, Any], known: list[str], what: str) -> None:
    unknown = sorted(set(options) - set(known))
    if unknown:
        choices = f"the options are {', '.join(known)}" if known else "it takes no options"
        raise InvalidParameterError(f"{what} cannot be opened with {', '.join(unknown)}: {choices}.")
