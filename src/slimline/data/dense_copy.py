"""All values of a narrow matrix as an array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slimline.data.matrix import Matrix
from slimline.data.squares import Squares, begin_squares
from slimline.data.tiles import tiles


def dense_copy(matrix: Matrix, squares: Squares | None = None) -> NDArray[np.float64]:
    """Return the values of a matrix, centred, scaled and filled as it is seen, in one pass.

    Parameters
    ----------
    matrix : Matrix
        One whose values fit in memory.
    squares : Squares, optional
        Filled with the sums of the squares of rows and columns, in the same pass.

    Returns
    -------
    values : array of shape (n_samples, n_features), float64
        A copy.
    """
    out = np.empty(matrix.shape)
    begin_squares(squares, matrix.shape)
    for block, affine in matrix._pass("copy", in_memory=True):
        for columns, values in tiles(block, affine, np.float64):
            first = block.columns.start
            out[block.rows, first + columns.start : first + columns.stop] = values
        matrix._require_finite(out[block.rows], slice(None), block, affine)
        matrix._add_squares(squares, block, affine)
    return out
