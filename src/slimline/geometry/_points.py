"""Points through their Gram matrix, and the space that they span."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf, dtrtri

from slimline._base.checks import seed_of
from slimline._base.rounding import ROUNDOFF, sum_error
from slimline.data import Matrix
from slimline.data._standardised import Standardised
from slimline.errors import DataError
from slimline.geometry._inputs import has_entries, matrix_of
from slimline.learning.line_search import solve_shifted
from slimline.learning.training_data import relative_centre, size_bounds

Floats = NDArray[np.float64]

#: What is left of a random vector, as a part of it: less is rounding.
_LEAST_LEFT = 1e-6
_RIDGE = 1e-12
#: Of the random vector: none that made-up data are likely to have, or the vector may be one of the points.
_SEED = 0x6F7274686F676F6E


def orthogonal_direction(points: Points) -> Floats | None:
    """Return a vector of norm 1 that is orthogonal to all points, to rounding; None where none is found.

    Where some combination of points almost vanishes, cosines of about 1e-6 may be left: who relies on it looks.
    """
    n, d = points.shape
    if not points.at_once or not points.squares.any():
        return None
    K = points.gram()
    scale = 1.0 / np.sqrt(np.where(points.squares > 0.0, points.squares, 1.0))
    K *= scale[:, None]
    K *= scale
    vector = np.random.default_rng(_SEED).standard_normal(d)
    vector /= np.linalg.norm(vector)
    for _ in range(3):
        coefficients = scale * solve_shifted(K, np.full(n, _RIDGE), scale * points.matrix.dot(vector))
        vector = vector - points.matrix.tdot(coefficients)
        left = float(np.linalg.norm(vector))
        if left < _LEAST_LEFT:
            return None
    return np.asarray(vector / left)


#: Rows whose Gram matrix is held, unless told.
MOST_ROWS = 20_000
#: How far the basis may be from orthonormal, by the worst that rounding can do.
_MOST_DEFECT = 0.01
#: Squared norms below this have lost digits to underflow.
_LEAST_SQUARE = 1e-280
#: Distance to the span up to which rows of norm 1 count as in it (root of the mean square).
_MOST_DISTANCE = 1e-10
#: Combinations of the rows that are looked at for that, and how often each is made orthogonal to the basis.
_COMBINATIONS, _TURNS = 4, 3


@dataclass(frozen=True)
class RowSpace:
    """A basis of the span of the rows of X: `rows` of norm 1, X_J = L Qᵀ with Q orthonormal.

    Pivoted Cholesky of the Gram matrix of the rows, each scaled to norm 1 (that leaves the span as it is), chooses the
    rows J and gives L. As L carries rounding, Q is orthonormal to within `defect` only: a bound, by the worst case.
    """

    #: Of X.
    shape: tuple[int, int]
    #: J, row numbers of X; of shape (k,).
    rows: NDArray[np.intp]
    #: One divided by the norms of these rows; of shape (k,).
    scale: Floats
    #: L, lower triangular; of shape (k, k).
    factor: Floats
    #: Directions that float64 tells from rounding: k where `complete`, else k or more.
    rank: int
    #: Whether the k rows span what all rows do, up to rounding.
    complete: bool
    #: Bound for ‖QᵀQ - I‖₂.
    defect: float
    #: ‖|L⁻¹| 1‖₂: what an error of 1 in every row can become in Q.
    amplification: float
    #: How, in one sentence.
    reached: str

    @classmethod
    def of(cls, X: Matrix | Points, *, rows: int = MOST_ROWS, random_state: Any = 0) -> RowSpace:
        """Return the row space of a matrix."""
        points = Points.of(X)
        n, d = points.shape
        random = np.random.default_rng(seed_of(random_state))
        most = min(n, rows)
        # There are d directions at most: a few more rows than that mostly have them all.
        for size in [2 * d + 64, most] if 2 * d + 64 < most else [most]:
            index = np.sort(random.choice(n, size, replace=False)) if size < n else np.arange(n)
            space = _space_of(points, index, random)
            if space.complete or size == most:
                break
        return space

    def coordinates(self, Z: Floats) -> Floats:
        """Return QᵀR, of shape (k, r), from the sketch of the rows of the basis."""
        if not self.rows.size:
            return np.zeros((0, Z.shape[1]))
        return np.asarray(solve_triangular(self.factor, Z * self.scale[:, None], lower=True, check_finite=False))

    def combination(self, u: Floats) -> Floats:
        """Return a, of shape (n, m), with Xᵀa = Qu for u of shape (k, m)."""
        a = np.zeros((self.shape[0], u.shape[1]))
        if self.rows.size:
            solved = solve_triangular(self.factor, u, lower=True, trans="T", check_finite=False)
            a[self.rows] = self.scale[:, None] * solved
        return a


def _space_of(points: Points, index: NDArray[np.intp], random: np.random.Generator) -> RowSpace:
    matrix = points.matrix
    n, d = matrix.shape
    K = points.gram(None if index.size == n else index)
    squares = np.diagonal(K).copy()
    used = np.flatnonzero(squares >= _LEAST_SQUARE)
    if used.size < index.size:
        require_zero(matrix.rows(index[(squares >= 0.0) & (squares < _LEAST_SQUARE)]))
        K = K[np.ix_(used, used)]
    scale = 1.0 / np.sqrt(squares[used])
    K *= scale[:, None]
    K *= scale[None, :]
    L, pivots, rank = _pivoted_factor(K, _rounding_level(used.size, d))
    inverse_sums = _inverse_row_sums(L)
    # LLᵀ is off by so much, entry by entry: the products of K, the scaling, the factorisation (rows of L have norm 1).
    entry = sum_error(d) + sum_error(rank)
    growth = np.cumsum(inverse_sums**2)
    resolved = int(np.searchsorted(entry * growth, _MOST_DEFECT, side="right"))
    chosen = pivots[:resolved]
    space = RowSpace(
        shape=matrix.shape,
        rows=index[used[chosen]],
        scale=scale[chosen],
        factor=L if resolved == len(index) else L[:resolved, :resolved].copy(order="F"),  # not all of K is kept
        rank=rank,
        complete=False,
        defect=float(entry * growth[resolved - 1]) if resolved else 0.0,
        amplification=float(np.sqrt(growth[resolved - 1])) if resolved else 0.0,
        reached="",
    )
    complete, reached = _judge(matrix, index.size, used.size, space, random)
    return replace(space, rank=len(chosen) if complete else rank, complete=complete, reached=reached)


def _judge(matrix: Matrix, seen: int, nonzero: int, space: RowSpace, random: np.random.Generator) -> tuple[bool, str]:
    """Return whether the basis spans all rows, and why."""
    n, d = matrix.shape
    k, rank = space.rows.size, space.rank
    if k == d:
        return True, f"{k:,} rows span all {d:,} dimensions"
    if seen == n and not nonzero:
        return True, "all rows are zero"
    if seen == n and k == nonzero:
        return True, f"the {k:,} rows that are not zero are independent"
    distance = _distance(space, matrix, random)
    if distance <= _MOST_DISTANCE:  # whatever directions K has beside these are rounding
        return True, f"{k:,} rows are independent, and the others are within {max(distance, 1e-16):.0e} of their span"
    if k < rank:
        return False, f"float64 resolves {k:,} of the {rank:,} directions or more that the rows have"
    if seen == n:
        return False, f"{rank:,} directions are resolved, and rows are {distance:.0e} away from their span"
    return False, f"{seen:,} random rows of {n:,} were looked at, and they have {rank:,} directions"


def _distance(space: RowSpace, matrix: Matrix, random: np.random.Generator) -> float:
    """Return the distance of the rows, scaled to norm 1, to the span of the basis, in the root of the mean square.

    What is left of a Gaussian combination of the rows has that square in the mean. A Gram matrix shows distances down
    to 1e-7 only; a vector that is made orthogonal to the basis by itself, down to rounding.
    """
    n = matrix.shape[0]
    norms = matrix.row_norms()
    scale = np.divide(1.0, norms, out=np.zeros(n), where=norms > 0.0)
    V = matrix.tdot(random.standard_normal((n, _COMBINATIONS)) * scale[:, None])
    basis = matrix.rows(space.rows)
    for _ in range(_TURNS if space.rows.size else 0):
        V -= basis.tdot(space.combination(space.coordinates(basis.dot(V)))[space.rows])
    return float(np.linalg.norm(V, axis=0).max() / math.sqrt(n))


def require_zero(part: Matrix) -> None:
    """Refuse rows that are not zero, though their squared norm is nearly nothing."""
    if has_entries(part):
        raise DataError(
            f"{part.name} has rows of a norm below {np.sqrt(_LEAST_SQUARE):.0e}, whose squares float64 cannot hold: "
            "multiply these rows with a large number; the space that they span stays the same."
        )


def _rounding_level(n: int, d: int) -> float:
    """Return the squared distance to a span below which K does not tell a row of norm 1 from one in the span.

    Errors of long sums grow like the root of their length (Higham and Mary 2019); on rows that are dependent the
    distances that were seen are about a tenth of this.
    """
    return (8.0 * n + 32.0 * math.sqrt(d) + 32.0) * ROUNDOFF


def _pivoted_factor(K: Floats, least: float) -> tuple[Floats, NDArray[np.intp], int]:
    """Return L, lower triangular, the pivots and their number; K is written over."""
    if not K.size:
        return np.zeros((0, 0)), np.zeros(0, dtype=np.intp), 0
    L, pivots, rank, _ = dpstrf(K.T, lower=1, tol=least, overwrite_a=1)  # by columns, and symmetric
    return L[:rank, :rank], pivots[:rank].astype(np.intp) - 1, int(rank)


def _inverse_row_sums(L: Floats) -> Floats:
    """Return |L⁻¹| 1; its leading entries belong to the leading blocks of L, too."""
    if not L.size:
        return np.zeros(0)
    inverse, _ = dtrtri(L, lower=1)
    sums = np.empty(len(L))
    for row in range(len(L)):  # the upper triangle is not zero, and a masked copy would be as large as L
        sums[row] = np.abs(inverse[row, : row + 1]).sum()
    return sums


#: Up to so many points have their Gram matrix made whole, whatever their number of features.
_FEW = 4000
#: Points of the largest Gram matrix: 3.2 GB.
MOST_POINTS = 20_000
#: A mean whose square is so many times the spread about it is far away.
_FAR = 1e3


@dataclass(frozen=True)
class Combination:
    """w = Xᵀb and X w, as computed, and how far they may be from what is exact."""

    #: Xᵀb; of shape (n_features,).
    weights: Floats
    #: X times the weights as computed; of shape (n_samples,).
    values: Floats
    #: In norm; of shape ().
    weights_error: Floats
    #: Of each value.
    values_error: Floats


class Points:
    """Points whose Gram matrix is kept, so that several measures share the passes over the data.

    Every function of `slimline.geometry` takes such points for `X`.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path or Matrix
        One row a point.
    keep : bool
        Whether the Gram matrix is kept: n² numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import geometry
    >>> points = geometry.Points(np.eye(3))
    >>> round(geometry.enclosing_ball(points).value, 6)
    0.816497
    """

    def __init__(self, X: Any, *, keep: bool = True) -> None:
        self.matrix = matrix_of(X)
        self._keep = keep
        self._whole: Floats | None = None
        self._squares: Floats | None = None

    @staticmethod
    def of(X: Any) -> Points:
        """Return points as they are, or data as points that keep nothing.

        Parameters
        ----------
        X : array, sparse matrix, data frame, path, Matrix or Points
            One row a point.

        Returns
        -------
        points : Points
            `X` itself, if it is `Points`.
        """
        return X if isinstance(X, Points) else Points(X, keep=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of points and of features."""
        return self.matrix.shape

    @property
    def at_once(self) -> bool:
        """Return whether to form the Gram matrix of all points: if they are few, or if most may be needed."""
        n, d = self.shape
        return n <= _FEW or (n <= MOST_POINTS and 2 * d >= n)

    def gram(self, rows: NDArray[np.intp] | None = None) -> Floats:
        """Return a Gram matrix that the caller may write on.

        Parameters
        ----------
        rows : array of row numbers, optional
            Of these points; None: of all.

        Returns
        -------
        K : array of shape (m, m)
            In C order.
        """
        if rows is not None and self._whole is None and not (self._keep and self.at_once):
            return np.ascontiguousarray(self.matrix.rows(rows).gram())
        K = self._made_whole()
        if rows is not None:
            return np.ascontiguousarray(K[np.ix_(rows, rows)])
        if self._keep:
            return K.copy()
        self._whole = None  # it is the caller's now
        return K

    def _made_whole(self) -> Floats:
        if self._whole is None:
            self._whole = np.ascontiguousarray(self.matrix.gram())
            self._squares = np.maximum(self._whole.diagonal(), 0.0)
        return self._whole

    @property
    def squares(self) -> Floats:
        """Return ‖xᵢ‖² of all points: from the Gram matrix, if it was made, else in a pass."""
        if self._squares is None:
            self._squares = np.square(self.matrix.row_norms())
        return self._squares

    @cached_property
    def sizes(self) -> Floats:
        """Return ρᵢ ≥ ‖xᵢ‖, such that products with xᵢ are rounded by no more than those with a vector of that norm."""
        return np.asarray(size_bounds(self.squares, self.matrix, 0.0) + 2.0 * relative_centre(self.matrix))

    @cached_property
    def squares_error(self) -> Floats:
        """Return how far each of `squares` may be from the exact one.

        From dense rows the mean is subtracted before they are squared, from sparse ones after.
        """
        middle = relative_centre(self.matrix)
        if self.matrix.density is not None:
            return np.asarray(sum_error(self.shape[1]) * np.square(self.sizes))
        moved = 4.0 * ROUNDOFF * (middle + np.sqrt(self.squares))
        return np.asarray(sum_error(self.shape[1]) * self.squares + moved * (2.0 * np.sqrt(self.squares) + moved))

    @property
    def norms_error(self) -> float:
        """Return how much a norm may be off, as a part of it."""
        return sum_error(self.shape[1])

    def combination(self, B: Floats) -> Combination:
        """Return Xᵀb and X Xᵀb for one vector or several.

        Parameters
        ----------
        B : array of shape (n_samples,) or (n_samples, k)
            b.

        Returns
        -------
        combination : Combination
            In as many passes as `Matrix.normal` takes.
        """
        weights, values, terms = self.matrix.normal(B, return_terms=True)
        flat = B.ndim == 1
        sizes = self.sizes if flat else self.sizes[:, None]
        lost = sum_error(terms + 1) * np.linalg.norm(weights, axis=0) * sizes
        return Combination(weights, values, np.asarray(sum_error(self.shape[0]) * (np.abs(B).T @ self.sizes)), lost)

    def centred_if_far(self) -> Points:
        """Return the points with their mean subtracted, if the mean is so large that differences lose digits.

        Returns
        -------
        points : Points
            These points, or others with mean 0.
        """
        if isinstance(self.matrix, Standardised):
            return self
        return self if self._nearer is None else self._nearer

    @cached_property
    def _nearer(self) -> Points | None:
        """The points less their mean, with a Gram matrix of their own; None where the mean is not far away."""
        if not self._is_far():
            return None
        if not self._keep:
            self._whole = None
        less = self.matrix.standardised(self.matrix.column_stats().mean, None)
        return Points(less, keep=self._keep and self.shape[0] <= _FEW)

    def _is_far(self) -> bool:
        if not self.at_once:
            stats = self.matrix.column_stats()
            return float(np.sum(np.square(stats.mean))) > _FAR * float(np.sum(np.square(stats.std)))
        middle = float(self._made_whole().mean(axis=1).mean())  # without a pass: it will be asked for in any case
        return middle > _FAR * (float(self.squares.mean()) - middle)

    @property
    def middle(self) -> Floats | None:
        """Return what is subtracted from every point, if anything is."""
        return self.matrix.transform.centre if isinstance(self.matrix, Standardised) else None
