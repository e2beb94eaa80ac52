"""Distortion of distances, angles and inner products."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import number, seed_of, whole
from slimline._base.rounding import ROUNDOFF
from slimline.errors import InvalidParameterError
from slimline.geometry._inputs import projection_of, require_squares
from slimline.geometry._points import Points

Floats = NDArray[np.float64]

#: A sketch is zero, if its norm is so many roundings of that of the row, or less.
_LOST = 16.0
#: Entries of a block of pairs.
_BLOCK = 1 << 18


@dataclass(frozen=True)
class Changes:
    """Values of one quantity before and after the projection: NaN for a pair that has none."""

    changes: Floats
    rounding: float
    n_equal: int
    without_angle: NDArray[np.intp]


class Pairs:
    """The pairs i < j of n rows, row by row."""

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


#: Levels of the quantiles that a record holds.
LEVELS = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
#: Rows that are looked at, unless told, and at most: 50 million pairs take 1.2 GB.
_ROWS, _MOST_ROWS = 2_000, 10_000
#: Pairs that are kept for figures.
_SHOWN = 10_000
#: Squared distances below this part of the squared norms are what rounding leaves of zero.
_EQUAL = 1e-12


@dataclass(frozen=True)
class Distortion:
    """Change of one quantity, over pairs of rows."""

    #: What is changed, as a formula.
    measures: str
    #: Pairs that have that number.
    n_pairs: int
    #: Largest distortion in size; 0 where there is no pair.
    value: float
    #: Estimate of how far off, by rounding, any of the distortions is.
    rounding: float
    #: Smallest and largest distortion, with their signs.
    lowest: float
    highest: float
    #: Rows of X that have them.
    lowest_pair: tuple[int, int] | None
    highest_pair: tuple[int, int] | None
    #: At the levels `LEVELS`.
    quantiles: tuple[float, ...]
    #: Rows that have no direction, or whose sketch has none where that is needed: their pairs are left out.
    without_angle: NDArray[np.intp] = field(repr=False, compare=False)
    #: Pairs of equal rows, which have no distance to be changed; they count among distances only.
    n_equal: int
    #: The number in X and in the sketch, for at most 10,000 of the pairs at random, for figures.
    before: Floats = field(repr=False, compare=False)
    after: Floats = field(repr=False, compare=False)
    #: Of all pairs, sorted; of shape (n_pairs,).
    distortions: Floats = field(repr=False, compare=False)

    def share_within(self, epsilon: float) -> float:
        """Return the share of the pairs whose distortion is at most ε in size."""
        epsilon = 0.0 if epsilon == 0 else number("epsilon", epsilon, 0.0)
        if not self.n_pairs:
            return 1.0
        inside = np.searchsorted(self.distortions, epsilon, "right") - np.searchsorted(self.distortions, -epsilon)
        return float(inside) / self.n_pairs


@dataclass(frozen=True)
class Distortions:
    """Changes of distances, angles and inner products of pairs of rows x, x'."""

    #: ‖Rᵀ(x - x')‖² / ‖x - x'‖² - 1.
    distances: Distortion
    #: cos(Rᵀx, Rᵀx') - cos(x, x').
    angles: Distortion
    #: (⟨Rᵀx, Rᵀx'⟩ - ⟨x, x'⟩) / (‖x‖‖x'‖).
    inner_products: Distortion
    #: Largest change of an angle, in radians.
    largest_turn: float
    #: Which pairs were looked at, in one sentence.
    reached: str


def distortions(X: Any, projection: Any, *, rows: int | None = None, random_state: Any = None) -> Distortions:
    """Measure the distortion of distances, angles and inner products, for all pairs of rows.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path or Matrix
        One row a point.
    projection : Projection or projection transformer
        R.
    rows : int, optional
        Measure all pairs of this number of rows, drawn at random, at most 10,000. None: of all rows if there are at
        most 2,000, else of 2,000.
    random_state : int, RandomState or None
        Seed of the rows, and of the pairs that are kept for figures.

    Returns
    -------
    result : Distortions
        Three records, with extremes, the rows that have them, and quantiles.

    See Also
    --------
    embedding_error : The largest change over the whole span of the rows.
    slimline.audit : These measures before and after a projection, over repeated draws.

    Notes
    -----
    For rows x and z, the distortions are ::

        ‖Rᵀ(x - z)‖²/‖x - z‖² - 1,      cos(Rᵀx, Rᵀz) - cos(x, z),      (⟨Rᵀx, Rᵀz⟩ - ⟨x, z⟩)/(‖x‖‖z‖).

    Lemma 23.4 of [1]_ bounds the first, Theorem 5 of [2]_ the second, and Theorem 1 of [3]_ the third. One Gram matrix
    of X and one sketch in float64 are computed. Squared distances are differences of their entries: a pair whose
    squared distance is below 1e-12 of its squared norms counts as equal.

    References
    ----------
    .. [1] Shalev-Shwartz, S.; Ben-David, S. (2014). "Understanding machine learning." Cambridge University Press.
    .. [2] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.
    .. [3] Milani Fard, M.; Grinberg, Y.; Pineau, J.; Precup, D. (2012). "Random projections preserve linearity in
       sparse spaces." McGill University.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.geometry import distortions
    >>> from slimline.projections import Gaussian
    >>> X = np.random.default_rng(0).standard_normal((50, 3000))
    >>> changed = distortions(X, Gaussian(3000, 1000, 7))
    >>> changed.distances.n_pairs, changed.distances.share_within(0.25)
    (1225, 1.0)
    """
    points = Points.of(X)
    matrix = points.matrix
    drawn = projection_of(projection, matrix.shape)
    n, d = matrix.shape
    wanted = min(n, _ROWS if rows is None else whole("rows", rows))
    if wanted > _MOST_ROWS:
        raise InvalidParameterError(
            f"must be at most {_MOST_ROWS:,}; got {wanted:,}, which have {wanted * (wanted - 1) // 2:,} pairs.", "rows"
        )
    seed = seed_of(random_state)
    index = np.arange(n)
    if wanted < n:
        index = np.sort(np.random.default_rng(seed).choice(n, wanted, replace=False))
        matrix = matrix.rows(index)
    K = points.gram(index if wanted < n else None)
    require_squares(np.maximum(np.diagonal(K), 0.0), matrix)
    Z = np.asarray(matrix.sketch(drawn, double=True), dtype=np.float64)
    return distortions_between(
        K, Z @ Z.T, row_numbers=index, n_samples=n, rounding=rounding_of_grams(d), random_state=seed
    )


