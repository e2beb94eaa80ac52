"""The data sets whose geometry is measured, dense and sparse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.data import open_matrix
from slimline_benchmarks.data_sets import DataSet, Size, newsgroup_pair, public_set, tf_idf
from slimline_benchmarks.geometry.sizes import GeometrySizes
from slimline_benchmarks.labelled import Labelled

#: Distance of the planted classes from the plane between them, beside entries of variance 1.
_PLANTED = 10.0
#: Column of a draw u of documents: d u^4, so that the first are in every other document and most in hardly any.
_TAIL = 4
#: Numbers that are drawn at a time.
_ROWS = 64


def separated_sets(sizes: GeometrySizes) -> tuple[DataSet[Labelled], ...]:
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
        DataSet("dorothea", "DOROTHEA, training set, binary", lambda: _dorothea(sizes.documents), None, "sparse"),
        DataSet("pair", "two newsgroups (IBM, Mac hardware), tf-idf", lambda: _pair(sizes.documents), None, "sparse"),
    )


def dense_set(name: str, size: Size, seed: int = 0) -> DataSet[Labelled]:
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


def sparse_set(name: str, size: Size, per_row: int, tail: int = 1, seed: int = 1) -> DataSet[Labelled]:
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
        starts = np.arange(0, columns.size + 1, per_row, dtype=np.int32)  # LIBSVM takes no wider ones
        X = sp.csr_array((values, columns.reshape(-1), starts), shape=size)
        X.sum_duplicates()
        scores = np.asarray(X @ rng.standard_normal(d))
        labels = np.where(scores > np.median(scores), 1.0, -1.0)  # fewer samples than features: always separable
        return Labelled(X, labels, open_matrix(X))

    spread = "uniform columns" if tail == 1 else "columns with a heavy tail"
    return DataSet(name, f"{n:,} × {d:,} CSR float32, {per_row} a row, {spread}", make, size, "sparse", per_row)


def _dorothea(documents: int | None) -> Labelled:
    X, labels = public_set(_read_dorothea, documents)
    return Labelled(X, labels, open_matrix(X))


def _pair(documents: int | None) -> Labelled:
    counts, labels = public_set(newsgroup_pair, documents)
    X = tf_idf(counts)
    return Labelled(X, labels, open_matrix(X))


def _read_dorothea(folder: Path) -> tuple[Any, NDArray[Any]]:
    place = folder / "dorothea"
    X = sp.csr_array(sp.load_npz(place / "dorothea_train.npz")).astype(np.float32)
    return X, np.loadtxt(place / "dorothea_train.labels")
