"""The smallest ball around all points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.geometry.convex import ConvexPoints, Look, nearest
from slimline.geometry.inputs import require_squares
from slimline.geometry.points import MOST_POINTS, Points
from slimline.geometry.records import Ball, reached_by
from slimline.parameters import number
from slimline.recovery.rounding import ROUNDOFF, sum_error

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

#: Points of the first working set, where not all are in it: those farthest from the mean.
_FIRST = 1000


def enclosing_ball(X: Any, *, tol: float = 1e-8) -> Ball:
    """Return the smallest ball that holds all points: min over c of max ‖xᵢ - c‖.

    Its dual is max Σ aᵢ‖xᵢ‖² - ‖Σ aᵢxᵢ‖² over weights a of sum 1: all weights are a lower bound of the squared radius,
    every centre an upper one.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path, Matrix or Points
        One row a point.
    tol : float
        Width of the bracket, as a part of the radius.

    Returns
    -------
    ball : Ball
        Its `value` is the radius around its centre.

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
