"""Exact line searches on a convex function of one variable, by the sign of its derivative."""

from __future__ import annotations

from collections.abc import Callable


def smallest_along(slope: Callable[[float], float], longest: float, *, iterations: int = 60) -> float:
    """Return where a convex function is smallest on [0, longest].

    Parameters
    ----------
    slope : callable
        Its derivative, which does not decrease.
    longest : float
        The largest step; may be infinite.
    iterations : int
        Evaluations at most.

    Returns
    -------
    step : float
        0 where the function does not fall at all.
    """
    low, slope_low = 0.0, slope(0.0)
    if not slope_low < 0.0:
        return 0.0
    high = min(1.0, longest)
    slope_high = slope(high)
    while slope_high < 0.0 and high < longest and iterations > 0:
        low, slope_low = high, slope_high
        high = min(2.0 * high, longest)
        slope_high = slope(high)
        iterations -= 1
    if slope_high <= 0.0:
        return high
    # Illinois: secant steps that halve the weight of an end that stays, so that both ends move; at a steep corner that
    # takes long, so every third step is a bisection.
    side = 0
    for count in range(iterations):
        if high - low <= 1e-13 * high:
            break
        middle = (low * slope_high - high * slope_low) / (slope_high - slope_low)
        if count % 3 == 2 or not low < middle < high:
            middle = 0.5 * (low + high)
        value = slope(middle)
        if value == 0.0:
            return middle
        if value < 0.0:
            low, slope_low = middle, value
            if side == -1:
                slope_high *= 0.5
            side = -1
        else:
            high, slope_high = middle, value
            if side == 1:
                slope_low *= 0.5
            side = 1
    return 0.5 * (low + high)
