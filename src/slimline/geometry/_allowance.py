"""The largest margin that all but a share of the points can have: shi2012, Definition 3, with the best plane."""

from __future__ import annotations

from dataclasses import dataclass, fields
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import share, whole
from slimline._base.rounding import sum_error
from slimline.data._labels import class_labels
from slimline.errors import DataError
from slimline.geometry._inputs import BestErrorAllowedMargin, ErrorAllowedMargin, require_squares
from slimline.geometry._margin import SignedPoints, error_allowed_margin
from slimline.geometry._points import Points
from slimline.learning import LOSSES, BinaryProblem, solve_gram
from slimline.learning.simplex import solve_simplex

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
Flags = NDArray[np.bool_]

#: Soft-margin machines whose weights are tried: C from one over the number of points to this, and how many.
_HARDEST, _MACHINES = 1e3, 13
#: Their gap, as a part of the objective at w = 0.
_GAP = 1e-4
#: Combinations whose bounds are evaluated for each set of points left out, beside that of its hard-margin plane.
_MOST_SPREAD = 3
#: Times that the worst points are chosen anew.
_MOST_ROUNDS = 30
#: A larger margin that does not count as one.
_NO_GAIN = 1e-9
#: Weights of a combination below this part of the largest are as good as 0.
_NEGLIGIBLE = 1e-9
#: Gap of a hard-margin plane, and points that are as good as 0.
_EXACT, _VANISHED = 1e-9, 1e-8
_BISECTIONS = 60


def best_error_allowed_margin(
    X: Any, y: Any, *, errors: float = 0.05, normalised: bool = True, max_nodes: int = 1000
) -> BestErrorAllowedMargin:
    """Return a bracket of the largest margin that all points can have, except for a share of them.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path, Matrix or Points
        One row a point.
    y : array-like of shape (n_samples,)
        Labels of two classes; the one that is sorted last is positive.
    errors : float
        ρ: the share of the points that may fall short, in [0, 1).
    normalised : bool
        Scale every point to norm 1 first.
    max_nodes : int
        Sets of points left out that are examined, at most; 0: only the relaxation.

    Returns
    -------
    margin : BestErrorAllowedMargin
        `lower` ≤ largest margin ≤ `upper`. The lower end is attained by `separator`, a plane through the origin;
        `complete` says whether the search ended before `max_nodes`.

    See Also
    --------
    error_allowed_margin : The same for a given plane.
    margin : No errors allowed: there the bracket is as narrow as you wish.

    Notes
    -----
    This is Definition 3 of [1]_ for the distribution of the data: the maximum over unit u of the (k+1)-th smallest
    of the values ⟨u, zᵢ⟩, zᵢ = yᵢxᵢ, where k is the number of points that may fall short. To find it is hard: which
    points to leave out is a choice among all sets of k.

    *Lower end.* Each u attains the value that `error_allowed_margin` computes for it. Directions come from
    soft-margin machines of many C. Each is improved by turns: leave out the k points with the smallest values, and
    take the hard-margin plane of the others. The value never falls, because that plane is the best one for points which
    all had that value.

    *Upper end.* Let u have a margin γ for all points but those of a set T of at most k, and let aᵢ ≥ 0 have the sum 1.
    Then ::

        ‖Σ aᵢzᵢ‖ ≥ Σ aᵢ⟨u, zᵢ⟩ ≥ γ - Σ over T of aᵢ(γ + cᵢ),      -cᵢ ≤ ⟨u, zᵢ⟩,

    so that γ is at most the root of γ = ‖Σ aᵢzᵢ‖ + (sum of the k largest aᵢ(γ + cᵢ)). Every a is a proof; those of
    soft-margin machines are tried, the best ones of this relaxation for some k if all cᵢ are equal. cᵢ = ‖zᵢ‖ is
    always valid. If some u has a margin γ₁ > 0, the best one is Σ bⱼzⱼ/γ* with bⱼ ≥ 0 of sum 1 and γ* ≥ γ₁, so that
    cᵢ = max(0, -minⱼ⟨zᵢ, zⱼ⟩)/γ₁ is valid too.

    Then a search over sets of points left out narrows both ends. To improve on the hard-margin plane of some points, at
    least one of those that its proof needs must be left out. The upper end is the largest bound among the sets that
    remain unexamined; if none remains, the bracket closes. For few errors that is quick, but the number of sets grows
    like a power of k. If every plane leaves more than k points on the wrong side, the upper end goes to 0, and the
    lower one is the negative value of the best plane that was found: nothing bounds it from above but 0.

    References
    ----------
    .. [1] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.geometry import best_error_allowed_margin
    >>> X = np.array([[3.0, 4.0], [4.0, 3.0], [5.0, 0.0], [-1.0, 0.0]])
    >>> found = best_error_allowed_margin(X, [1, 1, 0, 0], errors=0.25)
    >>> round(found.lower, 6), round(found.upper, 6), found.short.tolist()
    (0.894427, 0.894427, [2])
    """
    errors = share("errors", errors, "the points")
    most = whole("max_nodes", max_nodes, 0)
    data = Points.of(X)
    names, codes = class_labels(y, data.shape[0])
    if len(names) > 2:
        raise DataError(f"y has {len(names)} classes, and a plane tells two apart.")
    if not data.at_once:
        raise DataError(
            f"{data.matrix.name} has {data.shape[0]:,} rows, more than this search can compare with each other: take "
            "some of them, for instance open_matrix(X).rows(range(4000))."
        )
    require_squares(data.squares, data.matrix)
    points = SignedPoints(data, np.where(codes == 1, 1.0, -1.0), normalised=normalised, intercept=False)
    allowed = min(int(np.floor(errors * len(codes) * (1.0 + 1e-12))), len(codes) - 1)
    search = _Search(points, allowed)
    search.relax()
    search.branch(most)
    separator = np.asarray(data.matrix.tdot(points.factor * search.best))
    if not separator.any():  # no direction is better than another
        separator[0] = 1.0
    separator /= np.linalg.norm(separator)
    attained = error_allowed_margin(data, y, separator, errors=errors, normalised=normalised)
    record = {field.name: getattr(attained, field.name) for field in fields(ErrorAllowedMargin)}
    record["upper"] = max(search.upper, attained.upper)
    record["reached"] = f"{search.machines} soft-margin machines, and {search.nodes:,} sets of points left out"
    return BestErrorAllowedMargin(**record, separator=separator, complete=search.complete)


