"""Every point paired with every class that is not its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Rivals:
    """Pairs of a point and a rival class, numbered point by point.

    Parameters
    ----------
    codes : array of shape (n_samples,)
        Number of each point's class.
    n_classes : int
        L: there are n(L - 1) pairs.
    """

    codes: Index
    n_classes: int

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.codes) * (self.n_classes - 1)

    @property
    def indicators(self) -> Floats:
        """Return 1 for the class of each point, 0 for the others, of shape (n_samples, n_classes)."""
        return np.eye(self.n_classes)[self.codes]

    def points(self, index: Index) -> Index:
        """Return the row number of each pair."""
        return np.asarray(index // (self.n_classes - 1))

    def classes(self, index: Index) -> Index:
        """Return the rival class of each pair."""
        place = index % (self.n_classes - 1)
        return np.asarray(place + (place >= self.codes[self.points(index)]))

    def signs(self, index: Index) -> Floats:
        """Return one row a pair: 1 for the own class, -1 for the rival, 0 for the others."""
        signs = np.zeros((len(index), self.n_classes))
        every = np.arange(len(index))
        signs[every, self.codes[self.points(index)]] = 1.0
        signs[every, self.classes(index)] = -1.0
        return signs

    def leads(self, scores: Floats) -> Floats:
        """Return the score of the own class less that of each rival, for all pairs.

        Parameters
        ----------
        scores : array of shape (n_samples, n_classes)
            One a point and class.

        Returns
        -------
        leads : array of shape (n_pairs,)
            In the order of the pairs.
        """
        own = scores[np.arange(len(self.codes)), self.codes]
        others = np.ones(scores.shape, dtype=bool)
        others[np.arange(len(self.codes)), self.codes] = False
        return np.asarray((own[:, None] - scores[others].reshape(len(own), -1)).ravel())

    def doubts(self, errors: Floats) -> Floats:
        """Return the sum of two errors for all pairs: by so much a lead may be off."""
        return -self.leads(np.where(np.arange(self.n_classes) == self.codes[:, None], -errors, errors))

    def spread(self, index: Index, weights: Floats) -> Floats:
        """Return the coefficient of each point in the vector of each class, of shape (n_samples, n_classes)."""
        total = np.zeros((len(self.codes), self.n_classes))
        rows = self.points(index)
        np.add.at(total, (rows, self.codes[rows]), weights)
        np.add.at(total, (rows, self.classes(index)), -weights)
        return total

    def start(self, count: int) -> Index:
        """Return about `count` pairs, spread over points and rivals."""
        step = max(1, len(self) // count)
        step += step % (self.n_classes - 1) == 0 and self.n_classes > 2  # not always the same rival
        return np.arange(0, len(self), step)
