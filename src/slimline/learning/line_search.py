"""Smallest values along a direction, and shifted positive definite systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from slimline._kernels import factorise

Floats = NDArray[np.float64]


def smallest_along(
    slope: Callable[[float], float], longest: float, *, iterations: int = 60, rough: float = 0.0
) -> float:
    """Return where a convex function is smallest on [0, longest].

    Or a place before it, to which the function falls all the way, and where no more than the part `rough` of its slope
    at 0 is left.
    """
    low, slope_low = 0.0, slope(0.0)
    if not slope_low < 0.0:
        return 0.0
    enough = rough * slope_low
    high = min(1.0, longest)
    slope_high = slope(high)
    if enough <= slope_high <= 0.0:
        return high
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
        if value == 0.0 or enough <= value < 0.0:
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


def smallest_among_corners(
    start: float, growth: float, weight: Floats, short: Floats, rise: Floats, width: float, longest: float
) -> float:
    """Return where a quadratic and hinges with rounded corners, added up, are smallest on [0, longest].

    The derivative, start + t growth - Σ wᵢ rᵢ clip((shortᵢ - t rᵢ)/width + ½, 0, 1), is a line from corner to corner:
    sorted, they give it everywhere at once.
    """
    slope = start - float((weight * rise) @ np.clip(short / width + 0.5, 0.0, 1.0))
    if not slope < 0.0:
        return 0.0
    moving = rise != 0.0
    r, middle = rise[moving], short[moving] / rise[moving]
    half = 0.5 * width / np.abs(r)
    # Between the two ends of its corner a hinge adds w r²/width to what the derivative grows by.
    steeper = weight[moving] * r * r / width
    ends = np.clip(np.concatenate([middle - half, middle + half]), 0.0, longest)
    order = np.argsort(ends)
    ends = ends[order]
    growths = growth + np.cumsum(np.concatenate([steeper, -steeper])[order])
    growths = np.maximum(growths, growth)  # what rounding leaves where no hinge bends
    pieces = np.diff(ends, append=longest)
    slopes = slope + growth * (ends[0] if ends.size else longest) + np.concatenate([[0.0], np.cumsum(growths * pieces)])
    if not ends.size or slopes[0] >= 0.0:
        return min(longest, -slope / growth) if growth > 0.0 else longest
    crossing = int(np.searchsorted(slopes, 0.0))
    if crossing > ends.size - 1 and slopes[-1] < 0.0:
        return longest
    piece = crossing - 1
    return float(min(longest, ends[piece] - slopes[piece] / growths[piece]))


def solve_shifted(matrix: Any, shift: Floats, right: Floats, *, single: bool = False) -> Floats:
    """Return the solution of (M + diag(shift)) x = right, M being positive semi-definite up to rounding."""
    kinds: list[Any] = [np.float32, np.float64] if single else [np.float64]
    for dtype in kinds:
        total = _sum(matrix, shift, dtype)
        try:
            factor: Any = factorise(total)
            with np.errstate(over="ignore"):
                side = right.astype(dtype)
            x = scipy.linalg.cho_solve(factor, side, check_finite=False).astype(np.float64)
            if np.isfinite(x).all():
                return np.asarray(x)
        except np.linalg.LinAlgError:
            pass
    total = _sum(matrix, shift, np.float64)
    values, vectors = scipy.linalg.eigh(total, overwrite_a=True, check_finite=False)
    kept = values > len(values) * np.finfo(float).eps * max(float(values[-1]), np.finfo(float).tiny)
    solved = (vectors[:, kept].T @ right).T / values[kept]
    return np.asarray(vectors[:, kept] @ solved.T)


def shifted_solver(matrix: Any, shift: Floats) -> Callable[[Floats], Floats]:
    """Return what solves (M + diag(shift)) x = right for any right-hand side, by one factorisation."""
    try:
        factor: Any = factorise(_sum(matrix, shift, np.float64))
    except np.linalg.LinAlgError:
        return lambda right: solve_shifted(matrix, shift, right)
    return lambda right: np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))


def _sum(matrix: Any, shift: Floats, dtype: Any) -> Any:
    with np.errstate(over="ignore"):  # an infinity ends the factorisation, and float64 takes over
        total = np.array(matrix.T, dtype=dtype, order="F")  # symmetric, and by rows: copied as it lies
        total[np.diag_indices_from(total)] += shift.astype(dtype)
    return total
