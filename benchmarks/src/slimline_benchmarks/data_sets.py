"""Data sets of a suite: made when their first case asks for them, and held until another is wanted."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline_benchmarks.case import LeftOut
from slimline_benchmarks.labelled import Labelled

Size = tuple[int, int]
Points = TypeVar("Points", bound=Labelled)
#: Given the folder of the public data sets, returns data and labels.
Reader = Callable[[Path], tuple[Any, NDArray[Any]]]

#: Bytes of a stored value; of a sparse one with its place.
_VALUE_BYTES = {"dense": 4, "int8": 1, "sparse": 8}
#: The pair of newsgroups that are hardest to tell apart: IBM and Mac hardware.
_PAIR = (3, 4)


@dataclass(frozen=True)
class DataSet(Generic[Points]):
    """Source of data.

    Parameters
    ----------
    name, words : str
        Short name, and a title.
    make : callable
        Returns the data; raises `LeftOut` where there are none.
    size : (int, int), optional
        Samples and features, where they are known beforehand.
    kind : {"dense", "int8", "sparse"}
        How they are stored.
    per_row : int, optional
        Values that are stored of a row; all features unless told.
    """

    name: str
    words: str
    make: Callable[[], Points]
    size: Size | None
    kind: str = "dense"
    per_row: int | None = None

    @property
    def values(self) -> int:
        """Return how many values are stored; 0 where that is not known beforehand."""
        n, d = self.size or (0, 0)
        return n * (d if self.per_row is None else self.per_row)

    @property
    def input_bytes(self) -> int:
        """Return the size of the data; 0 where that is not known beforehand."""
        return self.values * _VALUE_BYTES[self.kind]


class Shelf(Generic[Points]):
    """Holds the data of one set at a time: the next case often wants the same."""

    def __init__(self) -> None:
        self._name = ""
        self._points: Points | None = None

    def take(self, data_set: DataSet[Points]) -> Points:
        """Return the data of a set."""
        if self._points is None or self._name != data_set.name:
            self._points = None
            self._points = data_set.make()
            self._name = data_set.name
        return self._points


def public_set(read: Reader, documents: int | None) -> tuple[Any, NDArray[np.float64]]:
    """Return data of the folder that SLIMLINE_DATA names, and labels of -1 and +1.

    Parameters
    ----------
    read : callable
        Given the folder, returns data and labels.
    documents : int, optional
        At most so many rows, drawn at random.

    Returns
    -------
    X : array or sparse matrix
        As it was read.
    labels : array of shape (n_samples,)
        +1 where they were above 0.
    """
    folder = os.environ.get("SLIMLINE_DATA", "")
    if not folder:
        raise LeftOut("SLIMLINE_DATA does not name the folder of the public data sets", "absent")
    try:
        X, labels = read(Path(folder))
    except FileNotFoundError as error:
        raise LeftOut(f"{error.filename} is not there", "absent") from None
    if documents is not None and documents < len(labels):
        kept = np.sort(np.random.default_rng(0).choice(len(labels), documents, replace=False))
        X, labels = X[kept], labels[kept]
    return X, np.where(labels > 0, 1.0, -1.0)


def all_newsgroups(folder: Path) -> tuple[Any, NDArray[Any]]:
    """Return words and number of the group of each document."""
    place = folder / "newsgroups20"
    return sp.csr_array(sp.load_npz(place / "counts_train.npz")), np.load(place / "labels_train.npy")


def newsgroup_pair(folder: Path) -> tuple[Any, NDArray[Any]]:
    """Return the documents of two groups."""
    counts, labels = all_newsgroups(folder)
    kept = np.flatnonzero(np.isin(labels, _PAIR))
    return counts[kept], np.where(labels[kept] == _PAIR[0], 1, -1)


def tf_idf(counts: Any) -> sp.csr_array:
    """Return log(1 + count) times log inverse document frequency, rows scaled to norm 1, without empty columns.

    Parameters
    ----------
    counts : sparse matrix
        Words of each document.

    Returns
    -------
    X : CSR array, float32
        What text classifiers usually see.
    """
    X = sp.csr_array(counts, dtype=np.float64)
    used = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
    X = sp.csr_array(X[:, used])
    frequency = np.bincount(X.indices, minlength=X.shape[1])
    X.data = np.log1p(X.data) * (1.0 + np.log((1.0 + X.shape[0]) / (1.0 + frequency)))[X.indices]
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).reshape(-1)
    X.data /= np.repeat(np.where(norms > 0.0, norms, 1.0), np.diff(X.indptr))
    return X.astype(np.float32)
