"""The effective dimension, from a sketch of a sample of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of XXᵀ for a sample of the rows, for half of it and for a quarter.

    Parameters
    ----------
    eigenvalues : tuple of array
        Of the sample, the half and the quarter; not negative.
    n_samples : float
        How many rows there are in all.
    """

    eigenvalues: tuple[Floats, Floats, Floats]
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
        return _effective(self.eigenvalues[0], penalty)

    def of_all(self, penalty: float) -> float:
        """Return d_λ of all rows.

        With each doubling of the rows it grows by a factor between 1, where nothing new is seen, and 2, where rows have
        nothing in common. That factor goes on falling as it fell from the quarter to the half to the sample.

        Parameters
        ----------
        penalty : float
            λ.

        Returns
        -------
        dimension : float
            At most n.
        """
        here, half, quarter = (_effective(eigenvalues, penalty) for eigenvalues in self.eigenvalues)
        size = len(self.eigenvalues[0])
        doublings = float(np.log2(max(self.n_samples / size, 1.0)))
        if size < 4 or quarter <= 0.0:
            return float(here * 2.0**doublings)
        excess = float(np.clip(here / half - 1.0, 0.0, 1.0))
        before = float(np.clip(half / quarter - 1.0, 1e-9, 1.0))
        fall = min(excess / before, 1.0)
        while doublings > 0.0:
            excess *= fall
            here *= (1.0 + excess) ** min(doublings, 1.0)
            doublings -= 1.0
        return float(min(here, self.n_samples))


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
        Of it, of its first half and of its first quarter.
    """
    half, quarter = (len(K) + 1) // 2, (len(K) + 3) // 4
    parts = (_eigenvalues(K), _eigenvalues(K[:half, :half]), _eigenvalues(K[:quarter, :quarter]))
    return Spectrum(parts, float(n_samples))


def _eigenvalues(K: Floats) -> Floats:
    return np.asarray(np.maximum(np.linalg.eigvalsh(K), 0.0))


def _effective(eigenvalues: Floats, penalty: float) -> float:
    return float(np.sum(eigenvalues / (eigenvalues + penalty)))
