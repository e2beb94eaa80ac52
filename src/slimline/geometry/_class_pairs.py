"""Pairs of classes, and ascent on unit spheres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from slimline.geometry._points import Points

Floats = NDArray[np.float64]

#: Sharpness of the soft minimum, over the size of the margin: the last one is off by a thousandth.
_SHARPNESS = (10.0, 100.0, 1000.0, 10_000.0)
#: Evaluations for each of them, two passes each.
_EVALUATIONS = 30


def ascend(data: Points, factor: Floats, pairs: ClassPairs, start: Floats, size: float) -> Floats:
    """Return unit vectors of a larger least lead, found by L-BFGS on ever sharper soft minima of the leads."""
    search: Any = minimize
    every = np.arange(len(pairs))
    best, most = start / np.linalg.norm(start, axis=0), -np.inf

    def soft(flat: Floats, sharpness: float) -> tuple[float, Floats]:
        nonlocal best, most
        V = flat.reshape(start.shape)
        norms = np.maximum(np.linalg.norm(V, axis=0), np.finfo(float).tiny)
        U = V / norms
        leads = pairs.leads(data.matrix.dot(U) * factor[:, None])
        least = float(leads.min())
        if least > most:
            best, most = U, least
        weights = np.exp(-sharpness * (leads - least))
        total = float(weights.sum())
        G = data.matrix.tdot(pairs.spread(every, weights / total) * factor[:, None])
        G -= U * np.sum(U * G, axis=0)  # along the spheres
        return float(np.log(total)) / sharpness - least, -(G / norms).ravel()

    for sharpness in _SHARPNESS:
        options = {"maxfun": _EVALUATIONS, "maxiter": _EVALUATIONS}
        search(soft, best.ravel(), args=(sharpness / size,), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(best)


Index = NDArray[np.intp]


@dataclass(frozen=True)
class ClassPairs:
    """Pairs of a point and a rival class, numbered point by point."""

    #: Number of each point's class; of shape (n_samples,).
    codes: Index
    #: L: there are n(L - 1) pairs.
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
        """Return the score of the own class less that of each rival, for all pairs."""
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
