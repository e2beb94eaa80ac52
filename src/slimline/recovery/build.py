"""Making the model of a problem: from a sketch, from the Gram matrix, or from the data themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.projections import Projection
from slimline.recovery.model import (
    GramModel,
    Model,
    RowsModel,
    gram_of,
    require_finite_squares,
    squares_are_safe,
)
from slimline.recovery.training_data import TrainingData

#: Up to so many samples the small problem lives in the n × n matrix of the sketch.
GRAM_SAMPLES = 5000
#: What the Gram route asks for: one step reaches it unless rounding is in the way, and then a second may help.
EXACT = 1e-8


def sketch_model(
    data: TrainingData, projection: Projection, Z: NDArray[Any] | None = None, penalty: float | None = None
) -> Model:
    """Return the model that a sketch of the data gives, in one pass.

    Parameters
    ----------
    data : TrainingData
        X.
    projection : Projection
        R.
    Z : array of shape (n_samples, n_components), optional
        X R, if it is there already.
    penalty : float, optional
        The smallest λ that it is to be used with, as in `gram_of`.

    Returns
    -------
    model : Model
        A Gram matrix where there are few samples or more components than samples, else the sketch itself.
    """
    if Z is None:
        Z = data.sketch(projection)
    require_finite_squares(Z, data.matrix.name)
    if data.shape[0] <= max(GRAM_SAMPLES, Z.shape[1]):
        return GramModel(gram_of(Z, data.constant, penalty), Z.shape[1])
    return RowsModel(Z if squares_are_safe(Z) else Z.astype(np.float64), data.constant)


def exact_model(data: TrainingData) -> Model:
    """Return the data themselves as a model: the Gram matrix, or X where it has fewer columns than rows.

    Parameters
    ----------
    data : TrainingData
        X.

    Returns
    -------
    model : Model
        It is exact to rounding.
    """
    n, d = data.shape
    if d < n:
        X = data.dense()
        require_finite_squares(X, data.matrix.name)
        return RowsModel(X, data.constant, exact=True)
    K = data.gram()
    K += data.constant**2
    return GramModel(K, d, exact=True)


def growing(
    data: TrainingData,
    draw: Callable[[int, int], Projection],
    most_components: int,
    penalty: float | None = None,
) -> Callable[[Model, float], Model | None]:
    """Return what improves a sketch that contracts too little: a fresh one beside it, or in its place.

    Parameters
    ----------
    data : TrainingData
        X.
    draw : callable
        Returns the k-th projection, k = 1, 2, …, of a number of components.
    most_components : int
        No more components than this in all.
    penalty : float, optional
        The smallest λ that the model is to be used with.

    Returns
    -------
    improve : callable
        For `recover_certified`.
    """
    count = 0

    def improve(model: Model, steps_left: float) -> Model | None:
        nonlocal count
        if not isinstance(model, GramModel):
            count += 1
            return sketch_model(data, draw(count, model.n_components), penalty=penalty)
        # As many components as samples are the worst number of all: a small sketch jumps over it.
        more = max(model.n_components, 4 * data.shape[0] // 64 * 64)
        if model.n_components + more > most_components:
            return None
        count += 1
        fresh = sketch_model(data, draw(count, more), penalty=penalty)
        assert isinstance(fresh, GramModel)
        model.add(fresh)
        return model

    return improve
