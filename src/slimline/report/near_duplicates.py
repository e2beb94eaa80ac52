"""Columns that are nearly the same as those with the largest weights: their weight could as well have gone there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix
from slimline.data.standardised import Standardised
from slimline.report.fit_facts import Neighbour

Floats = NDArray[np.float64]

#: Correlation from which on a column counts as nearly the same.
NEARLY_THE_SAME = 0.9
#: Columns that are named.
_MOST_NAMED = 5
#: Bytes that the correlations may take.
_BYTES = 200_000_000


def columns_looked_at(n_features: int, wanted: int) -> int:
    """Return for how many columns neighbours can be looked for at once.

    Parameters
    ----------
    n_features : int
        Columns of the data.
    wanted : int
        How many one would like to.

    Returns
    -------
    count : int
        At least one.
    """
    return max(1, min(wanted, _BYTES // (8 * n_features)))


def near_duplicates(
    matrix: Matrix, columns: NDArray[np.intp], names: Sequence[str] | None, deviation: Floats | None
) -> list[tuple[int, tuple[Neighbour, ...]]]:
    """Look for columns that are nearly the same as some, in two passes.

    Parameters
    ----------
    matrix : Matrix
        The data as they were trained on.
    columns : array of int
        Columns whose neighbours are looked for.
    names : sequence of str, optional
        Names of all columns; x0, x1, … unless given.
    deviation : array of shape (n_features,), optional
        Standard deviation of each column; for a view that is standardised it is 1.

    Returns
    -------
    found : list of (int, tuple of Neighbour)
        For each of them, how many there are, and the nearest.
    """
    n = matrix.shape[0]
    order = np.argsort(columns)
    values = matrix.columns(columns[order]).dot(np.eye(len(columns)))[:, np.argsort(order)]
    values -= values.mean(axis=0)
    norms = np.linalg.norm(values, axis=0)
    values /= np.where(norms > 0.0, norms, 1.0)
    products = matrix.tdot(np.ascontiguousarray(values))
    own = np.ones(matrix.shape[1]) if isinstance(matrix, Standardised) or deviation is None else deviation
    size = np.sqrt(n) * own
    correlations = np.divide(products, size[:, None], out=np.zeros_like(products), where=size[:, None] > 0.0)
    return [_nearest(correlations[:, k], int(column), names) for k, column in enumerate(columns)]


def _nearest(correlation: Floats, column: int, names: Sequence[str] | None) -> tuple[int, tuple[Neighbour, ...]]:
    size = np.abs(correlation)
    size[column] = 0.0
    near = np.flatnonzero(size >= NEARLY_THE_SAME)
    first = near[np.argsort(-size[near], kind="stable")][:_MOST_NAMED]
    named = ((f"x{j}" if names is None else str(names[j]), float(np.clip(correlation[j], -1.0, 1.0))) for j in first)
    return len(near), tuple(Neighbour(name, value) for name, value in named)
