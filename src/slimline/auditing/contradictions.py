"""Equal points with different labels: what no separator can tell apart, and mostly a mistake in the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slimline.geometry import Points

#: Squared distances below this part of the squared norms may be those of equal points, as far as a Gram matrix tells.
_NEAR = 1e-12
#: Pairs that are looked at and named, at most.
_MOST_PAIRS = 5


def contradictions(points: Points, codes: NDArray[np.intp]) -> tuple[tuple[int, int], ...]:
    """Return pairs of rows that are equal, number by number, and have different labels.

    Parameters
    ----------
    points : Points
        They keep their Gram matrix.
    codes : array of shape (n_samples,)
        Class numbers.

    Returns
    -------
    pairs : tuple of (int, int)
        Numbers of rows of the file or array that was opened, counted from 0; the first few pairs.
    """
    near = _near_pairs(points.gram(), codes)
    if not near:
        return ()
    rows, places = np.unique(near, return_inverse=True)
    differences = np.zeros((len(rows), len(near)))
    for k, (first, second) in enumerate(places.reshape(-1, 2)):
        differences[first, k], differences[second, k] = 1.0, -1.0
    apart = points.matrix.rows(rows).tdot(differences)
    original = points.matrix._original_row
    return tuple((original(i), original(j)) for k, (i, j) in enumerate(near) if not apart[:, k].any())


def _near_pairs(K: NDArray[np.float64], codes: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return the first pairs of different classes that a Gram matrix cannot tell apart."""
    squares = np.diagonal(K)
    found: list[tuple[int, int]] = []
    for i in range(len(K) - 1):
        sums = squares[i] + squares[i + 1 :]
        close = (sums - 2.0 * K[i, i + 1 :] <= _NEAR * sums) & (codes[i + 1 :] != codes[i])
        found += [(i, i + 1 + int(j)) for j in np.flatnonzero(close)]
        if len(found) >= _MOST_PAIRS:
            break
    return found[:_MOST_PAIRS]
