"""Pairs of vectors, projected: how often their cosine or inner product changes by more than a share of itself."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import DataDimensionalityWarning

from slimline import GaussianProjection, laws
from slimline_papers.item import Experiment, Part
from slimline_papers.printed import printed
from slimline_papers.study import Study
from slimline_papers.table import Table

_PRINTED = printed("shi2012", "fig2")
ACUTE, OBTUSE = tuple(_PRINTED["cosines_acute"]), tuple(_PRINTED["cosines_obtuse"])
EPS = tuple(_PRINTED["eps"])
#: Dimensions beyond the printed ones, to see where it goes.
_BEYOND = (1_200, 3_600, 12_000)
ANGLE, INNER_PRODUCT = "angle", "inner product"
#: The printed cosines, and the opposite of each.
COSINES = np.array([*ACUTE, *OBTUSE, *(-c for c in ACUTE), *(-c for c in OBTUSE)])


def _parts(study: Study) -> Sequence[Part]:
    matrices = study.pick(200, _PRINTED["matrices"], _PRINTED["matrices"])
    beyond = study.pick(100, 300, _PRINTED["matrices"])
    larger = study.pick((3_600,), _BEYOND, _BEYOND)
    return [*((n, matrices) for n in _PRINTED["n"]), *((n, beyond) for n in larger)]


def pairs_of_vectors(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return vectors of norm 1 with the wanted cosines, in random planes.

    The planes are at right angles to each other, so that the projections of different pairs are independent.

    Parameters
    ----------
    seed : int
        Of the planes.

    Returns
    -------
    w, x : arrays of shape (n_cosines, d)
        Row i of one and of the other have the cosine `COSINES[i]`.
    """
    size = (_PRINTED["d"], 2 * len(COSINES))
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal(size))[0].T
    w, across = basis[: len(COSINES)], basis[len(COSINES) :]
    return w, COSINES[:, None] * w + np.sqrt(1 - COSINES**2)[:, None] * across


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    n, matrices = int(part[0]), int(part[1])
    vectors = np.vstack(pairs_of_vectors(study.seed_of("shi2012.angles")))
    inner, cosine = np.empty((2, matrices, len(COSINES)))
    for number in range(matrices):
        projection = GaussianProjection(n, random_state=study.seed_of("shi2012.angles", n, number))
        with warnings.catch_warnings():  # more dimensions than features are no sketch, but the law goes on
            warnings.simplefilter("ignore", DataDimensionalityWarning)
            w, x = np.split(projection.fit_transform(vectors), 2)
        inner[number] = np.sum(w * x, axis=1)
        cosine[number] = inner[number] / np.linalg.norm(w, axis=1) / np.linalg.norm(x, axis=1)
    for quantity, after in ((ANGLE, cosine), (INNER_PRODUCT, inner)):
        for eps in EPS:
            rejected = np.sum(np.abs(after / COSINES - 1) > eps, axis=0)
            for c, count in zip(COSINES, rejected, strict=True):
                yield n, matrices, quantity, c, eps, count


def rejection(quantity: str, n: ArrayLike, c: ArrayLike, eps: ArrayLike) -> NDArray[np.float64]:
    """Return the exact probability that an angle or an inner product is rejected.

    Parameters
    ----------
    quantity : {"angle", "inner product"}
        Which.
    n : array-like of int
        Dimensions after the projection.
    c : array-like
        The cosine before it.
    eps : array-like
        Rejected is what lies outside 1 ± eps times what it was.

    Returns
    -------
    probability : array
        Of a Gaussian projection.
    """
    law = laws.cosine if quantity == ANGLE else laws.inner_product
    ends = (1 - np.asarray(eps)) * c, (1 + np.asarray(eps)) * c
    return np.asarray(law.cdf(np.minimum(*ends), n, c) + law.sf(np.maximum(*ends), n, c))


def rejection_in(table: Table) -> NDArray[np.float64]:
    """Return the exact probability for every row of the experiment's table.

    Parameters
    ----------
    table : Table
        Rows of `ANGLES`.

    Returns
    -------
    probability : array
        In the order of the rows.
    """
    every = [rejection(quantity, table["n"], table["cosine"], table["eps"]) for quantity in (ANGLE, INNER_PRODUCT)]
    return np.where([value == ANGLE for value in table.values("quantity")], *every)


ANGLES = Experiment(
    name="shi2012.angles",
    about="Two unit vectors of R³⁰⁰ with a given cosine, projected by Gaussian matrices to n dimensions: how often the "
    "cosine, or the inner product, changes by more than a share ε of itself. The printed cosines and their opposites.",
    columns=("n", "matrices", "quantity", "cosine", "eps", "rejected"),
    parts=_parts,
    measure=_measure,
)
