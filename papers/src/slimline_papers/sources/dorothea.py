"""DOROTHEA, as sparse matrices or in the layout of the UCI repository."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz

from slimline.errors import DataError, FileFormatError
from slimline_papers.sources.records import Challenge
from slimline_papers.sources.source import Source

_FEATURES = 100_000
#: What SciPy, NumPy and zipfile raise on damaged files; RuntimeError where one claims to be locked or of a later kind.
_UNREADABLE = (OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, zipfile.BadZipFile, zlib.error)
#: Samples and numbers of ones, which the challenge publishes, and SHA-256 sums of where the ones are.
_CHECKS = {
    "train": (800, 727_760, "f2cb65cc97382936724c8a23a588213aff18e3bf34147fc7561e88959d74aa36"),
    "valid": (350, 317_752, "78407ff124e71419a8409156f781091d3f94e5c006f5731b8592f51941cc3290"),
}


def read_dorothea(folder: Path) -> Challenge:
    """Read the training and the validation part.

    Parameters
    ----------
    folder : Path
        With dorothea_train.npz or dorothea_train.data (each line the features that a sample has, from 1), the same of
        the validation part, and their labels.

    Returns
    -------
    challenge : Challenge
        800 + 350 samples of 100,000 features, 0 or 1.
    """
    parts: list[Any] = []
    for part, (samples, ones, places) in _CHECKS.items():
        stored, text = folder / f"dorothea_{part}.npz", folder / f"dorothea_{part}.data"
        X = _from_arrays(stored) if stored.is_file() else _from_text(text)
        path = stored if stored.is_file() else text
        if X.shape != (samples, _FEATURES) or X.sum() != ones:
            raise DataError(
                f"{path} does not have {ones:,} ones in {samples} rows, as the original does: put that in its place."
            )
        if np.any(X.data != 1) or _sum_of_places(X) != places:
            raise DataError(f"{path} has ones where the original has none: put that in its place.")
        parts += [X, np.loadtxt(folder / f"dorothea_{part}.labels")]
    return Challenge(*parts)


def _sum_of_places(X: csr_array) -> str:
    """Return the SHA-256 sum of the places of all entries: whatever the kind of file, and however it is packed."""
    X.sort_indices()
    digest = hashlib.sha256(X.indptr.astype("<i8").tobytes())
    digest.update(X.indices.astype("<i8").tobytes())
    return digest.hexdigest()


def _from_arrays(path: Path) -> csr_array:
    try:
        with path.open("rb") as file:  # by its name, NumPy would leave a damaged one open
            stored: Any = load_npz(file)
        X = csr_array(stored.astype(np.float64))
        X.check_format(full_check=True)
    except _UNREADABLE as error:
        raise FileFormatError(
            f"{path} cannot be read as a sparse matrix ({error}): it is truncated or of another kind."
        ) from error
    return X


def _from_text(path: Path) -> csr_array:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
        columns = [np.array(line.split(), dtype=np.int64) - 1 for line in lines if line.strip()]
    except ValueError as error:  # of the encoding too
        raise FileFormatError(
            f"{path} must hold whole numbers, the features of a sample on each line ({error})."
        ) from error
    indices = np.concatenate([*columns, np.zeros(0, np.int64)])
    if np.any((indices < 0) | (indices >= _FEATURES)):
        raise FileFormatError(f"{path} names features other than 1 to {_FEATURES:,}.")
    starts = np.concatenate([[0], np.cumsum([len(row) for row in columns])])
    return csr_array((np.ones(len(indices)), indices, starts), shape=(len(columns), _FEATURES))


DOROTHEA = Source(
    name="dorothea",
    folder="dorothea",
    about="DOROTHEA: molecules that bind to thrombin or do not, NIPS 2003 challenge (KDD Cup 2001 data of DuPont)",
    files={
        "dorothea_train.labels": "bd6e76671eea59e152cf8dbce1046b8e7ec745561c1dcd02218d8740e23b7c4e",
        "dorothea_valid.labels": "8af3b491a0b1ee57d1ca9fd5d800e22bff4b84d94020892d1919897e726b6db1",
    },
    choices=(("dorothea_train.data", "dorothea_train.npz"), ("dorothea_valid.data", "dorothea_valid.npz")),
    read=read_dorothea,
    address="https://archive.ics.uci.edu/static/public/169/dorothea.zip",
)
