"""The margin of several classes, each with a vector of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.class_labels import class_codes
from slimline.geometry.convex import ConvexPoints, Look, Nearest, nearest
from slimline.geometry.inputs import require_directions
from slimline.geometry.margin import FIRST, VANISHED, is_separable
from slimline.geometry.points import MOST_POINTS, Points
from slimline.geometry.records import MulticlassMargin, reached_by
from slimline.geometry.rivals import Rivals
from slimline.parameters import number
from slimline.recovery.rounding import sum_error

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

#: Pairs of the largest working set, and up to how many all pairs are in the first one.
_MOST_PAIRS, _FEW_PAIRS = 12_000, 3000
#: Times that the classes are weighed anew, and how often without a narrower bracket.
_MOST_WEIGHINGS, _MOST_IDLE = 200, 12
#: The least weight of a class, as a part of the largest.
_LEAST_WEIGHT = 1e-6


def multiclass_margin(X: Any, y: Any, *, normalised: bool = True, tol: float = 1e-6) -> MulticlassMargin:
    """Return the margin of several classes: the largest lead that every point's own class can have over all others.

    Normalised, it is shi2012's Definition 7: max over vectors u_y of the least cos(u_yᵢ, xᵢ) - max cos(u_y', xᵢ). That
    is not convex on spheres. With ‖u_y‖ ≤ 1 it is, and an upper bound: its dual is the least Σ_y ‖z_y‖ over convex
    combinations z of the pairs of a point and a rival class. Its solution, scaled to norm 1, is a lower bound; the two
    are the same unless some z_y is 0. Not normalised, it is Crammer and Singer's hard margin 1/‖W‖: the largest least
    ⟨w_yᵢ - w_y', xᵢ⟩ for Σ ‖w_y‖² = 1. With two classes these are twice and √2 times `margin`.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path, Matrix or Points
        One row a point.
    y : array-like of shape (n_samples,)
        Labels of two classes or more.
    normalised : bool
        Which of the two.
    tol : float
        Width of the bracket, as a part of the margin.

    Returns
    -------
    margin : MulticlassMargin
        `lower` is what the separators attain; equal vectors attain 0, so it is never below that.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.geometry import multiclass_margin
    >>> found = multiclass_margin(np.eye(3), [0, 1, 2])
    >>> round(found.value, 5), round(found.upper, 5)
    (1.22474, 1.22474)
    """
    tol = number("tol", tol, 0.0, 0.5)
    data = Points.of(X)
    names, codes = class_codes(y, data.matrix)
    points = _PairPoints(data, Rivals(codes, len(names)), normalised)
    best, found = _normalised(points, tol) if normalised else _plain(points, tol)
    separable = True if best.lower > 0.0 else False if best.upper <= VANISHED * points.zero else None
    index = found.supports
    lower = best.lower if separable else 0.0
    return MulticlassMargin(
        value=lower,
        lower=lower,
        upper=best.upper,
        reached=reached_by(found.looks, len(found.index), len(points.pairs), "pairs of a point and a rival class"),
        separable=separable,
        separators=np.ascontiguousarray(best.separators.T),
        support=points.pairs.points(index),
        rivals=points.pairs.classes(index),
        multipliers=found.weights[found.weights > 0.0],
        classes=tuple(name.item() for name in names),
        normalised=normalised,
    )


@dataclass(frozen=True)
class _Best:
    lower: float
    upper: float
    separators: Floats  # one column a class


@dataclass(frozen=True)
class _Vectors:
    """The vectors z_y of the classes, and what they say of each point."""

    weights: Floats
    norms: Floats
    upper: Floats  # of each norm
    values: Floats
    error: Floats


class _PairPoints(ConvexPoints):
    """(e_own - e_rival) ⊗ x for every pair, with the part of class y divided by √η_y."""

    def __init__(self, data: Points, pairs: Rivals, normalised: bool) -> None:
        super().__init__(np.zeros(len(pairs), dtype=np.uint8), min(_MOST_PAIRS, MOST_POINTS))
        self.data, self.pairs, self.normalised = data, pairs, normalised
        self._whole = data.gram() if data.at_once else None
        norms = np.sqrt(data.squares)
        if normalised:
            require_directions(norms, data.matrix)
        self.factor = 1.0 / norms if normalised else np.ones(len(norms))
        self.norms_error = data.norms_error if normalised else 0.0
        self.eta = np.ones(pairs.n_classes)

    @property
    def zero(self) -> float:
        return float(np.sqrt(2.0)) * (1.0 if self.normalised else float(np.sqrt(self.data.squares.max())))

    def start(self) -> Index:
        return np.arange(len(self.pairs)) if len(self.pairs) <= _FEW_PAIRS else self.pairs.start(FIRST)

    def gram(self, index: Index) -> Floats:
        rows = self.pairs.points(index)
        if self._whole is not None:
            K = self._whole[np.ix_(rows, rows)]
        else:
            distinct, places = np.unique(rows, return_inverse=True)
            K = self.data.gram(distinct)[np.ix_(places, places)]
        signs, factor = self.pairs.signs(index), self.factor[rows]
        K *= (signs / self.eta) @ signs.T
        K *= factor[:, None]
        K *= factor
        return np.ascontiguousarray(K)

    def look(self, index: Index, weights: Floats) -> Look:
        vectors = self.vectors(index, weights)
        norm = float(np.sqrt(np.sum(np.square(vectors.norms) / self.eta)))
        upper = float(np.sqrt(np.sum(np.square(vectors.upper) / self.eta)))
        leads = self.pairs.leads(vectors.values / self.eta)
        sure = leads - self.pairs.doubts(vectors.error / self.eta)
        least = float(sure.min())
        lower = least / upper if least > 0.0 and upper > 0.0 else 0.0
        return Look(lower, upper, 0.5 * norm * norm, leads, vectors)

    def vectors(self, index: Index, weights: Floats) -> _Vectors:
        """Return the vector of each class, and its products with the scaled points."""
        factor = self.factor[:, None]
        sums = self.data.combination(self.pairs.spread(index, weights) * factor)
        norms = np.linalg.norm(sums.weights, axis=0)
        slack = 1.0 + 2.0 * sum_error(len(weights)) + self.norms_error + sum_error(len(sums.weights))
        values = sums.values * factor
        error = sums.values_error * factor + self.norms_error * np.abs(values)
        return _Vectors(sums.weights, norms, norms * slack + sums.weights_error, values, error)


def _plain(points: _PairPoints, tol: float) -> tuple[_Best, Nearest]:
    found = nearest(points, tol)
    W = found.lowest.witness.weights
    norm = max(float(np.linalg.norm(W)), np.finfo(float).tiny)
    return _Best(found.lower if is_separable(found, points) else 0.0, found.upper, W / norm), found


def _normalised(points: _PairPoints, tol: float) -> tuple[_Best, Nearest]:
    """Weigh the classes anew until Σ ‖z_y‖²/η_y, least over η with Σ η = 1, is (Σ ‖z_y‖)²: then η_y is as ‖z_y‖."""
    points.eta = np.full(points.pairs.n_classes, 1.0 / points.pairs.n_classes)
    best = _Best(0.0, np.inf, np.zeros((points.data.shape[1], points.pairs.n_classes)))
    start, idle, inner, looks = None, 0, 1e-3, 0
    for _ in range(_MOST_WEIGHINGS):
        found = nearest(points, inner, start)
        start, looks = (found.index, found.weights), looks + found.looks
        before = best.upper - best.lower
        for vectors in (found.lowest.witness, found.highest.witness):
            best = _better(best, points, vectors)
        gap = best.upper - best.lower
        if gap <= tol * best.upper or best.upper <= VANISHED * points.zero:
            break
        idle = 0 if gap < 0.99 * before else idle + 1
        if idle > _MOST_IDLE:
            break
        inner = float(np.clip(0.01 * gap / best.upper, 0.01 * tol, inner))
        norms = found.highest.witness.norms
        eta = np.maximum(norms, _LEAST_WEIGHT * max(float(norms.max()), np.finfo(float).tiny))
        points.eta = eta / eta.sum()
    return best, Nearest(
        found.lower, found.upper, found.lowest, found.highest, found.index, found.weights, found.Q, looks
    )


def _better(best: _Best, points: _PairPoints, vectors: _Vectors) -> _Best:
    norms = np.where(vectors.norms > 0.0, vectors.norms, 1.0)
    leads = points.pairs.leads(vectors.values / norms)
    sure = float((leads - points.pairs.doubts(vectors.error / norms)).min())
    sure /= 1.0 + sum_error(len(vectors.weights)) if sure > 0.0 else 1.0
    upper = min(best.upper, float(vectors.upper.sum()))
    if (vectors.norms == 0.0).any() or not sure > best.lower:
        return _Best(best.lower, upper, best.separators)
    return _Best(sure, upper, vectors.weights / norms)
