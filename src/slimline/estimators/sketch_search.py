"""The best penalty by cross-validation on the sketch alone: no further pass over the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slimline.estimators.path import FoldScores
from slimline.recovery import Model, Task
from slimline.recovery.directions import Directions
from slimline.recovery.rounding import overflow_allowed
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
    """Return how fits to the sketch of a part of the samples do on the others.

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
        Samples to train on, and samples to score.
    scores : FoldScores
        What scores them.

    Returns
    -------
    scores, losses : arrays of shape (n_folds, n_penalties)
        Score and mean loss on the samples left out. Nothing is proved about them: they choose C, and the fit with that
        C is certified.
    """
    found = np.empty((2, len(folds), len(penalties)))
    for k, (train, test) in enumerate(folds):
        kept = np.zeros_like(weights)
        kept[train] = weights[train]
        starts: list[Floats | None] = [None] * len(signs)
        for j, C in enumerate(penalties):
            columns = []
            for i, sign in enumerate(signs):
                starts[i], values = _fit(model, Task(loss, sign, kept, 1.0 / float(C)), starts[i])
                columns.append(values)
            found[:, k, j] = scores(np.column_stack(columns), test)
    return found[0], found[1]


@overflow_allowed()
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
