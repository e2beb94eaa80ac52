"""Losses of classification, their conjugates, and how far a pair of margin and dual variable is from optimal.

Everything is in terms of the margin m = y f and of a = α/s, the dual variable of one sample of weight 1. At the optimum
a = -ℓ'(m). The residual ℓ(m) + ℓ*(-a) + a m is never negative and vanishes exactly there (Fenchel and Young); a duality
gap is a sum of such residuals, so they are written without the cancellation that the three terms would suffer. Losses
of regression (`regression_losses`) have the same form, with m = f - target.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlog1py, xlogy

from slimline._base.checks import one_of
from slimline._base.rounding import ROUNDOFF

# ruff: noqa: D102 - methods of the four losses are explained where the base names them


Floats = NDArray[np.float64]


class Slower(NamedTuple):
    """How many times as long solvers take beside columns without a penalty as with a penalised intercept.

    Measured with 1 and 13 columns on 500 to 2,000 samples, for C of 1 to 100 and rows of norm 1.
    """

    #: To rounding, from the Gram matrix.
    exact: float = 1.0
    #: As far as a step asks for, from the Gram matrix.
    step: float = 1.0
    #: From rows.
    rows: float = 1.0


class SolverCosts(NamedTuple):
    """Measured costs of solving a loss, for the cost model of a fit."""

    #: Factorisations of the Gram matrix that an exact solution takes,
    factorisations: float = 6.0
    #: and the small problem of a step.
    step_factorisations: float = 2.0
    #: Beside a free intercept alone, and beside covariates.
    beside_intercept: Slower = Slower()
    beside_covariates: Slower = Slower()
    #: Whether each of them takes all samples, and not those alone whose dual variable can move.
    all_samples: bool = False
    #: Products with the rows of the data that conjugate gradients take, unless coordinate descent solves the loss.
    products: float = 170.0
    #: Factor of the number of steps if there are more samples than components.
    steps_by_rows: int = 4
    #: Components that a sketch needs, relative to the other losses.
    components: float = 1.0

    def beside(self, n_free: int) -> Slower:
        """Return how many times as long solvers take beside so many columns without a penalty."""
        return Slower() if n_free == 0 else self.beside_intercept if n_free == 1 else self.beside_covariates


class Loss(ABC):
    """A convex loss of the margin: its mathematics, and what the solvers and the cost model need to know of it."""

    #: Name here, and in scikit-learn's SGDClassifier.
    name: ClassVar[str]
    sklearn_name: ClassVar[str]
    #: Lipschitz constant L of the derivative; None for a loss with a corner, whose solvers are those of the hinge.
    smoothness: ClassVar[float | None]
    #: Domain of a.
    lower: ClassVar[float]
    upper: ClassVar[float]
    #: κ if ℓ*(-a) = ½κa² - a for a in [0, upper]: then coordinate descent on the dual solves it. Else None.
    dual_curvature: ClassVar[float | None] = None
    #: Whether ℓ is one quadratic, so that one Newton step solves it; and where it is 0.
    is_quadratic: ClassVar[bool] = False
    vertex: ClassVar[float] = 1.0
    #: For a loss with a corner, (base, ((direction, slope), …)): a = base + Σ direction·x and ℓ*(-a) = Σ slope·x, up to
    #: a constant, for x in [0, 1].
    box: ClassVar[tuple[float, tuple[tuple[float, float], ...]]]
    #: Whether ℓ* has a corner at a = 0.
    corner_at_zero: ClassVar[bool] = False
    costs: ClassVar[SolverCosts] = SolverCosts()

    @abstractmethod
    def value(self, margin: Floats) -> Floats:
        """Return ℓ(m)."""

    @abstractmethod
    def dual(self, margin: Floats) -> Floats:
        """Return a = -ℓ'(m); for the hinge, which has a corner, one such value."""

    @abstractmethod
    def curvature(self, margin: Floats) -> Floats:
        """Return ℓ''(m), where there is one."""

    @abstractmethod
    def conjugate(self, a: Floats) -> Floats:
        """Return ℓ*(-a) for a in the domain."""

    @abstractmethod
    def inverse(self, a: Floats) -> Floats:
        """Return the margin at which a is optimal, -dℓ*(-a)/da: the slope of the dual objective."""

    @abstractmethod
    def residual(self, margin: Floats, a: Floats) -> Floats:
        """Return ℓ(m) + ℓ*(-a) + a m, never below its true value by more than a few roundings of itself."""

    def largest_residual(self, margin: Floats, a: Floats, error: Floats, slack: Floats | None = None) -> Floats:
        """Return an upper bound of the residual for every margin within `error`, and a within `slack`, of those given.

        The residual is convex in each of the two, so that it is largest at a corner.
        """
        error = error + 8 * ROUNDOFF * (1.0 + np.abs(margin) + np.abs(a))  # what 1 - m and e^-m lose themselves
        variables = (a,) if slack is None else (self.project(a - slack), self.project(a + slack))
        corners = [self.residual(end, b) for b in variables for end in (margin - error, margin + error)]
        bound: Floats = np.maximum.reduce(corners) * (1.0 + 1024 * ROUNDOFF)
        return bound

    def sure_curvature(self, a: Floats, excess: Floats) -> Floats:
        """Return the curvature Ω that ℓ has between the optimal margin and that of a, or nearly has; 0 if it may not.

        The residual of the optimal margin and a is at most `excess`. Of a loss with corners, how far a is from the
        ends of its domain: the residual grows so steeply with the distance from the corner.
        """
        steep = np.minimum(a - self.lower, self.upper - a)
        return np.minimum(steep, np.abs(a)) if self.corner_at_zero else steep

    def curvature_error(self, sure: Floats, a: Floats, excess: Floats, low: Floats, high: Floats) -> Floats:
        """Return ϑ² such that |Ω - h||m* - m| ≤ ϑ √(2 residual), h being the mean curvature between m and m*.

        The optimal margin m* lies between `low` and `high`, and m is that of a.
        """
        return np.zeros_like(a)

    def smoothed(self, width: float) -> Loss:
        """Return a smooth loss that differs by no more than a part of `width`; a smooth one itself."""
        return self

    def project(self, a: Floats) -> Floats:
        """Return the nearest point of the domain."""
        nearest: Floats = np.clip(a, self.lower, self.upper)
        return nearest


