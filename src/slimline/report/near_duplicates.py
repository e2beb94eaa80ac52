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
    order = np.argsort(columns)
    values = matrix.columns(columns[order]).dot(np.eye(len(columns)))[:, np.argsort(order)]
    values -= values.mean(axis=0)
    norms = np.linalg.norm(values, axis=0)
    values /= np.where(norms > 0.0, norms, 1.0)
    near = _Near(columns)
    for some, correlations in matrix.tdot_parts(values):
        if deviation is not None and not isinstance(matrix, Standardised):
            size = deviation[some, None]
            np.divide(correlations, size, out=correlations, where=size > 0.0)
            correlations[size[:, 0] == 0.0] = 0.0
        correlations /= np.sqrt(matrix.shape[0])
        near.add(some.start, correlations)
    return [near.of(k, names) for k in range(len(columns))]


class _Near:
    """The columns that are nearly the same as some, counted, and the nearest of them."""

    def __init__(self, columns: NDArray[np.intp]) -> None:
        self._columns = columns
        self._counts = np.zeros(len(columns), dtype=np.int64)
        self._nearest: list[list[tuple[float, int, float]]] = [[] for _ in columns]

    def add(self, first: int, correlations: Floats) -> None:
        """Look through the correlations of further columns, the first of which has a number."""
        rows, which = np.nonzero((correlations >= NEARLY_THE_SAME) | (correlations <= -NEARLY_THE_SAME))
        for row, k in zip(rows.tolist(), which.tolist(), strict=True):
            if first + row != self._columns[k]:
                self._counts[k] += 1
                correlation = float(correlations[row, k])
                self._nearest[k].append((-abs(correlation), first + row, correlation))
        self._nearest = [sorted(found)[:_MOST_NAMED] for found in self._nearest]

    def of(self, k: int, names: Sequence[str] | None) -> tuple[int, tuple[Neighbour, ...]]:
        """Return how many there are for one of the columns, and the nearest; of equals the first."""
        named = (
            Neighbour(f"x{j}" if names is None else str(names[j]), float(np.clip(correlation, -1.0, 1.0)))
            for _, j, correlation in self._nearest[k]
        )
        return int(self._counts[k]), tuple(named)
