"""Directions that are known exactly: what the steps so far have taught about the true Gram matrix.

A step that multiplies the data with β learns Kβ without error. The model of K is corrected so that it agrees with K on
the span of all such β: the sketch's part of these directions is taken out and the exact one put in,

    K̃ = K̂ - K̂B (BᵀK̂B)⁻¹ BᵀK̂ + KB (BᵀKB)⁻¹ BᵀK,

which stays positive semi-definite. (It is the block form of the BFGS update.) In features: the sketch is projected
onto the complement of Zᵀβ, and the values of the directions are put beside it as exact columns. The sketch then only
has to be right about what is still unknown, and each step contracts what the steps before have left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: A new direction is kept if it is not within rounding of the span of the old ones.
_NEW = 1e-13


class Directions:
    """Vectors β with βᵀKβ = 1, orthogonal in the inner product of K, and their products h = Kβ.

    Parameters
    ----------
    n_samples : int
        Length of the vectors.
    """

    def __init__(self, n_samples: int) -> None:
        self.vectors = np.zeros((n_samples, 0))
        self.products = np.zeros((n_samples, 0))

    def __len__(self) -> int:
        return self.vectors.shape[1]

    def add(self, vector: Floats, product: Floats) -> None:
        """Take in a direction β and Kβ, unless it is known already.

        Parameters
        ----------
        vector, product : array of shape (n_samples,)
            β and Kβ.
        """
        whole = float(vector @ product)
        if not whole > 0.0:
            return
        for _ in range(2):  # once more, for what rounding left
            part = self.products.T @ vector
            vector = vector - self.vectors @ part
            product = product - self.products @ part
        square = float(vector @ product)
        if not square > _NEW * whole:
            return
        self.vectors = np.column_stack([self.vectors, vector / np.sqrt(square)])
        self.products = np.column_stack([self.products, product / np.sqrt(square)])


def orthonormal_part(square: Floats, images: Floats) -> Floats:
    """Return images V with V Vᵀ = images · square⁻¹ · imagesᵀ, leaving out what is zero to rounding.

    Parameters
    ----------
    square : array of shape (m, m)
        Symmetric, positive semi-definite.
    images : array of shape (n, m)
        One column each.

    Returns
    -------
    V : array of shape (n, at most m)
        Columns.
    """
    values, vectors = np.linalg.eigh(0.5 * (square + square.T))
    kept = values > 1e-12 * max(values[-1], 0.0) if len(values) else values > 0
    return np.asarray(images @ (vectors[:, kept] / np.sqrt(values[kept])))
