"""Losses of regression, in the form of those of classification: the margin is m = f - target, so the residual is -m.

With r = target - f = -m, a loss ψ(r) has a = ψ'(r), which is the signed dual variable itself, and ℓ*(-a) = ψ*(a).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import is_auto
from slimline.learning.covariates import Covariates
from slimline.learning.losses import Loss, Slower, SolverCosts
from slimline.learning.problem import BinaryProblem

# ruff: noqa: D102 - methods of losses are explained where their base names them

Floats = NDArray[np.float64]
#: Losses with a quadratic piece: Newton steps take effects of columns without a penalty along, and refit them.
_PIECEWISE = SolverCosts(beside_intercept=Slower(step=2.0), beside_covariates=Slower(step=2.0))
#: Losses with corners: an interior point from the Gram matrix, ever sharper roundings from rows.
_CORNERS = SolverCosts(factorisations=25.0, step_factorisations=8.0, products=5000.0)
#: Huber's δ, in standard deviations of normal residuals, that keeps 95 % of the efficiency of least squares; and what
#: makes the median absolute deviation a standard deviation (Huber, 1981).
_TUNING, _DEVIATION = 1.345, 1.4826


class SquaredError(Loss):
    """½r²: ridge regression."""

    name = sklearn_name = "squared_error"
    smoothness = 1.0
    lower, upper = -np.inf, np.inf
    is_quadratic, vertex = True, 0.0
    costs = SolverCosts(factorisations=1.0, products=250.0, steps_by_rows=2)

    def value(self, margin: Floats) -> Floats:
        return 0.5 * np.square(margin)

    def dual(self, margin: Floats) -> Floats:
        return -margin

    def curvature(self, margin: Floats) -> Floats:
        return np.ones_like(margin)

    def conjugate(self, a: Floats) -> Floats:
        return 0.5 * a * a

    def inverse(self, a: Floats) -> Floats:
        return -a

    def residual(self, margin: Floats, a: Floats) -> Floats:
        return 0.5 * np.square(margin + a)

    def sure_curvature(self, a: Floats, excess: Floats) -> Floats:
        return np.ones_like(a)


@dataclass(frozen=True)
class Huber(Loss):
    """½r² up to a distance δ, and a line beyond it."""

    #: δ, in units of the target.
    delta: float = 1.0

    name = sklearn_name = "huber"
    smoothness = 1.0
    costs = _PIECEWISE

    @property
    def lower(self) -> float:  # type: ignore[override]
        return -self.delta

    @property
    def upper(self) -> float:  # type: ignore[override]
        return self.delta

    def value(self, margin: Floats) -> Floats:
        r = np.abs(margin)
        return np.where(r <= self.delta, 0.5 * r * r, self.delta * (r - 0.5 * self.delta))

    def dual(self, margin: Floats) -> Floats:
        return np.clip(-margin, -self.delta, self.delta)

    def curvature(self, margin: Floats) -> Floats:
        return np.where(np.abs(margin) < self.delta, 1.0, 0.0)

    def conjugate(self, a: Floats) -> Floats:
        return 0.5 * a * a

    def inverse(self, a: Floats) -> Floats:
        return -a

    def residual(self, margin: Floats, a: Floats) -> Floats:
        r, a = _flipped(margin, a)
        beyond = self.delta - a
        return np.where(
            r <= self.delta, 0.5 * np.square(r - a), 0.5 * np.square(beyond) + beyond * np.maximum(r - self.delta, 0.0)
        )

    def sure_curvature(self, a: Floats, excess: Floats) -> Floats:
        return np.where(0.5 * np.square(self.delta - np.abs(a)) > excess, 1.0, 0.0)

    def curvature_error(self, sure: Floats, a: Floats, excess: Floats, low: Floats, high: Floats) -> Floats:
        line = ((high <= -self.delta) & (a == self.delta)) | ((low >= self.delta) & (a == -self.delta))
        return np.where((sure > 0.0) | line, 0.0, 1.0)


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """max(0, |r| - ε): support vector regression."""

    #: ε, in units of the target.
    epsilon: float = 0.1

    name = sklearn_name = "epsilon_insensitive"
    smoothness = None
    lower, upper = -1.0, 1.0
    corner_at_zero = True
    costs = _CORNERS

    @property
    def box(self) -> tuple[float, tuple[tuple[float, float], ...]]:  # type: ignore[override]
        return 0.0, ((1.0, self.epsilon), (-1.0, self.epsilon))

    def value(self, margin: Floats) -> Floats:
        return np.maximum(0.0, np.abs(margin) - self.epsilon)

    def dual(self, margin: Floats) -> Floats:
        return np.where(np.abs(margin) > self.epsilon, -np.sign(margin), 0.0)

    def curvature(self, margin: Floats) -> Floats:
        return np.zeros_like(margin)

    def conjugate(self, a: Floats) -> Floats:
        return self.epsilon * np.abs(a)

    def inverse(self, a: Floats) -> Floats:
        return -self.epsilon * np.sign(a)

    def residual(self, margin: Floats, a: Floats) -> Floats:
        r, a = _flipped(margin, a)
        inside = np.abs(a) * (self.epsilon - np.sign(a) * r)
        beyond = (1.0 - a) * (r - self.epsilon) + 2.0 * self.epsilon * np.maximum(-a, 0.0)
        return np.where(r <= self.epsilon, inside, beyond)

    def smoothed(self, width: float) -> Loss:
        return SmoothedEpsilonInsensitive(self.epsilon, width)


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Loss):
    """max(0, |r| - ε)²."""

    #: ε, in units of the target.
    epsilon: float = 0.1

    name = sklearn_name = "squared_epsilon_insensitive"
    smoothness = 2.0
    lower, upper = -np.inf, np.inf
    corner_at_zero = True
    costs = _PIECEWISE

    def value(self, margin: Floats) -> Floats:
        return np.square(np.maximum(0.0, np.abs(margin) - self.epsilon))

    def dual(self, margin: Floats) -> Floats:
        return -2.0 * np.sign(margin) * np.maximum(0.0, np.abs(margin) - self.epsilon)

    def curvature(self, margin: Floats) -> Floats:
        return np.where(np.abs(margin) > self.epsilon, 2.0, 0.0)

    def conjugate(self, a: Floats) -> Floats:
        return self.epsilon * np.abs(a) + 0.25 * a * a

    def inverse(self, a: Floats) -> Floats:
        return -self.epsilon * np.sign(a) - 0.5 * a

    def residual(self, margin: Floats, a: Floats) -> Floats:
        r, a = _flipped(margin, a)
        inside = np.abs(a) * (self.epsilon - np.sign(a) * r) + 0.25 * a * a
        beyond = np.square(r - self.epsilon - 0.5 * a) + 2.0 * self.epsilon * np.maximum(-a, 0.0)
        return np.where(r <= self.epsilon, inside, beyond)

    def sure_curvature(self, a: Floats, excess: Floats) -> Floats:
        return np.where(0.25 * a * a > excess, 2.0, 0.0)

    def curvature_error(self, sure: Floats, a: Floats, excess: Floats, low: Floats, high: Floats) -> Floats:
        flat = (low >= -self.epsilon) & (high <= self.epsilon) & (a == 0.0)
        return np.where((sure > 0.0) | flat, 0.0, 2.0)


@dataclass(frozen=True)
class Quantile(Loss):
    """τ r above 0, (1 - τ)|r| below: regression on a quantile."""

    #: τ, between 0 and 1.
    quantile: float = 0.5

    name = sklearn_name = "quantile"
    smoothness = None
    costs = _CORNERS

    @property
    def lower(self) -> float:  # type: ignore[override]
        return self.quantile - 1.0

    @property
    def upper(self) -> float:  # type: ignore[override]
        return self.quantile

    @property
    def box(self) -> tuple[float, tuple[tuple[float, float], ...]]:  # type: ignore[override]
        return self.lower, ((1.0, 0.0),)

    def value(self, margin: Floats) -> Floats:
        return np.where(margin <= 0.0, -self.upper * margin, -self.lower * margin)

    def dual(self, margin: Floats) -> Floats:
        return np.where(margin < 0.0, self.upper, np.where(margin > 0.0, self.lower, 0.0))

    def curvature(self, margin: Floats) -> Floats:
        return np.zeros_like(margin)

    def conjugate(self, a: Floats) -> Floats:
        return np.zeros_like(a)

    def inverse(self, a: Floats) -> Floats:
        return np.zeros_like(a)

    def residual(self, margin: Floats, a: Floats) -> Floats:
        return np.where(margin <= 0.0, -(self.upper - a) * margin, (a - self.lower) * margin)

    def smoothed(self, width: float) -> Loss:
        return SmoothedQuantile(self.quantile, width)


class _Rounded(Loss):
    """A loss with rounded corners: its conjugate has ½μa² added, and it is at most ½μ lower."""

    #: μ.
    width: float

    @property
    def smoothness(self) -> float:  # type: ignore[override]
        return 1.0 / self.width

    def conjugate(self, a: Floats) -> Floats:
        return super().conjugate(a) + 0.5 * self.width * a * a  # type: ignore[safe-super]

    def residual(self, margin: Floats, a: Floats) -> Floats:
        return self.value(margin) + self.conjugate(a) + a * margin


@dataclass(frozen=True)
class SmoothedEpsilonInsensitive(_Rounded, EpsilonInsensitive):  # type: ignore[misc]
    """The ε-insensitive loss with rounded corners."""

    width: float = 1.0

    name: ClassVar[str] = "smoothed_epsilon_insensitive"

    def value(self, margin: Floats) -> Floats:
        t = np.maximum(0.0, np.abs(margin) - self.epsilon)
        return np.where(t <= self.width, 0.5 * t * t / self.width, t - 0.5 * self.width)

    def dual(self, margin: Floats) -> Floats:
        return -np.sign(margin) * np.clip((np.abs(margin) - self.epsilon) / self.width, 0.0, 1.0)

    def curvature(self, margin: Floats) -> Floats:
        t = (np.abs(margin) - self.epsilon) / self.width
        return np.where((t > 0.0) & (t < 1.0), 1.0 / self.width, 0.0)


@dataclass(frozen=True)
class SmoothedQuantile(_Rounded, Quantile):  # type: ignore[misc]
    """The loss of a quantile with its corner rounded off."""

    width: float = 1.0

    name: ClassVar[str] = "smoothed_quantile"

    def value(self, margin: Floats) -> Floats:
        a = self.dual(margin)
        return -a * margin - 0.5 * self.width * a * a

    def dual(self, margin: Floats) -> Floats:
        return np.clip(-margin / self.width, self.lower, self.upper)

    def curvature(self, margin: Floats) -> Floats:
        a = -margin / self.width
        return np.where((a > self.lower) & (a < self.upper), 1.0 / self.width, 0.0)


#: Losses of regression by the names that estimators use, with their usual settings.
REGRESSION_LOSSES: dict[str, Loss] = {
    "squared": SquaredError(),
    "huber": Huber(),
    "epsilon_insensitive": EpsilonInsensitive(),
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive(),
    "quantile": Quantile(),
}


def regression_loss(name: str, delta: float, epsilon: float, quantile: float) -> Loss:
    """Return the loss of that name, with those of the settings that it has."""
    own = {
        "huber": Huber(delta),
        "epsilon_insensitive": EpsilonInsensitive(epsilon),
        "squared_epsilon_insensitive": SquaredEpsilonInsensitive(epsilon),
        "quantile": Quantile(quantile),
    }
    return own.get(name) or REGRESSION_LOSSES[name]


@dataclass(frozen=True)
class TargetLoss:
    """Loss of one target, with parameters that may be in units of it."""

    loss: Loss
    #: δ of the Huber loss, in units of the target; NaN if "auto" was asked for another loss.
    delta: float
    #: Factor of C: losses that are linear in the residual are in units of the target, the others in its square.
    factor: float
    #: Size of the target in the units of the loss, for losses that are linear in it.
    size: float

    @classmethod
    def of(
        cls,
        name: str,
        target: Floats,
        weight: Floats,
        columns: Floats,
        *,
        delta: float | str,
        epsilon: float,
        quantile: float,
        standardize: bool,
    ) -> TargetLoss:
        """Return the loss of that name; `columns` have no penalty, and "auto" takes a robust δ beside them."""
        mean = np.average(target, weights=weight)
        deviation = float(np.sqrt(np.average(np.square(target - mean), weights=weight))) or 1.0
        unit = deviation if standardize else 1.0
        if not is_auto(delta):
            delta = float(delta) * unit
        else:
            delta = robust_delta(columns, target, weight) if name == "huber" else np.nan
        loss = regression_loss(name, delta, epsilon * unit, quantile)
        if name in ("epsilon_insensitive", "quantile"):
            return cls(loss, delta, unit, deviation / unit)
        return cls(loss, delta, 1.0, 1.0)


def robust_delta(columns: Floats, target: Floats, weight: Floats) -> float:
    """Return 1.345 robust deviations of the residuals of the null model, which has the free columns alone."""
    rest = target
    if columns.shape[1]:
        problem = BinaryProblem(Quantile(0.5), np.ones(len(target)), weight, 1.0, -target, Covariates(columns, weight))
        nothing = np.zeros(len(target))
        rest = -problem.scores(nothing, problem.refitted_near(nothing, np.zeros(problem.free.shape[1])))
    deviation = _DEVIATION * float(np.median(np.abs(rest - np.median(rest))))
    return _TUNING * (deviation or float(np.std(rest)) or 1.0)


def _flipped(margin: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Return |r|, and a with the sign that belongs to it: losses here are even in r."""
    return np.abs(margin), np.where(margin > 0.0, -a, a)
