"""The problem: primal, dual and gap; points and their rounding; the state of its solution."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import ROUNDOFF, sum_error
from slimline.learning.covariates import (
    Covariates,
    minimise_effect,
    minimise_effects,
    nearest_in_box,
    point_inside,
    slack_of,
)
from slimline.learning.losses import Loss

if TYPE_CHECKING:
    from slimline.learning.certificate import GapBound

Floats = NDArray[np.float64]
#: Widths of the roundings of a corner, in units of the scores, that lead to the effects beside it.
_WIDTHS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
#: A new direction is kept if it is not within rounding of the span of the old ones.
_NEW = 1e-13


@dataclass(frozen=True)
class BinaryProblem:
    """One class against the rest, a regression, or the small problem of a step: minimise P, or maximise D.

        P(w, b) = (λ/2)‖w‖² + Σ sᵢ ℓ(yᵢ fᵢ),               f = X w + U b + q
        D(α) = -(λ/2)‖w_α‖² - Σ sᵢ [ℓ*(-aᵢ) + yᵢ aᵢ qᵢ],   w_α = Xᵀβ/λ,  β = y α,  α = s a,  where Uᵀβ = 0

    Conventions: vectors over samples are float64, of shape (n_samples,); `a` holds the dual variables of samples of
    weight 1, in the domain of ℓ, and `dual` stands for α. Effects of U are those of a nearly orthonormal basis of it.
    """

    #: ℓ.
    loss: Loss
    #: y, each -1 or +1; for a regression all 1; of shape (n_samples,).
    labels: Floats
    #: s; rows of weight 0 take no part, and the small problem has none; of shape (n_samples,).
    weights: Floats
    #: λ = 1/C.
    penalty: float
    #: q: minus the target of a regression, and 0 for classes; other numbers in small problems; of shape (n_samples,).
    offset: Floats = None  # type: ignore[assignment]
    #: U, which is not penalised; None: no such columns.
    covariates: Covariates | None = None
    #: A basis of U over the rows of this problem; of shape (n_samples, n_covariates).
    free: Floats = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        n = len(self.labels)
        if self.offset is None:
            object.__setattr__(self, "offset", np.zeros(n))
        if self.free is None:
            object.__setattr__(self, "free", np.zeros((n, 0)) if self.covariates is None else self.covariates.basis)

    @property
    def rows(self) -> NDArray[np.intp] | None:
        """Return the rows that take part; None: all."""
        return None if (self.weights > 0).all() else np.flatnonzero(self.weights > 0)

    @cached_property
    def is_plain(self) -> bool:
        """Return whether rounding of the scores is that of the values alone: no covariates, no target."""
        return not self.free.shape[1] and not self.offset.any()

    @property
    def is_smooth(self) -> bool:
        """Return whether the loss has no corner."""
        return self.loss.smoothness is not None

    @property
    def has_only_an_intercept(self) -> bool:
        """Return whether a constant is all that is not penalised."""
        return self.free.shape[1] == 1 and bool((self.free == self.free[0]).all())

    def small(self, shift: Floats) -> BinaryProblem:
        """Return the problem of a step, over the rows that take part; its offset is shifted."""
        rows = self.rows
        offset = self.offset + shift
        if rows is None:
            return replace(self, offset=offset)
        labels, weights, free = self.labels[rows], self.weights[rows], self.free[rows]
        return replace(self, labels=labels, weights=weights, offset=offset[rows], free=free)

    def scores(self, values: Floats, effects: Floats) -> Floats:
        """Return f for values X w and effects of the covariates."""
        scores = values + self.offset
        return scores + self.free @ effects if len(effects) else scores

    def scores_of(self, point: Point) -> Floats:
        """Return f at a point."""
        return self.scores(point.values, point.effects)

    def scores_error(self, point: Point) -> Floats | float:
        """Return what rounding adds to the error of the scores of a point, beside that of its values."""
        if self.is_plain:
            return 0.0
        largest = sum_error(self.free.shape[1] + 2) * (np.abs(point.values) + np.abs(self.offset))
        return largest if self.covariates is None else largest + self.covariates.rounding(point.effects)

    def refitted(self, values: Floats, effects: Floats, loss: Loss | None = None) -> Floats:
        """Return the effects of the lowest objective for values X w; for a smooth loss."""
        if not self.free.shape[1]:
            return effects
        shifts = values + self.offset
        return minimise_effects(self.free, self.weights, loss or self.loss, self.labels, shifts, effects)

    def refitted_near(self, values: Floats, effects: Floats) -> Floats:
        """Return such effects for any loss, one with a corner being followed down to sharp roundings of it."""
        if self.loss.smoothness is not None or not self.free.shape[1]:
            return self.refitted(values, effects)
        if self.free.shape[1] == 1:
            shifts, column = values + self.offset, self.free[:, 0]
            found = minimise_effect(column, self.weights, self.loss, self.labels, shifts, float(effects[0]))
            return np.array([found])
        size = float(np.average(np.abs(self.scores(values, effects)), weights=self.weights)) or 1.0
        for width in _WIDTHS:
            effects = self.refitted(values, effects, self.loss.smoothed(width * size))
        return effects

    def feasible(self, a: Floats) -> Floats:
        """Return the dual variables nearest to some that are feasible, up to rounding."""
        a = self.loss.project(a)
        if not self.free.shape[1]:
            return a
        return nearest_in_box(self.free * self.labels[:, None], self.weights, self.loss, a)

    @cached_property
    def inside(self) -> Floats | None:
        """Return a feasible point well inside the domain, or None where covariates separate classes."""
        return None if self.covariates is None else point_inside(self.covariates, self.loss, self.labels)

    def slack(self, a: Floats) -> Floats | None:
        """Return how far an exactly feasible point may be from dual variables, entry by entry; None: a is one."""
        if self.covariates is None or not len(self.covariates):
            return None
        return slack_of(self.covariates, self.loss, self.labels, a, lambda: self.inside)

    def loss_of(self, scores: Floats) -> float:
        """Return Σ sᵢ ℓ(yᵢ fᵢ)."""
        return float(self.weights @ self.loss.value(self.labels * scores))

    def primal(self, weights: Floats, scores: Floats) -> float:
        """Return the objective at weights w with scores f."""
        return 0.5 * self.penalty * float(weights @ weights) + self.loss_of(scores)

    def objective(self, point: Point) -> float:
        """Return the objective at a point."""
        return self.primal(point.weights, self.scores_of(point))

    def dual(self, a: Floats, weights: Floats) -> float:
        """Return the dual objective at α = s a with w_α."""
        value = -0.5 * self.penalty * float(weights @ weights) - float(self.weights @ self.loss.conjugate(a))
        return value - float(self.representer(a) @ self.offset) if self.offset.any() else value

    def representer(self, a: Floats) -> Floats:
        """Return β = y s a, so that w_α = Xᵀβ/λ."""
        return self.labels * self.weights * a

    def projected(self, dual: Floats) -> Floats:
        """Return the α in the domain that is nearest to some dual variables."""
        return self.weights * self.loss.project(dual / self.weights)

    def gap(self, scores: Floats, dual: Floats) -> float:
        """Return the duality gap of w = Xᵀ(yα)/λ with scores f and its own dual variables α."""
        a = self.loss.project(dual / self.weights)
        return float(self.weights @ self.loss.residual(self.labels * scores, a))


@dataclass
class Solution:
    """The answer of a solver of small problems."""

    #: α, feasible; of shape (n_samples,).
    dual: Floats
    #: f, but for the part of the covariates; of shape (n_samples,).
    values: Floats
    #: w, if the solver had the features; of shape (n_components,).
    weights: Floats | None
    #: Duality gap: how far the objective can be from the optimum.
    gap: float
    #: Steps or epochs that were taken.
    iterations: int
    #: Effects of the basis of the covariates; of shape (n_covariates,).
    effects: Floats = field(default_factory=lambda: np.zeros(0))


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
        if not whole > _NEW * float(np.linalg.norm(vector) * np.linalg.norm(product)):
            return  # the data do not see it: βᵀKβ is rounding
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
    #: Effects of the basis of the covariates; of shape (n_covariates,).
    effects: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self.norm = float(np.linalg.norm(self.weights))


@dataclass
class DualPoint(Point):
    """A dual point with its weights; feasible, if not to the last digit."""

    #: Dual variables of samples of weight 1, in the domain of the loss; of shape (n_samples,).
    a: Floats = field(default_factory=lambda: np.zeros(0))
    #: ‖weights - Xᵀ(y s a)/λ‖ is at most this.
    weights_error: float = 0.0
    #: An exactly feasible point is within this of `a`, entry by entry; None: `a` is one.
    slack: Floats | None = None
    #: ‖weights - w‖ of that point is at most this.
    total_error: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.total_error = max(self.total_error, self.weights_error)

    def settle(self, problem: BinaryProblem, row_bounds: Floats) -> None:
        """Find out how far an exactly feasible point is."""
        self.slack = problem.slack(self.a)
        moved = 0.0 if self.slack is None else float((problem.weights * self.slack) @ row_bounds) / problem.penalty
        self.total_error = self.weights_error + moved


def combination(points: list[Point], factors: Floats) -> Point:
    """Return the combination of points, with the sum of their rounding errors and its own."""
    weights = np.zeros_like(points[0].weights)
    values = np.zeros_like(points[0].values)
    effects = np.zeros_like(points[0].effects)
    error = 0.0
    for point, factor in zip(points, factors, strict=True):
        if factor != 0.0:
            weights += factor * point.weights
            values += factor * point.values
            effects += factor * point.effects
            error += abs(factor) * (point.values_error + 4 * (len(points) + 1) * ROUNDOFF * point.norm)
    return Point(weights, values, error, effects)


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
        """Return the start: zero weights, beside the best effects, and a dual point whose weights are zero too."""
        n, d = shape
        a = problem.loss.project(np.zeros(n))
        zero = np.zeros(d + 1), np.zeros(n), 0.0
        effects = problem.refitted_near(np.zeros(n), np.zeros(problem.free.shape[1]))
        return cls(problem, Point(*zero, effects), DualPoint(*zero, effects, a=a), ExactSubspace(n))

    @property
    def error(self) -> float:
        """Return the certified relative error."""
        return float("inf") if self.bound is None else self.bound.relative_error


def class_signs(codes: NDArray[np.intp], n_classes: int) -> list[Floats]:
    """Return the labels ±1 of each problem: one for two classes, else each class against the rest."""
    positive = [1] if n_classes == 2 else range(n_classes)
    return [np.where(codes == k, 1.0, -1.0) for k in positive]
