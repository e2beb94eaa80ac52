"""Numbers of all pairs of rows, from two Gram matrices, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: A sketch is zero, if its norm is so many roundings of that of the row, or less.
_LOST = 16.0
#: Entries of a block of pairs.
_BLOCK = 1 << 18


@dataclass(frozen=True)
class Changes:
    """What became of one kind of number: NaN for a pair that has none."""

    changes: Floats
    rounding: float
    n_equal: int
    without_angle: NDArray[np.intp]


class Pairs:
    """The pairs i < j of n rows, row by row.

    Parameters
    ----------
    before, after : array of shape (n, n)
        Gram matrices of the data and of their sketch.
    equal : float
        Squared distances up to this part of the sum of the squared norms count as zero.
    rounding : float
        Error of an entry of the Gram matrices beside the norms of its rows.
    names : array of shape (n,)
        What the rows are called.
    """

    def __init__(self, before: Floats, after: Floats, equal: float, rounding: float, names: NDArray[np.intp]) -> None:
        self._before, self._after = before, after
        self._equal, self._rounding, self._names = equal, rounding, names
        n = len(before)
        self._first = np.concatenate([[0], np.cumsum(np.arange(n - 1, 0, -1))]) if n > 1 else np.zeros(1, dtype=int)
        self._size = n * (n - 1) // 2
        self._squares = np.diagonal(before), np.diagonal(after)
        norms = [np.sqrt(np.maximum(squares, 0.0)) for squares in self._squares]
        # What rounding leaves of a sketch that is zero has no direction.
        self._pointless = norms[1] <= _LOST * rounding * norms[0]
        self._norms = norms[0], norms[1]

    def measure(self, kind: str) -> Changes:
        """Return how "distances", "angles" or "inner_products" changed, for every pair."""
        changes = np.empty(self._size)
        worst, without = 0.0, self._without(kind)
        for place, i, j in self._blocks():
            numbers, rounding = getattr(self, f"_{kind}")(i, j)
            changes[place] = numbers
            worst = max(worst, float(np.nanmax(rounding, initial=0.0)))
        equal = int(np.count_nonzero(np.isnan(changes))) if kind == "distances" else 0
        return Changes(changes, worst, equal, self._names[without])

    def numbers(self, kind: str, places: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return the numbers themselves for some pairs, before and after."""
        i, j = self._rows(places)
        if kind == "distances":
            squares = (self._squared_distances(which, i, j)[0] for which in (0, 1))
            before, after = (np.sqrt(np.maximum(square, 0.0)) for square in squares)
            return before, after
        scales = self._norms if kind == "angles" else (self._norms[0], self._norms[0])
        before, after = (
            gram[i, j] / (scale[i] * scale[j]) for gram, scale in zip((self._before, self._after), scales, strict=True)
        )
        return before, after

    def rows_of(self, place: int) -> tuple[int, int]:
        """Return the names of the rows of a pair."""
        i, j = self._rows(np.array([place]))
        return int(self._names[i[0]]), int(self._names[j[0]])

    def largest_turn(self) -> float:
        """Return the largest change of an angle, in radians; 0 where there is none."""
        largest = 0.0
        for _, i, j in self._blocks():
            before, after = (np.arccos(np.clip(cosine, -1.0, 1.0)) for cosine in self._cosines(i, j))
            largest = max(largest, float(np.nanmax(np.abs(after - before), initial=0.0)))
        return largest

    def _rows(self, places: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        i = np.searchsorted(self._first, places, side="right") - 1
        return i, places - self._first[i] + i + 1

    def _blocks(self) -> Iterator[tuple[slice, NDArray[np.intp], NDArray[np.intp]]]:
        """Yield (places, i, j), a block of pairs at a time."""
        for start in range(0, self._size, _BLOCK):
            stop = min(start + _BLOCK, self._size)
            yield slice(start, stop), *self._rows(np.arange(start, stop))

    def _without(self, kind: str) -> NDArray[np.intp]:
        """Return the rows that have no angle, before or after."""
        zero = self._norms[0] == 0.0
        if kind == "angles":
            zero = zero | self._pointless
        return np.flatnonzero(zero & (kind != "distances"))

    def _squared_distances(self, which: int, i: NDArray[np.intp], j: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return squared distances, and the sum of the squared norms that they are a difference of."""
        gram = (self._before, self._after)[which]
        both = self._squares[which][i] + self._squares[which][j]
        return both - 2.0 * gram[i, j], both

    def _distances(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> tuple[Floats, Floats]:
        before, sum_before = self._squared_distances(0, i, j)
        after, sum_after = self._squared_distances(1, i, j)
        before = np.where(before > self._equal * sum_before, before, np.nan)
        share = np.maximum(after, 0.0) / before
        return share - 1.0, 4.0 * self._rounding * (share * sum_before + sum_after) / before

    def _angles(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> tuple[Floats, Floats]:
        before, after = self._cosines(i, j)
        with np.errstate(divide="ignore", invalid="ignore"):  # a sketch that is short has fewer digits
            loss = self._norms[0][i] / self._norms[1][i] + self._norms[0][j] / self._norms[1][j]
        return after - before, np.where(np.isnan(before), np.nan, self._rounding * (4.0 + 2.0 * loss))

    def _inner_products(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> tuple[Floats, Floats]:
        norms = [np.where(self._norms[0][k] > 0.0, self._norms[0][k], np.nan) for k in (i, j)]
        change = (self._after[i, j] - self._before[i, j]) / (norms[0] * norms[1])
        lengths = self._norms[1][i] / norms[0], self._norms[1][j] / norms[1]
        return change, self._rounding * (1.0 + lengths[0] + lengths[1] + lengths[0] * lengths[1])

    def _cosines(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return the cosines before and after, NaN where a row has no direction."""
        none = self._pointless | (self._norms[0] == 0.0)
        norms = [np.where(none, np.nan, these) for these in self._norms]
        return self._before[i, j] / (norms[0][i] * norms[0][j]), self._after[i, j] / (norms[1][i] * norms[1][j])
