"""Features by the size of their weights, and the places that each can have in the exact model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.errors import DataError
from slimline.recovery import Certificate, rank_bounds

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """Features in falling order of absolute (standardised) weight: all of them, or the first.

    Parameters
    ----------
    index : array of shape (n_ranked,)
        Number of the feature.
    task : array of shape (n_ranked,)
        Which vector of weights its weight is from: with several classes, the one in which it is largest.
    weight : array of shape (n_ranked,)
        Its weight.
    lower, upper : arrays of shape (n_ranked,)
        The exact weight lies between them.
    best, worst : arrays of shape (n_ranked,)
        Its place in the exact model lies between them; the first is 1.
    """

    index: NDArray[np.intp]
    task: NDArray[np.intp]
    weight: Floats
    lower: Floats
    upper: Floats
    best: NDArray[np.intp]
    worst: NDArray[np.intp]


def ranking_of(claim: Certificate, classes: NDArray[Any], label: Any = None, k: int | None = None) -> Ranking:
    """Rank the features of a certified model.

    Parameters
    ----------
    claim : Certificate
        Weights and intervals.
    classes : array of shape (n_classes,)
        Labels.
    label : object, optional
        The class whose weights are meant. Unless given: of two classes the second; of more, a feature counts by its
        largest weight over all of them.
    k : int, optional
        How many features are wanted; all unless given.

    Returns
    -------
    ranking : Ranking
        Of the first k features.
    """
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
