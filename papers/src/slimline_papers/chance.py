"""Tests whether chance alone explains a frequency."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

#: A finding is wrong by chance with a probability below this.
FALSE_ALARM = 1e-6
#: Standard deviations that a single difference may be off: one in 15 million is, on either side.
ONE_LIMIT = 5.4
#: Standard errors from which on a disagreement is noticed with a probability of 95 %, beyond what is allowed.
SURELY = 1.645
#: Standard errors that a mean may be off, where up to 400 are looked at: all are within, but for one case in a million.
LIMIT = 6.0


def rarity_above(count: ArrayLike, trials: ArrayLike, probability: ArrayLike) -> NDArray[np.float64]:
    """Return the chance of so many events or more, where each has at most this probability.

    Parameters
    ----------
    count, trials : array-like of int
        Events, and how often they could have happened.
    probability : array-like
        Of the event; above 1 it counts as 1.

    Returns
    -------
    chance : array
        Small where the events are too many.

    Examples
    --------
    >>> from slimline_papers.chance import rarity_above
    >>> rarity_above([5, 20], 100, 0.05).round(7)
    array([5.640187e-01, 1.000000e-07])
    """
    return np.asarray(binom.sf(np.asarray(count) - 1, np.asarray(trials), np.minimum(probability, 1.0)))


def rarity(count: ArrayLike, trials: ArrayLike, probability: ArrayLike) -> NDArray[np.float64]:
    """Return the chance of a count that is as far off, on its side, where each event has this probability.

    Parameters
    ----------
    count, trials : array-like of int
        Events, and how often they could have happened.
    probability : array-like
        Of the event.

    Returns
    -------
    chance : array
        Of both sides: small where the events are too many or too few.
    """
    fewer = binom.cdf(np.asarray(count), np.asarray(trials), np.minimum(probability, 1.0))
    return np.asarray(np.minimum(1.0, 2 * np.minimum(fewer, rarity_above(count, trials, probability))))


def too_rare(chances: ArrayLike) -> bool:
    """Return whether one of several chances is so small that chance does not explain it.

    Parameters
    ----------
    chances : array-like
        Of what was seen, one for each frequency that was looked at.

    Returns
    -------
    verdict : bool
        True by mistake with a probability below `FALSE_ALARM`, however many there are and whether independent or not.
    """
    all_chances = np.asarray(chances, dtype=float)
    return bool(np.any(all_chances * all_chances.size < FALSE_ALARM))


def chance_of(counts: ArrayLike, trials: ArrayLike, probability: ArrayLike) -> float:
    """Return how likely it is that one of these counts, or more than one, is as far off as the furthest is.

    Parameters
    ----------
    counts, trials : array-like of int
        How often something happened, and out of how many.
    probability : array-like
        What it should happen with.

    Returns
    -------
    chance : float
        Of exact binomial tails, both sides, summed over the counts; at most 1.
    """
    chances = rarity(counts, trials, probability)
    return float(min(1.0, chances.size * chances.min()))


def fall(before: ArrayLike, after: ArrayLike, trials_before: ArrayLike, trials_after: ArrayLike) -> NDArray[np.float64]:
    """Return by how many standard deviations a share fell.

    Parameters
    ----------
    before, after : array-like of int
        Counts of two independent sets of trials.
    trials_before, trials_after : array-like of int
        Out of how many.

    Returns
    -------
    deviations : array
        Below 0 where it rose, and 0 where all or none happened both times.
    """
    before, after = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    m, n = np.asarray(trials_before, dtype=float), np.asarray(trials_after, dtype=float)
    pooled = (before + after) / (m + n)
    deviation = np.sqrt(pooled * (1 - pooled) * (1 / m + 1 / n))
    return np.asarray((before / m - after / n) / np.where(deviation > 0, deviation, np.inf))
