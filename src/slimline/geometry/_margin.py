"""Margins of two classes: hard, normalised, with intercept, with errors allowed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import number, real_array, share
from slimline._base.rounding import sum_error
from slimline.data._labels import class_labels
from slimline.errors import DataError, InvalidParameterError
from slimline.geometry._convex import ConvexPoints, Look, Nearest, nearest, usual_size
from slimline.geometry._inputs import ErrorAllowedMargin, Margin, reached_by, require_directions, require_squares
from slimline.geometry._points import MOST_POINTS, Points
from slimline.learning import LOSSES, BinaryProblem, solve_gram

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

#: A combination of this norm, as a part of the usual point's, has vanished.
VANISHED = 1e-7
#: Points this small, as a part of the mean that was subtracted from them, are as good as equal.
_LEFT = 1e-4
#: Points of the first working set, where not all are in it.
FIRST = 2000


def margin(
    X: Any, y: Any, *, normalised: bool = False, intercept: bool = False, tol: float = 1e-8, C: float = 1.0
) -> Margin:
    """Return the hard margin of two classes: max over unit u (and b) of the least yᵢ(⟨u, xᵢ⟩ + b).

    Parameters
    ----------
    X : array, sparse matrix, data frame, path, Matrix or Points
        One row a point.
    y : array-like of shape (n_samples,)
        Labels of two classes; the one that is sorted last is positive.
    normalised : bool
        Scale every point to norm 1 first: the margin is a cosine.
    intercept : bool
        Allow planes that miss the origin.
    tol : float
        Width of the bracket, relative to the margin.
    C : float
        If no plane separates the classes: penalty of the soft-margin machine that is returned instead, for points
        scaled to a mean squared norm of 1.

    Returns
    -------
    margin : Margin
        `lower` ≤ exact margin ≤ `upper`. Not separable is an answer, with its proof, and no error.

    See Also
    --------
    error_allowed_margin : If some points may fall short.
    multiclass_margin : More than two classes.
    slimline.bounds.margin_dimension : The dimension that keeps a margin.

    Notes
    -----
    This is Definition 1 of [1]_ and, normalised, Definition 2; with an intercept it is the γ of [2]_. It equals 1/‖w‖
    of the hard-margin support vector machine. The dual problem is the distance of the origin from the convex hull of
    the points yᵢxᵢ ::

        max over unit u of min yᵢ⟨u, xᵢ⟩ = min over a ≥ 0, Σ aᵢ = 1 of ‖Σ aᵢyᵢxᵢ‖,

    or, with an intercept, half the distance between the convex hulls of the classes. So every u is a lower bound and
    every a an upper bound. Both ends of the bracket are computed from the data in float64, rounding included.

    References
    ----------
    .. [1] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.
    .. [2] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.geometry import margin
    >>> found = margin(np.array([[2.0, 1.0], [2.0, -1.0], [-3.0, 0.0]]), [1, 1, 0])
    >>> found.separable, round(found.value, 6), found.support.tolist()
    (True, 2.0, [0, 1])
    """
    tol, C = number("tol", tol, 0.0, 0.5), number("C", C, 0.0)
    data = Points.of(X)
    names, codes = class_labels(y, data.shape[0])
    if len(names) > 2:
        raise DataError(f"y has {len(names)} classes: take multiclass_margin, or two classes of them.")
    signs = np.where(codes == 1, 1.0, -1.0)
    centred = data.centred_if_far() if intercept and not normalised else data
    points = SignedPoints(centred, signs, normalised=normalised, intercept=intercept)
    if centred is data:
        require_squares(data.squares, data.matrix)
    found = nearest(points, tol)
    separable = is_separable(found, points)
    separator, offset = (found.lowest.witness, 0.0) if separable else soft_separator(points, found, C)
    norm = float(np.linalg.norm(separator))
    if norm > np.finfo(float).tiny:  # the soft-margin machine of points that are all alike has no direction
        separator, offset = separator / norm, offset / norm
    violators = np.zeros(0, dtype=np.intp)
    if separable:
        offset = _middle(signs * found.lowest.gradient / norm, signs) if intercept else 0.0
    else:
        values = centred.matrix.dot(separator) * np.abs(points.factor)
        violators = np.flatnonzero(signs * (values + offset) <= 0.0)
    if intercept and centred is not data and centred.middle is not None:
        offset -= float(separator @ centred.middle)
    support = found.supports
    lower = max(found.lower, 0.0) if separable else 0.0
    return Margin(
        value=lower,
        lower=lower,
        upper=found.upper,
        reached=reached_by(found.looks, len(found.index), data.shape[0], "points"),
        separable=separable,
        separator=separator,
        intercept=offset,
        support=support,
        multipliers=found.weights[found.weights > 0.0],
        violators=violators,
        classes=(names[0].item(), names[1].item()),
        normalised=normalised,
        with_intercept=intercept,
    )


class SignedPoints(ConvexPoints):
    """Points of two classes, those of the first negated, all scaled to norm 1 if that is wanted."""

    def __init__(self, data: Points, signs: Floats, *, normalised: bool, intercept: bool) -> None:
        hulls = (signs > 0).astype(np.uint8) if intercept else np.zeros(len(signs), dtype=np.uint8)
        super().__init__(hulls, MOST_POINTS)
        self.data, self.signs, self.normalised, self.intercept = data, signs, normalised, intercept
        self._whole = data.gram() if data.at_once else None  # its diagonal saves a pass
        norms = np.sqrt(data.squares)
        if normalised:
            require_directions(norms, data.matrix)
        self.factor = signs / norms if normalised else signs
        self._norms_error = data.norms_error if normalised else 0.0

    @property
    def zero(self) -> float:
        """Return the size of the largest point; where a far mean was subtracted, of what rounding left of it."""
        return float(self._sizes.max())

    def usual(self, index: Index, weights: Floats) -> float:
        """Return the size of most points, or of those of a combination."""
        return usual_size(self._sizes, index, weights)

    @cached_property
    def _sizes(self) -> Floats:
        if self.normalised:
            return np.ones(len(self.signs))
        return np.maximum(np.sqrt(self.data.squares), _LEFT * self.data.sizes)

    def start(self) -> Index:
        """Return all points, or some of each class."""
        if self._whole is not None:
            return np.arange(len(self.signs))
        return self.some(FIRST)

    def some(self, count: int) -> Index:
        """Return about so many points, some of each class."""
        return some_of_each((self.signs > 0).astype(np.intp), count)

    def gram(self, index: Index) -> Floats:
        """Return the inner products of the scaled points."""
        Q = self.data.gram(index) if self._whole is None else self._whole
        self._whole = None
        factor = self.factor[index]
        for row, own in zip(Q, factor, strict=True):  # in place: it may be most of the memory
            row *= own * factor
        return Q

    def look(self, index: Index, weights: Floats) -> Look:
        """Return the bracket that a combination of points proves."""
        coefficients = np.zeros(len(self.signs))
        coefficients[index] = self.factor[index] * weights
        sums = self.data.combination(coefficients)
        norm, hulls = float(np.linalg.norm(sums.weights)), int(self.group.max()) + 1
        values = self.factor * sums.values
        sure = (values - np.abs(self.factor) * sums.values_error) * (1.0 - np.sign(values) * self._norms_error)
        least = sum(float(sure[self.group == s].min()) for s in range(hulls))
        # the norms themselves are rounded, and the weights may not be 1 in sum to the last digit
        slack = 1.0 + 2.0 * sum_error(len(weights)) + self._norms_error + sum_error(len(sums.weights))
        lower = least / (hulls * norm) / slack if least > 0.0 and norm > 0.0 else 0.0
        upper = (norm * slack + float(sums.weights_error)) / hulls
        return Look(lower, upper, 0.5 * norm * norm, values, sums.weights)


def is_separable(found: Nearest, points: ConvexPoints) -> bool | None:
    """Return whether a bracket proves that there is a separator, or that there is none but for a vanishing margin."""
    if found.lower > 0.0:
        return True
    return False if found.upper <= VANISHED * points.usual(found.index, found.weights) else None


def some_of_each(codes: Index, count: int) -> Index:
    """Return the numbers of about `count` points, some of every class."""
    parts = []
    for code in range(int(codes.max()) + 1):
        own = np.flatnonzero(codes == code)
        wanted = max(1, count * own.size // len(codes))
        parts.append(own[np.linspace(0, own.size - 1, min(wanted, own.size)).astype(np.intp)])
    return np.concatenate(parts)


def _middle(values: Floats, signs: Floats) -> float:
    """Return b that is as far from the nearest point of one class as from that of the other."""
    return -0.5 * float(values[signs > 0].min() + values[signs < 0].max())


#: Gap of the soft-margin machine, as a part of its objective at w = 0.
_GAP = 1e-6
#: Points that it learns from, where the Gram matrix of all is not made.
_MOST_POINTS = 4000


def soft_separator(points: SignedPoints, found: Nearest, C: float) -> tuple[Floats, float]:
    """Return the weights and the intercept of the soft-margin machine with the hinge.

    It learns from all points or, where the Gram matrix of all is not made, from 4,000 that are spread over the classes.

    0 without one; else it is the weight of a constant feature as large as the points, and penalised like theirs.
    """
    index, K, n_points = found.index, found.Q, len(points.signs)
    if len(index) < n_points:  # those that the search chose are mostly wrong ones
        index = points.some(_MOST_POINTS)
        K = points.gram(index)
    size = float(np.trace(K)) / len(K)
    if size == 0.0:
        return np.zeros(points.data.shape[1]), 0.0
    K /= size
    if points.intercept:
        signs = points.signs[index]
        for row, own in zip(K, signs, strict=True):
            row += own * signs
    n = len(K)
    penalty = n / (n_points * C)  # each stands for as many
    problem = BinaryProblem(LOSSES["hinge"], np.ones(n), np.ones(n), penalty, np.zeros(n))
    solution = solve_gram(K, problem, target_gap=_GAP * n)
    coefficients = np.zeros(points.data.shape[0])
    coefficients[index] = points.factor[index] * solution.dual
    intercept = size * float(points.signs[index] @ solution.dual) if points.intercept else 0.0
    return np.asarray(points.data.matrix.tdot(coefficients)), intercept


def error_allowed_margin(
    X: Any, y: Any, separator: Any = None, *, errors: float = 0.05, normalised: bool = True, intercept: float = 0.0
) -> ErrorAllowedMargin:
    """Return the margin about a plane that all points have, except for a share of them.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path, Matrix or Points
        One row a point.
    y : array-like of shape (n_samples,)
        Labels of two classes; the one that is sorted last is positive.
    separator : array of shape (n_features,), optional
        Normal of the plane, of any length. None: that of `margin`, through the origin, or of the soft-margin machine if
        nothing separates the classes.
    errors : float
        ρ: the share of the points that may fall short, in [0, 1).
    normalised : bool
        Scale every point to norm 1 first.
    intercept : float
        Intercept of the plane ⟨separator, x⟩ + intercept = 0, x being a point as it is or scaled to norm 1.

    Returns
    -------
    margin : ErrorAllowedMargin
        Negative if more points than the share are on the wrong side.

    See Also
    --------
    margin : The largest margin that all points can have.

    Notes
    -----
    Definition 3 of [1]_ is about a distribution and asks whether some plane has margin γ with error ρ. Here the
    distribution is that of the data, and the plane is given: the result is the largest γ that at least a fraction 1 - ρ
    of the points attain.

    References
    ----------
    .. [1] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.geometry import error_allowed_margin
    >>> X = np.array([[3.0, 4.0], [4.0, 3.0], [5.0, 0.0], [-1.0, 0.0]])
    >>> found = error_allowed_margin(X, [1, 1, 0, 0], [1.0, 0.0], errors=0.25)
    >>> round(found.value, 6), found.short.tolist()
    (0.6, [2])
    """
    errors = share("errors", errors, "the points")
    offset = float(number("intercept", intercept, -np.inf))
    data = Points.of(X)
    names, codes = class_labels(y, data.shape[0])
    if len(names) > 2:
        raise DataError(f"y has {len(names)} classes, and a plane tells two apart.")
    how = "the given plane"
    if separator is None:
        found = margin(data, y, normalised=normalised)
        separator = found.separator
        how = f"the plane of the {'hard' if found.separable else 'soft'}-margin machine through the origin"
    u = real_array(separator, "separator").astype(np.float64)
    if u.shape != (data.shape[1],) or not np.isfinite(u).all() or not u.any():
        raise InvalidParameterError(
            f"must be a vector of {data.shape[1]:,} finite numbers, not all of them 0; got shape {u.shape}.",
            "separator",
        )
    norms = np.sqrt(data.squares)
    if normalised:
        require_directions(norms, data.matrix)
    scale = 1.0 / norms if normalised else np.ones(len(norms))
    largest = float(np.abs(u).max())  # before the norm, whose squares may overflow or vanish
    u = u / largest
    length = float(np.linalg.norm(u))
    offset = offset / largest / length
    if not np.isfinite(offset):
        raise InvalidParameterError("intercept is too large beside separator: their quotient is no float64.")
    product, terms = data.matrix.dot(u, return_terms=True)
    values = np.where(codes == 1, 1.0, -1.0) * (product * scale / length + offset)
    lost = sum_error(terms + 1) * data.sizes * scale
    lost += 2.0 * data.norms_error * (np.abs(values) + abs(offset))  # the sum may be small beside its terms
    order = np.argsort(values, kind="stable")
    place = min(int(np.floor(errors * len(values) * (1.0 + 1e-12))), len(values) - 1)
    value = float(values[order[place]])
    return ErrorAllowedMargin(
        value=value,
        lower=float(np.sort(values - lost)[place]),
        upper=float(np.sort(values + lost)[place]),
        reached=f"{how}; margins of all {len(values):,} points, sorted",
        errors=errors,
        short=np.sort(order[:place][values[order[:place]] < value]),
        boundary=int(order[place]),
    )
