"""Traits and covariates of simulated people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slimline.data._blocks import MISSING_CALL

if TYPE_CHECKING:
    from slimline.data._simulate import Piece

Floats = NDArray[np.float64]
#: Share of the variants that have an effect, and the largest effect: whole numbers have exact sums in float32.
_CAUSAL, _LARGEST = 0.1, 100
#: Variants whose principal components are taken.
_VARIANTS_OF_COMPONENTS = 512
#: Mean and standard deviation of the height without its parts, in cm, and what a man and a year of age add.
_HEIGHT, _DEVIATION, _MAN, _YEAR = 166.0, 6.0, 13.0, -0.05
#: Share of the traits' variance that is genetic, and of the people who are cases.
_HERITABILITY, _CASES = 0.5, 0.3
_YOUNGEST, _OLDEST = 20, 80


class GeneticValues:
    """Adds up the effects of the variants of each person; a missing call counts as one copy."""

    def __init__(self, n_samples: int, generator: Callable[[int], np.random.Generator], group: int) -> None:
        self.values = np.zeros(n_samples)
        self._generator, self._group, self._start = generator, group, -1
        self._effects = np.zeros(0, dtype=np.float32)

    def add(self, rows: NDArray[np.intp], columns: slice, copies: NDArray[np.int8]) -> None:
        """Add the effects of some variants of some people."""
        if columns.start != self._start:
            self._start, rng = columns.start, self._generator(columns.start // self._group)
            effects = rng.integers(-_LARGEST, _LARGEST, self._group, endpoint=True)
            self._effects = np.where(rng.random(self._group) < _CAUSAL, effects, 0).astype(np.float32)
        called = np.where(copies == MISSING_CALL, 1, copies).astype(np.float32)
        self.values[rows] += called @ self._effects[: copies.shape[1]]

    def complete(self, columns: slice) -> None:
        """Do nothing: all is added as it comes."""


@dataclass(frozen=True)
class Traits:
    """Traits and covariates of people, one a person."""

    #: In cm.
    height: Floats
    #: 1 or 2, as PLINK codes controls and cases.
    case: NDArray[np.int64]
    age: NDArray[np.int64]
    #: 1 or 2, as PLINK codes men and women.
    sex: NDArray[np.int64]
    #: Principal components of some variants; of shape (n_samples, 2).
    components: Floats


def traits_of(genetic: Floats, components: Floats, rng: np.random.Generator) -> Traits:
    """Return traits of which a half of the variance is genetic, once sex and age are accounted for."""
    n = len(genetic)
    age, sex = rng.integers(_YOUNGEST, _OLDEST, n, endpoint=True), rng.integers(1, 2, n, endpoint=True)
    inherited = np.sqrt(_HERITABILITY) * (genetic - genetic.mean()) / (genetic.std() or 1.0)
    height, liability = (inherited + np.sqrt(1.0 - _HERITABILITY) * rng.standard_normal(n) for _ in range(2))
    years = age - 0.5 * (_YOUNGEST + _OLDEST)
    liability += years / (_OLDEST - _YOUNGEST)
    return Traits(
        height=np.round(_HEIGHT + _DEVIATION * height + _MAN * (sex == 1) + _YEAR * years, 1),
        case=np.where(liability > np.quantile(liability, 1.0 - _CASES), 2, 1),
        age=age,
        sex=sex,
        components=components,
    )


def components_of(pieces: Callable[[int], Iterable[Piece]], n_samples: int, n_features: int) -> Floats:
    """Return the first two principal components, scaled to variance 1, of the first variants, which are drawn again."""
    d = min(n_features, _VARIANTS_OF_COMPONENTS)
    sums = np.zeros((3, d))
    for piece in pieces(d):
        called = piece.copies != MISSING_CALL
        copies = np.where(called, piece.copies, 0).astype(np.float64)
        sums[:, piece.columns] += called.sum(axis=0), copies.sum(axis=0), np.square(copies).sum(axis=0)
    count = np.maximum(sums[0], 1.0)
    mean = sums[1] / count
    deviation = np.sqrt(np.maximum(sums[2] / count - np.square(mean), 0.0))
    factor = np.divide(1.0, deviation, out=np.zeros(d), where=deviation > 1e-6)
    covariance = np.zeros((d, d))
    for _, values in _standardised(pieces(d), mean, factor):
        covariance += values.T @ values
    vectors = np.linalg.eigh(covariance)[1][:, ::-1][:, :2]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    found = np.zeros((n_samples, 2))
    for rows, values in _standardised(pieces(d), mean, factor):
        found[rows, : vectors.shape[1]] = values @ vectors
    deviations = found.std(axis=0)
    return found / np.where(deviations > 1e-6, deviations, 1.0)


def _standardised(pieces: Iterable[Piece], mean: Floats, factor: Floats) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    for piece in pieces:
        values = np.where(piece.copies == MISSING_CALL, mean[piece.columns], piece.copies)
        yield piece.rows, (values - mean[piece.columns]) * factor[piece.columns]


def phenotype_lines(people: Iterable[str], traits: Traits) -> Iterator[str]:
    """Yield the lines of a table of phenotypes, as PLINK reads it."""
    yield "FID\tIID\theight\tcase\n"
    for name, height, case in zip(people, traits.height.tolist(), traits.case.tolist(), strict=True):
        yield f"{name}\t{name}\t{height:.1f}\t{case}\n"


def covariate_lines(people: Iterable[str], traits: Traits) -> Iterator[str]:
    """Yield the lines of a table of covariates, as PLINK reads it."""
    yield "FID\tIID\tage\tsex\tPC1\tPC2\n"
    columns = (traits.age.tolist(), traits.sex.tolist(), traits.components.tolist())
    for name, age, sex, (first, second) in zip(people, *columns, strict=True):
        yield f"{name}\t{name}\t{age}\t{sex}\t{first:.5f}\t{second:.5f}\n"
