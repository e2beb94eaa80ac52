"""Unit vectors of several classes, improved where they stand: what they attain is a lower end, however found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from slimline.geometry.points import Points
from slimline.geometry.rivals import Rivals

Floats = NDArray[np.float64]

#: Sharpness of the soft minimum, over the size of the margin: the last one is off by a thousandth.
_SHARPNESS = (10.0, 100.0, 1000.0, 10_000.0)
#: Evaluations for each of them, two passes each.
_EVALUATIONS = 30


def ascend(data: Points, factor: Floats, pairs: Rivals, start: Floats, size: float) -> Floats:
    """Return unit vectors of a larger least lead, found by L-BFGS on ever sharper soft minima of the leads.

    Parameters
    ----------
    data : Points
        The points.
    factor : array of shape (n_samples,)
        What each point is scaled by.
    pairs : Rivals
        Whose leads they are.
    start : array of shape (n_features, n_classes)
        Vectors of any length but 0.
    size : float
        An upper end of the least lead.

    Returns
    -------
    vectors : array of shape (n_features, n_classes)
        The best that were met, of norm 1.
    """
    search: Any = minimize
    every = np.arange(len(pairs))
    best, most = start / np.linalg.norm(start, axis=0), -np.inf

    def soft(flat: Floats, sharpness: float) -> tuple[float, Floats]:
        nonlocal best, most
        V = flat.reshape(start.shape)
        norms = np.maximum(np.linalg.norm(V, axis=0), np.finfo(float).tiny)
        U = V / norms
        leads = pairs.leads(data.matrix.dot(U) * factor[:, None])
        least = float(leads.min())
        if least > most:
            best, most = U, least
        weights = np.exp(-sharpness * (leads - least))
        total = float(weights.sum())
        G = data.matrix.tdot(pairs.spread(every, weights / total) * factor[:, None])
        G -= U * np.sum(U * G, axis=0)  # along the spheres
        return float(np.log(total)) / sharpness - least, -(G / norms).ravel()

    for sharpness in _SHARPNESS:
        options = {"maxfun": _EVALUATIONS, "maxiter": _EVALUATIONS}
        search(soft, best.ravel(), args=(sharpness / size,), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(best)
