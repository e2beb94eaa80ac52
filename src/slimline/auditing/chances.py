"""How sure a frequency is."""

from __future__ import annotations

from collections.abc import Iterable

from scipy.stats import beta

from slimline.auditing.records import Frequency

#: Of the intervals.
CONFIDENCE = 0.95


def frequency(held: Iterable[bool]) -> Frequency:
    """Return how often something held, with Clopper and Pearson's interval.

    Parameters
    ----------
    held : iterable of bool
        One entry a draw, a draw at least.

    Returns
    -------
    frequency : Frequency
        Its interval covers the chance with at least 95 %, whatever that is.
    """
    outcomes = [bool(one) for one in held]
    k, n = sum(outcomes), len(outcomes)
    tail = 0.5 * (1.0 - CONFIDENCE)
    low = float(beta.ppf(tail, k, n - k + 1)) if k > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, k + 1, n - k)) if k < n else 1.0
    return Frequency(k, n, low, high)
