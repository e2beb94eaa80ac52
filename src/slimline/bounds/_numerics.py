"""Numerical helpers of the bounds: checks of sizes, inverses, tails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from slimline.errors import InvalidParameterError
from slimline.laws import cosine as cosine_law


@dataclass(frozen=True)
class Size:
    """A quantity that theorems speak of."""

    #: In words, with its letter.
    meaning: str
    #: Ends of what makes sense.
    least: float
    most: float = np.inf
    #: Whether it counts something.
    whole: bool = True
    #: Whether `least` itself makes no sense.
    open_least: bool = False


SIZES = {
    "vectors": Size("number of vectors, |Q| or |S|", 1),
    "points": Size("number of points, m", 1),
    "classes": Size("number of classes, L", 2),
    "sparsity": Size("non-zero coordinates of a vector, k", 1),
    "features": Size("number of features, d", 1),
    "rank": Size("rank of X, ρ", 1),
    "effective_dimension": Size("effective dimension, d_μ", 0, whole=False, open_least=True),
    "n_components": Size("dimensions after the projection, r", 1),
    "margin": Size("normalised margin, γ", 0, 1, whole=False, open_least=True),
    "multiclass_margin": Size("normalised multiclass margin, γ", 0, 2, whole=False, open_least=True),
    "crammer_singer_margin": Size("margin of Crammer and Singer, γ", 0, whole=False, open_least=True),
    "radius": Size("largest norm of a point, B", 0, whole=False, open_least=True),
    "cosine": Size("cosine before the projection, c", -1, 1, whole=False),
    "constant": Size("constant that the statement leaves open, c", 0, whole=False, open_least=True),
}


def real_numbers(owner: str, name: str, value: object) -> npt.NDArray[np.float64]:
    """Return numbers as an array, or say that they are none."""
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "iufO":  # "0.1" is no number, nor is True
            raise TypeError
        return given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameterError(
            f"must be a number or an array of them, for {owner}; got {value!r:.60}.", name, value
        ) from None


def checked_size(owner: str, name: str, value: object) -> npt.NDArray[np.float64]:
    """Return a size as an array, or say what is wrong with it."""
    size = SIZES[name]
    given = real_numbers(owner, name, value)
    good = (given > size.least) if size.open_least else (given >= size.least)
    good &= given <= size.most
    good &= np.isfinite(given)
    if size.whole:
        good &= given == np.floor(given)
    if not np.all(good):
        kind = "a whole number" if size.whole else "a number"
        lower = f"above {size.least:g}" if size.open_least else f"at least {size.least:g}"
        upper = "" if size.most == np.inf else f" and at most {size.most:g}"
        wrong = float(given[~good].ravel()[0])
        raise InvalidParameterError(
            f"({size.meaning}) must be {kind}, {lower}{upper}, for {owner}; got {wrong:g}.", name, wrong
        )
    return given


Values = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def smallest_float(met: Callable[[Values], Flags], low: Values, high: Values) -> Values:
    """Return the smallest float64 in [low, high] that meets a target; one that meets it, all larger ones do.

    Positive floats are ordered like the integers that their bits make, so bisecting those takes at most 64 steps and
    ends at neighbours, whatever the scale.
    """
    possible = met(high)
    below = low.view(np.int64)
    above = np.where(met(low), below, high.view(np.int64))
    while np.any(above - below > 1):
        middle = np.asarray(below + (above - below) // 2)
        enough = met(middle.view(np.float64))
        below, above = np.where(enough, below, middle), np.where(enough, middle, above)
    return np.where(possible, above.view(np.float64), np.nan)


def largest_float(met: Callable[[Values], Flags], low: Values, high: Values) -> Values:
    """Return the largest float64 in [low, high] that meets a target; one that meets it, all smaller ones do."""
    beyond = smallest_float(lambda value: ~met(value), low, high)
    reached = np.where(np.isnan(beyond), high, np.nextafter(beyond, 0.0))
    return np.where(met(low), reached, np.nan)


#: From r = 2 on, a tail that still rises with r is above 0.17 (and below ½): measured on a grid.
_MAY_RISE = np.log(0.15)


def log_below(value: npt.ArrayLike, r: Any, cosine: npt.ArrayLike) -> Values:
    """Return log P(cos' < value); what stands just at the value has not fallen below it."""
    return np.asarray(cosine_law.logsf(-np.asarray(value), r, -np.asarray(cosine)))


def lasting_log_below(value: npt.ArrayLike, r: Any, cosine: npt.ArrayLike) -> Values:
    """Return the logarithm of a bound on P(cos' < value) in r dimensions and in any larger number of them.

    Near the cosine a tail rises with r before it falls: cos' = ±1 in one dimension, and small r favours large cosines.
    Such a tail stays below ½; one beyond the cosine goes to 1.
    """
    value, r, cosine = np.broadcast_arrays(value, r, cosine)
    from_two = np.maximum(r, 2)
    lasting = log_below(value, from_two, cosine)
    unsure = lasting > _MAY_RISE
    next_one = log_below(value[unsure], from_two[unsure] + 1, cosine[unsure])
    lasting[unsure] = np.where(next_one > lasting[unsure], np.maximum(lasting[unsure], np.log(0.5)), lasting[unsure])
    one = r == 1
    lasting[one] = np.maximum(lasting[one], log_below(value[one], 1, cosine[one]))
    return np.where(value > cosine, 0.0, lasting)
