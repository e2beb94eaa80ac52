"""Labels, scores and proofs of rows, from the weights and the certificate of a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix, Squares
from slimline.estimators.scores import class_of_scores
from slimline.recovery.rounding import overflow_allowed, sum_error
from slimline.recovery.training_data import relative_centre, size_bounds

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Decisions:
    """What a certified classifier says of some rows.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        Of the class with the highest score.
    scores : array of shape (n_samples,) or (n_samples, n_classes)
        For two classes one score: above 0 means the second.
    proved : array of shape (n_samples,), bool
        Whether the exact model of all training data is proved to give the same label.
    """

    labels: NDArray[Any]
    scores: Floats
    proved: NDArray[np.bool_]


@dataclass(frozen=True)
class AbsentPart:
    """What columns that are not in the data add to the scores.

    Parameters
    ----------
    scores : array of shape (n_tasks,)
        With what was filled in for them.
    below, above : arrays of shape (n_tasks,)
        How far what any values of theirs would add can be from that, in either direction, rounding included.
    size : float
        Norm of that part of a row, at most; infinite where nothing bounds the values: then no label is proved.
    """

    scores: Floats
    below: Floats
    above: Floats
    size: float


@overflow_allowed()
def decisions_of(
    matrix: Matrix,
    classes: NDArray[Any],
    weights: Floats,
    radius: Floats,
    constant: float,
    absent: AbsentPart | None = None,
) -> Decisions:
    """Decide about the rows of a matrix, in one pass.

    Parameters
    ----------
    matrix : Matrix
        Rows as the weights want them: standardised, where the training data were.
    classes : array of shape (n_classes,)
        Labels.
    weights : array of shape (n_tasks, n_features + 1)
        Of the columns of the matrix, and of the constant column.
    radius : array of shape (n_tasks,)
        The exact weights, with those of absent columns, are within this.
    constant : float
        Value of the constant column.
    absent : AbsentPart, optional
        What columns add that are not in the matrix.

    Returns
    -------
    decisions : Decisions
        A label is proved where no weights within the radius, and no values of absent columns, give another.
    """
    squares = Squares(*matrix.shape)
    scores = matrix.dot(np.ascontiguousarray(weights[:, :-1].T), squares) + constant * weights[:, -1]
    size, offset = size_bounds(squares.rows, matrix, constant), relative_centre(matrix)
    lost = sum_error(matrix.shape[1] + 1) * np.linalg.norm(weights, axis=1) * (size + 2.0 * offset)[:, None]
    slack = radius * size[:, None] + 2.0 * lost  # `predict` sums in another order
    lower = upper = scores
    if absent is not None:
        scores = scores + absent.scores
        lower, upper = scores - absent.below, scores + absent.above
        # the ball is one of all weights, so the whole row counts
        known = np.isfinite(absent.size)
        slack = radius * np.hypot(size, absent.size)[:, None] + 2.0 * lost if known else slack + np.inf
    if len(radius) == 1:
        flat = scores[:, 0]
        proved = (lower > slack) | (upper < -slack)
        return Decisions(classes[class_of_scores(flat)], flat, proved[:, 0])
    winner = scores.argmax(axis=1)
    row = np.arange(len(winner))
    ahead = lower[row, winner][:, None] - upper > slack[row, winner][:, None] + slack
    ahead[row, winner] = True
    return Decisions(classes[winner], scores, ahead.all(axis=1))
