"""The margin guarantee of the data at hand: a union over the exact laws of their own cosines.

Gaussian R, a separator u chosen without seeing R, cᵢ = yᵢ cos(u, xᵢ). With Rᵀu as the separator after the projection,
P(normalised margin < t) ≤ Σᵢ P(cos'ᵢ ≤ t). Points far from the boundary add nothing, so few dimensions are asked for
where few points are near it: what a theorem that knows the smallest cosine only cannot see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from slimline.bounds.inverse import Values
from slimline.errors import InvalidParameterError
from slimline.laws import cosine as cosine_law
from slimline.laws.search import smallest_dimension

#: Bisections that divide a multiclass margin between the class of a point and the others.
_BISECTIONS = 60


def margin_failure(cosines: npt.ArrayLike, r: int, margin: float = 0.0, errors: int = 0) -> float:
    """Return a bound on the probability that a projection to r dimensions leaves less than the wanted margin.

    Parameters
    ----------
    cosines : array-like of shape (n_points,)
        cᵢ = yᵢ cos(u, xᵢ), with a separator u that does not depend on the projection.
    r : int
        Dimensions.
    margin : float
        Normalised margin wanted afterwards, in [-1, 1).
    errors : int
        So many points may fall short of it.

    Returns
    -------
    probability : float
        At most 1. Gaussian R; the tails are exact, and summed.

    Examples
    --------
    >>> from slimline.bounds import margin_failure
    >>> round(margin_failure([0.3] * 10_000, r=208), 5)
    0.04849
    """
    given, wanted, allowed = _checked(cosines, margin, errors)
    return min(1.0, _share_of(np.exp(_log_short(given, wanted)(int(r))), allowed))


def margin_dimension(cosines: npt.ArrayLike, delta: float, margin: float = 0.0, errors: int = 0) -> int:
    """Return the smallest r that leaves the wanted margin, except with probability delta.

    Parameters
    ----------
    cosines : array-like of shape (n_points,)
        cᵢ = yᵢ cos(u, xᵢ), with a separator u that does not depend on the projection.
    delta : float
        Failure probability, in (0, 1).
    margin : float
        Normalised margin wanted afterwards, in [-1, 1).
    errors : int
        So many points may fall short of it.

    Returns
    -------
    r : int
        Smallest r with `margin_failure` ≤ delta, there and at every larger r.

    Examples
    --------
    >>> from slimline.bounds import margin_dimension
    >>> margin_dimension([0.3] * 10_000, delta=0.05)
    208
    >>> margin_dimension([0.05] * 10 + [0.3] * 9_990, delta=0.05, errors=10)  # ten hard points may be lost
    208
    """
    given, wanted, allowed = _checked(cosines, margin, errors)
    return _search(_log_short(given, wanted), given > wanted, allowed, delta)


def multiclass_margin_failure(
    cosines: npt.ArrayLike, labels: npt.ArrayLike, r: int, margin: float = 0.0, errors: int = 0
) -> float:
    """Return a bound on the probability that r dimensions leave less than the wanted multiclass margin.

    Parameters
    ----------
    cosines : array-like of shape (n_points, n_classes)
        cos(u_y, xᵢ) for the vector u_y of each class, which must not depend on the projection.
    labels : array-like of int of shape (n_points,)
        The column of a point's own class.
    r : int
        Dimensions.
    margin : float
        Multiclass margin wanted afterwards, in [-2, 2): own cosine less the largest other one.
    errors : int
        So many points may fall short of it.

    Returns
    -------
    probability : float
        At most 1.
    """
    short, _, allowed = _multiclass(cosines, labels, margin, errors)
    return min(1.0, _share_of(np.exp(short(int(r))), allowed))


def multiclass_margin_dimension(
    cosines: npt.ArrayLike, labels: npt.ArrayLike, delta: float, margin: float = 0.0, errors: int = 0
) -> int:
    """Return the smallest r that leaves the wanted multiclass margin, except with probability delta.

    A point keeps it where its own cosine stays above a threshold and every other one below that less the margin. Any
    threshold will do; the one is taken that is as far from the own cosine as from the nearest other one, in Fisher's z.

    Parameters
    ----------
    cosines : array-like of shape (n_points, n_classes)
        cos(u_y, xᵢ) for the vector u_y of each class, which must not depend on the projection.
    labels : array-like of int of shape (n_points,)
        The column of a point's own class.
    delta : float
        Failure probability, in (0, 1).
    margin : float
        Multiclass margin wanted afterwards, in [-2, 2): own cosine less the largest other one.
    errors : int
        So many points may fall short of it.

    Returns
    -------
    r : int
        Smallest r with `multiclass_margin_failure` ≤ delta, there and at every larger r.

    Examples
    --------
    >>> from slimline.bounds import multiclass_margin_dimension
    >>> multiclass_margin_dimension([[0.5, -0.1, 0.0]] * 100, [0] * 100, delta=0.05)
    164
    """
    short, separated, allowed = _multiclass(cosines, labels, margin, errors)
    return _search(short, separated, allowed, delta)


def one_parameter_cosines(cosines: npt.ArrayLike, labels: npt.ArrayLike) -> Values:
    """Return the cosines of the one-parameter method, for `margin_dimension` and `margin_failure`.

    With a projection of its own for every class, the difference of two scores is an inner product of one stacked
    vector, whose parts are the u_y, with (xᵢ, -xᵢ) in the places of the two classes: a problem of two classes with a
    point for every other class of every point.

    Parameters
    ----------
    cosines : array-like of shape (n_points, n_classes)
        cos(u_y, xᵢ) for the vector u_y of each class, which must not depend on the projections.
    labels : array-like of int of shape (n_points,)
        The column of a point's own class.

    Returns
    -------
    cosines : array of shape (n_points · (n_classes - 1),)
        (cos(u_yᵢ, xᵢ) - cos(u_y', xᵢ))/√(2L).

    Examples
    --------
    >>> from slimline.bounds import margin_dimension, one_parameter_cosines
    >>> margin_dimension(one_parameter_cosines([[0.5, -0.1, 0.0]] * 100, [0] * 100), delta=0.05)
    258
    """
    given, own, others = _classes(cosines, labels)
    return np.asarray((own[:, None] - others).ravel() / np.sqrt(2.0 * given.shape[1]))


def _checked(cosines: npt.ArrayLike, margin: float, errors: int) -> tuple[Values, float, int]:
    given = _cosines(cosines)
    if given.ndim != 1:
        raise InvalidParameterError(
            f"cosines must be a list of numbers, one a point; got an array of shape {given.shape}. "
            "For several classes take multiclass_margin_dimension."
        )
    if not -1 <= margin < 1:
        raise InvalidParameterError(f"margin, the one wanted afterwards, must lie in [-1, 1); got {margin!r}.")
    return given, float(margin), _allowed(errors, given.size)


def _cosines(cosines: npt.ArrayLike) -> Values:
    given = np.asarray(cosines, dtype=np.float64)
    if not given.size:
        raise InvalidParameterError("cosines is empty: give one cosine a point.")
    if not np.all(np.abs(given) <= 1):
        raise InvalidParameterError("cosines must lie in [-1, 1]: divide ⟨u, xᵢ⟩ by ‖u‖‖xᵢ‖.")
    return given


def _allowed(errors: int, points: int) -> int:
    if int(errors) != errors or not 0 <= errors < points:
        raise InvalidParameterError(
            f"errors must be a whole number from 0 to {points - 1}, less than there are points; got {errors!r}."
        )
    return int(errors)


def _classes(cosines: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Values, Values, Values]:
    """Return all cosines, those with a point's own class, and those with the others."""
    given = _cosines(cosines)
    columns = np.asarray(labels)
    if given.ndim != 2 or given.shape[1] < 2:
        raise InvalidParameterError(
            f"cosines must have a row a point and a column a class, at least two; got an array of shape {given.shape}."
        )
    good = columns.shape == given.shape[:1] and columns.dtype.kind in "iu"
    if not good or np.any((columns < 0) | (columns >= given.shape[1])):
        raise InvalidParameterError("labels must name the column of the class of each point: whole numbers from 0 on.")
    own = np.zeros(given.shape, bool)
    own[np.arange(len(given)), columns] = True
    return given, given[own], given[~own].reshape(len(given), -1)


def _log_short(cosines: Values, margin: float) -> Callable[[int], Values]:
    """Return what gives the logarithms of the probabilities that points fall short of a margin in r dimensions."""
    distinct, place = np.unique(cosines, return_inverse=True)

    def short(r: int) -> Values:
        log: Values = np.atleast_1d(cosine_law.logcdf(margin, r, distinct))[place]
        # ≤ t and < t differ where c = ±1 is kept as it is: a margin that is just reached is reached
        return np.where((cosines == margin) & (np.abs(cosines) == 1), -np.inf, log)

    return short


def _multiclass(
    cosines: npt.ArrayLike, labels: npt.ArrayLike, margin: float, errors: int
) -> tuple[Callable[[int], Values], npt.NDArray[np.bool_], int]:
    _, own, others = _classes(cosines, labels)
    if not -2 <= margin < 2:
        raise InvalidParameterError(f"margin, the one wanted afterwards, must lie in [-2, 2); got {margin!r}.")
    threshold = _thresholds(own, others.max(axis=1), margin)

    def short(r: int) -> Values:
        log = np.empty((len(own), 1 + others.shape[1]))
        log[:, 0] = cosine_law.logcdf(threshold, r, own)
        log[:, 1:] = cosine_law.logsf(threshold[:, None] - margin, r, others)
        return np.asarray(np.minimum(np.logaddexp.reduce(log, axis=1), 0.0))

    return short, own - others.max(axis=1) > margin, _allowed(errors, len(own))


def _thresholds(own: Values, other: Values, margin: float) -> Values:
    """Return a with artanh(own) - artanh(a) = artanh(a - margin) - artanh(other), between other + margin and own."""
    low, high = np.minimum(other + margin, own), np.maximum(other + margin, own)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_BISECTIONS):
            a = 0.5 * (low + high)
            above = np.arctanh(np.clip(own, -1, 1)) - np.arctanh(np.clip(a, -1, 1))
            below = np.arctanh(np.clip(a - margin, -1, 1)) - np.arctanh(np.clip(other, -1, 1))
            nearer_other = below < above
            low, high = np.where(nearer_other, a, low), np.where(nearer_other, high, a)
    return 0.5 * (low + high)


def _share_of(probabilities: Values, errors: int) -> float:
    """Return a bound on P(more than `errors` points fall short).

    Give up the j likeliest points, and let Markov's inequality speak of the others, of which errors - j may fall short:
    Σ of their probabilities/(errors - j + 1). Every j will do; the best is taken.
    """
    ordered = np.sort(probabilities)
    sums = np.cumsum(ordered)[len(ordered) - 1 - errors :]  # with errors, errors - 1, …, 0 points given up
    return float(np.min(sums / np.arange(1.0, errors + 2.0)))


def _search(log_short: Callable[[int], Values], separated: npt.NDArray[np.bool_], errors: int, delta: float) -> int:
    if not 0 < delta < 1:
        raise InvalidParameterError(f"delta, the failure probability, must lie in (0, 1); got {delta!r}.")
    lost = int(np.sum(~separated))
    if lost > errors:
        raise InvalidParameterError(
            f"{lost} of {separated.size} points have no more than the wanted margin before the projection: ask for a "
            f"smaller one, or allow errors={lost}."
        )

    def met(r: npt.NDArray[np.int64]) -> Any:
        return np.asarray(_share_of(np.exp(log_short(int(r))), errors) <= delta)

    return int(smallest_dimension(met))
