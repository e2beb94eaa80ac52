"""The data sets of the suite, dense and sparse: made when their first case asks for them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.bench.case import LeftOut
from slimline.bench.geometry.sizes import GeometrySizes, Size
from slimline.bench.learn.data_sets import tf_idf
from slimline.data import Matrix, open_matrix

Floats = NDArray[np.float64]

#: Distance of the planted classes from the plane between them, beside entries of variance 1.
_PLANTED = 10.0
#: Column of a draw u of documents: d u^4, so that the first are in every other document and most in hardly any.
_TAIL = 4
#: The pair of newsgroups that are hardest to tell apart: IBM and Mac hardware.
_PAIR = (3, 4)
#: Numbers that are drawn at a time.
_ROWS = 64


@dataclass(frozen=True)
class Labelled:
    """Points of two classes.

    Parameters
    ----------
    X : array or CSR matrix
        Data as they are stored.
    labels : array of shape (n_samples,)
        y, each -1 or +1.
    matrix : Matrix
        The same data, for ours.
    """

    X: Any
    labels: Floats
    matrix: Matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Return samples and features."""
        return self.matrix.shape

    @property
    def is_sparse(self) -> bool:
        """Say whether X is a CSR matrix."""
        return bool(sp.issparse(self.X))


@dataclass(frozen=True)
class DataSet:
    """Where points come from.

    Parameters
    ----------
    name, words : str
        Short name, and a title.
    make : callable
        Returns the points; raises `LeftOut` where there are none.
    size : (int, int), optional
        Samples and features, where they are known beforehand.
    per_row : int, optional
        Non-zeros of a row of sparse data.
    """

    name: str
    words: str
    make: Callable[[], Labelled]
    size: Size | None = None
    per_row: int | None = None

    @property
    def values(self) -> float:
        """Return how many values are stored; 0 where that is not known beforehand."""
        n, d = self.size or (0, 0)
        return float(n * (d if self.per_row is None else self.per_row))

    @property
    def input_bytes(self) -> int:
        """Return the size of the data; 0 where that is not known beforehand."""
        return int(self.values * (4 if self.per_row is None else 8))


class Shelf:
    """Holds the points of one set at a time: the next case often wants the same."""

    def __init__(self) -> None:
        self._name = ""
        self._points: Labelled | None = None

    def take(self, data_set: DataSet) -> Labelled:
        """Return the points of a set."""
        if self._points is None or self._name != data_set.name:
            self._points = None
            self._points = data_set.make()
            self._name = data_set.name
        return self._points


def separated_sets(sizes: GeometrySizes) -> tuple[DataSet, ...]:
    """Return the sets whose margin and ball are measured.

    Parameters
    ----------
    sizes : GeometrySizes
        How large they are.

    Returns
    -------
    sets : tuple of DataSet
        Dense, sparse, documents, and two real ones.
    """
    return (
        dense_set("dense", sizes.dense),
        sparse_set("sparse", sizes.sparse, sizes.per_row),
        sparse_set("documents", sizes.sparse, sizes.per_row, tail=_TAIL),
        DataSet("dorothea", "DOROTHEA, training set, binary", lambda: _real(_dorothea, sizes.documents)),
        DataSet("pair", "two newsgroups (IBM and Mac hardware), tf-idf", lambda: _real(_pair, sizes.documents)),
    )


def dense_set(name: str, size: Size, seed: int = 0) -> DataSet:
    """Return normal numbers, and two classes that are pushed apart along a direction.

    Parameters
    ----------
    name : str
        Of the set.
    size : (int, int)
        Samples and features.
    seed : int
        Of the data.

    Returns
    -------
    data_set : DataSet
        float32.
    """
    n, d = size

    def make() -> Labelled:
        rng = np.random.default_rng(seed)
        labels = np.where(rng.permutation(n) % 2 == 0, 1.0, -1.0)
        direction = rng.standard_normal(d)
        direction *= _PLANTED / np.linalg.norm(direction)
        X = np.empty((n, d), dtype=np.float32)
        for start in range(0, n, _ROWS):
            part = X[start : start + _ROWS]
            rng.standard_normal(dtype=np.float32, out=part)
            part += (labels[start : start + _ROWS, None] * direction).astype(np.float32)
        return Labelled(X, labels, open_matrix(X))

    return DataSet(name, f"{n:,} × {d:,} float32, two classes planted apart", make, size)


def sparse_set(name: str, size: Size, per_row: int, tail: int = 1, seed: int = 1) -> DataSet:
    """Return positive numbers in columns that are drawn anew for every row, and classes of a random direction.

    Parameters
    ----------
    name : str
        Of the set.
    size : (int, int)
        Samples and features.
    per_row : int
        Columns that are drawn for a row; one that is drawn twice counts double.
    tail : int
        Power of the uniform number that a column comes from: 1 is alike for all columns.
    seed : int
        Of the data.

    Returns
    -------
    data_set : DataSet
        CSR, float32.
    """
    n, d = size

    def make() -> Labelled:
        rng = np.random.default_rng(seed)
        columns = (d * rng.random((n, per_row)) ** tail).astype(np.int32)
        columns.sort(axis=1)
        values = rng.uniform(0.5, 1.5, columns.size).astype(np.float32)
        X = sp.csr_array((values, columns.reshape(-1), np.arange(0, columns.size + 1, per_row)), shape=size)
        X.sum_duplicates()
        scores = X @ rng.standard_normal(d)
        labels = np.where(scores > np.median(scores), 1.0, -1.0)  # fewer samples than features: always separable
        return Labelled(X, labels, open_matrix(X))

    spread = "uniform columns" if tail == 1 else "columns with a heavy tail"
    return DataSet(name, f"{n:,} × {d:,} CSR float32, {per_row} a row, {spread}", make, size, per_row)


def _real(read: Callable[[Path], tuple[Any, NDArray[Any]]], documents: int | None) -> Labelled:
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
    return Labelled(X, np.where(labels > 0, 1.0, -1.0), open_matrix(X))


def _dorothea(folder: Path) -> tuple[Any, NDArray[Any]]:
    place = folder / "dorothea"
    X = sp.csr_array(sp.load_npz(place / "dorothea_train.npz"), dtype=np.float32)
    return X, np.loadtxt(place / "dorothea_train.labels")


def _pair(folder: Path) -> tuple[Any, NDArray[Any]]:
    place = folder / "newsgroups20"
    counts = sp.csr_array(sp.load_npz(place / "counts_train.npz"))
    labels = np.load(place / "labels_train.npy")
    kept = np.flatnonzero(np.isin(labels, _PAIR))
    return tf_idf(counts[kept]), np.where(labels[kept] == _PAIR[0], 1, -1)
