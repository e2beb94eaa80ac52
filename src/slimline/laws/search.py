"""The smallest dimension that meets a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from slimline.errors import NoDimensionError

LARGEST = 2**40  # a search gives up beyond it: no projection is that wide

Dimensions = npt.NDArray[np.int64]


def smallest_dimension(met: Callable[[Dimensions], npt.NDArray[np.bool_]], shape: tuple[int, ...] = ()) -> Dimensions:
    """Return the smallest r ≥ 1 that meets a target which, once met, stays met.

    Parameters
    ----------
    met : callable
        Whether r dimensions meet the target; takes and returns an array of `shape`, one target an element.
    shape : tuple of int
        How many targets there are.

    Returns
    -------
    r : ndarray of int
        The smallest, of the given shape.
    """
    low, high = np.zeros(shape, np.int64), np.ones(shape, np.int64)
    while not np.all(enough := met(high)):
        low, high = np.where(enough, low, high), np.where(enough, high, 2 * high)
        if np.any(high > LARGEST):
            raise NoDimensionError("No dimension below 2⁴⁰ meets this target: allow a larger eps or delta.")
    while np.any(high - low > 1):
        middle = (low + high) // 2
        enough = met(np.maximum(middle, 1)) & (middle > 0)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def whole(dimensions: Dimensions) -> Any:
    """Return an int for one dimension, the array for several."""
    return int(dimensions) if dimensions.ndim == 0 else dimensions
