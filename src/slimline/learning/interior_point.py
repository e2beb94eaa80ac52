"""Small problems with a loss that has corners, beside covariates or of a regression: a primal-dual interior point.

The dual variables lie in boxes, a = base + Σ direction·x with 0 ≤ x ≤ 1, and Uᵀβ = 0. Mehrotra's predictor and
corrector solve the same bordered system twice a step (solve_gram.py), the barrier's diagonal in place of the curvature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slimline.learning.corners import MOST_INSIDE, Box, feasible_solution, settle_at_corners
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


class _Gram:
    """A Gram matrix at hand."""

    most_inside = MOST_INSIDE

    def __init__(self, K: Floats) -> None:
        self._K = K

    def product(self, beta: Floats) -> Floats:
        return np.asarray(self._K @ beta)

    def part(self, rows: NDArray[np.intp]) -> Floats:
        return np.asarray(self._K[np.ix_(rows, rows)])


def solve_box(K: Floats, problem: BinaryProblem, target_gap: float = 0.0) -> Solution:
    """Solve the small problem from the Gram matrix of its features."""
    free, n, penalty, box = problem.free, len(problem.labels), problem.penalty, Box(problem)
    row, factors, costs, gram = box.row, box.factors, box.costs, _Gram(K)

    def solution(point: _Point) -> Solution:
        """Return a feasible point nearby; variables that are nearly at a bound are put there, the others solved for."""
        x = np.where(point.x < _AT_THE_BOUND * point.low, 0.0, point.x)
        x = np.where(point.rest < _AT_THE_BOUND * point.high, 1.0, x)
        if point.complementarity > _SETTLED * float(size.max()) or (target_gap > 0.0 and not idle):
            a = problem.labels * box.representer(x) / problem.weights
            return feasible_solution(gram, problem, a, point.effects, step)
        # where barrier steps gain no more: effects that are no more than nearly right decide the gap
        return settle_at_corners(gram, problem, box, x, point.effects, target_gap, step)

    size = np.maximum(1.0, np.abs(costs) + np.abs(factors * problem.offset[row]))
    half = np.full(len(factors), 0.5)
    point = _Point(half, half.copy(), size, size.copy(), np.zeros(free.shape[1]))
    best: Solution | None = None
    idle = step = 0
    for step in range(1, _MOST_STEPS + 1):  # noqa: B007 - told to the caller
        beta = box.representer(point.x)
        scores = K @ beta / penalty + problem.offset + free @ point.effects
        centrality = point.complementarity
        if centrality < _NEAR * float(size.max()):
            found = solution(point)
            # while it is not clear which variables are at a bound, feasible points nearby may all be poor
            stands = best is not None and found.gap >= best.gap and centrality < _SETTLED * float(size.max())
            idle = idle + 1 if stands else 0
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
        moved = point.moved(change, _SHARE * point.longest(change))
        if not all(np.isfinite(part).all() for part in moved):
            break  # numbers at the ends of their range
        point = moved
    return best if best is not None else solution(point)


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
        lift = max(1e-14 * float(np.trace(square)), 1e-300)  # where all of it has underflowed, effects stay
        self._square = square + lift * np.eye(len(square))

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
