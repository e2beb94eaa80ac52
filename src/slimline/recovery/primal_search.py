"""The lowest primal objective over the span of a few points: a problem of a few variables on n-vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slimline.recovery.task import Point, Task, combination
from slimline.solvers.line_search import smallest_along
from slimline.solvers.losses import Loss

Floats = NDArray[np.float64]
_MOST_STEPS = 50
#: A step that gains less than this part of λ‖w‖² is below what the certificate of a hinge can see.
_ENOUGH = 1e-13


def lowest_in_span(task: Task, points: list[Point]) -> Point:
    """Return a point of the span whose objective is not above that of any of the points.

    Parameters
    ----------
    task : Task
        The problem.
    points : list of Point
        Not empty.

    Returns
    -------
    point : Point
        One of them, or a combination.
    """
    objectives = [task.primal(point.weights, point.values) for point in points]
    best = int(np.argmin(objectives))
    usable = [point for point in points if point.norm > 0.0]
    if len(usable) < 1:
        return points[best]
    factors = _minimise(task, usable)
    candidate = combination(usable, factors)
    # Nearly parallel points can have huge factors, which rounding then eats.
    if task.primal(candidate.weights, candidate.values) < objectives[best]:
        return candidate
    return points[best]


def _minimise(task: Task, points: list[Point]) -> Floats:
    scale = np.array([point.norm for point in points])
    W = np.array([point.weights / size for point, size in zip(points, scale, strict=True)])
    V = np.array([task.labels * point.values / size for point, size in zip(points, scale, strict=True)])
    square = task.penalty * (W @ W.T)
    factors = np.zeros(len(points))
    for loss in _smoothed(task.loss):
        factors = _newton(square, V, task.weights, loss, factors)
    return np.asarray(factors / scale)


def _newton(square: Floats, V: Floats, weights: Floats, loss: Loss | _Smoothed, factors: Floats) -> Floats:
    enough = _ENOUGH if isinstance(loss, _Smoothed) else 0.0
    for _ in range(_MOST_STEPS):
        margin = factors @ V
        gradient = square @ factors - V @ (weights * loss.dual(margin))
        hessian = square + (V * (weights * loss.curvature(margin))) @ V.T
        values, vectors = np.linalg.eigh(hessian)
        kept = values > 1e-14 * values[-1]
        change = -(vectors[:, kept] @ ((vectors[:, kept].T @ gradient) / values[kept]))
        if -float(gradient @ change) <= enough * float(factors @ square @ factors):
            break
        change_of_margin = change @ V
        start, growth = float(factors @ square @ change), float(change @ square @ change)

        def slope(
            step: float,
            margin: Floats = margin,
            rise: Floats = change_of_margin,
            start: float = start,
            growth: float = growth,
        ) -> float:
            return start + step * growth - float((weights * loss.dual(margin + step * rise)) @ rise)

        step = smallest_along(slope, 4.0)
        factors = factors + step * change
        if step == 0.0 or np.linalg.norm(change) <= 1e-15 * np.linalg.norm(factors):
            break
    return factors


class _Smoothed:
    """The hinge with its corner replaced by a piece of a parabola of this width."""

    def __init__(self, width: float) -> None:
        self.width = width

    def dual(self, margin: Floats) -> Floats:
        return np.clip((1.0 - margin) / self.width + 0.5, 0.0, 1.0)

    def curvature(self, margin: Floats) -> Floats:
        return np.where(np.abs(1.0 - margin) < 0.5 * self.width, 1.0 / self.width, 0.0)


def _smoothed(loss: Loss) -> list[Loss | _Smoothed]:
    if loss.smoothness is not None:
        return [loss]
    return [_Smoothed(width) for width in (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)]
