"""Plain NumPy twin of the descent by pairs on simplices: the same steps in the same order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FLATTEST = 1e-14


def descend_simplex(
    q: Floats, group: NDArray[np.uint8], a: Floats, gradient: Floats, max_steps: int, tolerance: float
) -> tuple[int, float]:
    """Move weight between pairs of coordinates of a group, `a` and gradient = q a - c in place."""
    diagonal = q.diagonal()
    steps = 0
    while True:
        violation, worst = -np.inf, 0
        for s in range(int(group.max()) + 1):
            own = group == s
            largest = gradient[own & (a > 0)].max(initial=-np.inf)
            if largest - gradient[own].min(initial=np.inf) > violation:
                violation, worst = float(largest - gradient[own].min()), s
        if not violation > tolerance or steps >= max_steps:
            return steps, violation
        taker = int(np.argmin(np.where(group == worst, gradient, np.inf)))
        slope = np.where((group == worst) & (a > 0), gradient, -np.inf) - gradient[taker]
        both = diagonal[taker] + diagonal
        curvature = np.maximum(both - 2 * q[taker], _FLATTEST * both)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(slope > 0, slope * slope / curvature, -1.0)
            giver = int(np.argmax(np.where(np.isnan(gain), -1.0, gain)))
            amount = slope[giver] / curvature[giver]
        if giver == taker or not slope[giver] > 0:
            return steps, violation
        everything = not amount < a[giver]
        if everything:
            amount = a[giver]
        if not amount > 0 or (a[taker] + amount == a[taker] and a[giver] - amount == a[giver]):
            return steps, violation
        a[taker] += amount
        a[giver] = 0.0 if everything else a[giver] - amount
        gradient += amount * (q[taker] - q[giver])
        steps += 1
