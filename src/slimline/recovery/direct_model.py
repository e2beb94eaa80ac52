"""The data themselves as the small problem, where their own rows are cheaper than a sketch of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.recovery.directions import Directions
from slimline.recovery.model import Found, Model, require_finite_squares, squares_are_safe
from slimline.recovery.training_data import TrainingData
from slimline.solvers import ArrayRows, SmallProblem, SparseRows, solve_rows
from slimline.solvers.losses import Hinge

Floats = NDArray[np.float64]


class DirectModel(Model):
    """Rows as they are, solved as far as a step asks for; known directions have nothing to correct.

    Parameters
    ----------
    Z : array or CSR array of shape (n_samples, n_features)
        float32 or float64.
    constant : float
        Value of the constant column.
    """

    exact = False
    lossless = True

    def __init__(self, Z: Any, constant: float) -> None:
        self._features = _features(Z, constant)
        self.n_components = Z.shape[1]

    def times(self, beta: Floats, directions: Directions) -> Floats:
        """Return K β."""
        return self._features.times(self._features.transposed_times(beta))

    def solve(
        self, problem: SmallProblem, rows: NDArray[np.intp] | None, directions: Directions, start: Floats, gap: float
    ) -> tuple[Floats, Found | None]:
        """Return dual variables of the problem and, where they are not those of the dual point, its weights."""
        features = self._features
        if rows is not None:
            features = _features(features.Z[rows], features.constant)
        solution = solve_rows(features, problem, start, gap)
        if isinstance(problem.loss, Hinge) or solution.weights is None:
            return solution.dual, None
        return solution.dual, Found(solution.weights, self._features.times(solution.weights))


def direct_model(data: TrainingData) -> DirectModel:
    """Return the rows of the data as a model, in one pass.

    Parameters
    ----------
    data : TrainingData
        X, sparse or in memory, neither centred nor scaled.

    Returns
    -------
    model : DirectModel
        It shares memory with the data where it can.
    """
    Z = data.stored_rows()
    values = Z.data if sp.issparse(Z) else Z  # type: ignore[attr-defined]
    require_finite_squares(values, data.matrix.name)
    if not sp.issparse(Z) and not squares_are_safe(values):
        Z = Z.astype(np.float64)
    return DirectModel(Z, data.constant)


def _features(Z: Any, constant: float) -> ArrayRows | SparseRows:
    return SparseRows(Z, constant) if sp.issparse(Z) else ArrayRows(Z, constant)
