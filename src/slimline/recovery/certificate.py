"""Certificates: how far the weights can be from the exact optimum, proved from the duality gap.

For weights w and a feasible dual point α with w_α = Xᵀ(yα)/λ, the gap P(w) - D(α) is

    Σ sᵢ [ℓ(mᵢ) + ℓ*(-aᵢ) + aᵢ mᵢ] + (λ/2)‖w - w_α‖²,

a sum of terms that are never negative, so nothing cancels. P is λ-strongly convex, and D is so as a function of w_α;
hence (λ/2)(‖w - w*‖² + ‖w_α - w*‖²) ≤ gap, and the midpoint of w and w_α is within
η = √(residuals/λ + ‖w - w_α‖²/4) of w*. No probability is involved, and every convex loss is covered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline.recovery.rounding import ROUNDOFF, bound, overflow_allowed
from slimline.recovery.task import DualPoint, Point, Task

Floats = NDArray[np.float64]
#: Squares of numbers below this vanish in float64, and with them a distance of no more than this.
_UNDERFLOW = 1e-150


@dataclass(frozen=True)
class Proof:
    """What is proved about one task.

    Parameters
    ----------
    weights : array of shape (n_features + 1,)
        w, the weight of the constant column last.
    radius : float
        ‖weights - w*‖ ≤ radius for the exact optimum w*.
    gap : float
        Duality gap, an upper bound of how far the objective is from the optimum.
    relative_error : float
        An upper bound of ‖weights - w*‖/‖w*‖; infinite where the radius is not below ‖weights‖.
    """

    weights: Floats
    radius: float
    gap: float
    relative_error: float


@dataclass(frozen=True)
class Parts:
    """The two parts of a gap, rounding included.

    Parameters
    ----------
    residuals : float
        Σ sᵢ [ℓ(mᵢ) + ℓ*(-aᵢ) + aᵢ mᵢ], at most.
    distance : float
        ‖w - w_α‖, at most.
    gap : float
        The gap, at most.
    """

    residuals: float
    distance: float
    gap: float


@overflow_allowed()
def gap_parts(task: Task, point: Point, dual: DualPoint, row_bounds: Floats) -> Parts:
    """Return upper bounds of the parts of the duality gap of a point and a dual point.

    Parameters
    ----------
    task : Task
        The problem.
    point : Point
        w.
    dual : DualPoint
        α.
    row_bounds : array of shape (n_samples,)
        ρ, of `TrainingData`.

    Returns
    -------
    parts : Parts
        What float64 can have lost is added.
    """
    error = point.values_error * row_bounds
    each = task.loss.largest_residual(task.labels * point.values, dual.a, error)
    used = task.weights > 0
    margin = 1.0 + 2.0 * (len(each) + 8) * ROUNDOFF
    residuals = bound(float(task.weights[used] @ each[used]) * margin)
    difference = point.weights - dual.weights
    slack = 1.0 + 2.0 * (len(difference) + 8) * ROUNDOFF
    distance = float(np.linalg.norm(difference)) * slack + dual.weights_error + _UNDERFLOW
    distance = bound(distance + 2 * ROUNDOFF * (point.norm + dual.norm))
    return Parts(residuals, distance, (residuals + 0.5 * task.penalty * distance**2) * (1.0 + 8 * ROUNDOFF))


@overflow_allowed()
def prove(task: Task, point: Point, dual: DualPoint, row_bounds: Floats) -> Proof:
    """Return the midpoint of w and w_α, and how far it can be from the optimum.

    Parameters
    ----------
    task : Task
        The problem.
    point : Point
        w.
    dual : DualPoint
        α.
    row_bounds : array of shape (n_samples,)
        ρ, of `TrainingData`.

    Returns
    -------
    proof : Proof
        About the midpoint.
    """
    parts = gap_parts(task, point, dual, row_bounds)
    weights = point.weights + dual.weights
    weights *= 0.5
    norm = float(np.linalg.norm(weights))
    radius = float(np.sqrt(parts.residuals / task.penalty + 0.25 * parts.distance**2))
    radius = bound((radius + 0.5 * dual.weights_error + 2 * ROUNDOFF * norm) * (1.0 + 16 * ROUNDOFF))
    return Proof(weights, radius, parts.gap, relative(radius, norm))


def relative(radius: float, norm: float) -> float:
    """Return an upper bound of the error relative to the norm of the optimum."""
    norm *= 1.0 - 1e-9  # more than rounding can have added to it
    return radius / (norm - radius) * (1.0 + 8 * ROUNDOFF) if radius < norm else float("inf")


@overflow_allowed()
def intervals(
    task: Task, point: Point, dual: DualPoint, parts: Parts, column_squares: Floats, columns: slice = slice(None)
) -> tuple[Floats, Floats]:
    """Return an interval for each coordinate of the exact optimum, or for some of them.

    Parameters
    ----------
    task : Task
        The problem.
    point : Point
        w.
    dual : DualPoint
        α.
    parts : Parts
        Of the gap of these two.
    column_squares : array of shape (n_columns,)
        Σ sᵢ x²ᵢⱼ of these coordinates, at most.
    columns : slice
        Which coordinates; all of them unless given.

    Returns
    -------
    centre, radius : arrays of shape (n_columns,)
        |w*ⱼ - centreⱼ| ≤ radiusⱼ.

    Notes
    -----
    For an L-smooth loss D is strongly concave in α too, by (1/2L)Σ(αᵢ - α*ᵢ)²/sᵢ, and a coordinate of w_α - w* is a
    linear function of α - α* whose size is bounded by the column's norm: κⱼ = 1 + λ/(L Σ sᵢ x²ᵢⱼ) is its factor. The
    centre is then not the midpoint but the mean of wⱼ and w_α,ⱼ with weights 1 and κⱼ.
    """
    w, v = point.weights[columns], dual.weights[columns]
    difference = np.abs(w - v)
    if task.loss.smoothness is None:
        kappa = np.ones_like(w)
    else:
        kappa = 1.0 + task.penalty / (task.loss.smoothness * column_squares * (1.0 + 1e-6))
        kappa = np.minimum(kappa, 1e12)  # any smaller factor is true too, and this one loses nothing
    centre = w + (v - w) * (kappa / (1.0 + kappa))
    # 2 gap/λ - ½(‖w - w_α‖² - dⱼ²) with the gap taken apart: 2 residuals/λ + ½‖w - w_α‖² + ½ dⱼ²
    error = dual.weights_error + 8 * ROUNDOFF * (np.abs(w) + np.abs(v))
    square = 2.0 * parts.residuals / task.penalty + 0.5 * parts.distance**2 + 0.5 * np.square(difference + error)
    square *= (1.0 + 64 * ROUNDOFF) / (1.0 + kappa)
    square -= kappa * np.square(np.maximum(difference - error, 0.0) / (1.0 + kappa))
    return centre, np.sqrt(np.maximum(square, 0.0)) * (1.0 + 64 * ROUNDOFF) + error
