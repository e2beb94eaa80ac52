"""Simulated genotypes as an array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline.data.simulate.model import PopulationModel, require_count


@dataclass(frozen=True)
class Genotypes:
    """Simulated people.

    Parameters
    ----------
    X : array of shape (n_samples, n_features), int8
        Copies of the allele: 0, 1 or 2; -127 for a missing call.
    populations : array of shape (n_samples,), int64
        Population of each person, from 0.
    frequencies : array of shape (n_populations, n_features), float32
        Frequency of each allele in each population: the truth behind `X`.
    regions : array of shape (n_samples,), int64
        Region of each person, from 0.
    """

    X: NDArray[np.int8]
    populations: NDArray[np.int64]
    frequencies: NDArray[np.float32]
    regions: NDArray[np.int64]


def simulate_genotypes(
    n_samples: int,
    n_features: int,
    n_populations: int = 5,
    fst: float = 0.02,
    seed: int = 0,
    *,
    n_regions: int = 1,
    fst_region: float = 0.1,
    missing_rate: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> Genotypes:
    """Return genotypes of people from populations that drifted apart.

    The model is that of `PopulationModel` (Balding and Nichols 1995): a variant's frequency in a population has mean
    p and variance F p (1 - p), p being its frequency before they parted and F `fst`; a person has two independent
    copies. Variants are independent, and the people of a population too.

    Parameters
    ----------
    n_samples : int
        People, shared out evenly among the populations and shuffled.
    n_features : int
        Variants.
    n_populations : int, default=5
        Populations.
    fst : float, default=0.02
        How far they drifted apart, in (0, 1): 0.1 is about the distance between continents, 0.005 within one.
    seed : int, default=0
        The same seed gives the same people; variants are drawn in groups of 512, each from its own stream.
    n_regions : int, default=1
        Regions that the populations are shared out among; with more than one, populations drift from their region.
    fst_region : float, default=0.1
        How far the regions drifted apart before.
    missing_rate : float, default=0
        Probability that a call is missing.
    progress : callable, optional
        Told of (variants done, variants in all).

    Returns
    -------
    genotypes : Genotypes
        Genotypes, populations and true frequencies.

    Examples
    --------
    >>> from slimline.data import simulate_genotypes
    >>> people = simulate_genotypes(100, 2000, n_populations=3, fst=0.1, seed=0)
    >>> people.X.shape, people.X.dtype
    ((100, 2000), dtype('int8'))
    >>> [int((people.populations == k).sum()) for k in range(3)]
    [34, 33, 33]
    """
    model = PopulationModel(n_samples, n_populations, n_regions, fst, fst_region, missing_rate, seed)
    require_count("n_features", n_features)
    X = np.empty((n_samples, n_features), dtype=np.int8)
    frequencies = np.empty((n_populations, n_features), dtype=np.float32)
    for piece in model.pieces(n_features):
        X[piece.rows, piece.columns] = piece.copies
        if piece.completes:
            frequencies[:, piece.columns] = piece.frequencies
            if progress is not None:
                progress(piece.columns.stop, n_features)
    populations = model.populations()
    return Genotypes(X, populations, frequencies, model.region_of_population[populations])
