"""Tails of a projected cosine as bounds need them: strict inequalities, and never rising with r."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from slimline.bounds.inverse import Values
from slimline.laws import cosine as cosine_law

#: From r = 2 on, a tail that still rises with r is above 0.17 (and below ½): measured on a grid.
_MAY_RISE = np.log(0.15)


def log_below(value: npt.ArrayLike, r: Any, cosine: npt.ArrayLike) -> Values:
    """Return log P(cos' < value); what stands just at the value has not fallen below it.

    Parameters
    ----------
    value, r, cosine : array-like
        Where, in how many dimensions, and the cosine before the projection.

    Returns
    -------
    logarithm : array
        By symmetry also log P(cos' > value), with both signs changed.
    """
    return np.asarray(cosine_law.logsf(-np.asarray(value), r, -np.asarray(cosine)))


def lasting_log_below(value: npt.ArrayLike, r: Any, cosine: npt.ArrayLike) -> Values:
    """Return the logarithm of a bound on P(cos' < value) in r dimensions and in any larger number of them.

    Near the cosine a tail rises with r before it falls: cos' = ±1 in one dimension, and small r favours large cosines.
    Such a tail stays below ½; one beyond the cosine goes to 1.

    Parameters
    ----------
    value, r, cosine : array-like
        Where, in how many dimensions, and the cosine before the projection.

    Returns
    -------
    logarithm : array
        Never rises with r; it is that of `log_below` where this falls from r on.
    """
    value, r, cosine = np.broadcast_arrays(value, r, cosine)
    from_two = np.maximum(r, 2)
    lasting = log_below(value, from_two, cosine)
    unsure = lasting > _MAY_RISE
    next_one = log_below(value[unsure], from_two[unsure] + 1, cosine[unsure])
    lasting[unsure] = np.where(next_one > lasting[unsure], np.maximum(lasting[unsure], np.log(0.5)), lasting[unsure])
    one = r == 1
    lasting[one] = np.maximum(lasting[one], log_below(value[one], 1, cosine[one]))
    return np.where(value > cosine, 0.0, lasting)
