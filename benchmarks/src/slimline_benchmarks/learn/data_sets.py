"""The data sets that are learned from."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.data import open_matrix, simulate_genotypes, write_genotypes
from slimline.data._blocks import MISSING_CALL
from slimline.data.formats._dense import DenseMatrix
from slimline_benchmarks.data_sets import DataSet, Reader, Size, all_newsgroups, newsgroup_pair, public_set, tf_idf
from slimline_benchmarks.learn.dense import realistic_data
from slimline_benchmarks.learn.problem import Problem, Regression
from slimline_benchmarks.learn.sizes import LearnSizes

#: As in the 1000 Genomes project.
_POPULATION: dict[str, Any] = {
    "n_regions": 5,
    "n_populations": 26,
    "fst": 0.005,
    "fst_region": 0.05,
    "missing_rate": 0.01,
}
_PEOPLE_SEED = 1
#: Columns that the trait depends on.
_CAUSAL = 1000
#: Newsgroups about computers, against all others.
_COMPUTERS = (1, 2, 3, 4, 5)


def learning_sets(sizes: LearnSizes) -> tuple[DataSet[Problem], ...]:
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

    def text(name: str, words: str, read: Reader) -> DataSet[Problem]:
        return DataSet(name, words, lambda: text_problem(read, sizes.documents), None, "sparse")

    return (
        dense_set("dense", sizes.dense, spectrum),
        genotype_set(sizes.genotypes),
        dense_set("square", sizes.square, spectrum, seed=1),
        text("pair", "two newsgroups (IBM and Mac hardware), tf-idf", newsgroup_pair),
        text("newsgroups", "newsgroups, computers against the rest, tf-idf", _newsgroups),
        text("farm-ads", "farm ads, approved or not, tf-idf", _farm_ads),
    )


def dense_set(name: str, size: Size, words: str, C: float = 1.0, seed: int = 0) -> DataSet[Problem]:
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
        return Problem(X, labels, open_matrix(X), C)

    return DataSet(name, f"{size[0]:,} × {size[1]:,} float32, {words}", make, size)


def genotype_set(size: Size) -> DataSet[Problem]:
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
        people = simulate_genotypes(n, d, **_POPULATION, seed=_PEOPLE_SEED)
        labels = np.where(people.regions == 0, 1.0, -1.0)
        matrix = DenseMatrix(people.X, "genotypes", missing=MISSING_CALL)
        return Problem(people.X, labels, matrix, 1.0 / d, standardise=True)

    words = f"{n:,} × {d:,} genotypes, int8, standardised on the fly, one region against the rest"
    return DataSet("genotypes", words, make, size, "int8")


def trait_sets(sizes: LearnSizes) -> tuple[DataSet[Problem], ...]:
    """Return the data sets of regression: a quantitative trait of the dense data and of the genotypes.

    Parameters
    ----------
    sizes : LearnSizes
        How large they are.

    Returns
    -------
    sets : tuple of DataSet
        The same data as for classes; the genotypes in memory and in a PLINK file.
    """
    (n, d), (people, variants) = sizes.dense, sizes.genotypes

    def dense() -> Problem:
        X, _ = realistic_data(n, d)
        return Regression(X, trait_of(X), open_matrix(X))

    def genotypes() -> Problem:
        folder = Path(mkdtemp(prefix="slimline-bench-"))
        bed, array = folder / "people.bed", folder / "people.npy"
        write_genotypes(bed, people, variants, **_POPULATION, formats=("plink", "npy"), seed=_PEOPLE_SEED)
        X = np.load(array)
        array.unlink()
        matrix = DenseMatrix(X, "genotypes", missing=MISSING_CALL)
        problem = Regression(X, trait_of(X), matrix, 1.0 / variants, standardise=True, bed=bed)
        finalize(problem, rmtree, folder, ignore_errors=True)
        return problem

    words = f"{people:,} × {variants:,} genotypes, int8, standardised on the fly, quantitative trait, free intercept"
    spectrum = f"{n:,} × {d:,} float32, realistic spectrum, rows of norm 1, quantitative trait, free intercept"
    return (
        DataSet("dense-trait", spectrum, dense, (n, d)),
        DataSet("genotypes-trait", words, genotypes, (people, variants), "int8"),
    )


def trait_of(X: NDArray[Any], seed: int = 3) -> NDArray[np.float64]:
    """Return a trait of mean 10 and deviation 1, half of whose variance a few standardised columns explain.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Numbers, or genotypes whose missing calls count as the mean.
    seed : int
        Of the columns, their effects and the noise.

    Returns
    -------
    trait : array of shape (n_samples,)
        Target.
    """
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(X.shape[1], size=min(_CAUSAL, X.shape[1]), replace=False))
    columns = X[:, chosen].astype(np.float64)
    if X.dtype == np.int8:
        columns[columns == MISSING_CALL] = np.nan
    columns -= np.nanmean(columns, axis=0)
    deviation = np.nanstd(columns, axis=0)
    columns = np.nan_to_num(columns / np.where(deviation > 0.0, deviation, 1.0))
    score, noise = columns @ rng.standard_normal(len(chosen)), rng.standard_normal(len(X))
    trait = score / (score.std() or 1.0) + noise / noise.std()
    return np.asarray(10.0 + (trait - trait.mean()) / trait.std())


def text_problem(read: Reader, documents: int | None) -> Problem:
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
    counts, labels = public_set(read, documents)
    X = tf_idf(counts)
    return Problem(X, labels, open_matrix(X))


def _newsgroups(folder: Path) -> tuple[Any, NDArray[Any]]:
    counts, labels = all_newsgroups(folder)
    return counts, np.where(np.isin(labels, _COMPUTERS), 1, -1)


def _farm_ads(folder: Path) -> tuple[Any, NDArray[Any]]:
    place = folder / "farm_ads"
    return sp.csr_array(sp.load_npz(place / "farm_ads.npz")), np.load(place / "labels.npy")
