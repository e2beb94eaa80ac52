"""The best penalty by cross-validation on the sketch alone: no further pass over the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slimline.estimators.path import FoldScores
from slimline.recovery import Model, Task
from slimline.recovery.directions import Directions
from slimline.solvers.losses import Loss

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

#: Gap that a fit to a part of the rows is solved to, as a part of the objective of weights that are 0.
_GAP = 1e-4


def scores_on_sketch(
    model: Model,
    loss: Loss,
    penalties: Floats,
    signs: Sequence[Floats],
    weights: Floats,
    folds: Sequence[tuple[Index, Index]],
    scores: FoldScores,
) -> tuple[Floats, Floats]:
    """Return how fits to the sketch of a part of the rows do on the others.

    Parameters
    ----------
    model : Model
        What stands for the data.
    loss : Loss
        Of a sample.
    penalties : array of shape (n_penalties,)
        Values of C, rising: each fit starts from the one before.
    signs : sequence of array of shape (n_samples,)
        Labels ±1 of each task.
    weights : array of shape (n_samples,)
        Weights of the samples.
    folds : sequence of (array, array)
        Rows to train on, and rows to score.
    scores : FoldScores
        What scores them.

    Returns
    -------
    scores : array of shape (n_folds, n_penalties)
        Nothing is proved about them: they choose, and what was chosen is fitted to the data themselves.
    losses : array of shape (n_folds, n_penalties)
        Mean loss of the same rows, over the tasks: it tells penalties apart that score the same.
    """
    found, losses = np.empty((len(folds), len(penalties))), np.zeros((len(folds), len(penalties)))
    for k, (train, test) in enumerate(folds):
        kept = np.zeros_like(weights)
        kept[train] = weights[train]
        starts: list[Floats | None] = [None] * len(signs)
        for j, C in enumerate(penalties):
            columns = []
            for i, sign in enumerate(signs):
                task = Task(loss, sign, kept, 1.0 / float(C))
                starts[i], values = _fit(model, task, starts[i])
                columns.append(values)
                losses[k, j] += np.average(loss.value(sign[test] * values[test]), weights=weights[test])
            found[k, j] = scores.of_values(np.column_stack(columns), test)
    return found, losses / len(signs)


def best_penalty(scores: Floats, losses: Floats) -> int:
    """Return which penalty is best: wide data are often told apart by many.

    Parameters
    ----------
    scores, losses : arrays of shape (n_folds, n_penalties)
        What `scores_on_sketch` returns.

    Returns
    -------
    number : int
        Of those with the best mean score, the smallest whose mean loss is within one standard error of the least: past
        some penalty nothing changes but the time that it takes.
    """
    means, costs = scores.mean(axis=0), losses.mean(axis=0)
    costs[means < means.max() - 1e-12] = np.inf
    least = int(np.argmin(costs))
    error = losses[:, least].std() / np.sqrt(len(losses))
    return int(np.flatnonzero(costs <= costs[least] + error)[0])


def _fit(model: Model, task: Task, start: Floats | None) -> tuple[Floats, Floats]:
    """Return the dual variables of a small problem, and what its weights make of all rows."""
    n = len(task.labels)
    nothing, rows = Directions(n), slice(None) if task.rows is None else task.rows
    problem = task.small_problem(np.zeros(n))
    first = task.loss.project(np.zeros(n)) if start is None else start
    gap = _GAP * float(task.weights @ task.loss.value(np.zeros(n)))
    solved, own = model.solve(problem, task.rows, nothing, (task.weights * first)[rows], gap)
    a = task.loss.project(np.zeros(n))
    a[rows] = task.loss.project(solved / problem.weights)
    if own is not None:
        return a, own.values
    return a, model.times(task.representer(a), nothing) / task.penalty
