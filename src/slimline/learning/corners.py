"""Losses with corners near the optimum: dual variables at the ends of their boxes, the other scores at a corner.

Which is which is guessed from a solution that is nearly optimal. What is left is a linear system, with one equation for
each variable inside its box and one for each covariate; variables then move between ends and inside until all fit.
"""

from __future__ import annotations

import warnings
from typing import Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from slimline.learning.problem import BinaryProblem, Solution

Floats = NDArray[np.float64]
#: Variables move between the ends and the inside of their boxes so many times.
_MOST_EXCHANGES = 12
#: Variables nearer to an end are taken to be there.
_AT_THE_END = 1e-9
#: No more variables than this are solved for; and by least squares, where the system is singular.
MOST_INSIDE, _MOST_TIES = 4000, 300


class Kernel(Protocol):
    """K = XXᵀ of the rows of a problem."""

    @property
    def most_inside(self) -> int:
        """Return how many scores at corners are solved for, at most: hardly more than the rank of K are."""

    def product(self, beta: Floats) -> Floats:
        """Return Kβ."""

    def part(self, rows: NDArray[np.intp]) -> Floats:
        """Return the Gram matrix of some rows."""


class Box:
    """The dual variables of a loss with corners, as a = base + Σ direction·x with 0 ≤ x ≤ 1."""

    def __init__(self, problem: BinaryProblem) -> None:
        y, s = problem.labels, problem.weights
        self.base, self.parts = problem.loss.box
        #: The rows of the variables.
        self.row = np.tile(np.arange(len(y)), len(self.parts))
        #: β = fixed + Σ factor·x, and the conjugate rises by cost·x.
        self.factors = np.concatenate([y * s * direction for direction, _ in self.parts])
        self.costs = np.concatenate([s * slope for _, slope in self.parts])
        self.fixed = y * s * self.base

    def representer(self, x: Floats) -> Floats:
        """Return β."""
        return np.asarray(self.fixed + np.bincount(self.row, self.factors * x, minlength=len(self.fixed)))

    def variables(self, a: Floats) -> Floats:
        """Return x of dual variables; what is an end to rounding is one."""
        x = np.concatenate([np.clip(direction * (a - self.base), 0.0, 1.0) for direction, _ in self.parts])
        x[x < _AT_THE_END] = 0.0
        x[x > 1.0 - _AT_THE_END] = 1.0
        return x


def feasible_solution(K: Kernel, problem: BinaryProblem, a: Floats, effects: Floats, steps: int) -> Solution:
    """Return the solution of the feasible point next to dual variables, judged with some effects."""
    y, s = problem.labels, problem.weights
    a = problem.feasible(a)
    values = K.product(y * s * a) / problem.penalty + problem.offset
    gap = float(s @ problem.loss.residual(y * (values + problem.free @ effects), a))
    return Solution(s * a, values, None, gap, steps, effects)


def settle_at_corners(
    K: Kernel, problem: BinaryProblem, box: Box, x: Floats, effects: Floats, target_gap: float, steps: int
) -> Solution:
    """Return the best solution that is found from variables x, some of which are at the ends of their boxes."""
    y, s, free, row = problem.labels, problem.weights, problem.free, box.row

    def judged(x: Floats, effects: Floats) -> Solution:
        return feasible_solution(K, problem, y * box.representer(x) / s, effects, steps)

    best = judged(x, effects)
    for _ in range(_MOST_EXCHANGES):
        inside = np.flatnonzero((x > 0.0) & (x < 1.0))
        if best.gap <= target_gap or not 0 < len(inside) <= K.most_inside or len(np.unique(row[inside])) < len(inside):
            break
        settled = _with_scores_at_corners(K, problem, box, x, inside)
        if settled is None:
            break
        x, effects = settled
        found = judged(np.clip(x, 0.0, 1.0), effects)
        best = found if found.gap < best.gap else best
        slopes = box.factors * (found.values + free @ effects)[row] + box.costs
        # What left its box goes to its end, and what is better inside goes there.
        wrong = ((x == 0.0) & (slopes < 0.0)) | ((x == 1.0) & (slopes > 0.0))
        if not wrong.any() and x.min() >= 0.0 and x.max() <= 1.0:
            break
        x = np.where(wrong, 0.5, np.clip(x, 0.0, 1.0))
    return best


def _with_scores_at_corners(
    K: Kernel, problem: BinaryProblem, box: Box, x: Floats, inside: NDArray[np.intp]
) -> tuple[Floats, Floats] | None:
    """Return x, and effects, with scores at a corner of the loss wherever x is inside: a system with those of U."""
    free, penalty, rows = problem.free, problem.penalty, box.row[inside]
    x = x.copy()
    x[inside] = 0.0
    known, m = box.representer(x), len(rows)
    system = np.zeros((m + free.shape[1], m + free.shape[1]))
    system[:m, :m] = K.part(rows) / penalty
    system[:m, m:] = free[rows]
    system[m:, :m] = free[rows].T
    scores = -box.costs[inside] / box.factors[inside] - problem.offset[rows] - K.product(known)[rows] / penalty
    right = np.append(scores, -(free.T @ known))
    if not (np.isfinite(system).all() and np.isfinite(right).all()):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
            solved = scipy.linalg.solve(system, right, assume_a="sym")
    except (np.linalg.LinAlgError, ValueError, scipy.linalg.LinAlgWarning):
        if len(system) > _MOST_TIES:
            return None
        # more scores at corners than can be chosen: ties, which a solution of least squares often meets
        unit = 1.0 / np.sqrt(np.maximum(np.linalg.norm(system, axis=1), np.finfo(float).tiny))
        solved = unit * np.linalg.lstsq(system * unit[:, None] * unit, unit * right, rcond=1e-12)[0]
    x[inside] = solved[:m] / box.factors[inside]
    return x, solved[m:]
