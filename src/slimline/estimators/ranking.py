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
    """All features, in falling order of absolute (standardised) weight.

    Parameters
    ----------
    index : array of shape (n_features,)
        Number of the feature.
    task : array of shape (n_features,)
        Which vector of weights its weight is from: with several classes, the one in which it is largest.
    weight : array of shape (n_features,)
        Its weight.
    lower, upper : arrays of shape (n_features,)
        The exact weight lies between them.
    best, worst : arrays of shape (n_features,)
        Its place in the exact model lies between them; the first is 1.
    """

    index: NDArray[np.intp]
    task: NDArray[np.intp]
    weight: Floats
    lower: Floats
    upper: Floats
    best: NDArray[np.intp]
    worst: NDArray[np.intp]


def ranking_of(claim: Certificate, classes: NDArray[Any], label: Any = None) -> Ranking:
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

    Returns
    -------
    ranking : Ranking
        Of all features.
    """
    centre, radius, weights = claim.interval_centre, claim.interval_radius, claim.weights[:, :-1]
    tasks = np.arange(len(weights))
    if label is not None:
        found = np.flatnonzero(classes == label)
        if found.size == 0:
            raise DataError(f"label={label!r} is not one of the classes: {classes.tolist()}.")
        if len(centre) > 1:
            tasks, centre, radius, weights = found, centre[found], radius[found], weights[found]
        elif found[0] == 0:  # the weights of two classes speak for the second
            centre, weights = -centre, -weights
    task = np.abs(weights).argmax(axis=0)
    column = np.arange(weights.shape[1])
    weight, middle, around = weights[task, column], centre[task, column], radius[task, column]
    best, worst = rank_bounds(centre, radius)
    order = np.argsort(-np.abs(weight), kind="stable")
    lower, upper = (middle - around)[order], (middle + around)[order]
    return Ranking(order, tasks[task[order]], weight[order], lower, upper, best[order], worst[order])
