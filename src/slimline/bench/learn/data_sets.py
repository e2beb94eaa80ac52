"""The data sets of the suite: made when their first case asks for them, and held until another is wanted."""

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
from slimline.bench.learn.dense import realistic_data
from slimline.bench.learn.problem import Problem
from slimline.bench.learn.sizes import LearnSizes, Size
from slimline.data import open_matrix, simulate_genotypes
from slimline.data.block import MISSING_CALL
from slimline.data.formats.dense import DenseMatrix

#: As in the 1000 Genomes project.
_REGIONS, _POPULATIONS, _MISSING_RATE = 5, 26, 0.01
#: The pair of newsgroups that are hardest to tell apart: IBM and Mac hardware.
_PAIR = (3, 4)
#: Newsgroups about computers, against all others.
_COMPUTERS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class DataSet:
    """Where a problem comes from.

    Parameters
    ----------
    name, words : str
        Short name, and a title.
    make : callable
        Returns the problem; raises `LeftOut` where there is none.
    size : (int, int), optional
        Samples and features, where they are known beforehand.
    kind : {"dense", "int8", "sparse"}
        How it is stored.
    """

    name: str
    words: str
    make: Callable[[], Problem]
    size: Size | None
    kind: str = "dense"

    @property
    def values(self) -> int:
        """Return how many values are stored; 0 where that is not known beforehand."""
        return self.size[0] * self.size[1] if self.size is not None else 0

    @property
    def input_bytes(self) -> int:
        """Return the size of the data; 0 where that is not known beforehand."""
        return self.values * (1 if self.kind == "int8" else 4)


class Shelf:
    """Holds one problem at a time: the next case often wants the same."""

    def __init__(self) -> None:
        self._name = ""
        self._problem: Problem | None = None

    def take(self, data_set: DataSet) -> Problem:
        """Return the problem of a data set."""
        if self._problem is None or self._name != data_set.name:
            self._problem = None
            self._problem = data_set.make()
            self._name = data_set.name
        return self._problem


def learning_sets(sizes: LearnSizes) -> tuple[DataSet, ...]:
    """Return all data sets that are learned from.

    Parameters
    ----------
    sizes : LearnSizes
        How large they are.

    Returns
    -------
    sets : tuple of DataSet
        Dense, genotypes, square, and three of text.
    """
    spectrum = "realistic spectrum, rows of norm 1"

    def text(name: str, words: str, read: Callable[[Path], tuple[Any, NDArray[Any]]]) -> DataSet:
        return DataSet(name, words, lambda: text_problem(read, sizes.documents), None, "sparse")

    return (
        dense_set("dense", sizes.dense, spectrum),
        genotype_set(sizes.genotypes),
        dense_set("square", sizes.square, spectrum, seed=1),
        text("pair", "two newsgroups (IBM and Mac hardware), tf-idf", _newsgroup_pair),
        text("newsgroups", "newsgroups, computers against the rest, tf-idf", _newsgroups),
        text("farm-ads", "farm ads, approved or not, tf-idf", _farm_ads),
    )


def dense_set(name: str, size: Size, words: str, C: float = 1.0, seed: int = 0) -> DataSet:
    """Return made-up dense data.

    Parameters
    ----------
    name : str
        Of the set.
    size : (int, int)
        Samples and features.
    words : str
        What it is, beside its size.
    C : float
        Inverse strength of the penalty.
    seed : int
        Of the data.

    Returns
    -------
    data_set : DataSet
        float32, rows of norm 1.
    """

    def make() -> Problem:
        X, labels = realistic_data(*size, seed=seed)
        return Problem(X, labels, C, open_matrix(X))

    return DataSet(name, f"{size[0]:,} × {size[1]:,} float32, {words}", make, size)


def genotype_set(size: Size) -> DataSet:
    """Return simulated genotypes: one region against the others, columns standardised, missing calls filled.

    Parameters
    ----------
    size : (int, int)
        People and variants.

    Returns
    -------
    data_set : DataSet
        int8. C is 1 over the number of variants: as C = 1 for rows of norm 1.
    """
    n, d = size

    def make() -> Problem:
        people = simulate_genotypes(
            n, d, _POPULATIONS, 0.005, 1, n_regions=_REGIONS, fst_region=0.05, missing_rate=_MISSING_RATE
        )
        labels = np.where(people.regions == 0, 1.0, -1.0)
        matrix = DenseMatrix(people.X, "genotypes", missing=MISSING_CALL)
        return Problem(people.X, labels, 1.0 / d, matrix, standardise=True)

    words = f"{n:,} × {d:,} genotypes, int8, standardised on the fly, one region against the rest"
    return DataSet("genotypes", words, make, size, "int8")


def text_problem(read: Callable[[Path], tuple[Any, NDArray[Any]]], documents: int | None) -> Problem:
    """Return documents as tf-idf rows of norm 1.

    Parameters
    ----------
    read : callable
        Given the folder of the data sets, returns counts and labels.
    documents : int, optional
        At most so many.

    Returns
    -------
    problem : Problem
        CSR, float32.
    """
    folder = os.environ.get("SLIMLINE_DATA", "")
    if not folder:
        raise LeftOut("SLIMLINE_DATA does not name the folder of the public data sets", "absent")
    try:
        counts, labels = read(Path(folder))
    except FileNotFoundError as error:
        raise LeftOut(f"{error.filename} is not there", "absent") from None
    if documents is not None and documents < len(labels):
        kept = np.sort(np.random.default_rng(0).choice(len(labels), documents, replace=False))
        counts, labels = counts[kept], labels[kept]
    X = tf_idf(counts)
    return Problem(X, np.where(labels > 0, 1.0, -1.0), 1.0, open_matrix(X))


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


def _newsgroup_pair(folder: Path) -> tuple[Any, NDArray[Any]]:
    counts, labels = _all_newsgroups(folder)
    kept = np.flatnonzero(np.isin(labels, _PAIR))
    return counts[kept], np.where(labels[kept] == _PAIR[0], 1, -1)


def _newsgroups(folder: Path) -> tuple[Any, NDArray[Any]]:
    counts, labels = _all_newsgroups(folder)
    return counts, np.where(np.isin(labels, _COMPUTERS), 1, -1)


def _all_newsgroups(folder: Path) -> tuple[Any, NDArray[Any]]:
    place = folder / "newsgroups20"
    return sp.csr_array(sp.load_npz(place / "counts_train.npz")), np.load(place / "labels_train.npy")


def _farm_ads(folder: Path) -> tuple[Any, NDArray[Any]]:
    place = folder / "farm_ads"
    return sp.csr_array(sp.load_npz(place / "farm_ads.npz")), np.load(place / "labels.npy")
