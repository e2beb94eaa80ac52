"""Inverting what only goes one way, to the last bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def smallest_float(met: Callable[[Values], Flags], low: Values, high: Values) -> Values:
    """Return the smallest float64 in [low, high] that meets a target; one that meets it, all larger ones do.

    Positive floats are ordered like the integers that their bits make, so bisecting those takes at most 64 steps and
    ends at neighbours, whatever the scale.

    Parameters
    ----------
    met : callable
        Whether values meet the target; takes and returns an array.
    low, high : array
        Positive ends, of the shape of the answer.

    Returns
    -------
    value : array
        NaN where `high` does not meet the target either.
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
    """Return the largest float64 in [low, high] that meets a target; one that meets it, all smaller ones do.

    Parameters
    ----------
    met : callable
        Whether values meet the target; takes and returns an array.
    low, high : array
        Positive ends, of the shape of the answer.

    Returns
    -------
    value : array
        NaN where `low` does not meet the target either.
    """
    beyond = smallest_float(lambda value: ~met(value), low, high)
    reached = np.where(np.isnan(beyond), high, np.nextafter(beyond, 0.0))
    return np.where(met(low), reached, np.nan)
