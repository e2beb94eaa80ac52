"""The hinge over rows of features: coordinate descent, and Newton on the few samples that lie on the margin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slimline.solvers.coordinate_descent import descend_rows
from slimline.solvers.face import settle_face
from slimline.solvers.problem import SmallProblem, Solution
from slimline.solvers.rows_features import Rows

Floats = NDArray[np.float64]
_MOST_ROUNDS = 60
#: Rounds without a smaller gap: the dual objective rises all the time, the gap now and then.
_MOST_IDLE = 8
#: More samples on the margin than this are left to coordinate descent.
_MOST_FREE = 4000


def solve_hinge_rows(features: Rows, problem: SmallProblem, start: Floats | None, target_gap: float) -> Solution:
    """Solve the small problem with the hinge from the rows of its features.

    Parameters
    ----------
    features : Rows
        Z.
    problem : SmallProblem
        Labels, weights, penalty and offset.
    start : array of shape (n_samples,), optional
        Dual variables to start from.
    target_gap : float
        Stop when the duality gap is this small; 0: go on until rounding stops it.

    Returns
    -------
    solution : Solution
        With weights.
    """
    Z = features.array()
    y, penalty = problem.labels, problem.penalty
    dual = np.zeros(len(y)) if start is None else np.ascontiguousarray(problem.projected(start))

    def state() -> tuple[Floats, Floats, float]:
        v = features.transposed_times(y * dual) / penalty
        values = features.times(v) + problem.offset
        return v, values, problem.gap(values, dual)

    v, values, gap = state()
    best = Solution(dual.copy(), values, v, gap, 0)
    tolerance = 0.1
    finest = 1e-13 if Z.dtype == np.float64 else 1e-5  # gradients below this are rounding
    epochs = idle = 0
    for _ in range(_MOST_ROUNDS):
        descent = descend_rows(
            Z,
            y,
            problem.offset,
            np.zeros(len(y)),
            problem.weights,
            penalty,
            dual,
            v,
            max_epochs=50,
            tolerance=tolerance,
            seed=epochs,
        )
        epochs += descent.epochs
        v, values, gap = state()
        if gap > target_gap and tolerance <= (0.01 if target_gap == 0.0 else 1e-3):
            free = np.flatnonzero((dual > 0.0) & (dual < problem.weights))
            # At the optimum there are hardly more of them than components; only rounding is worth a search for which.
            if 0 < free.size <= (_MOST_FREE if target_gap == 0.0 else min(_MOST_FREE, 2 * Z.shape[1] + 8)):
                part = Z[free].astype(np.float64)
                dual[free] = settle_face(
                    part @ part.T, y[free], values[free], problem.weights[free], dual[free], penalty
                )
            v, values, gap = state()
        idle = 0 if gap < 0.999 * best.gap else idle + 1
        if gap < best.gap:
            best = Solution(dual.copy(), values, v, gap, epochs)
        if best.gap <= target_gap or (tolerance <= finest and (descent.violation <= tolerance or idle > _MOST_IDLE)):
            break
        tolerance = max(tolerance * 0.1, finest)
    return best
