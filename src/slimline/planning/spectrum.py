"""The effective dimension, from a sketch of a sample of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of XXᵀ for some of the rows, and for half of those.

    Parameters
    ----------
    eigenvalues, of_half : array
        In any order, not negative.
    n_samples : float
        How many rows there are in all.
    """

    eigenvalues: Floats
    of_half: Floats
    n_samples: float

    def of_sample(self, penalty: float) -> float:
        """Return d_λ = tr K(K + λI)⁻¹ of the rows that were looked at.

        Parameters
        ----------
        penalty : float
            λ.

        Returns
        -------
        dimension : float
            At most their number.
        """
        return _effective(self.eigenvalues, penalty)

    def of_all(self, penalty: float) -> float:
        """Return d_λ of all rows: it grows from the sample on as it grew from half of it.

        Parameters
        ----------
        penalty : float
            λ.

        Returns
        -------
        dimension : float
            At most n.
        """
        here, half = self.of_sample(penalty), _effective(self.of_half, penalty)
        size = len(self.eigenvalues)
        if size < 2 or here <= 0.0 or half <= 0.0:
            return here * self.n_samples / size
        doublings = np.log(self.n_samples / size) / np.log(size / len(self.of_half))
        growth = float(np.clip(here / half, 1.0, size / len(self.of_half)))
        return float(min(here * growth**doublings, self.n_samples))


def spectrum_of(K: Floats, n_samples: float) -> Spectrum:
    """Return the spectrum of the sample's XXᵀ, whose rows must be in random order.

    Parameters
    ----------
    K : array of shape (sample, sample)
        XXᵀ of the sample.
    n_samples : float
        How many rows there are in all.

    Returns
    -------
    spectrum : Spectrum
        Of it and of its first half.
    """
    half = (len(K) + 1) // 2
    return Spectrum(_eigenvalues(K), _eigenvalues(K[:half, :half]), float(n_samples))


def _eigenvalues(K: Floats) -> Floats:
    return np.asarray(np.maximum(np.linalg.eigvalsh(K), 0.0))


def _effective(eigenvalues: Floats, penalty: float) -> float:
    return float(np.sum(eigenvalues / (eigenvalues + penalty)))
