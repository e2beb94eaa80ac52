"""A step of the dual point: towards the small problem's answer, as far as the dual objective rises."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slimline.recovery.rounding import ROUNDOFF
from slimline.recovery.task import DualPoint, Task
from slimline.solvers.line_search import smallest_along

Floats = NDArray[np.float64]
_LONGEST = 4.0


def climb(task: Task, old: DualPoint, new: DualPoint, row_bounds: Floats) -> DualPoint:
    """Return the point of the highest dual objective on the line from `old` through `new`, as far as it is feasible.

    Everything is linear in α, so no pass over the data is needed.

    Parameters
    ----------
    task : Task
        The problem.
    old, new : DualPoint
        Two feasible points.
    row_bounds : array of shape (n_samples,)
        ρ, of `TrainingData`.

    Returns
    -------
    point : DualPoint
        Not lower than `old`.
    """
    change = new.a - old.a
    longest = _longest_step(task, old.a, change)
    direction = task.weights * change
    margin, margin_change = task.labels * old.values, task.labels * (new.values - old.values)

    def falling(step: float) -> float:
        """Return minus the derivative of D: Σ sᵢ pᵢ (margin - inverse(a))."""
        a = task.loss.project(old.a + step * change)
        with np.errstate(invalid="ignore"):
            slopes = direction * (margin + step * margin_change - task.loss.inverse(a))
        return float(np.sum(slopes[direction != 0.0]))

    step = smallest_along(falling, longest)
    if step == 0.0:
        return old
    if step == 1.0:
        return new
    exact = old.a + step * change
    a = task.loss.project(exact)
    weights = old.weights + step * (new.weights - old.weights)
    values = old.values + step * (new.values - old.values)
    norms = (1.0 + step) * (old.norm + new.norm)
    values_error = abs(1.0 - step) * old.values_error + step * new.values_error + 8 * ROUNDOFF * norms
    moved = np.abs(a - exact) + 8 * ROUNDOFF * (1.0 + step) * (np.abs(old.a) + np.abs(new.a))
    weights_error = (
        abs(1.0 - step) * old.weights_error
        + step * new.weights_error
        + 8 * ROUNDOFF * norms
        + float((task.weights * moved) @ row_bounds) / task.penalty
    )
    return DualPoint(weights, values, values_error, a=a, weights_error=weights_error)


def _longest_step(task: Task, a: Floats, change: Floats) -> float:
    """Return how far one can go before a dual variable leaves its domain."""
    longest = _LONGEST
    with np.errstate(divide="ignore", invalid="ignore"):
        if np.isfinite(task.loss.lower):
            down = change < 0.0
            if down.any():
                longest = min(longest, float(np.min((task.loss.lower - a[down]) / change[down])))
        if np.isfinite(task.loss.upper):
            up = change > 0.0
            if up.any():
                longest = min(longest, float(np.min((task.loss.upper - a[up]) / change[up])))
    return max(longest, 1.0)  # both ends are feasible, whatever rounding says
