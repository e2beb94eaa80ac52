"""The problem of one class against the rest: primal, dual, gap, and the state of its solution."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import ROUNDOFF
from slimline.learning.losses import Loss

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SmallProblem:
    """Everything but the features.

    Parameters
    ----------
    loss : Loss
        ℓ.
    labels : array of shape (n_samples,)
        y, each -1 or +1.
    weights : array of shape (n_samples,)
        s, each above 0.
    penalty : float
        λ = 1/C.
    offset : array of shape (n_samples,)
        q.
    """

    loss: Loss
    labels: Floats
    weights: Floats
    penalty: float
    offset: Floats

    def primal(self, squared_norm: float, values: Floats) -> float:
        """Return the objective of a point with this ‖v‖² and these values f."""
        losses = self.loss.value(self.labels * values)
        return 0.5 * self.penalty * squared_norm + float(self.weights @ losses)

    def gap(self, values: Floats, dual: Floats) -> float:
        """Return the duality gap of a point v = Zᵀ(yα)/λ with values f and its own dual variables α."""
        a = self.loss.project(dual / self.weights)
        return float(self.weights @ self.loss.residual(self.labels * values, a))

    def dual_of(self, values: Floats) -> Floats:
        """Return the dual variables that are optimal for these values."""
        return self.weights * self.loss.dual(self.labels * values)

    def projected(self, dual: Floats) -> Floats:
        """Return the nearest feasible dual variables."""
        return self.weights * self.loss.project(dual / self.weights)

    def with_linear_term(self, Z: Any, u: Floats) -> SmallProblem:
        """Return the problem for v + u that has the further term λ vᵀu."""
        return replace(self, offset=self.offset - np.asarray(Z @ u, dtype=np.float64))


@dataclass
class Solution:
    """What a solver found.

    Parameters
    ----------
    dual : array of shape (n_samples,)
        α, feasible.
    values : array of shape (n_samples,)
        f = Z v + q.
    weights : array of shape (n_components,), or None
        v, where the features are known.
    gap : float
        Duality gap: how far the objective can be from the optimum.
    iterations : int
        Steps or epochs that were taken.
    """

    dual: Floats
    values: Floats
    weights: Floats | None
    gap: float
    iterations: int


#: A new direction is kept if it is not within rounding of the span of the old ones.
_NEW = 1e-13


class Directions:
    """Vectors β with βᵀKβ = 1, orthogonal in the inner product of K, and their products h = Kβ.

    Parameters
    ----------
    n_samples : int
        Length of the vectors.
    """

    def __init__(self, n_samples: int) -> None:
        self.vectors = np.zeros((n_samples, 0))
        self.products = np.zeros((n_samples, 0))

    def __len__(self) -> int:
        return self.vectors.shape[1]

    def add(self, vector: Floats, product: Floats) -> None:
        """Take in a direction β and Kβ, unless it is known already.

        Parameters
        ----------
        vector, product : array of shape (n_samples,)
            β and Kβ.
        """
        whole = float(vector @ product)
        if not whole > 0.0:
            return
        for _ in range(2):  # once more, for what rounding left
            part = self.products.T @ vector
            vector = vector - self.vectors @ part
            product = product - self.products @ part
        square = float(vector @ product)
        if not square > _NEW * whole:
            return
        self.vectors = np.column_stack([self.vectors, vector / np.sqrt(square)])
        self.products = np.column_stack([self.products, product / np.sqrt(square)])


def orthonormal_part(square: Floats, images: Floats) -> Floats:
    """Return images V with V Vᵀ = images · square⁻¹ · imagesᵀ, leaving out what is zero to rounding.

    Parameters
    ----------
    square : array of shape (m, m)
        Symmetric, positive semi-definite.
    images : array of shape (n, m)
        One column each.

    Returns
    -------
    V : array of shape (n, at most m)
        Columns.
    """
    values, vectors = np.linalg.eigh(0.5 * (square + square.T))
    kept = values > 1e-12 * max(values[-1], 0.0) if len(values) else values > 0
    return np.asarray(images @ (vectors[:, kept] / np.sqrt(values[kept])))


@dataclass(frozen=True)
class Task:
    """minimise (λ/2)‖w‖² + Σ sᵢ ℓ(yᵢ wᵀxᵢ).

    Parameters
    ----------
    loss : Loss
        ℓ.
    labels : array of shape (n_samples,)
        y, each -1 or +1.
    weights : array of shape (n_samples,)
        s; rows of weight 0 take no part.
    penalty : float
        λ = 1/C.
    """

    loss: Loss
    labels: Floats
    weights: Floats
    penalty: float

    @property
    def rows(self) -> NDArray[np.intp] | None:
        """Return the rows that take part; None: all."""
        return None if (self.weights > 0).all() else np.flatnonzero(self.weights > 0)

    def small_problem(self, offset: Floats) -> SmallProblem:
        """Return the problem of a step, over the rows that take part.

        Parameters
        ----------
        offset : array of shape (n_samples,)
            What is explained already.

        Returns
        -------
        problem : SmallProblem
            Its labels and weights are those of the rows.
        """
        rows = self.rows
        if rows is None:
            return SmallProblem(self.loss, self.labels, self.weights, self.penalty, offset)
        return SmallProblem(self.loss, self.labels[rows], self.weights[rows], self.penalty, offset[rows])

    def primal(self, weights: Floats, values: Floats) -> float:
        """Return the objective at weights w with these values."""
        return 0.5 * self.penalty * float(weights @ weights) + float(
            self.weights @ self.loss.value(self.labels * values)
        )

    def dual(self, a: Floats, weights: Floats) -> float:
        """Return the dual objective at α = s a with w_α."""
        return -0.5 * self.penalty * float(weights @ weights) - float(self.weights @ self.loss.conjugate(a))

    def representer(self, a: Floats) -> Floats:
        """Return β = y s a, so that w_α = Xᵀβ/λ."""
        return self.labels * self.weights * a


@dataclass
class Point:
    """Weights, their values on the training rows, and what rounding did to them.

    Parameters
    ----------
    weights : array of shape (n_features + 1,)
        w, the weight of the constant column last.
    values : array of shape (n_samples,)
        X w as computed.
    values_error : float
        ω: the values are within ω ρᵢ of the exact ones.
    """

    weights: Floats
    values: Floats
    values_error: float

    def __post_init__(self) -> None:
        self.norm = float(np.linalg.norm(self.weights))


@dataclass
class DualPoint(Point):
    """A feasible dual point with its weights.

    Parameters
    ----------
    a : array of shape (n_samples,)
        Dual variables of samples of weight 1, in the domain of the loss.
    weights_error : float
        ‖weights - Xᵀ(y s a)/λ‖ is at most this.
    """

    a: Floats = field(default_factory=lambda: np.zeros(0))
    weights_error: float = 0.0


def combination(points: list[Point], factors: Floats) -> Point:
    """Return the combination of points, with the sum of their rounding errors and its own.

    Parameters
    ----------
    points : list of Point
        What is combined.
    factors : array
        One number a point.

    Returns
    -------
    point : Point
        Its values go with its weights.
    """
    weights = np.zeros_like(points[0].weights)
    values = np.zeros_like(points[0].values)
    error = 0.0
    for point, factor in zip(points, factors, strict=True):
        if factor != 0.0:
            weights += factor * point.weights
            values += factor * point.values
            error += abs(factor) * (point.values_error + 4 * (len(points) + 1) * ROUNDOFF * point.norm)
    return Point(weights, values, error)


@dataclass
class Progress:
    """The best points of a task so far.

    Parameters
    ----------
    task : Task
        The problem.
    best : Point
        Weights of the lowest objective.
    dual : DualPoint
        Dual variables of the highest dual objective.
    directions : Directions
        What is known exactly of the Gram matrix.
    recent : list of Point
        The newest points, whose span is searched.
    untouched : bool
        Whether no step has been taken yet.
    """

    task: Task
    best: Point
    dual: DualPoint
    directions: Directions
    recent: list[Point] = field(default_factory=list)
    untouched: bool = True


def start_of(task: Task, n_samples: int, n_features: int) -> Progress:
    """Return the start of a task: zero weights, and a dual point whose weights are zero too.

    Parameters
    ----------
    task : Task
        The problem.
    n_samples, n_features : int
        Shape of the data.

    Returns
    -------
    progress : Progress
        Nothing is known yet.
    """
    a = task.loss.project(np.zeros(n_samples))
    zero = np.zeros(n_features + 1), np.zeros(n_samples), 0.0
    return Progress(task, Point(*zero), DualPoint(*zero, a=a), Directions(n_samples))


def class_signs(codes: NDArray[np.intp], n_classes: int) -> list[Floats]:
    """Return the labels ±1 of each task: one for two classes, else each class against the rest.

    Parameters
    ----------
    codes : array of shape (n_samples,)
        Class number of each sample.
    n_classes : int
        Two or more.

    Returns
    -------
    signs : list of array
        One array a task.
    """
    positive = [1] if n_classes == 2 else range(n_classes)
    return [np.where(codes == k, 1.0, -1.0) for k in positive]
