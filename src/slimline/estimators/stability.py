"""How far several choices of features agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def jaccard(a: Mask, b: Mask) -> float:
    """Return |a ∩ b| / |a ∪ b| of two choices.

    Parameters
    ----------
    a, b : array of shape (n_features,), bool
        What was chosen.

    Returns
    -------
    index : float
        1 for equal choices, two empty ones included.
    """
    union = int((a | b).sum())
    return 1.0 if union == 0 else float((a & b).sum() / union)


def stability_index(chosen: Mask) -> float:
    """Return the stability of several choices: 1 less the variance of the choices relative to that of chance.

    Parameters
    ----------
    chosen : array of shape (n_choices, n_features), bool
        One choice a row.

    Returns
    -------
    index : float
        1 for equal choices, about 0 for random ones (Nogueira, Sechidis and Brown, JMLR 2018, eq. 4); 1 for a
        single choice, and where all features or none were chosen, when nothing can vary.
    """
    m, d = chosen.shape
    mean = float(chosen.sum(axis=1).mean())
    if m < 2 or mean in (0.0, float(d)):
        return 1.0
    frequency = chosen.mean(axis=0)
    variance = float((frequency * (1.0 - frequency)).sum()) / d * m / (m - 1)
    return float(1.0 - variance / (mean / d * (1.0 - mean / d)))
