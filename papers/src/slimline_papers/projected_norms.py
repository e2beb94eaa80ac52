"""Squared norms of projected unit vectors: many of them, and how to measure what happens once in a billion times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slimline import GaussianProjection
from slimline_papers.study import Study

_FEWEST_FEATURES = 256


def squared_norms(study: Study, name: str, r: int, at_least: int) -> NDArray[np.float64]:
    """Project the vectors of an orthonormal basis, matrix after matrix.

    What a Gaussian matrix does to one vector of the basis is independent of what it does to the others.

    Parameters
    ----------
    study : Study
        Gives the seeds.
    name : str
        What they are for.
    r : int
        Columns of the projection.
    at_least : int
        How many norms are wanted.

    Returns
    -------
    norms : array
        ‖Rᵀx‖² of unit vectors x: independent.
    """
    seed = study.seed_of(name, "basis", r)
    features = max(_FEWEST_FEATURES, r)
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((features, features)))[0]
    norms = []
    for number in range(-(-at_least // features)):
        projection = GaussianProjection(r, random_state=study.seed_of(name, r, number))
        norms.append(np.sum(projection.fit_transform(basis) ** 2, axis=1))
    return np.concatenate(norms)


def upper_tail(norms: NDArray[np.float64], r: int, eps: float) -> tuple[float, float]:
    """Estimate how often a squared norm exceeds 1 + ε, by importance sampling.

    Each projection is multiplied by √(1+ε), which makes the event common. The ratio of the two Gaussian densities of
    Rᵀx, which depends on the norm only, takes that back.

    Parameters
    ----------
    norms : array
        ‖Rᵀx‖² of unit vectors x, not multiplied.
    r : int
        Columns of the projection.
    eps : float
        How far beyond 1.

    Returns
    -------
    probability, standard_error : float
        Without bias, whatever ε; the relative error hardly depends on how small the probability is.
    """
    largest = np.exp(r / 2 * (np.log1p(eps) - eps))
    weights = np.where(norms > 1, np.exp(-r / 2 * eps * np.maximum(norms - 1, 0)), 0.0)  # beside the largest
    return float(largest * weights.mean()), float(largest * weights.std(ddof=1) / np.sqrt(len(weights)))
