"""Data as points: their Gram matrix, their sizes, and combinations of them with a bound on the rounding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.standardised import Standardised
from slimline.geometry.inputs import matrix_of
from slimline.recovery.rounding import ROUNDOFF, sum_error
from slimline.recovery.training_data import relative_centre, size_bounds

Floats = NDArray[np.float64]

#: Up to so many points have their Gram matrix made whole, whatever their number of features.
_FEW = 4000
#: Points of the largest Gram matrix: 3.2 GB.
MOST_POINTS = 20_000
#: A mean whose square is so many times the spread about it is far away.
_FAR = 1e3


@dataclass(frozen=True)
class Combination:
    """w = Xᵀb and X w, as computed, and how far they may be from what is exact.

    Parameters
    ----------
    weights : array of shape (n_features,) or (n_features, k)
        Xᵀb.
    values : array of shape (n_samples,) or (n_samples, k)
        X times the weights as computed.
    weights_error : array of shape () or (k,)
        In norm.
    values_error : array of the shape of `values`
        Of each value.
    """

    weights: Floats
    values: Floats
    weights_error: Floats
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
        """Return points as they are, or data as points that keep nothing."""
        return X if isinstance(X, Points) else Points(X, keep=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of points and of features."""
        return self.matrix.shape

    @property
    def at_once(self) -> bool:
        """Say whether the Gram matrix of all points is made: where they are few, or where most may be needed."""
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
        weights, values = self.matrix.normal(B)
        flat = B.ndim == 1
        sizes = self.sizes if flat else self.sizes[:, None]
        lost = sum_error(self.matrix.summands + 1) * np.linalg.norm(weights, axis=0) * sizes
        return Combination(weights, values, np.asarray(sum_error(self.shape[0]) * (np.abs(B).T @ self.sizes)), lost)

    def centred_if_far(self) -> Points:
        """Return the points with their mean subtracted, where it is so far away that differences would drown in it."""
        if isinstance(self.matrix, Standardised):
            return self
        if not self._is_far():
            return self
        if not self._keep:
            self._whole = None
        return Points(self.matrix.standardised(self.matrix.column_stats().mean, None), keep=False)

    def _is_far(self) -> bool:
        if not self.at_once:
            stats = self.matrix.column_stats()
            return float(np.sum(np.square(stats.mean))) > _FAR * float(np.sum(np.square(stats.std)))
        middle = float(self._made_whole().mean(axis=1).mean())  # without a pass: it will be asked for in any case
        return middle > _FAR * (float(self.squares.mean()) - middle)

    @property
    def middle(self) -> Floats | None:
        """Return what is subtracted from every point, if anything is."""
        return self.matrix.affine.centre if isinstance(self.matrix, Standardised) else None
