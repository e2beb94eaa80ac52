"""Points for Theorems 1 and 2: clouds of a given rank, and points that a given projection treats as badly as it can."""

from __future__ import annotations

from typing import Any

import numpy as np

from slimline import geometry
from slimline_papers.paul2013.synthetic import Floats, Labels

RANKS = (2, 8, 32)
DIMENSIONS = (64, 256, 1024)
N_POINTS, N_FEATURES = 60, 2_000


def two_clouds(rng: np.random.Generator, rank: int, apart: float) -> tuple[Floats, Labels]:
    """Return two Gaussian clouds in a random subspace, and their labels.

    Parameters
    ----------
    rng : Generator
        Draws them.
    rank : int
        Dimensions of the subspace.
    apart : float
        Distance of their centres; each coordinate has deviation 1. From 8 on a plane separates them.

    Returns
    -------
    X : array of shape (60, 2000)
        Points.
    y : array of shape (60,)
        -1 and +1.
    """
    y = np.repeat([-1, 1], N_POINTS // 2)
    coordinates = rng.standard_normal((N_POINTS, rank))
    coordinates[:, 0] = coordinates[:, 0].clip(-3, 3) + apart / 2 * y
    basis = np.linalg.qr(rng.standard_normal((N_FEATURES, rank)))[0]
    return coordinates @ basis.T, y


def worst_direction(X: Floats, fitted: Any) -> tuple[Floats, Floats]:
    """Return the direction of the row space whose length a projection changes most, and the points without it.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Points.
    fitted : projection transformer
        Fitted.

    Returns
    -------
    v : array of shape (n_features,)
        Of norm 1, with |1 - ‖Rᵀv‖²| = ‖VᵀV - VᵀRRᵀV‖₂.
    rest : array of shape (n_samples, n_features)
        The points, scaled to norm 1, less their part along v. Rᵀv is at right angles to their images, as v is to them:
        v is an eigenvector of the projection's error.
    """
    v = X.T @ geometry.embedding_error(X, fitted).witness
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return v, unit - np.outer(unit @ v, v)