@dataclass(frozen=True)
class _Node:
    """Solutions that leave out some points and keep others."""

    left_out: Index
    kept: Index


class _Search:
    """Both ends of the bracket, from the Gram matrix of the signed points."""

    def __init__(self, points: SignedPoints, allowed: int) -> None:
        n = len(points.signs)
        self.K, self.allowed = points.gram(np.arange(n)), allowed
        self.sizes = points.data.sizes * np.abs(points.factor) * (1.0 + points.data.norms_error)
        # of an entry of K and of a sum of its entries, beside the sizes of the points
        self._lost = 2.0 * (sum_error(points.data.shape[1]) + points.data.norms_error + sum_error(n))
        #: Weights of the best direction, and its value.
        self.best, self.lower = np.full(n, 1.0 / n), -np.inf
        self.upper = float(np.sort(self.sizes)[allowed])  # no point's value is above its size
        #: Weights that prove the smallest bounds at the start.
        self.spread: list[Floats] = []
        self.machines = self.nodes = 0
        self.complete = False

    def relax(self) -> None:
        """Try the weights of soft-margin machines: directions first, then the bounds that they prove."""
        n = len(self.K)
        size = float(np.trace(self.K)) / n
        tried = [np.full(n, 1.0 / n)]
        if size > 0.0:
            for C in np.geomspace(1.0 / n, _HARDEST, _MACHINES):
                problem = BinaryProblem(LOSSES["hinge"], np.ones(n), np.ones(n), 1.0 / C, np.zeros(n))
                dual = solve_gram(self.K / size, problem, target_gap=_GAP * n).dual
                if dual.sum() > 0.0:
                    tried.append(dual / dual.sum())
        self.machines = len(tried) - 1
        tried += [self._improved(a) for a in tried]
        every = np.ones(n, dtype=bool)
        bounds = [self._bound(a, every, self.allowed) for a in tried]
        self.upper = min(self.upper, *bounds)
        self.spread = [tried[place] for place in np.argsort(bounds)[:_MOST_SPREAD]]

    def branch(self, most: int) -> None:
        """Examine sets of points left out, those of the largest bound first."""
        order, closed = count(), -np.inf
        none, every = np.zeros(0, dtype=np.intp), np.arange(len(self.K))
        waiting: list[tuple[float, int, _Node]] = [(-self.upper, next(order), _Node(none, none))]
        while waiting and self.nodes < most and -waiting[0][0] > self.lower * (1.0 + _NO_GAIN):
            minus_upper, _, node = heappop(waiting)
            self.nodes += 1
            a, residual = self._nearest(node.left_out)
            self._value(a)
            left = self.allowed - len(node.left_out)
            free = np.ones(len(a), dtype=bool)
            free[node.kept], out = False, np.isin(every, node.left_out)
            proofs = [a, *(np.where(out, 0.0, spread) for spread in self.spread)]
            bounds = [self._bound(b / b.sum(), free, left) for b in proofs if b.any()]
            upper = min(-minus_upper, *bounds)
            closed = max(closed, min(upper, residual))  # all that keep every point with a weight
            heaviest = np.argsort(-a, kind="stable")[: np.count_nonzero(a)]
            heaviest = heaviest[free[heaviest]] if left else none
            for place, point in enumerate(heaviest):
                child = _Node(np.append(node.left_out, point), np.append(node.kept, heaviest[:place]))
                heappush(waiting, (-upper, next(order), child))
        self.complete = not waiting or -waiting[0][0] <= self.lower * (1.0 + _NO_GAIN)
        remaining = -waiting[0][0] if waiting else -np.inf
        self.upper = min(self.upper, max(closed, remaining, self.lower))

    def _nearest(self, left_out: Index) -> tuple[Floats, float]:
        """Return the weights of the hard-margin plane of all points but some, and what bounds its margin."""
        kept = np.setdiff1d(np.arange(len(self.K)), left_out)
        Q = np.ascontiguousarray(self.K[np.ix_(kept, kept)])
        floor = 0.5 * (_VANISHED * float(self.sizes.max())) ** 2
        found = solve_simplex(Q, np.zeros(len(kept)), np.zeros(len(kept), dtype=np.uint8), tol=_EXACT, floor=floor)
        weights = np.where(found.weights > _NEGLIGIBLE * found.weights.max(), found.weights, 0.0)
        a = np.zeros(len(self.K))
        a[kept] = weights / weights.sum()
        return a, self._norm(a)

    def _improved(self, a: Floats) -> Floats:
        """Return weights of a direction that is better or as good: leave out the worst points, as often as it helps."""
        value = self._value(a)
        for _ in range(_MOST_ROUNDS if self.allowed else 1):
            values = self.K @ a
            after, _ = self._nearest(np.argsort(values, kind="stable")[: self.allowed])
            new = self._value(after)
            if not new > value + _NO_GAIN * abs(value):
                break
            a, value = after, new
        return a

    def _value(self, a: Floats) -> float:
        """Return at most the margin about the plane of some weights, and keep the best."""
        values = self.K @ a - self._lost * self.sizes * float(a @ self.sizes)
        square, rounding = float(a @ (self.K @ a)), self._rounding(a)
        if not square > rounding:
            return -np.inf
        least = float(np.partition(values, self.allowed)[self.allowed])
        value = least / float(np.sqrt(square + rounding if least > 0.0 else square - rounding))
        if value > self.lower:
            self.lower, self.best = value, a
        return value

    def _rounding(self, a: Floats) -> float:
        return self._lost * float(a @ self.sizes) ** 2

    def _norm(self, a: Floats) -> float:
        """Return at least the norm of a combination of the points."""
        return float(np.sqrt(max(float(a @ (self.K @ a)), 0.0) + self._rounding(a))) * (1.0 + self._lost)

    def _bound(self, a: Floats, free: Flags, left: int) -> float:
        """Return what no margin exceeds if at most `left` of the free points, and none of the others, fall short."""
        norm, weights, below = self._norm(a), a[free], self._least()[free]
        heavy = np.flatnonzero(weights)
        weights, below = weights[heavy], below[heavy]

        def excluded(gamma: float) -> bool:
            terms = weights * (gamma + below)
            largest = np.sort(terms)[max(len(terms) - left, 0) :]
            return norm + float(largest.sum()) * (1.0 + self._lost) < gamma

        low, high = 0.0, self.upper
        if not excluded(high):
            return high
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if excluded(middle) else (middle, high)
        return high

    def _least(self) -> Floats:
        """Return c: no value of the best direction is below -c."""
        if self.lower <= 0.0:
            return self.sizes
        least = -np.minimum(self.K.min(axis=1), 0.0)  # with itself a point has a product of 0 or more
        return np.asarray(np.minimum(self.sizes, (least + self._lost * self.sizes * self.sizes.max()) / self.lower))
