"""The data as the learner sees them: a matrix, a constant column beside it, and one kind of pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import overflow_allowed, sum_error
from slimline.data import Matrix, Squares
from slimline.data._arrays import stored_rows, to_dense
from slimline.data._standardised import Standardised
from slimline.projections import Projection

Floats = NDArray[np.float64]
Result = TypeVar("Result")
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

    def normal(self, B: Floats) -> tuple[list[Floats], Floats, int]:
        """Return the columns of [X, c]ᵀ B, the constant column's part last, [X, c] [X, c]ᵀ B, and its `terms`."""
        new = None
        if self._squares is None:
            new = Squares(*self.shape, self._weight)
        W, F, terms = self.matrix.normal(B, squares=new, return_terms=True)
        self._squares = self._squares or new
        bias = self.constant * B.sum(axis=0)
        columns = [np.append(column, last) for column, last in zip(W.T, bias, strict=True)]
        return columns, F + self.constant * bias, terms

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
