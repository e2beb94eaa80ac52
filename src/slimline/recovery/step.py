"""What every step does: solve the small problem of each task, and multiply the data with all answers at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slimline.recovery.directions import Directions
from slimline.recovery.model import Found, Model
from slimline.recovery.rounding import overflow_allowed, sum_error
from slimline.recovery.task import DualPoint, Point, Progress
from slimline.recovery.training_data import TrainingData

Floats = NDArray[np.float64]


@overflow_allowed()
def next_points(
    data: TrainingData,
    states: Sequence[Progress],
    model: Model,
    targets: Sequence[float] | None = None,
    *,
    corrected: bool = True,
) -> list[tuple[DualPoint, Point | None]]:
    """Return the dual point that the small problem of each task leads to, and weights of its own where it has any.

    Parameters
    ----------
    data : TrainingData
        X.
    states : sequence of Progress
        Where each task stands.
    model : Model
        What stands for X in the small problems.
    targets : sequence of float, optional
        Duality gap that each is solved to; to rounding unless given, or where the model is exact.
    corrected : bool
        Whether the model is made to agree with all that is known exactly.

    Returns
    -------
    points : list of (DualPoint, Point or None)
        One pair a task.
    """
    answers: list[Floats] = []
    found: list[Found | None] = []
    for i, state in enumerate(states):
        target = 0.0 if targets is None or model.exact else targets[i]
        start = _warm_start(states, answers) if state.untouched else None
        directions = state.directions if corrected else Directions(data.shape[0])
        a, own = _answer(state, model, directions, state.dual.a if start is None else start, target)
        answers.append(a)
        found.append(own)
    B = np.column_stack([state.task.representer(a) for state, a in zip(states, answers, strict=True)])
    W, F = data.normal(B)
    points: list[tuple[DualPoint, Point | None]] = []
    for j, (state, a) in enumerate(zip(states, answers, strict=True)):
        penalty = state.task.penalty
        weights = W[j]
        weights /= penalty
        error = data.values_error(float(np.linalg.norm(weights)))
        lost = data.weights_error(B[:, j]) / penalty
        dual = DualPoint(weights, F[:, j] / penalty, error, a=a, weights_error=lost)
        points.append((dual, _own_point(data, found[j])))
        state.untouched = False
    return points


def _answer(
    state: Progress, model: Model, directions: Directions, start: Floats, target: float
) -> tuple[Floats, Found | None]:
    task, dual = state.task, state.dual
    rows = slice(None) if task.rows is None else task.rows
    offset = dual.values - model.times(task.representer(dual.a), directions) / task.penalty
    problem = task.small_problem(offset)
    solved, own = model.solve(problem, task.rows, directions, (task.weights * start)[rows], target)
    a = task.loss.project(np.zeros(len(start)))
    a[rows] = task.loss.project(solved / problem.weights)
    return a, own


def _own_point(data: TrainingData, found: Found | None) -> Point | None:
    """Return the weights that a lossless model found, which are better than those of its dual variables."""
    if found is None:
        return None
    # Whatever the order of its sums, a product of so many terms is wrong by no more.
    error = sum_error(data.shape[1] + 2) * float(np.linalg.norm(found.weights))
    return Point(found.weights, found.values, error)


def _warm_start(states: Sequence[Progress], answers: list[Floats]) -> Floats | None:
    """Return the newest answer to a problem that differs from the next one in its penalty alone: a path."""
    task = states[len(answers)].task
    for other, a in zip(reversed(states[: len(answers)]), reversed(answers), strict=True):
        if other.untouched and other.task.labels is task.labels and other.task.weights is task.weights:
            return a
    return None
