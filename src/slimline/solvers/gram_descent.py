"""The hinge from a Gram matrix: coordinate descent finds the support vectors, Newton their values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slimline.solvers.coordinate_descent import Descent, descend_gram
from slimline.solvers.problem import SmallProblem, Solution
from slimline.solvers.rounds import EPOCHS, Space, solve_in_rounds

Floats = NDArray[np.float64]
#: So many samples on the margin are settled in no time.
_FEW = 300


class _GramSpace(Space):
    def __init__(self, K: Floats, problem: SmallProblem) -> None:
        super().__init__(problem)
        self._K = K

    def look(self, dual: Floats) -> None:
        problem = self.problem
        self.values = np.asarray(self._K @ (problem.labels * dual) / problem.penalty + problem.offset)

    def descend(self, dual: Floats, tolerance: float, seed: int) -> Descent:
        p = self.problem
        box = (self.curvature, self.upper, p.penalty)
        return descend_gram(
            self._K, p.labels, p.offset, *box, dual, self.values, max_epochs=EPOCHS, tolerance=tolerance, seed=seed
        )

    def gram(self, part: NDArray[np.intp]) -> Floats:
        return np.asarray(self._K[np.ix_(part, part)])

    def most_settled(self, tolerance: float, target_gap: float) -> int:
        # Descent alone soon reaches the modest gap of a step; factorisations pay where rounding is the aim.
        if tolerance > 0.01:
            return 0
        return len(self.upper) if target_gap == 0.0 else _FEW


def solve_hinge(K: Floats, problem: SmallProblem, start: Floats | None, target_gap: float) -> Solution:
    """Solve the small problem with the hinge from the Gram matrix of its features.

    Parameters
    ----------
    K : array of shape (n_samples, n_samples)
        Z Zᵀ.
    problem : SmallProblem
        Labels, weights, penalty and offset.
    start : array of shape (n_samples,), optional
        Dual variables to start from.
    target_gap : float
        Stop when the duality gap is this small; 0: go on until rounding stops it.

    Returns
    -------
    solution : Solution
        Without weights.
    """
    space = _GramSpace(K, problem)
    dual, gap, epochs = solve_in_rounds(space, start, target_gap)
    return Solution(dual, space.values, None, gap, epochs)
