"""The exact optimum of a box-constrained quadratic on the face that its free variables span."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slimline.solvers.positive_definite import solve_shifted

Floats = NDArray[np.float64]
_MOST_STEPS = 60


def settle_face(K: Floats, labels: Floats, values: Floats, upper: Floats, dual: Floats, penalty: float) -> Floats:
    """Move dual variables of the hinge to where every margin is 1, stopping at each bound on the way.

    Parameters
    ----------
    K : array of shape (m, m)
        Gram matrix of the samples strictly inside their bounds.
    labels, values, upper, dual : arrays of shape (m,)
        y, f, upper bounds and α of these samples.
    penalty : float
        λ.

    Returns
    -------
    dual : array of shape (m,)
        New dual variables, each within its bounds; the dual objective has not fallen.
    """
    dual, values = dual.copy(), values.copy()
    free = np.arange(len(dual))
    for _ in range(_MOST_STEPS):
        if free.size == 0:
            break
        part = K[np.ix_(free, free)]
        # K dβ = λ (y - f) makes every margin 1; the ridge is far below anything that K resolves
        ridge = np.full(free.size, 1e-13 * max(float(np.trace(part)) / free.size, np.finfo(float).tiny))
        change = labels[free] * solve_shifted(part, ridge, penalty * (labels - values)[free])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            down, up = -dual[free] / change, (upper - dual)[free] / change
        room = np.where(change < 0.0, down, np.where(change > 0.0, up, np.inf))
        step = min(1.0, float(room.min()))
        blocked = room <= step * (1.0 + 1e-12) if step < 1.0 else np.zeros(free.size, dtype=bool)
        moved = np.clip(dual[free] + step * change, 0.0, upper[free])
        moved[blocked] = np.where(change[blocked] < 0.0, 0.0, upper[free][blocked])
        values += K[:, free] @ (labels[free] * (moved - dual[free])) / penalty
        dual[free] = moved
        if step >= 1.0:
            break
        free = free[~blocked]
    return dual
