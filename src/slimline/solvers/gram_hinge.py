"""The hinge from a Gram matrix: coordinate descent finds the support vectors, Newton their values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slimline.solvers.coordinate_descent import descend_gram
from slimline.solvers.face import settle_face
from slimline.solvers.problem import SmallProblem, Solution

Floats = NDArray[np.float64]
_MOST_ROUNDS = 60
#: Gradients below this are rounding.
_FINEST = 1e-13
#: Rounds without a smaller gap: the dual objective rises all the time, the gap now and then.
_MOST_IDLE = 8
#: So many samples on the margin are settled in no time.
_FEW = 300


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
    y, upper = problem.labels, problem.weights
    dual = np.zeros(len(y)) if start is None else np.ascontiguousarray(problem.projected(start))
    values = _values(K, problem, dual)
    best, best_gap = dual.copy(), problem.gap(values, dual)
    tolerance = 0.1
    epochs = idle = 0
    for _ in range(_MOST_ROUNDS):
        descent = descend_gram(
            K,
            y,
            problem.offset,
            np.zeros(len(y)),
            upper,
            problem.penalty,
            dual,
            values,
            max_epochs=50,
            tolerance=tolerance,
            seed=epochs,
        )
        epochs += descent.epochs
        gap = problem.gap(values, dual)
        # Descent alone soon reaches the modest gap of a step; factorisations pay where rounding is the aim.
        free = np.flatnonzero((dual > 0.0) & (dual < upper))
        if gap > target_gap and tolerance <= 0.01 and (target_gap == 0.0 or free.size <= _FEW):
            part = K[np.ix_(free, free)]
            dual[free] = settle_face(part, y[free], values[free], upper[free], dual[free], problem.penalty)
            values = _values(K, problem, dual)
            gap = problem.gap(values, dual)
        idle = 0 if gap < 0.999 * best_gap else idle + 1
        if gap < best_gap:
            best, best_gap = dual.copy(), gap
        if best_gap <= target_gap or (tolerance <= _FINEST and (descent.violation <= tolerance or idle > _MOST_IDLE)):
            break
        tolerance = max(tolerance * 0.1, _FINEST)
    return Solution(best, _values(K, problem, best), None, best_gap, epochs)


def _values(K: Floats, problem: SmallProblem, dual: Floats) -> Floats:
    return np.asarray(K @ (problem.labels * dual) / problem.penalty + problem.offset)