def rounding_of_grams(n_features: int) -> float:
    """Return an estimate of the error of an entry of a Gram matrix, beside the norms of its two rows."""
    return (8.0 + 4.0 * math.sqrt(n_features)) * ROUNDOFF


def distortions_between(
    before: Floats,
    after: Floats,
    *,
    row_numbers: NDArray[np.intp] | None = None,
    n_samples: int | None = None,
    rounding: float = 2.0**-46,
    random_state: Any = None,
) -> Distortions:
    """Measure distortions from the Gram matrices before and after: for many projections of the same data."""
    n = len(before)
    if before.shape != (n, n) or after.shape != (n, n):
        raise InvalidParameterError(f"the Gram matrices must be square and alike; got {before.shape}, {after.shape}.")
    names = np.arange(n) if row_numbers is None else np.asarray(row_numbers, dtype=np.intp)
    pairs = Pairs(before, after, _EQUAL, rounding, names)
    random = np.random.default_rng(seed_of(random_state))
    total = n if n_samples is None else n_samples
    which = "all rows" if total == n else f"{n:,} rows of {total:,}, drawn at random"
    reached = f"All {n * (n - 1) // 2:,} pairs of {which}, from the Gram matrices before and after in float64."
    distances = _record("‖Rᵀ(x - x')‖² / ‖x - x'‖² - 1", pairs, "distances", random)
    angles = _record("cos(Rᵀx, Rᵀx') - cos(x, x')", pairs, "angles", random)
    products = _record("(⟨Rᵀx, Rᵀx'⟩ - ⟨x, x'⟩) / (‖x‖‖x'‖)", pairs, "inner_products", random)
    return Distortions(distances, angles, products, pairs.largest_turn(), reached)


def _record(measures: str, pairs: Pairs, kind: str, random: np.random.Generator) -> Distortion:
    found = pairs.measure(kind)
    changes = found.changes
    there = np.isfinite(changes)  # NaN: such a pair has no such number
    count = int(np.count_nonzero(there))
    shown = random.choice(changes.size, min(_SHOWN, changes.size), replace=False) if count else np.zeros(0, dtype=int)
    shown = np.sort(shown[there[shown]])
    before, after = pairs.numbers(kind, shown)
    low, high = (int(np.nanargmin(changes)), int(np.nanargmax(changes))) if count else (-1, -1)
    lowest, highest = (float(changes[low]), float(changes[high])) if count else (0.0, 0.0)
    ordered = changes[there]
    ordered.sort()
    return Distortion(
        measures=measures,
        n_pairs=count,
        value=max(abs(lowest), abs(highest)),
        rounding=found.rounding,
        lowest=lowest,
        highest=highest,
        lowest_pair=pairs.rows_of(low) if count else None,
        highest_pair=pairs.rows_of(high) if count else None,
        quantiles=tuple(float(q) for q in _quantiles(ordered)),
        without_angle=found.without_angle,
        n_equal=found.n_equal,
        before=before,
        after=after,
        distortions=ordered,
    )


def _quantiles(ordered: Floats) -> Floats:
    """Return the quantiles of sorted numbers, by the line between neighbours."""
    if not ordered.size:
        return np.full(len(LEVELS), np.nan)
    place = np.asarray(LEVELS) * (ordered.size - 1)
    below = np.floor(place).astype(np.intp)
    above = np.minimum(below + 1, ordered.size - 1)
    return np.asarray(ordered[below] + (place - below) * (ordered[above] - ordered[below]))
