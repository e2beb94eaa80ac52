"""The problem: primal, dual and gap; points and their rounding; the state of its solution."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import ROUNDOFF
from slimline.learning.losses import Loss

if TYPE_CHECKING:
    from slimline.learning.certificate import GapBound

Floats = NDArray[np.float64]
#: A new direction is kept if it is not within rounding of the span of the old ones.
_NEW = 1e-13


@dataclass(frozen=True)
class BinaryProblem:
    """One class against the rest, or the small problem of a step: minimise P, or maximise D (here for q = 0).

        P(w) = (λ/2)‖w‖² + Σ sᵢ ℓ(yᵢ fᵢ),       f = X w + q
        D(α) = -(λ/2)‖w_α‖² - Σ sᵢ ℓ*(-aᵢ),     w_α = Xᵀβ/λ,  β = y α,  α = s a

    Conventions: vectors over samples are float64, of shape (n_samples,); `a` holds the dual variables of samples of
    weight 1, in the domain of ℓ, and `dual` stands for α.
    """

    #: ℓ.
    loss: Loss
    #: y, each -1 or +1; of shape (n_samples,).
    labels: Floats
    #: s; rows of weight 0 take no part, and the small problem has none; of shape (n_samples,).
    weights: Floats
    #: λ = 1/C.
    penalty: float
    #: q, which is 0 but in small problems; of shape (n_samples,).
    offset: Floats = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.offset is None:
            object.__setattr__(self, "offset", np.zeros(len(self.labels)))

    @property
    def rows(self) -> NDArray[np.intp] | None:
        """Return the rows that take part; None: all."""
        return None if (self.weights > 0).all() else np.flatnonzero(self.weights > 0)

    def small(self, offset: Floats) -> BinaryProblem:
        """Return the problem of a step, over the rows that take part."""
        rows = self.rows
        if rows is None:
            return replace(self, offset=offset)
        return replace(self, labels=self.labels[rows], weights=self.weights[rows], offset=offset[rows])

    def loss_of(self, values: Floats) -> float:
        """Return Σ sᵢ ℓ(yᵢ fᵢ)."""
        return float(self.weights @ self.loss.value(self.labels * values))

    def primal(self, weights: Floats, values: Floats) -> float:
        """Return the objective at weights w with values f."""
        return 0.5 * self.penalty * float(weights @ weights) + self.loss_of(values)

    def dual(self, a: Floats, weights: Floats) -> float:
        """Return the dual objective at α = s a with w_α."""
        return -0.5 * self.penalty * float(weights @ weights) - float(self.weights @ self.loss.conjugate(a))

    def representer(self, a: Floats) -> Floats:
        """Return β = y s a, so that w_α = Xᵀβ/λ."""
        return self.labels * self.weights * a

    def projected(self, dual: Floats) -> Floats:
        """Return the feasible α that is nearest to some dual variables."""
        return self.weights * self.loss.project(dual / self.weights)

    def gap(self, values: Floats, dual: Floats) -> float:
        """Return the duality gap of w = Xᵀ(yα)/λ with values f and its own dual variables α."""
        a = self.loss.project(dual / self.weights)
        return float(self.weights @ self.loss.residual(self.labels * values, a))


@dataclass
class Solution:
    """The answer of a solver of small problems."""

    #: α, feasible; of shape (n_samples,).
    dual: Floats
    #: f; of shape (n_samples,).
    values: Floats
    #: w, if the solver had the features; of shape (n_components,).
    weights: Floats | None
    #: Duality gap: how far the objective can be from the optimum.
    gap: float
    #: Steps or epochs that were taken.
    iterations: int


class ExactSubspace:
    """Vectors β with βᵀKβ = 1, orthogonal in the inner product of K, and their products h = Kβ."""

    def __init__(self, n_samples: int) -> None:
        self.vectors = np.zeros((n_samples, 0))
        self.products = np.zeros((n_samples, 0))

    def __len__(self) -> int:
        return self.vectors.shape[1]

    def add(self, vector: Floats, product: Floats) -> None:
        """Take in a direction β and Kβ, unless it is known already."""
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
    """Return images V with V Vᵀ = images · square⁻¹ · imagesᵀ, leaving out what is zero to rounding."""
    values, vectors = np.linalg.eigh(0.5 * (square + square.T))
    kept = values > 1e-12 * max(values[-1], 0.0) if len(values) else values > 0
    return np.asarray(images @ (vectors[:, kept] / np.sqrt(values[kept])))


@dataclass
class Point:
    """Weights, their values on the training rows, and what rounding did to them."""

    #: w, the weight of the constant column last; of shape (n_features + 1,).
    weights: Floats
    #: X w as computed; of shape (n_samples,).
    values: Floats
    #: ω: the values are within ω ρᵢ of the exact ones.
    values_error: float

    def __post_init__(self) -> None:
        self.norm = float(np.linalg.norm(self.weights))


@dataclass
class DualPoint(Point):
    """A feasible dual point with its weights."""

    #: Dual variables of samples of weight 1, in the domain of the loss; of shape (n_samples,).
    a: Floats = field(default_factory=lambda: np.zeros(0))
    #: ‖weights - Xᵀ(y s a)/λ‖ is at most this.
    weights_error: float = 0.0


def combination(points: list[Point], factors: Floats) -> Point:
    """Return the combination of points, with the sum of their rounding errors and its own."""
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
class SolverState:
    """The solution of a problem so far: the best points, and what is proved about them."""

    problem: BinaryProblem
    #: Weights of the lowest objective.
    best: Point
    #: Dual variables of the highest dual objective.
    dual: DualPoint
    #: Where K is known exactly.
    subspace: ExactSubspace
    #: The newest points, whose span is searched.
    recent: list[Point] = field(default_factory=list)
    #: What is proved about `best` and `dual`; None before the first step.
    bound: GapBound | None = None
    #: By what factor the last step made the certified radius smaller.
    gain: float = float("inf")
    #: Small problems are solved to this share of the usual gap: less after slow steps.
    share: float = 1.0

    @classmethod
    def zero(cls, problem: BinaryProblem, shape: tuple[int, int]) -> Self:
        """Return the start: zero weights, and a dual point whose weights are zero too."""
        n, d = shape
        a = problem.loss.project(np.zeros(n))
        zero = np.zeros(d + 1), np.zeros(n), 0.0
        return cls(problem, Point(*zero), DualPoint(*zero, a=a), ExactSubspace(n))

    @property
    def error(self) -> float:
        """Return the certified relative error."""
        return float("inf") if self.bound is None else self.bound.relative_error


def class_signs(codes: NDArray[np.intp], n_classes: int) -> list[Floats]:
    """Return the labels ±1 of each problem: one for two classes, else each class against the rest."""
    positive = [1] if n_classes == 2 else range(n_classes)
    return [np.where(codes == k, 1.0, -1.0) for k in positive]
