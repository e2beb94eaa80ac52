"""Sums of squares of the rows and of the columns, taken on the way through a pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import _native, thread_count
from slimline.data.affine import Affine
from slimline.data.arguments import sample_weights
from slimline.data.block import Block
from slimline.data.sparse_statistics import sums_at
from slimline.data.tiles import raw_values, scaled_values
from slimline.errors import InvalidParameterError
from slimline.projections.blocks import require_sound

Floats = NDArray[np.float64]


class Squares:
    """Room for the squares that `dot`, `tdot` or `normal` of a matrix adds up beside its product, in the same pass.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the matrix.
    weight : array of shape (n_samples,), optional
        Weight of each row in the sums of the columns, 0 or more; 1 if not given.

    Attributes
    ----------
    rows : array of shape (n_samples,)
        Σ_j x_ij², of the matrix as it is seen: filled, centred, scaled.
    columns : array of shape (n_features,)
        Σ_i weight_i x_ij².

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import open_matrix
    >>> from slimline.data import Squares
    >>> squares = Squares(2, 3)
    >>> _ = open_matrix(np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]])).tdot(np.ones(2), squares=squares)
    >>> squares.rows, squares.columns
    (array([14.,  2.]), array([ 1.,  5., 10.]))
    """

    def __init__(self, n_samples: int, n_features: int, weight: Any = None) -> None:
        self.weight = sample_weights(weight, n_samples)
        self.rows = np.zeros(n_samples)
        self.columns = np.zeros(n_features)

    def begin(self, shape: tuple[int, int]) -> None:
        """Start from nothing, or raise if the matrix has another shape."""
        if shape != (self.rows.size, self.columns.size):
            raise InvalidParameterError(
                f"squares has room for {self.rows.size} samples and {self.columns.size} features, and the matrix has "
                f"{shape[0]} and {shape[1]}: make it with Squares(*matrix.shape)."
            )
        self.rows[:] = 0.0
        self.columns[:] = 0.0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is written to."""
        return {"squares of rows": self.rows, "squares of columns": self.columns}

    def add(self, block: Block, affine: Affine) -> None:
        """Add what a block holds.

        Parameters
        ----------
        block : Block
            Some rows and columns.
        affine : Affine
            What is done to its values.
        """
        weight = None if self.weight is None else np.ascontiguousarray(self.weight[block.rows])
        columns = self.columns[block.columns]
        whole = isinstance(block.rows, slice)
        rows = self.rows[block.rows] if whole else np.zeros(block.values.shape[0])
        if sp.issparse(block.values):
            _add_sparse(block.values, affine, weight, rows, columns)
        else:
            x, samples = raw_values(block)
            parts = (affine.centre, affine.factor, affine.fill)
            _native.block_squares(x, samples, block.missing, *parts, weight, rows, columns, thread_count())
        if not whole:
            self.rows[block.rows] += rows


def begin_squares(squares: Any, shape: tuple[int, int]) -> None:
    """Make room for the squares of a pass, if they are wanted; raise if it is something else."""
    if squares is None:
        return
    if not isinstance(squares, Squares):
        raise InvalidParameterError(
            f"squares must be slimline.data.Squares(n_samples, n_features) or None; got {type(squares).__name__}."
        )
    squares.begin(shape)


def arrays_of(squares: Squares | None) -> dict[str, NDArray[Any]]:
    """Return what is written to, if anything is."""
    return {} if squares is None else squares.arrays()


@np.errstate(over="ignore", invalid="ignore")  # whoever makes the pass refuses infinite sums
def _add_sparse(x: Any, affine: Affine, weight: Floats | None, rows: Floats, columns: Floats) -> None:
    require_sound(x)
    x = scaled_values(x, affine).tocsr()
    row = np.repeat(np.arange(rows.size), np.diff(x.indptr))
    squares = x.data * x.data
    of_rows, of_columns = np.zeros(rows.size), np.zeros(columns.size)
    if affine.centre is not None:
        middle = affine.centre if affine.factor is None else affine.centre * affine.factor
        # (x - c)² = x (x - 2c) + c², and c² for what is not stored
        squares = x.data * (x.data - 2.0 * middle[x.indices])
        of_rows += middle @ middle
        of_columns += middle * middle * (rows.size if weight is None else weight.sum())
    of_rows += sums_at(row, squares, rows.size)
    of_columns += sums_at(x.indices, squares if weight is None else squares * weight[row], columns.size)
    # a difference of sums can come out below 0, where the truth is near it
    rows += np.maximum(of_rows, 0.0)
    columns += np.maximum(of_columns, 0.0)
