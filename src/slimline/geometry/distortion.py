"""What a projection does to the distances, angles and inner products of all pairs of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.errors import InvalidParameterError
from slimline.geometry.inputs import projection_of, require_squares
from slimline.geometry.pairs import Pairs
from slimline.geometry.points import Points
from slimline.parameters import number, seed_of, whole
from slimline.recovery.rounding import ROUNDOFF

Floats = NDArray[np.float64]

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
    """How much one kind of number changed, over pairs of rows.

    Parameters
    ----------
    measures : str
        What is changed, as a formula.
    n_pairs : int
        Pairs that have that number.
    value : float
        Largest distortion in size; 0 where there is no pair.
    rounding : float
        Estimate of how far off, by rounding, any of the distortions is.
    lowest, highest : float
        Smallest and largest distortion, with their signs.
    lowest_pair, highest_pair : (int, int) or None
        Rows of X that have them.
    quantiles : tuple of float
        At the levels `LEVELS`.
    without_angle : array of row numbers
        Rows that have no direction, or whose sketch has none where that is needed: their pairs are left out.
    n_equal : int
        Pairs of equal rows, which have no distance to be changed; they count among distances only.
    before, after : array
        The number in X and in the sketch, for at most 10,000 of the pairs at random, for figures.
    distortions : array of shape (n_pairs,)
        Of all pairs, sorted.
    """

    measures: str
    n_pairs: int
    value: float
    rounding: float
    lowest: float
    highest: float
    lowest_pair: tuple[int, int] | None
    highest_pair: tuple[int, int] | None
    quantiles: tuple[float, ...]
    without_angle: NDArray[np.intp] = field(repr=False, compare=False)
    n_equal: int
    before: Floats = field(repr=False, compare=False)
    after: Floats = field(repr=False, compare=False)
    distortions: Floats = field(repr=False, compare=False)

    def share_within(self, epsilon: float) -> float:
        """Return the share of the pairs whose distortion is at most ε in size.

        Parameters
        ----------
        epsilon : float
            ε, 0 or more.

        Returns
        -------
        share : float
            Of all pairs, not of those kept for figures; 1 where there is no pair.
        """
        epsilon = 0.0 if epsilon == 0 else number("epsilon", epsilon, 0.0)
        if not self.n_pairs:
            return 1.0
        inside = np.searchsorted(self.distortions, epsilon, "right") - np.searchsorted(self.distortions, -epsilon)
        return float(inside) / self.n_pairs


@dataclass(frozen=True)
class Distortions:
    """What a projection did to pairs of rows x, x'.

    Parameters
    ----------
    distances : Distortion
        ‖Rᵀ(x - x')‖² / ‖x - x'‖² - 1.
    angles : Distortion
        cos(Rᵀx, Rᵀx') - cos(x, x').
    inner_products : Distortion
        (⟨Rᵀx, Rᵀx'⟩ - ⟨x, x'⟩) / (‖x‖‖x'‖).
    largest_turn : float
        Largest change of an angle, in radians.
    reached : str
        Which pairs were looked at, in one sentence.
    """

    distances: Distortion
    angles: Distortion
    inner_products: Distortion
    largest_turn: float
    reached: str


def distortions(X: Any, projection: Any, *, rows: int | None = None, random_state: Any = None) -> Distortions:
    """Measure the distortion of distances, angles and inner products, for all pairs of rows.

    One Gram matrix of X and one sketch in float64 are made. Squared distances are differences of their entries: a pair
    whose squared distance is below 1e-12 of its squared norms counts as equal.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path or Matrix
        One row a point.
    projection : Projection or projection transformer
        R.
    rows : int, optional
        All pairs of so many rows, drawn at random, at most 10,000. None: of all rows where there are 2,000 or fewer,
        else of 2,000.
    random_state : int, RandomState or None
        Draws the rows, and the pairs that are kept for figures.

    Returns
    -------
    result : Distortions
        Three records, with extremes, the rows that have them, and quantiles.

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
            f"rows={wanted:,} have {wanted * (wanted - 1) // 2:,} pairs: choose rows={_MOST_ROWS:,} or fewer."
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
    """Return an estimate of the error of an entry of a Gram matrix, beside the norms of its two rows.

    Parameters
    ----------
    n_features : int
        Length of the sums: errors grow with its root (Higham and Mary 2019).

    Returns
    -------
    rounding : float
        For data or their sketch in float64.
    """
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
    """Measure distortions from the Gram matrices before and after: for many projections of the same data.

    Parameters
    ----------
    before, after : array of shape (n, n), float64
        XXᵀ, and ZZᵀ of the sketch Z.
    row_numbers : array of shape (n,), optional
        What the rows are called in the records.
    n_samples : int, optional
        Of how many rows these were drawn.
    rounding : float
        Error of an entry beside the norms of its two rows; see `rounding_of_grams`.
    random_state : int, RandomState or None
        Draws the pairs that are kept for figures.

    Returns
    -------
    result : Distortions
        Three records, with extremes, the rows that have them, and quantiles.
    """
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