class Squared(Loss):
    """½(1 - m)²: ridge regression on the labels."""

    name, sklearn_name = "squared", "squared_error"
    smoothness = 1.0
    lower, upper = -np.inf, np.inf
    is_quadratic = True
    costs = SolverCosts(factorisations=1.0, products=250.0, steps_by_rows=2)

    def value(self, margin: Floats) -> Floats:
        return 0.5 * np.square(1.0 - margin)

    def dual(self, margin: Floats) -> Floats:
        return 1.0 - margin

    def curvature(self, margin: Floats) -> Floats:
        return np.ones_like(margin)

    def conjugate(self, a: Floats) -> Floats:
        return 0.5 * a * a - a

    def inverse(self, a: Floats) -> Floats:
        return 1.0 - a

    def residual(self, margin: Floats, a: Floats) -> Floats:
        return 0.5 * np.square((1.0 - margin) - a)

    def sure_curvature(self, a: Floats, excess: Floats) -> Floats:
        return np.ones_like(a)


class SquaredHinge(Loss):
    """max(0, 1 - m)²: LinearSVC's default."""

    name = sklearn_name = "squared_hinge"
    smoothness = 2.0
    lower, upper = 0.0, np.inf
    dual_curvature = 0.5
    # coordinate descent takes proximal rounds beside an intercept, and Newton steps replace it beside covariates
    costs = SolverCosts(
        beside_intercept=Slower(step=2.0, rows=6.0), beside_covariates=Slower(exact=1.5, step=3.0, rows=10.0)
    )

    def value(self, margin: Floats) -> Floats:
        return np.square(np.maximum(0.0, 1.0 - margin))

    def dual(self, margin: Floats) -> Floats:
        return 2.0 * np.maximum(0.0, 1.0 - margin)

    def curvature(self, margin: Floats) -> Floats:
        return np.where(margin < 1.0, 2.0, 0.0)

    def conjugate(self, a: Floats) -> Floats:
        return 0.25 * a * a - a

    def inverse(self, a: Floats) -> Floats:
        return 1.0 - 0.5 * a

    def residual(self, margin: Floats, a: Floats) -> Floats:
        short = 1.0 - margin
        return np.where(short >= 0.0, np.square(short - 0.5 * a), a * (0.25 * a - short))

    def sure_curvature(self, a: Floats, excess: Floats) -> Floats:
        return np.where(0.25 * a * a > excess, 2.0, 0.0)

    def curvature_error(self, sure: Floats, a: Floats, excess: Floats, low: Floats, high: Floats) -> Floats:
        flat = (low >= 1.0) & (a == 0.0)  # where a is not 0, that the optimal one is says nothing
        return np.where((sure > 0.0) | flat, 0.0, 2.0)


