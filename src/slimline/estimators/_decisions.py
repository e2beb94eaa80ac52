"""Decisions and rankings of features, and which of them are certified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import overflow_allowed, sum_error
from slimline.data import Matrix, Squares
from slimline.data._arrays import to_dense
from slimline.data._standardised import Standardised
from slimline.errors import DataError
from slimline.estimators._covariates import FreeEffects
from slimline.estimators._validation import class_of_scores
from slimline.learning import Certificate, rank_bounds
from slimline.learning.training_data import relative_centre, size_bounds

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Decisions:
    """Labels and scores of some rows, and which labels are certified."""

    #: Label of the class with the highest score; of shape (n_samples,).
    labels: NDArray[Any]
    #: For two classes one score: above 0 means the second; of shape (n_samples,).
    scores: Floats
    #: Whether the exact model of all training data is proved to give the same label; of shape (n_samples,).
    proved: NDArray[np.bool_]


@dataclass(frozen=True)
class CovariateEffects:
    """Effects without a penalty, with intervals of the exact ones.

    Parameters
    ----------
    name : array of shape (n_effects,)
        Names; the intercept first.
    effect, lower, upper : arrays of shape (n_tasks, n_effects)
        The exact effect lies between the last two, wherever they are finite.
    """

    name: NDArray[Any]
    effect: Floats
    lower: Floats
    upper: Floats

    def __str__(self) -> str:
        width = max([9, *(len(str(name)) for name in self.name)])
        lines = [f"{'covariate':<{width}}  {'effect':>12}  {'from':>12}  {'to':>12}"]
        for rows in zip(self.effect, self.lower, self.upper, strict=True):
            for name, effect, lower, upper in zip(self.name, *rows, strict=True):
                lines.append(f"{name!s:<{width}}  {effect:>12.4g}  {lower:>12.4g}  {upper:>12.4g}")
        return "\n".join(lines)


@dataclass(frozen=True)
class AbsentPart:
    """The part of the scores that columns absent from the data add."""

    #: With the imputed values; of shape (n_tasks,).
    scores: Floats
    #: How far what any values of theirs would add can be from that, in either direction, rounding included; of
    #: shape (n_tasks,).
    below: Floats
    above: Floats
    #: Norm of that part of a row, at most; infinite where nothing bounds the values: then no label is proved.
    size: float


@dataclass(frozen=True)
class Beside:
    """Intercept and covariates without a penalty, for some samples."""

    effects: FreeEffects
    #: Of shape (n_samples, n_free_columns).
    columns: Floats


def beside_of(
    free: FreeEffects | None, covariates: Any, matrix: Matrix, features: Floats | None = None
) -> Beside | None:
    """Return what stands beside the features of some samples; refuse covariates that the model does not know.

    `matrix` shows the samples as in training. Features without a penalty are 0 there: unless their values are given,
    they are read from the data themselves, in one pass.
    """
    given = (free or FreeEffects.none()).given(covariates, matrix.shape[0])
    if free is None:
        return None
    if len(free.features):
        own = unscaled_columns(matrix, free.features) if features is None else features
        given = np.hstack([given, own])
    return Beside(free, free.columns(given))


def unscaled_columns(view: Matrix, numbers: NDArray[np.intp]) -> Floats:
    """Return some columns of a standardised view before it centres and scales them, missing values imputed."""
    assert isinstance(view, Standardised)
    fill = view.transform.fill
    return to_dense(view.base.columns(numbers).standardised(None, None, None if fill is None else fill[numbers]))


@dataclass(frozen=True)
class ScoredRows:
    """Scores of some rows, and how far each can be from that of the exact model."""

    #: Of shape (n_samples, n_tasks).
    scores: Floats
    lower: Floats
    upper: Floats
    slack: Floats


@overflow_allowed()
def scored_rows(
    matrix: Matrix,
    weights: Floats,
    radius: Floats,
    constant: float,
    absent: AbsentPart | None = None,
    beside: Beside | None = None,
) -> ScoredRows:
    """Score the rows of a matrix, in one pass.

    The score of the exact model lies in [lower - slack, upper + slack], whatever the values of absent columns are.
    """
    squares, columns = Squares(*matrix.shape), weights[:, :-1].T
    explained = None if beside is None else beside.effects.explained
    if explained is not None:
        columns = np.hstack([columns, explained.T])
    products = matrix.dot(np.ascontiguousarray(columns), squares)
    scores = products[:, : len(weights)] + constant * weights[:, -1]
    size, offset = size_bounds(squares.rows, matrix, constant), relative_centre(matrix)
    lost = sum_error(matrix.shape[1] + 1) * np.linalg.norm(weights, axis=1) * (size + 2.0 * offset)[:, None]
    unknown = 0.0 if absent is None else absent.size  # the ball is one of all weights
    if beside is None:
        slack = radius * np.hypot(size, unknown)[:, None] + 2.0 * lost  # `predict` sums in another order
    else:
        inner = None if explained is None else products[:, len(weights) :]
        scores = scores + beside.effects.scores(beside.columns)
        slack = beside.effects.errors(beside.columns, size, size + 2.0 * offset, inner, unknown) + 2.0 * lost
        if len(beside.effects.features):  # which `predict` sums among all features
            slack += sum_error(matrix.shape[1] + 1) * beside.effects.sizes(beside.columns)
    if absent is None:
        return ScoredRows(scores, scores, scores, slack)
    scores = scores + absent.scores
    slack = np.where(np.isfinite(slack), slack, np.inf)
    return ScoredRows(scores, scores - absent.below, scores + absent.above, slack)


@overflow_allowed()
def decisions_of(rows: ScoredRows, classes: NDArray[Any]) -> Decisions:
    """Decide about rows by their scores.

    A label is proved where no weights within the radius, and no values of absent columns, give another.
    """
    scores, lower, upper, slack = rows.scores, rows.lower, rows.upper, rows.slack
    if scores.shape[1] == 1:
        flat = scores[:, 0]
        proved = (lower > slack) | (upper < -slack)
        return Decisions(classes[class_of_scores(flat)], flat, proved[:, 0])
    winner = scores.argmax(axis=1)
    row = np.arange(len(winner))
    ahead = lower[row, winner][:, None] - upper > slack[row, winner][:, None] + slack
    ahead[row, winner] = True
    return Decisions(classes[winner], scores, ahead.all(axis=1))


@dataclass(frozen=True)
class Ranking:
    """Features in falling order of absolute (standardised) weight: all of them, or the first."""

    #: Number of the feature; of shape (n_ranked,).
    index: NDArray[np.intp]
    #: Which vector of weights its weight is from: with several classes, the one in which it is largest; of shape
    #: (n_ranked,).
    task: NDArray[np.intp]
    #: Its weight; of shape (n_ranked,).
    weight: Floats
    #: The exact weight lies between them; of shape (n_ranked,).
    lower: Floats
    upper: Floats
    #: Its place in the exact model lies between them; the first is 1; of shape (n_ranked,).
    best: NDArray[np.intp]
    worst: NDArray[np.intp]


def ranking_of(claim: Certificate, classes: NDArray[Any], label: Any = None, k: int | None = None) -> Ranking:
    """Rank the features of a certified model."""
    tasks, sign = slice(None), 1.0
    if label is not None:
        found = np.flatnonzero(classes == label)
        if found.size == 0:
            raise DataError(f"label={label!r} is not one of the classes: {classes.tolist()}.")
        if len(claim.weights) > 1:
            tasks = slice(found[0], found[0] + 1)
        elif found[0] == 0:  # the weights of two classes speak for the second
            sign = -1.0
    centre, radius, weights = claim.interval_centre[tasks], claim.interval_radius[tasks], claim.weights[tasks, :-1]
    size = np.abs(weights[0])
    for others in weights[1:]:
        np.maximum(size, np.abs(others), out=size)
    order = _falling(size, len(size) if k is None else k)
    del size
    task = np.abs(weights[:, order]).argmax(axis=0)
    weight, middle, around = sign * weights[task, order], sign * centre[task, order], radius[task, order]
    best, worst = rank_bounds(centre, radius, order)
    return Ranking(order, task + (tasks.start or 0), weight, middle - around, middle + around, best, worst)


def _falling(size: Floats, k: int) -> NDArray[np.intp]:
    """Return the numbers of the k largest, the largest first; of equal ones, the first comes first."""
    if k >= len(size):
        return np.argsort(-size, kind="stable")
    among = np.flatnonzero(size >= np.partition(size, -k)[-k])
    return among[np.argsort(-size[among], kind="stable")[:k]]
