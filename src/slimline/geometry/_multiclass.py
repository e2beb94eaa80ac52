"""The margin of several classes, each with a vector of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from slimline._base.checks import number
from slimline._base.rounding import sum_error
from slimline.data._labels import class_labels
from slimline.geometry._class_pairs import ClassPairs, ascend
from slimline.geometry._convex import ConvexPoints, Look, Nearest, nearest, usual_size
from slimline.geometry._inputs import Bracketed, MulticlassMargin, reached_by, require_directions, require_squares
from slimline.geometry._margin import FIRST, VANISHED, is_separable
from slimline.geometry._points import MOST_POINTS, Points, orthogonal_direction

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

#: Pairs of the largest working set, and up to how many all pairs are in the first one.
_MOST_PAIRS, _FEW_PAIRS = 12_000, 3000
#: Times that the classes are weighed anew: the first ones simply, and in all.
_SIMPLE_WEIGHINGS, _MOST_WEIGHINGS = 3, 200
#: The least weight of a class, as a part of all.
_LEAST_WEIGHT = 1e-7
#: Ends that are so far apart, as a part of the upper one, are worth a search over unit vectors.
_FAR_APART = 1e-3
#: How much narrower than the bracket the solution for given weights is to be.
_INNER = 0.01


def multiclass_margin(X: Any, y: Any, *, normalised: bool = True, tol: float = 1e-6) -> MulticlassMargin:
    """Return the margin of several classes: the largest lead that every point's own class can have over all others.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path, Matrix or Points
        One row a point.
    y : array-like of shape (n_samples,)
        Labels of two classes or more.
    normalised : bool
        True: the lead in cosines; False: Crammer and Singer's hard margin.
    tol : float
        Width of the bracket, relative to the margin.

    Returns
    -------
    margin : MulticlassMargin
        `lower` is what the separators attain; equal vectors attain 0, so it is never below that.

    See Also
    --------
    margin : Two classes. The multiclass margins of two classes are twice and √2 times as large.
    one_parameter_margin : One vector and a projection for each class.

    Notes
    -----
    Normalised, it is Definition 7 of [1]_, the maximum over vectors u_y of the least cos(u_yᵢ, xᵢ) - max cos(u_y', xᵢ),
    which is not convex. With ‖u_y‖ ≤ 1 the problem is convex and gives an upper bound; its dual is the least Σ_y ‖z_y‖
    over convex combinations z of the pairs of a point and another class. If some direction is orthogonal to all points,
    as it is with fewer points than features, a vector that is too short is extended along it, and the bound is
    attained. Otherwise the solution with each vector scaled to norm 1, improved by a local search, is the lower end,
    and the ends may differ.

    Not normalised, it is the hard margin 1/‖W‖ of [2]_: the largest least ⟨w_yᵢ - w_y', xᵢ⟩ for Σ ‖w_y‖² = 1.

    References
    ----------
    .. [1] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.
    .. [2] Crammer, K.; Singer, Y. (2001). "On the algorithmic implementation of multiclass kernel-based vector
       machines." Journal of Machine Learning Research 2, 265-292.

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
    names, codes = class_labels(y, data.shape[0])
    points = _PairPoints(data, ClassPairs(codes, len(names)), normalised)
    best, found = _normalised(points, tol) if normalised else _plain(points, tol)
    vanished = best.upper <= VANISHED * points.usual(found.index, found.weights)
    separable = True if best.lower > 0.0 else False if vanished else None
    index = found.supports
    lower = best.lower if separable else 0.0
    return MulticlassMargin(
        value=lower,
        lower=lower,
        upper=best.upper,
        reached=reached_by(found.looks, len(found.index), len(points.pairs), "pairs of a point and another class"),
        separable=separable,
        separators=np.ascontiguousarray(best.separators.T),
        support=points.pairs.points(index),
        rivals=points.pairs.classes(index),
        multipliers=found.weights[found.weights > 0.0],
        classes=tuple(name.item() for name in names),
        normalised=normalised,
    )


def stacked_margin(X: Any, y: Any, *, tol: float = 1e-8) -> Bracketed:
    """Return the margin of the one-parameter method before any projection: one vector with a part for every class.

    It is the largest least cosine of a vector with (xᵢ, -xᵢ), in the places of the point's own class and of a rival:
    Crammer and Singer's margin of the points scaled to norm 1, divided by √2.
    """
    tol = number("tol", tol, 0.0, 0.5)
    data = Points.of(X)
    names, codes = class_labels(y, data.shape[0])
    points = _PairPoints(data, ClassPairs(codes, len(names)), normalised=True)
    best, found = _plain(points, tol)
    lower, upper = best.lower / float(np.sqrt(2.0)), best.upper / float(np.sqrt(2.0))
    reached = reached_by(found.looks, len(found.index), len(points.pairs), "pairs of a point and another class")
    return Bracketed(lower, lower, upper, reached)


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

    def __init__(self, data: Points, pairs: ClassPairs, normalised: bool) -> None:
        super().__init__(np.zeros(len(pairs), dtype=np.uint8), min(_MOST_PAIRS, MOST_POINTS))
        self.data, self.pairs, self.normalised = data, pairs, normalised
        self._whole = data.gram() if data.at_once else None
        norms = np.sqrt(data.squares)
        if normalised:
            require_directions(norms, data.matrix)
        require_squares(data.squares, data.matrix)
        self.factor = 1.0 / norms if normalised else np.ones(len(norms))
        self.norms_error = data.norms_error if normalised else 0.0
        self.eta = np.ones(pairs.n_classes)

    @property
    def zero(self) -> float:
        return float(self._sizes.max())

    def usual(self, index: Index, weights: Floats) -> float:
        return usual_size(self._sizes, self.pairs.points(index), weights)

    @cached_property
    def _sizes(self) -> Floats:
        sizes = np.ones(len(self.factor)) if self.normalised else np.sqrt(self.data.squares)
        return np.asarray(np.sqrt(2.0) * sizes)

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
        K *= factor[:, None]  # first: large numbers, divided by small weights of classes, may overflow
        K *= factor
        K *= (signs / self.eta) @ signs.T
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


class _Weighing:
    """Search of the weights η of the classes for which no ‖u_y‖ is above 1.

    With φ(η) = ½ min Σ ‖z_y‖²/η_y + ½ Σ η_y, u_y = z_y/η_y solves the relaxed problem where φ is least: its derivatives
    are ½(1 - ‖u_y‖²), and at the minimum Σ ‖z_y‖ is the relaxed margin. Every η proves both ends of a bracket.
    """

    def __init__(self, points: _PairPoints, tol: float) -> None:
        self._points, self._tol = points, tol
        self._start: tuple[Index, Floats] | None = None
        self._relaxed, self._relaxed_by = 0.0, np.zeros((points.data.shape[1], points.pairs.n_classes))
        self.looks = 0
        self.best = _Best(0.0, np.inf, self._relaxed_by)
        self.found: Nearest
        self.proof: Nearest  # of the best upper end

    def run(self) -> None:
        n_classes = self._points.pairs.n_classes
        eta = np.full(n_classes, 1.0 / n_classes)
        try:
            for _ in range(_SIMPLE_WEIGHINGS):  # as ‖z_y‖: slow, but sure to come near
                self._at(eta)
                eta = self.found.highest.witness.norms
                eta = np.maximum(eta, _LEAST_WEIGHT * float(eta.sum()))
            bounds = [(_LEAST_WEIGHT * float(eta.sum()), None)] * n_classes
            search: Any = minimize
            options = {"maxiter": _MOST_WEIGHINGS, "maxfun": _MOST_WEIGHINGS, "ftol": 0.0, "gtol": 0.0}
            search(self._at, eta, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        except _NarrowEnoughError:
            pass
        self._complete()
        self._ascend()

    def _at(self, eta: Floats) -> tuple[float, Floats]:
        points = self._points
        points.eta = eta.copy()
        self.found = nearest(points, _INNER * self._tol, self._start)
        inside = self.found.weights > 0.0
        self._start = self.found.index[inside], self.found.weights[inside]
        self.looks += self.found.looks
        upper = float(self.found.highest.witness.upper.sum())
        if upper < self.best.upper:
            self.best, self.proof = replace(self.best, upper=upper), self.found
        for vectors in (self.found.lowest.witness, self.found.highest.witness):
            self.best = _better(self.best, points, vectors)
            longest = float((vectors.upper / eta).max())
            leads = points.pairs.leads(vectors.values / eta) - points.pairs.doubts(vectors.error / eta)
            least = float(leads.min())
            if least > 0.0 and least / longest > self._relaxed:
                self._relaxed, self._relaxed_by = least / longest, vectors.weights / (eta * longest)
        low = max(self._relaxed, self.best.lower)
        if self.best.upper - low <= self._tol * self.best.upper or self.best.upper <= VANISHED * points.zero:
            raise _NarrowEnoughError
        norms = self.found.highest.witness.norms
        return float(np.sum(np.square(norms) / eta) + eta.sum()) / 2.0, 0.5 * (1.0 - np.square(norms / eta))

    def _complete(self) -> None:
        """Make the shorter vectors of the relaxed solution longer along a direction that no point sees."""
        points = self._points
        if self._relaxed <= self.best.lower:
            return
        beyond = orthogonal_direction(points.data)
        if beyond is None:
            return
        short = np.sqrt(np.maximum(1.0 - np.sum(np.square(self._relaxed_by), axis=0), 0.0))
        self._try(self._relaxed_by + beyond[:, None] * short)

    def _ascend(self) -> None:
        """Look for better unit vectors about the ones that were found, where the relaxation is far from attained."""
        points, best = self._points, self.best
        if self._relaxed - best.lower <= max(_FAR_APART, self._tol) * best.upper:
            return
        means = points.data.matrix.tdot(points.pairs.indicators * points.factor[:, None])
        starts = [V for V in (best.separators, self._relaxed_by, means) if (np.linalg.norm(V, axis=0) > 0.0).all()]
        for start in starts if points.data.at_once else starts[:1]:  # it takes some hundred passes
            self._try(ascend(points.data, points.factor, points.pairs, start, best.upper))

    def _try(self, U: Floats) -> None:
        """Take vectors, scaled to norm 1, if they attain more than the best ones."""
        points = self._points
        U = U / np.linalg.norm(U, axis=0)
        product, terms = points.data.matrix.dot(U, return_terms=True)
        values = product * points.factor[:, None]
        lost = sum_error(terms + 1) * (points.data.sizes * points.factor)[:, None]
        error = lost * np.ones(U.shape[1]) + points.norms_error * np.abs(values)
        least = float((points.pairs.leads(values) - points.pairs.doubts(error)).min())
        least /= 1.0 + sum_error(len(U))
        if least > self.best.lower:
            self.best = _Best(least, self.best.upper, U)


class _NarrowEnoughError(Exception):
    """The bracket is as narrow as was asked for."""


def _normalised(points: _PairPoints, tol: float) -> tuple[_Best, Nearest]:
    weighing = _Weighing(points, tol)
    weighing.run()
    return weighing.best, replace(weighing.proof, looks=weighing.looks)


def _better(best: _Best, points: _PairPoints, vectors: _Vectors) -> _Best:
    norms = np.where(vectors.norms > 0.0, vectors.norms, 1.0)
    leads = points.pairs.leads(vectors.values / norms)
    sure = float((leads - points.pairs.doubts(vectors.error / norms)).min())
    sure /= 1.0 + sum_error(len(vectors.weights)) if sure > 0.0 else 1.0
    if (vectors.norms == 0.0).any() or not sure > best.lower:
        return best
    return _Best(sure, best.upper, vectors.weights / norms)
