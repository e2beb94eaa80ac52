"""Hinge and squared hinge over rows of features, by coordinate descent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.solvers.coordinate_descent import Descent, descend_rows
from slimline.solvers.problem import SmallProblem, Solution
from slimline.solvers.rounds import EPOCHS, MOST_ROUNDS, Space, solve_in_rounds
from slimline.solvers.rows_features import Rows
from slimline.solvers.sparse_features import SparseRows

Floats = NDArray[np.float64]
#: More samples on the margin than this are left to coordinate descent.
_MOST_FREE = 4000
#: Rounds over fewer numbers than this have more epochs, but not more than so many.
_CHEAP, _MOST_EPOCHS = 2e6, 2000


class _RowsSpace(Space):
    def __init__(self, features: Rows | SparseRows, problem: SmallProblem) -> None:
        super().__init__(problem)
        self._features = features
        self._Z: Any
        self._Z, self._constant = features.for_descent()
        self.finest = features.finest
        n, r = features.shape
        self._epochs = int(np.clip(EPOCHS * _CHEAP / (n * r), EPOCHS, _MOST_EPOCHS))

    def look(self, dual: Floats) -> None:
        problem = self.problem
        self.weights = self._features.transposed_times(problem.labels * dual) / problem.penalty
        self.values = self._features.times(self.weights) + problem.offset

    def descend(self, dual: Floats, tolerance: float, seed: int) -> Descent:
        p = self.problem
        descent = descend_rows(
            self._Z,
            p.labels,
            p.offset,
            self.curvature,
            self.upper,
            p.penalty,
            dual,
            self.weights[: self._Z.shape[1] + (self._constant != 0.0)],
            constant=self._constant,
            max_epochs=self._epochs,
            tolerance=tolerance,
            seed=seed,
        )
        self.look(dual)  # by the features as they are, not as their array rounds them
        return descent

    def gram(self, part: NDArray[np.intp]) -> Floats:
        return self._features.gram(part)

    def most_settled(self, tolerance: float, target_gap: float) -> int:
        if tolerance > (0.01 if target_gap == 0.0 else 1e-3):
            return 0
        # At the optimum there are hardly more of them than components. Their Gram matrix should cost no more than a
        # round of descent, unless rounding is the aim.
        n, r = self._features.shape
        most = min(_MOST_FREE, 2 * r + 8)
        return most if target_gap == 0.0 else min(most, int((2.0 * EPOCHS * n) ** 0.5))


def solve_by_descent(
    features: Rows | SparseRows,
    problem: SmallProblem,
    start: Floats | None,
    target_gap: float,
    most_rounds: int = MOST_ROUNDS,
) -> Solution:
    """Solve the small problem with the hinge or the squared hinge from the rows of its features.

    Parameters
    ----------
    features : Rows or SparseRows
        Z.
    problem : SmallProblem
        Loss, labels, weights, penalty and offset.
    start : array of shape (n_samples,), optional
        Dual variables to start from.
    target_gap : float
        Stop when the duality gap is this small; 0: go on until rounding stops it.
    most_rounds : int
        Rounds at most.

    Returns
    -------
    solution : Solution
        With weights.
    """
    space = _RowsSpace(features, problem)
    dual, gap, epochs = solve_in_rounds(space, start, target_gap, most_rounds)
    return Solution(dual, space.values, space.weights, gap, epochs)
