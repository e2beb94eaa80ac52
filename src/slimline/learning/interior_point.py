"""Small problems with a loss that has corners, beside covariates or of a regression: a primal-dual interior point.

The dual variables lie in boxes, a = base + Σ direction·x with 0 ≤ x ≤ 1, and Uᵀβ = 0. Mehrotra's predictor and
corrector solve the same bordered system twice a step (solve_gram.py), the barrier's diagonal in place of the curvature.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from slimline.learning.line_search import shifted_solver
from slimline.learning.problem import BinaryProblem, Solution

Floats = NDArray[np.float64]
#: Steps, at most; and steps in a row without a smaller gap.
_MOST_STEPS, _MOST_IDLE = 80, 4
#: Share of the way to the nearest bound that a step goes.
_SHARE = 0.995
#: Feasible points are made once the mean product of a variable and its multiplier is below this,
_NEAR = 1e-2
#: and steps end where it is below that.
_ROUNDING = 1e-18
#: Below this mean product it is clear which variables are at a bound.
_SETTLED = 1e-6
#: Variables move between the ends and the inside of their boxes so many times.
_MOST_EXCHANGES = 12
#: A variable below this part of its multiplier is taken to be at its bound.
_AT_THE_BOUND = 1e-3


class _Point(NamedTuple):
    """Variables in [0, 1], how far below 1 they are, the multipliers of both bounds, and effects of the covariates."""

    x: Floats
    rest: Floats
    low: Floats
    high: Floats
    effects: Floats

    @property
    def complementarity(self) -> float:
        return float(self.x @ self.low + self.rest @ self.high) / (2 * len(self.x))

    def moved(self, change: _Point, length: float) -> _Point:
        return _Point(*(now + length * step for now, step in zip(self, change, strict=True)))

    def longest(self, change: _Point) -> float:
        """Return how far a step may go before a variable or a multiplier is 0, at most 1."""
        longest = 1.0
        for now, step in zip(self[:4], change[:4], strict=True):
            falling = step < 0.0
            if falling.any():
                longest = min(longest, float(np.min(-now[falling] / step[falling])))
        return longest


def solve_box(K: Floats, problem: BinaryProblem, target_gap: float = 0.0) -> Solution:
    """Solve the small problem from the Gram matrix of its features."""
    y, s, loss, free = problem.labels, problem.weights, problem.loss, problem.free
    n, penalty = len(y), problem.penalty
    base, parts = loss.box
    factors = np.concatenate([y * s * direction for direction, _ in parts])
    costs = np.concatenate([s * slope for _, slope in parts])
    row = np.tile(np.arange(n), len(parts))
    fixed = y * s * base

    def representer(x: Floats) -> Floats:
        return np.asarray(fixed + np.bincount(row, factors * x, minlength=n))

    def judged(x: Floats, effects: Floats) -> Solution:
        a = problem.feasible(y * representer(x) / s)
        values = K @ (y * s * a) / penalty + problem.offset
        gap = float(s @ loss.residual(y * (values + free @ effects), a))
        return Solution(s * a, values, None, gap, step, effects)

    def solution(point: _Point) -> Solution:
        """Return a feasible point nearby; variables that are nearly at a bound are put there, the others solved for."""
        x = np.where(point.x < _AT_THE_BOUND * point.low, 0.0, point.x)
        x = np.where(point.rest < _AT_THE_BOUND * point.high, 1.0, x)
        found = judged(x, point.effects)
        best = found
        if target_gap > 0.0 or point.complementarity > _SETTLED * float(size.max()):
            return found
        for _ in range(_MOST_EXCHANGES):
            inside = np.flatnonzero((x > 0.0) & (x < 1.0))
            if best.gap <= target_gap or not len(inside) or len(np.unique(row[inside])) < len(inside):
                break
            settled = _at_the_corners(K, problem, x, inside, row, factors, costs, representer)
            if settled is None:
                break
            x, effects = settled
            found = judged(np.clip(x, 0.0, 1.0), effects)
            best = found if found.gap < best.gap else best
            slopes = factors * (found.values + free @ effects)[row] + costs
            # What left its box goes to its end, and what is better inside goes there.
            wrong = ((x == 0.0) & (slopes < 0.0)) | ((x == 1.0) & (slopes > 0.0))
            if not wrong.any() and x.min() >= 0.0 and x.max() <= 1.0:
                break
            x = np.where(wrong, 0.5, np.clip(x, 0.0, 1.0))
        return best

    size = np.maximum(1.0, np.abs(costs) + np.abs(factors * problem.offset[row]))
    half = np.full(len(factors), 0.5)
    point = _Point(half, half.copy(), size, size.copy(), np.zeros(free.shape[1]))
    best: Solution | None = None
    idle = step = 0
    for step in range(1, _MOST_STEPS + 1):  # noqa: B007 - told to the caller
        beta = representer(point.x)
        scores = K @ beta / penalty + problem.offset + free @ point.effects
        centrality = point.complementarity
        if centrality < _NEAR * float(size.max()):
            found = solution(point)
            idle = idle + 1 if best is not None and found.gap >= best.gap else 0
            if best is None or found.gap < best.gap:
                best = found
            if best.gap <= target_gap or idle > _MOST_IDLE or centrality < _ROUNDING:
                break
        barrier = point.low / point.x + point.high / point.rest
        spread = np.bincount(row, factors**2 / barrier, minlength=n)
        root = np.sqrt(spread)
        inner = K * root[:, None]
        inner *= root[None, :]
        missing = -(factors * scores[row] + costs - point.low + point.high)
        system = _System(K, shifted_solver(inner, np.full(n, penalty)), root, free, penalty, factors, row, barrier)
        sums = free.T @ beta
        aim = system.direction(point, missing, sums, 0.0, 0.0)
        length = point.longest(aim)
        centred = (max(point.moved(aim, length).complementarity, 0.0) / centrality) ** 3 * centrality
        change = system.direction(point, missing, sums, centred - aim.x * aim.low, centred + aim.x * aim.high)
        point = point.moved(change, _SHARE * point.longest(change))
    return best if best is not None else solution(point)


def _at_the_corners(
    K: Floats,
    problem: BinaryProblem,
    x: Floats,
    inside: NDArray[np.intp],
    row: NDArray[np.intp],
    factors: Floats,
    costs: Floats,
    representer: Callable[[Floats], Floats],
) -> tuple[Floats, Floats] | None:
    """Return x and effects with scores at a corner of the loss wherever x is inside: a system with those of U."""
    free, penalty, rows = problem.free, problem.penalty, row[inside]
    x = x.copy()
    x[inside] = 0.0
    known, m = representer(x), len(rows)
    system = np.zeros((m + free.shape[1], m + free.shape[1]))
    system[:m, :m] = K[np.ix_(rows, rows)] / penalty
    system[:m, m:] = free[rows]
    system[m:, :m] = free[rows].T
    scores = -costs[inside] / factors[inside] - problem.offset[rows] - K[rows] @ known / penalty
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
            solved = scipy.linalg.solve(system, np.append(scores, -(free.T @ known)), assume_a="sym")
    except (np.linalg.LinAlgError, ValueError, scipy.linalg.LinAlgWarning):
        return None
    x[inside] = solved[:m] / factors[inside]
    return x, solved[m:]


@dataclass
class _System:
    """The linear system of a step; its factorisation serves the predictor and the corrector."""

    K: Floats
    solve: Callable[[Floats], Floats]
    root: Floats
    free: Floats
    penalty: float
    factors: Floats
    row: NDArray[np.intp]
    barrier: Floats

    def __post_init__(self) -> None:
        root, free = self.root[:, None], self.free
        self._levels = root * self.solve(self.penalty * root * free) if free.shape[1] else free
        square = free.T @ self._levels
        self._square = square + 1e-14 * float(np.trace(square)) * np.eye(len(square))

    def direction(
        self, point: _Point, missing: Floats, sums: Floats, low: Floats | float, high: Floats | float
    ) -> _Point:
        """Return the change that makes the products with the multipliers `low` and `high`."""
        right = missing + low / point.x - high / point.rest - point.low + point.high
        g = np.bincount(self.row, self.factors * right / self.barrier, minlength=len(self.root))
        change = g - self.root * self.solve(self.root * (self.K @ g))
        effects = sums
        if len(sums):
            effects = np.asarray(np.linalg.solve(self._square, self.free.T @ change + sums))
            change = change - self._levels @ effects
        moved = self.K @ change / self.penalty + self.free @ effects
        x = (right - self.factors * moved[self.row]) / self.barrier
        return _Point(
            x,
            -x,
            low / point.x - point.low - point.low / point.x * x,
            high / point.rest - point.high + point.high / point.rest * x,
            effects,
        )
