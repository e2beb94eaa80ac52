"""The smallest enclosing ball, and the error of a subspace embedding."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh, eigvalsh, qr

from slimline._base.checks import number, whole
from slimline._base.rounding import ROUNDOFF, sum_error
from slimline.data import Matrix
from slimline.errors import InvalidParameterError
from slimline.geometry._convex import ConvexPoints, Look, nearest
from slimline.geometry._inputs import Ball, projection_of, reached_by, require_squares
from slimline.geometry._points import MOST_POINTS, MOST_ROWS, Points, RowSpace
from slimline.projections import Projection

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

#: Points of the first working set, where not all are in it: those farthest from the mean.
_FIRST = 1000


def enclosing_ball(X: Any, *, tol: float = 1e-8) -> Ball:
    """Return the smallest ball that holds all points: min over c of max ‖xᵢ - c‖.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path, Matrix or Points
        One row a point.
    tol : float
        Width of the bracket, relative to the radius.

    Returns
    -------
    ball : Ball
        Its `value` is the radius around its centre.

    See Also
    --------
    margin : With γ from `margin(..., intercept=True)`, B²/γ² is the proxy of the VC dimension in Paul et al.

    Notes
    -----
    The dual problem is a quadratic one over weights a ≥ 0 of sum 1 ::

        B² = min over c of max ‖xᵢ - c‖² = max over a of Σ aᵢ‖xᵢ‖² - ‖Σ aᵢxᵢ‖²,

    so all weights give a lower bound of the squared radius, and every centre gives an upper one. Theorem 2 of [1]_
    bounds the radius after a projection (`paul2013.2` in :mod:`slimline.bounds`).

    References
    ----------
    .. [1] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.geometry import enclosing_ball
    >>> ball = enclosing_ball(np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 1.0]]))
    >>> round(ball.radius, 6), ball.centre.round(6).tolist(), ball.support.tolist()
    (2.0, [2.0, 0.0], [0, 1])
    """
    tol = number("tol", tol, 0.0, 0.5)
    data = Points.of(X)
    centred = data.centred_if_far()
    points = _BallPoints(centred)
    if centred is data:
        require_squares(data.squares, data.matrix)
    found = nearest(points, tol)
    centre = found.highest.witness
    if centred is not data and centred.middle is not None:
        centre = centre + centred.middle
    return Ball(
        value=found.upper,
        lower=found.lower,
        upper=found.upper,
        reached=reached_by(found.looks, len(found.index), data.shape[0], "points"),
        centre=centre,
        support=found.supports,
        multipliers=found.weights[found.weights > 0.0],
    )


class _BallPoints(ConvexPoints):
    def __init__(self, data: Points) -> None:
        super().__init__(np.zeros(data.shape[0], dtype=np.uint8), MOST_POINTS)
        self._data = data
        self._whole = data.gram() if data.at_once else None
        self._squares = data.squares

    def start(self) -> Index:
        if self._whole is not None:
            return np.arange(self._data.shape[0])
        return np.asarray(np.argsort(-self._squares, kind="stable")[:_FIRST])

    def gram(self, index: Index) -> Floats:
        Q = self._data.gram(index) if self._whole is None else self._whole
        self._whole = None
        return Q

    def linear(self, index: Index) -> Floats:
        return np.asarray(0.5 * self._squares[index])

    def look(self, index: Index, weights: Floats) -> Look:
        coefficients = np.zeros(self._data.shape[0])
        coefficients[index] = weights
        sums = self._data.combination(coefficients)
        norm = float(np.linalg.norm(sums.weights))
        gradient = sums.values - 0.5 * self._squares
        distances = self._squares - 2.0 * sums.values + norm * norm
        # squares and norm are rounded, too, and so are their sums
        lost = 2.0 * sums.values_error + self._data.squares_error + self._data.norms_error * norm * norm
        lost += 8.0 * ROUNDOFF * (self._squares + 2.0 * np.abs(sums.values) + norm * norm)
        upper = float(np.sqrt(max(float((distances + lost).max()), 0.0)))
        total = float(weights.sum())
        mean = float(coefficients @ (distances - lost)) / total
        off = float(sums.weights_error) + abs(1.0 - total) * norm
        lower = float(np.sqrt(max(mean * (1.0 - sum_error(len(weights))) - off * off, 0.0)))
        return Look(lower, upper, 0.5 * norm * norm - 0.5 * float(coefficients @ self._squares), gradient, sums.weights)


#: Components up to which the eigenvalues of RᵀR are computed.
_MOST_COMPONENTS = 8192
#: Entries of R that are written out at a time where there are more.
_TILE_ENTRIES = 1 << 20


@dataclass(frozen=True)
class EmbeddingError:
    """The largest change of a squared length in the row space of X: e = max |1 - ‖Rᵀv‖²| over its unit vectors v."""

    #: e; where it is not `exact`, that of a part of the row space.
    value: float
    #: Proved bracket of e. Where it is `exact` its width is what rounding can do at worst; else the lower end is
    #: proved on a part of the row space, and the upper one for all vectors.
    lower: float
    upper: float
    #: Dimensions of the row space.
    rank: int
    #: Columns of R.
    n_components: int
    #: Eigenvalues of VᵀRRᵀV on the space that was measured: e = max(1 - smallest, largest - 1). NaN, if there is
    #: no direction.
    smallest: float
    largest: float
    #: Coefficients a such that v = Xᵀa has length 1 and |1 - ‖Rᵀv‖²| = value; of shape (n_samples,).
    witness: Floats = field(repr=False, compare=False)
    #: Whether the whole row space was measured.
    exact: bool
    #: How, in one sentence.
    reached: str


def embedding_error(X: Any, projection: Any, *, rows: int = MOST_ROWS, random_state: Any = 0) -> EmbeddingError:
    """Measure ‖VᵀV - VᵀRRᵀV‖₂ for an orthonormal basis V of the row space of X.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path or Matrix
        One row a point.
    projection : Projection or projection transformer
        R.
    rows : int
        Largest number of rows whose Gram matrix is held. If X has more, a random sample is taken; the result is still
        exact if the sample spans the others.
    random_state : int, RandomState or None
        Seed of the sample.

    Returns
    -------
    error : EmbeddingError
        The value, a proved bracket and a vector that attains it.

    See Also
    --------
    distortions : Changes of single distances, angles and inner products.
    slimline.bounds.get : "paul2013.srht" and others bound this error.

    Notes
    -----
    It is the largest relative change of a squared length in the span of the samples, and the quantity that Lemma 1 of
    [1]_ bounds; Theorem 2 of [2]_ turns it into the error of dual recovery.

    It depends on the row space alone, so rows are scaled to norm 1 first. One Gram matrix of X and one sketch in
    float64 are computed; nothing has the size of X or of V. Rows within about 1e-10 of the span of others, relative to
    their norm and as a root mean square over all rows, count as dependent on them: the bracket is for the error on that
    span.

    References
    ----------
    .. [1] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.
    .. [2] Vaswani, S. (2013). "Optimal weight recovery under random projections." University of British Columbia.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.geometry import embedding_error
    >>> from slimline.projections import SparseSign
    >>> X = np.random.default_rng(0).standard_normal((20, 5000))
    >>> error = embedding_error(X, SparseSign(5000, 2000, 1, 1 / 3))
    >>> error.rank, error.exact, 0.1 < error.value < 0.4
    (20, True, True)
    """
    points = Points.of(X)
    matrix = points.matrix
    drawn = projection_of(projection, matrix.shape)
    space = RowSpace.of(points, rows=whole("rows", rows), random_state=random_state)
    return error_on(space, basis_sketch(space, matrix, drawn), drawn)


def basis_sketch(space: RowSpace, matrix: Matrix, projection: Projection) -> Floats:
    """Return the sketch of the rows of a basis, in float64: the rounding of float32 would pass for a distortion."""
    if 2 * space.rows.size > matrix.shape[0]:  # a view would copy most of it
        return np.asarray(matrix.sketch(projection, double=True)[space.rows], dtype=np.float64)
    if not space.rows.size:
        return np.zeros((0, projection.n_components))
    return np.asarray(matrix.rows(space.rows).sketch(projection, double=True), dtype=np.float64)


def error_on(space: RowSpace, Z: Floats, projection: Projection) -> EmbeddingError:
    """Measure the embedding error on a row space that is known already: for many projections of the same data."""
    if Z.shape != (space.rows.size, projection.n_components) or Z.dtype != np.float64:
        raise InvalidParameterError(
            f"must be float64, of shape {(space.rows.size, projection.n_components)}: the rows space.rows of "
            f"matrix.sketch(projection, double=True); got {Z.dtype}, {Z.shape}.",
            "Z",
        )
    k, r = Z.shape
    if k:
        M = space.coordinates(Z)
        smallest, largest, u = _extremes(M)
        lower, upper = _bracket(space, M, smallest, largest, projection)
        witness = space.combination(u[:, None])[:, 0]
    else:
        smallest, largest, witness, lower, upper = np.nan, np.nan, np.zeros(space.shape[0]), 0.0, 0.0
    value = max(0.0, 1.0 - smallest, largest - 1.0) if k else 0.0
    reached = f"Exact to rounding: {space.reached}."
    if not space.complete:
        upper = _of_all_vectors(projection)
        reached = f"Bracket: {space.reached}; the lower end is theirs, the upper one holds for every vector."
    return EmbeddingError(value, lower, upper, space.rank, r, smallest, largest, witness, space.complete, reached)


def _extremes(M: Floats) -> tuple[float, float, Floats]:
    """Return the least and the largest eigenvalue of M Mᵀ, and a unit vector of the one that is farther from 1."""
    k, r = M.shape
    small = M @ M.T if k <= r else M.T @ M
    values = np.maximum(eigvalsh(small, check_finite=False), 0.0)
    smallest, largest = (float(values[0]) if k <= r else 0.0), float(values[-1])
    top = largest - 1.0 >= 1.0 - smallest
    if k > r and not top:
        return smallest, largest, _orthogonal_to(M)
    end = len(small) - 1 if top else 0
    vector = eigh(small, subset_by_index=[end, end], check_finite=False)[1][:, 0]
    u = vector if k <= r else M @ vector
    return smallest, largest, np.asarray(u / np.linalg.norm(u))


def _orthogonal_to(M: Floats) -> Floats:
    """Return a unit vector u with Mᵀu = 0, for a matrix with more rows than columns."""
    basis = qr(M, mode="economic", check_finite=False)[0]
    u = np.random.default_rng(0).standard_normal(len(M))
    for _ in range(3):
        u -= basis @ (basis.T @ u)
        u /= np.linalg.norm(u)
    return u


def _bracket(
    space: RowSpace, M: Floats, smallest: float, largest: float, projection: Projection
) -> tuple[float, float]:
    """Return a bracket of the error on the space of the basis, from the worst that rounding can do.

    M is off by what the sketch lost (an entry by γ‖x‖‖R_j‖) and the triangular system (γ|L||M|), both through L⁻¹;
    its Gram matrix by γ‖M‖². As QᵀQ is within `defect` of I, the eigenvalues of VᵀRRᵀV are those of QᵀRRᵀQ times
    factors in [1 / (1 + defect), 1 / (1 - defect)] (Ostrowski).
    """
    k, r = M.shape
    d = space.shape[1]
    size = float(np.linalg.norm(M))
    sketch = sum_error(d) * math.sqrt(_size(projection))
    shift = space.amplification * (sketch + sum_error(k) * size)
    squared = sum_error(k + r) * size**2

    def least(value: float) -> float:
        return max(math.sqrt(max(value - squared, 0.0)) - shift, 0.0) ** 2 / (1.0 + space.defect)

    def most(value: float) -> float:
        return (math.sqrt(value + squared) + shift) ** 2 / (1.0 - space.defect)

    bottom = (least(smallest), most(smallest)) if k <= r else (0.0, 0.0)
    lower = max(0.0, 1.0 - bottom[1], least(largest) - 1.0)
    return lower, max(1.0 - bottom[0], most(largest) - 1.0)


def _size(projection: Projection) -> float:
    """Return what the sum of all squares in R is above with a chance below 1e-9.

    It is d on average in every family, and d itself where every row has norm 1. For sparse signs it is the number of
    entries over density · r, and that number is binomial (Bernstein); for a Gaussian it is chi-square.
    """
    d, r, chance = projection.n_features, projection.n_components, math.log(1e9)
    density = float(getattr(projection, "density", 1.0))
    entries = d * r * density
    sparse = (entries + math.sqrt(2.0 * entries * chance) + chance) / (density * r)
    return max(4.0 * d + 64.0, sparse)


def _of_all_vectors(projection: Projection) -> float:
    """Return a bound of |1 - ‖Rᵀv‖²| for every unit vector."""
    d, r = projection.n_features, projection.n_components
    if r > _MOST_COMPONENTS:  # the largest eigenvalue is below the sum of all
        total, step = 0.0, max(1, _TILE_ENTRIES // r)
        for start in range(0, d, step):
            tile = projection.rows(start, min(start + step, d))
            total += float(np.square(tile.data if sp.issparse(tile) else tile).sum())
        return max(1.0, total * (1.0 + sum_error(d)) - 1.0)
    gram = projection.gram()
    values = eigvalsh(gram, check_finite=False)
    rounding = sum_error(d + r) * float(np.trace(gram))
    below = 1.0 if r < d else 1.0 - max(float(values[r - d]) - rounding, 0.0)
    return max(below, float(values[-1]) + rounding - 1.0)
