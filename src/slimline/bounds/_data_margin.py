"""The margin guarantee of the data at hand: a union over the exact laws of their own cosines.

Gaussian R, a separator u chosen without seeing R, cᵢ = yᵢ cos(u, xᵢ). With Rᵀu as the separator after the projection,
P(normalised margin < t) ≤ Σᵢ P(cos'ᵢ < t). Points far from the boundary add nothing, so few dimensions are asked for
where few points are near it: what a theorem that knows the smallest cosine only cannot see.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from slimline.bounds._learning import Chances
from slimline.bounds._numerics import Values, real_numbers
from slimline.errors import InvalidParameterError

#: Bisections that divide a multiclass margin between the class of a point and the others.
_BISECTIONS = 60

#: What a quotient of products may be above 1, for parallel vectors.
_ROUNDING = 1e-12


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
        Number of points that may fall short of it.

    Returns
    -------
    probability : float
        At most 1. Gaussian R; the tails are exact, and summed.

    See Also
    --------
    margin_dimension : The smallest r, with the mathematics.

    Examples
    --------
    >>> from slimline.bounds import margin_failure
    >>> round(margin_failure([0.3] * 10_000, r=208), 5)
    0.04849
    """
    return _binary(cosines, margin, errors).failure(_whole("r", r, 1))


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
        Number of points that may fall short of it.

    Returns
    -------
    r : int
        `margin_failure` ≤ delta there and at every larger r, with no smaller r of which that is known.

    See Also
    --------
    margin_failure : The probability for given r.
    slimline.laws.Law : The law of a cosine.
    slimline.geometry.margin : The largest margin of the data, and its separator u.

    Notes
    -----
    R is Gaussian and chosen after u. With the separator Rᵀu, the projected points have the normalised margin t ([1]_,
    Definition 2) except with probability ::

        P(min cos'ᵢ < t) ≤ Σ P(cos'ᵢ < t),      cos'ᵢ = yᵢ cos(Rᵀu, Rᵀxᵢ),

    where each term is the exact law of a cosine. Points far from the boundary contribute next to nothing, so r is far
    below that of Theorem 6 in [1]_, which uses only the smallest cosine. With `errors` = k, the j likeliest points are
    given up, and Markov's inequality bounds the probability that more than k - j of the others fall short by the sum of
    their probabilities, divided by k - j + 1; the best j is taken.

    References
    ----------
    .. [1] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.

    Examples
    --------
    >>> from slimline.bounds import margin_dimension
    >>> margin_dimension([0.3] * 10_000, delta=0.05)
    208
    >>> margin_dimension([0.05] * 10 + [0.3] * 9_990, delta=0.05, errors=10)  # ten hard points may be lost
    208
    """
    return _binary(cosines, margin, errors).dimension(_delta(delta))


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
        Number of points that may fall short of it.

    Returns
    -------
    probability : float
        At most 1.

    See Also
    --------
    multiclass_margin_dimension : The smallest r, with the mathematics.
    """
    return _multiclass(cosines, labels, margin, errors).failure(_whole("r", r, 1))


def multiclass_margin_dimension(
    cosines: npt.ArrayLike, labels: npt.ArrayLike, delta: float, margin: float = 0.0, errors: int = 0
) -> int:
    """Return the smallest r that leaves the wanted multiclass margin, except with probability delta.

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
        Number of points that may fall short of it.

    Returns
    -------
    r : int
        `multiclass_margin_failure` ≤ delta there and at every larger r, with no smaller r of which that is known.

    See Also
    --------
    margin_dimension : The same for two classes.
    one_parameter_cosines : The same for one vector and a projection for each class.

    Notes
    -----
    The margin is that of Definition 7 in [1]_. A point keeps it if its own cosine stays above a threshold a, and every
    other one below a less the margin; the probabilities of these events are summed. Any a is valid. The one that is
    used is as far from the own cosine as a less the margin is from the largest other one, in Fisher's z.

    References
    ----------
    .. [1] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.

    Examples
    --------
    >>> from slimline.bounds import multiclass_margin_dimension
    >>> multiclass_margin_dimension([[0.5, -0.1, 0.0]] * 100, [0] * 100, delta=0.05)
    164
    """
    return _multiclass(cosines, labels, margin, errors).dimension(_delta(delta))


def one_parameter_cosines(cosines: npt.ArrayLike, labels: npt.ArrayLike) -> Values:
    """Return the cosines of the one-parameter method, for `margin_dimension` and `margin_failure`.

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

    See Also
    --------
    slimline.OneParameterClassifier : The classifier.
    margin_dimension : The number of dimensions for these cosines.

    Notes
    -----
    Each of the L classes has a projection of its own, so the difference of two scores is an inner product of projected
    vectors of length Ld: of u, which stacks the unit vectors u_y, with the vector that has xᵢ and -xᵢ in the places of
    the two classes. That is a problem of two classes with one point for every other class of every point. Theorem 9 of
    [1]_ uses the same vectors.

    References
    ----------
    .. [1] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.

    Examples
    --------
    >>> from slimline.bounds import margin_dimension, one_parameter_cosines
    >>> margin_dimension(one_parameter_cosines([[0.5, -0.1, 0.0]] * 100, [0] * 100), delta=0.05)
    258
    """
    own, others = _classes(cosines, labels)
    return np.asarray((own[:, None] - others).ravel() / np.sqrt(2.0 * (others.shape[1] + 1)))


