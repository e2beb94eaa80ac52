"""The smallest dimension that meets a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from slimline.errors import NoDimensionError

LARGEST = 2**40  # a search gives up beyond it: no projection is that wide

Dimensions = npt.NDArray[np.int64]


def smallest_dimension(
    met: Callable[[Dimensions], npt.NDArray[np.bool_]], shape: tuple[int, ...] = (), failing: Dimensions | int = 0
) -> Dimensions:
    """Return the smallest r ≥ 1 that meets a target which, once met, stays met.

    Parameters
    ----------
    met : callable
        Whether r dimensions meet the target; takes and returns an array of `shape`, one target an element.
    shape : tuple of int
        How many targets there are.
    failing : array-like of int
        Dimensions that do not meet the target, from which on it stays met once it is; 0 where none is known.

    Returns
    -------
    r : ndarray of int
        The smallest above `failing`, of the given shape.
    """
    low = np.broadcast_to(np.asarray(failing, np.int64), shape)
    high = np.maximum(2 * low, 1)
    while not np.all(enough := met(high)):
        low, high = np.where(enough, low, high), np.where(enough, high, 2 * high)
        if np.any(high > LARGEST):
            raise NoDimensionError("No dimension below 2⁴⁰ meets this target: allow more distortion or failure.")
    while np.any(high - low > 1):
        middle = (low + high) // 2
        enough = met(np.maximum(middle, 1)) & (middle > low)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def highest_dimension(tail: Callable[[Dimensions], npt.NDArray[np.float64]], shape: tuple[int, ...]) -> Dimensions:
    """Return the r ≥ 2 with the largest tail, where it rises with r up to there and falls from there on.

    Parameters
    ----------
    tail : callable
        Takes dimensions and returns the tails, arrays of `shape`.
    shape : tuple of int
        How many tails there are.

    Returns
    -------
    r : ndarray of int
        Where each is largest.
    """
    left, right = np.full(shape, 2, np.int64), np.full(shape, LARGEST, np.int64)
    while np.any(right > left):
        third = (right / left) ** (1 / 3)
        first = np.minimum((left * third).astype(np.int64), right - 1)
        second = np.clip((left * third**2).astype(np.int64), first + 1, right)
        first, second = np.maximum(first, left), np.maximum(second, left)
        rises = tail(first) < tail(second)
        left, right = np.where(rises, first + 1, left), np.where(rises, right, np.maximum(second - 1, left))
    return left


def whole(dimensions: Dimensions) -> Any:
    """Return an int for one dimension, the array for several."""
    return int(dimensions) if dimensions.ndim == 0 else dimensions
