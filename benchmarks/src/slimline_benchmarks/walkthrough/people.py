"""The people of the demonstration, the distances between them, and products by blocks of variants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from slimline.data import Genotypes
from slimline.laws import norm_failure
from slimline_benchmarks.walkthrough.records import BEYOND, Distortion

_TRAINING_PART = 0.7
_BLOCK_BYTES = 32 << 20

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class People:
    """Simulated people, who of them trains, and the true distances.

    Parameters
    ----------
    data : Genotypes
        The people.
    n_train : int
        The first so many train (they are in random order), the others test.
    distances : array
        Squared distance of each pair.
    """

    data: Genotypes
    n_train: int
    distances: NDArray[np.float64]

    @property
    def ridge(self) -> float:
        """Penalty of the classifiers: the mean squared distance, so that it means the same for every size."""
        return float(self.distances.mean())

    @property
    def training(self) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Genotypes and populations to train with."""
        return self.data.X[: self.n_train], self.data.populations[: self.n_train]

    @property
    def testing(self) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Genotypes and populations that nobody has seen."""
        return self.data.X[self.n_train :], self.data.populations[self.n_train :]


def know_people(data: Genotypes) -> People:
    """Return the people with the true distances between them."""
    n = len(data.X)
    gram = np.zeros((n, n), dtype=np.float64)
    for columns in blocks(data.X):
        block = data.X[:, columns].astype(np.float32)
        gram += block @ block.T  # whole numbers below 2^24: exact in float32
    return People(data, round(_TRAINING_PART * n), pair_distances(gram))


def pair_distances(gram: Floats) -> NDArray[np.float64]:
    """Return the squared distance of each pair of rows, from their inner products."""
    norms = np.diagonal(gram)
    first, second = np.triu_indices(len(gram), k=1)
    return np.asarray(norms[first] + norms[second] - 2.0 * gram[first, second], dtype=np.float64)


def measure_distortion(true: NDArray[np.float64], Z: Floats) -> Distortion:
    """Return how much the squared distances of the sketch's rows differ from the true ones."""
    wide = Z.astype(np.float64)
    change = np.abs(pair_distances(wide @ wide.T) / true - 1.0)
    typical = float(np.sqrt(np.mean(change**2)))
    return Distortion(typical, float(change.max()), float(np.mean(change > BEYOND)))


def lawful_distortion(n_components: int, pairs: int) -> Distortion:
    """Return what the exact law of the norm says: χ² with r degrees of freedom over r."""
    worst = brentq(lambda eps: pairs * norm_failure(n_components, eps) - 1.0, 1e-9, 1e3)
    return Distortion(float(np.sqrt(2.0 / n_components)), float(worst), norm_failure(n_components, BEYOND))


def blocks(X: NDArray[np.int8]) -> Iterator[slice]:
    """Yield ranges of columns that are a few megabytes in float32."""
    step = max(1, _BLOCK_BYTES // (4 * len(X)))
    for start in range(0, X.shape[1], step):
        yield slice(start, min(start + step, X.shape[1]))


def scores(X: NDArray[np.int8], W: Floats) -> Floats:
    """Return X Wᵀ, block by block."""
    total = np.zeros((len(X), len(W)))
    for columns in blocks(X):
        total += X[:, columns].astype(np.float32) @ W[:, columns].T
    return total


def look_back(X: NDArray[np.int8], A: Floats) -> NDArray[np.float64]:
    """Return Aᵀ X, block by block."""
    out = np.empty((A.shape[1], X.shape[1]))
    left = A.T.astype(np.float32)
    for columns in blocks(X):
        out[:, columns] = left @ X[:, columns].astype(np.float32)
    return out