def _binary(cosines: npt.ArrayLike, margin: float, errors: int) -> Chances:
    given = _cosines(cosines)
    if given.ndim != 1:
        raise InvalidParameterError(
            f"must be a list of numbers, one a point; got an array of shape {given.shape}. "
            "For several classes take multiclass_margin_dimension.",
            "cosines",
        )
    wanted, allowed = _margin(margin, 1), _errors(errors, given.size)
    distinct, counts = np.unique(given, return_counts=True)
    return Chances(np.full((distinct.size, 1), wanted), distinct[:, None], counts, allowed)


def _multiclass(cosines: npt.ArrayLike, labels: npt.ArrayLike, margin: float, errors: int) -> Chances:
    own, others = _classes(cosines, labels)
    wanted, allowed = _margin(margin, 2), _errors(errors, len(own))
    distinct, counts = np.unique(np.column_stack([own, others]), axis=0, return_counts=True)
    own, others = distinct[:, :1], distinct[:, 1:]
    threshold = _thresholds(own, others.max(axis=1, keepdims=True), wanted)
    # A cosine above a value is the same as its opposite below the opposite value.
    values = np.column_stack([threshold, np.broadcast_to(wanted - threshold, others.shape)])
    return Chances(values, np.column_stack([own, -others]), counts, allowed)


def _thresholds(own: Values, other: Values, margin: float) -> Values:
    """Return a with artanh(own) - artanh(a) = artanh(a - margin) - artanh(other), between other + margin and own."""
    low, high = np.minimum(other + margin, own), np.maximum(other + margin, own)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_BISECTIONS):
            a = 0.5 * (low + high)
            above = np.arctanh(own) - np.arctanh(np.clip(a, -1, 1))
            below = np.arctanh(np.clip(a - margin, -1, 1)) - np.arctanh(other)
            nearer_other = below < above
            low, high = np.where(nearer_other, a, low), np.where(nearer_other, high, a)
    return 0.5 * (low + high)


def _cosines(cosines: npt.ArrayLike) -> Values:
    given = real_numbers("margin of data", "cosines", cosines)
    if not given.size:
        raise InvalidParameterError("must not be empty: give one cosine a point.", "cosines")
    if not np.all(np.abs(given) <= 1 + _ROUNDING):
        raise InvalidParameterError("must lie in [-1, 1]: divide ⟨u, xᵢ⟩ by ‖u‖‖xᵢ‖.", "cosines")
    return np.clip(given, -1.0, 1.0)


def _classes(cosines: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Values, Values]:
    """Return the cosines of points with their own class, and those with the others."""
    given = _cosines(cosines)
    columns = np.asarray(labels)
    if given.ndim != 2 or given.shape[1] < 2:
        raise InvalidParameterError(
            f"must have a row a point and a column a class, at least two; got an array of shape {given.shape}.",
            "cosines",
        )
    good = columns.shape == given.shape[:1] and columns.dtype.kind in "iu"
    if not good or np.any((columns < 0) | (columns >= given.shape[1])):
        raise InvalidParameterError(
            "must name the column of the class of each point: whole numbers from 0 on.", "labels"
        )
    own = np.zeros(given.shape, bool)
    own[np.arange(len(given)), columns] = True
    return given[own], given[~own].reshape(len(given), -1)


def _number(name: str, value: Any) -> float:
    given = real_numbers("margin of data", name, value)
    if given.ndim:
        raise InvalidParameterError(f"must be one number; got an array of shape {given.shape}.", name)
    return float(given)


def _margin(margin: float, most: int) -> float:
    wanted = _number("margin", margin)
    if not -most <= wanted < most:
        raise InvalidParameterError(
            f"(the one wanted afterwards) must lie in [{-most}, {most}); got {wanted:g}.", "margin", wanted
        )
    return wanted


def _delta(delta: float) -> float:
    chance = _number("delta", delta)
    if not 0 < chance < 1:
        raise InvalidParameterError(f"(failure probability) must lie in (0, 1); got {chance:g}.", "delta", chance)
    return chance


def _whole(name: str, value: int, least: int) -> int:
    number = _number(name, value)
    if not (number >= least and number.is_integer()):
        raise InvalidParameterError(f"must be a whole number, at least {least}; got {number:g}.", name, number)
    return int(number)


def _errors(errors: int, points: int) -> int:
    allowed = _whole("errors", errors, 0)
    if allowed >= points:
        raise InvalidParameterError(f"must be below the number of points, {points}; got {allowed}.", "errors")
    return allowed
