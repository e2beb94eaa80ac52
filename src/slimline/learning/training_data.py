"""The data as the learner sees them: a matrix, a constant column beside it, and one kind of pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import ROUNDOFF, overflow_allowed, sum_error
from slimline.data import Matrix, Squares
from slimline.data._arrays import stored_rows, to_dense
from slimline.data._standardised import Standardised
from slimline.learning.covariates import Covariates
from slimline.projections import Projection

Floats = NDArray[np.float64]
Result = TypeVar("Result")
#: Up to so many covariates are taken out of the columns' squares; each is one more right-hand side of the first step.
MOST_BESIDE = 4
#: Value of the constant column that stands for the root mean square norm of the rows.
AUTO = "auto"
#: The constant column stays within these.
_SMALLEST, _LARGEST = 1e-100, 1e100


class TrainingData:
    """X with a constant column: the pass that every step takes, and the norms that its rounding is judged by."""

    def __init__(self, matrix: Matrix, constant: float | str = 0.0, weight: Floats | None = None) -> None:
        self.matrix = matrix.counted()
        self._constant = constant
        self.shape = matrix.shape
        self._weight = weight
        self._squares: Squares | None = None
        self._row_squares: Floats | None = None
        self._beside: Covariates | None = None
        self._explained: Floats | None = None

    @property
    def passes(self) -> int:
        """Return how many times the data went by since this object was made."""
        return self.matrix.passes

    @property
    def passes_of_a_step(self) -> int:
        """Return what `normal` costs."""
        return self.matrix.normal_passes

    @cached_property
    @overflow_allowed()
    def mean_square(self) -> float:
        """Return the weighted mean squared norm of the rows, the constant column left out; after any first pass."""
        if isinstance(self.matrix, Standardised) and self.matrix.knows_mean_square:
            return self.matrix.mean_square
        squares = self._row_squares
        if squares is None:
            squares = np.square(self.matrix.row_norms()) if self._squares is None else self._squares.rows
        return float(np.average(squares, weights=None if self._weight is None else self._weight / self._weight.max()))

    @cached_property
    def constant(self) -> float:
        """Return the value of the constant column; "auto" is known after any first pass."""
        if self._constant != AUTO:
            return float(self._constant)
        return float(np.clip(np.sqrt(self.mean_square), _SMALLEST, _LARGEST)) if self.mean_square > 0.0 else 1.0

    def sketch(self, projection: Projection) -> NDArray[Any]:
        """Return X R, in one pass."""
        return self._measured(lambda squares: self.matrix.sketch(projection, squares=squares))

    def gram(self) -> Floats:
        """Return X Xᵀ."""
        K = self.matrix.gram()
        self._row_squares = np.diagonal(K).copy()
        return K

    def dense(self) -> Floats:
        """Return all values, in one pass."""
        return self._measured(lambda squares: to_dense(self.matrix, squares))

    def stored_rows(self) -> Any:
        """Return the rows as they are stored, in one pass."""
        return self._measured(lambda squares: stored_rows(self.matrix, squares))

    def _measured(self, take: Callable[[Squares | None], Result]) -> Result:
        """Return what a pass gives that measures the norms of rows and columns, unless the statistics tell them."""
        known = isinstance(self.matrix, Standardised) and self.matrix.knows_mean_square
        squares = None if known or self._squares is not None else Squares(*self.shape, self._weight)
        result = take(squares)
        self._squares = self._squares or squares
        return result

    def normal(self, B: Floats, beside: Covariates | None = None) -> tuple[list[Floats], Floats, int]:
        """Return the columns of [X, c]ᵀ B, the constant column's part last, [X, c] [X, c]ᵀ B, and its `terms`.

        The first time, few covariates are taken along, whose part of each column sharpens intervals.
        """
        new = None
        if self._squares is None:
            new = Squares(*self.shape, self._weight)
        n_sides = B.shape[1]
        basis = self._basis(beside)
        sides = B if basis is None else np.hstack([B, basis])
        W, F, terms = self.matrix.normal(sides, squares=new, return_terms=True)
        self._squares = self._squares or new
        if basis is not None and beside is not None:
            self._beside, self._explained = beside, self._explained_squares(W[:, n_sides:], basis, beside)
            W, F = W[:, :n_sides], F[:, :n_sides]
        bias = self.constant * B.sum(axis=0)
        columns = [np.append(column, last) for column, last in zip(W.T, bias, strict=True)]
        return columns, F + self.constant * bias, terms

    def _basis(self, beside: Covariates | None) -> Floats | None:
        """Return what gives the part of the covariates in the columns, if it is wanted and not known yet."""
        if beside is None or self._beside is not None or not 0 < len(beside) <= MOST_BESIDE or not beside.is_sound:
            return None
        weight = np.ones(self.shape[0]) if self._weight is None else self._weight
        return beside.weights[:, None] * beside.basis if np.array_equal(weight, beside.weights) else None

    def _explained_squares(self, products: Floats, basis: Floats, beside: Covariates) -> Floats:
        """Return lower bounds of the squares that covariates explain: ‖VᵀS^½x‖² for V = S^½UT, which is not exact."""
        sizes = np.sqrt(self._squares.columns * (1.0 + 1e-6)) if self._squares is not None else np.zeros(0)
        lost = np.linalg.norm([self.weights_error(column) for column in basis.T])
        lost = lost + (beside.basis_error + 4 * ROUNDOFF * np.linalg.norm(beside.row_norms)) * sizes
        size = np.maximum(np.linalg.norm(products, axis=1) * (1.0 - 1e-12) - lost, 0.0)
        return np.asarray((1.0 - beside.skew) * np.square(size))

    def values(self, W: Floats) -> tuple[Floats, int]:
        """Return [X, c] W, in one pass, and the terms that bound its rounding error."""
        product, terms = self.matrix.dot(W[:-1], return_terms=True)
        return np.asarray(product + self.constant * W[-1]), terms

    @cached_property
    def row_bounds(self) -> Floats:
        """Return ρ ≥ ‖xᵢ‖ such that the values of w are computed to within `values_error(‖w‖)` ρᵢ; after a `normal`."""
        if self._squares is None:
            raise RuntimeError("the norms of the rows are known after the first pass of `normal`.")
        # Centring is done on the sums: what is rounded is |x| + |centre|, not |x - centre|.
        sizes = size_bounds(self._squares.rows, self.matrix, self.constant)
        return sizes + 2.0 * relative_centre(self.matrix)

    @property
    def column_squares(self) -> Floats:
        """Return Σ sᵢ x²ᵢⱼ of each column, the constant one last; after a `normal`."""
        if self._squares is None:
            raise RuntimeError("the norms of the columns are known after the first pass of `normal`.")
        weight = float(self.shape[0]) if self._weight is None else float(self._weight.sum())
        return np.append(self._squares.columns, self.constant**2 * weight)

    def squares_beside(self, covariates: Covariates | None) -> Floats:
        """Return an upper bound of min_c Σ sᵢ (xᵢⱼ - uᵢᵀc)² of each column: without the part that U explains."""
        squares = self.column_squares
        if covariates is None or covariates is not self._beside or self._explained is None:
            return squares
        squares[:-1] = np.maximum(squares[:-1] * (1.0 + 1e-6) - self._explained, 0.0)
        return squares

    def values_error(self, norm: float, terms: int) -> float:
        """Return ω: values of weights of this norm, computed with so many terms, are within ω ρᵢ of the exact ones."""
        return sum_error(terms + 1) * norm

    def weights_error(self, B: Floats) -> float:
        """Return how far [X, c]ᵀ B, as computed for one right-hand side, may be from the exact one, in norm."""
        bounds = self.row_bounds
        size = np.abs(B)
        return sum_error(self.shape[0]) * min(
            float(size @ bounds), float(np.linalg.norm(size) * np.linalg.norm(bounds))
        )


@overflow_allowed()
def size_bounds(squares: Floats, matrix: Matrix, constant: float) -> Floats:
    """Return upper bounds of the norms of rows, from their sums of squares as computed."""
    whole = squares * (1.0 + 1e-6) + constant**2
    lost = 8.0 * sum_error(matrix.shape[1] + 1) * np.square(np.sqrt(whole) + 2.0 * relative_centre(matrix))
    return np.asarray(np.sqrt(whole + lost) + 1e-150)


@overflow_allowed()
def relative_centre(matrix: Any) -> float:
    """Return the norm of what is subtracted from a row, after scaling: products lose as much as with a row of it."""
    if not isinstance(matrix, Standardised):
        return 0.0
    middle = matrix.transform.scaled_centre
    return 0.0 if middle is None else float(np.linalg.norm(middle))
