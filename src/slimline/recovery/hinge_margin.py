"""Samples on the hinge's margin, kept clear of its corner by a little more than rounding can do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slimline.recovery.certificate import gap_parts
from slimline.recovery.rounding import ROUNDOFF
from slimline.recovery.task import DualPoint, Point, Task, combination

Floats = NDArray[np.float64]
#: A margin within so many rounding errors of 1 is on the margin.
_NEAR = 16.0


def best_about_the_margin(task: Task, points: Sequence[Point], dual: DualPoint, row_bounds: Floats) -> Point:
    """Return the point, as it is or scaled up a little, whose proved gap is smallest.

    A sample on the margin costs 1 - a times what its margin may lack, and a times what it may have too much. With weak
    regularisation a is tiny, so a margin that is surely beyond 1 is far cheaper than one that may be either side of it.

    Parameters
    ----------
    task : Task
        The problem, with the hinge.
    points : sequence of Point
        Weights to choose from.
    dual : DualPoint
        α.
    row_bounds : array of shape (n_samples,)
        ρ, of `TrainingData`.

    Returns
    -------
    point : Point
        The first one, unless another is better.
    """
    choices = [*points, *(_beyond(task, point, row_bounds) for point in points)]
    return min(choices, key=lambda point: gap_parts(task, point, dual, row_bounds).gap)


def _beyond(task: Task, point: Point, row_bounds: Floats) -> Point:
    margin = task.labels * point.values
    error = point.values_error * row_bounds + 16 * ROUNDOFF * (1.0 + np.abs(margin))
    near = (task.weights > 0) & (np.abs(1.0 - margin) <= _NEAR * error) & (margin > 0.5)
    if not near.any():
        return point
    further = float(np.max((1.0 - margin[near] + 2.0 * error[near]) / margin[near]))
    return combination([point], np.array([1.0 + max(further, 0.0)]))