class Logistic(Loss):
    """log(1 + e^-m): logistic regression."""

    name, sklearn_name = "logistic", "log_loss"
    smoothness = 0.25
    lower, upper = 0.0, 1.0
    costs = SolverCosts(all_samples=True, steps_by_rows=1, components=0.5)  # it is flat

    def value(self, margin: Floats) -> Floats:
        return np.logaddexp(0.0, -margin)

    def dual(self, margin: Floats) -> Floats:
        a: Floats = expit(-margin)
        return a

    def curvature(self, margin: Floats) -> Floats:
        return self.dual(margin) * self.dual(-margin)

    def conjugate(self, a: Floats) -> Floats:
        return np.asarray(xlogy(a, a) + xlog1py(1.0 - a, -a), dtype=np.float64)

    def inverse(self, a: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log1p(-a) - np.log(a)

    def residual(self, margin: Floats, a: Floats) -> Floats:
        # The residual is the relative entropy of Bernoulli(a) to Bernoulli(p), p = -ℓ'(m); swapping the outcomes
        # makes p the smaller of the two, so that nothing is lost in 1 - p.
        swap = margin < 0.0
        m, a = np.abs(margin), np.where(swap, 1.0 - a, a)
        p = expit(-m)
        difference = a - p
        near = np.abs(difference) < 0.5 * p  # not where p is 0 to float64
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            close = p * _excess(np.where(near, difference / p, 0.0)) + (1.0 - p) * _excess(-difference / (1.0 - p))
        terms = xlogy(a, a), xlog1py(1.0 - a, -a), a * m, np.log1p(np.exp(-m))
        far = sum(terms) + 8 * ROUNDOFF * sum(np.abs(term) for term in terms)
        return np.where(near, close, far)

    def sure_curvature(self, a: Floats, excess: Floats) -> Floats:
        anywhere = np.full_like(a, np.inf)
        curvature, with_it, without = self._errors(a, excess, -anywhere, anywhere)
        return np.where(with_it <= without, curvature, 0.0)

    def curvature_error(self, sure: Floats, a: Floats, excess: Floats, low: Floats, high: Floats) -> Floats:
        _, with_it, without = self._errors(a, excess, low, high)
        return np.where(sure > 0.0, with_it, without)

    def _errors(self, a: Floats, excess: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the curvature h at the margin of a, and ϑ² for Ω = h and Ω = 0: |d log h/dm| ≤ 1 bounds both."""
        with np.errstate(all="ignore"):
            margin, curvature = self.inverse(a), a * (1.0 - a)
            move = np.fmin(_largest_move(excess / curvature), np.maximum(np.abs(high - margin), np.abs(margin - low)))
            near = 0.25 * move * move * (1.0 + move)
            ratio = np.square(np.expm1(move) - move) / (2.0 * (np.expm1(-move) + move))
            with_it = curvature * np.where(move < 1e-3, near, ratio)
            without = np.fmin(0.25, curvature * np.exp(move))
        with_it = np.where(np.isfinite(with_it), with_it, np.inf)
        return curvature, with_it, np.where(np.isfinite(without), without, 0.25)


class Hinge(Loss):
    """max(0, 1 - m): the support vector machine."""

    name = sklearn_name = "hinge"
    smoothness = None
    lower, upper = 0.0, 1.0
    dual_curvature = 0.0
    box = (0.0, ((1.0, -1.0),))
    # Newton's method has to find the support vectors, as has an interior point, which covariates need
    costs = SolverCosts(
        factorisations=40.0, beside_intercept=Slower(rows=8.0), beside_covariates=Slower(step=5.0, rows=80.0)
    )

    def value(self, margin: Floats) -> Floats:
        return np.maximum(0.0, 1.0 - margin)

    def dual(self, margin: Floats) -> Floats:
        return np.where(margin < 1.0, 1.0, 0.0)

    def curvature(self, margin: Floats) -> Floats:
        return np.zeros_like(margin)

    def conjugate(self, a: Floats) -> Floats:
        return -a

    def inverse(self, a: Floats) -> Floats:
        return np.ones_like(a)

    def residual(self, margin: Floats, a: Floats) -> Floats:
        short = 1.0 - margin
        return np.where(short >= 0.0, (1.0 - a) * short, -a * short)

    def smoothed(self, width: float) -> Loss:
        return SmoothedHinge(width)


class SmoothedHinge(Loss):
    """The hinge with its corner rounded off: its conjugate has μ/2 (a² - a) added, and it is at most μ/8 lower."""

    name = sklearn_name = "smoothed_hinge"
    lower, upper = 0.0, 1.0

    def __init__(self, width: float) -> None:
        self.width = width
        self.smoothness = 1.0 / width  # type: ignore[misc]

    def value(self, margin: Floats) -> Floats:
        a = self.dual(margin)
        return a * (1.0 - margin) - self.conjugate(a) - a

    def dual(self, margin: Floats) -> Floats:
        return np.clip((1.0 - margin) / self.width + 0.5, 0.0, 1.0)

    def curvature(self, margin: Floats) -> Floats:
        return np.where(np.abs(1.0 - margin) < 0.5 * self.width, 1.0 / self.width, 0.0)

    def conjugate(self, a: Floats) -> Floats:
        return 0.5 * self.width * (a * a - a) - a

    def inverse(self, a: Floats) -> Floats:
        return 1.0 - self.width * (a - 0.5)

    def residual(self, margin: Floats, a: Floats) -> Floats:
        best = self.dual(margin)
        # the quadratic in a has its maximum at the projected point: what is left is a parabola and a slope outwards
        slope = (1.0 - margin) - self.width * (best - 0.5)
        return 0.5 * self.width * np.square(a - best) + slope * (best - a)


def _largest_move(level: Floats) -> Floats:
    """Return δ ≥ 0 with e^-δ + δ - 1 ≥ level, hardly above the smallest: Newton's method from above."""
    move = np.sqrt(2.0 * level) + level + 1.0
    for _ in range(60):
        value = np.where(move < 1e-3, 0.5 * move * move * (1.0 - move / 3.0), np.expm1(-move) + move)
        new = move - (value - level) / -np.expm1(-move)
        move = np.where(np.isfinite(new) & (new > 0.0), np.minimum(new, move), move)
    return np.asarray(move * (1.0 + 1e-9) + 1e-300)


def _excess(x: Floats) -> Floats:
    """Return (1 + x) log(1 + x) - x for |x| ≤ ½ or so, without cancellation."""
    small = np.abs(x) < 0.02
    # (1 + x) log(1 + x) - x = Σ_{k ≥ 2} (-x)^k / (k (k - 1))
    series = np.zeros_like(x)
    for k in range(10, 1, -1):
        series = series * -x + 1.0 / (k * (k - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = (1.0 + x) * np.log1p(x) - x
    return np.where(small, series * x * x, direct)


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (SquaredHinge(), Logistic(), Hinge(), Squared())}


def loss_named(name: Any) -> Loss:
    """Return the loss of that name."""
    return LOSSES[one_of("loss", name, LOSSES)]
