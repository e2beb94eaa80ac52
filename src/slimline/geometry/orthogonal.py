"""A direction that no point sees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slimline.geometry.points import Points
from slimline.solvers.positive_definite import solve_shifted

Floats = NDArray[np.float64]

#: What is left of a random vector, as a part of it: less is rounding.
_LEAST_LEFT = 1e-6
_RIDGE = 1e-12
#: Of the random vector: none that made-up data are likely to have, or the vector may be one of the points.
_SEED = 0x6F7274686F676F6E


def orthogonal_direction(points: Points) -> Floats | None:
    """Return a vector of norm 1 that is orthogonal to all points, to rounding; None where none is found.

    Where some combination of points almost vanishes, cosines of about 1e-6 may be left: who relies on it looks.

    Parameters
    ----------
    points : Points
        Too many for a Gram matrix: None.

    Returns
    -------
    direction : array of shape (n_features,) or None
        What is left of a random vector when its projection on the points is taken from it, twice.
    """
    n, d = points.shape
    if not points.at_once or not points.squares.any():
        return None
    K = points.gram()
    scale = 1.0 / np.sqrt(np.where(points.squares > 0.0, points.squares, 1.0))
    K *= scale[:, None]
    K *= scale
    vector = np.random.default_rng(_SEED).standard_normal(d)
    vector /= np.linalg.norm(vector)
    for _ in range(3):
        coefficients = scale * solve_shifted(K, np.full(n, _RIDGE), scale * points.matrix.dot(vector))
        vector = vector - points.matrix.tdot(coefficients)
        left = float(np.linalg.norm(vector))
        if left < _LEAST_LEFT:
            return None
    return np.asarray(vector / left)
