"""Rounding errors of float64 in the products that certificates rest on (Higham, Accuracy and Stability, §3.1)."""

from __future__ import annotations

import numpy as np

#: Unit roundoff of float64.
ROUNDOFF = 2.0**-53
#: Roundings beside the additions of a long sum: scaling, centring, digits, a few partial sums.
_EXTRA_OPERATIONS = 64


def overflow_allowed() -> np.errstate:
    """Return a context, or a decorator, in which NumPy does not warn of what overflows.

    For the search of weights, where the data, C or sample weights are extreme, and for its proof: an infinity, or a
    NaN that comes of two, is a bound that claims nothing. Passes over the data refuse such sums themselves.
    """
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


def bound(value: float) -> float:
    """Return an upper bound as computed, infinite where it is NaN."""
    return value if value == value else float("inf")


def sum_error(terms: int) -> float:
    """Return γ such that a float64 sum of so many products is within γ Σ|products| of the exact one."""
    operations = 2.0 * (terms + _EXTRA_OPERATIONS) * ROUNDOFF
    return operations / (1.0 - operations)
