"""A free intercept by coordinate descent, which knows penalised columns only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from slimline.learning.problem import BinaryProblem, Solution

Floats = NDArray[np.float64]
#: The constant column of a round is this many times the root mean square norm of the rows; and rounds, at most.
INTERCEPT_SCALE, _ROUNDS = 3.0, 8
#: The first round, which only leads to the intercept, and the others are solved to these parts of the gap asked for.
_FIRST_GOAL, _GOAL = 3.0, 0.3


def descend_beside_intercept(
    problem: BinaryProblem,
    start: Floats | None,
    target_gap: float,
    constant: float,
    descend: Callable[[BinaryProblem, Floats, float], Solution],
    recover: Callable[[Floats], tuple[Floats, Floats | None]],
) -> Solution:
    """Solve a problem with a free intercept: what an intercept lacks is penalised, and added to it.

    This is the proximal point method (Rockafellar, 1976): each round has a constant column beside the features, whose
    weight moves the intercept, until it moves no more. `descend` solves the problem of a round, with that column, from
    dual variables to a gap; `recover` returns the values of a vector α, and its weights where they are known.
    """
    y, s, level = problem.labels, problem.weights, float(problem.free[0, 0])
    dual = np.zeros(len(y)) if start is None else problem.projected(start)
    effects, best, epochs = np.zeros(1), None, 0
    for count in range(_ROUNDS):
        inner = replace(problem, offset=problem.offset + level * effects[0], free=np.zeros((len(y), 0)))
        found = descend(inner, dual, (_GOAL if count else _FIRST_GOAL) * target_gap)
        dual, epochs = found.dual, epochs + found.iterations
        effects = effects + constant**2 * float(y @ dual) / problem.penalty / level
        a = problem.feasible(dual / s)
        values, weights = recover(s * a)
        own = problem.refitted_near(values - problem.offset, effects)
        gap = float(s @ problem.loss.residual(y * (values + problem.free @ own), a))
        if best is None or gap < best.gap:
            best = Solution(s * a, values, weights, gap, epochs, own)
        if gap <= target_gap:
            break
    assert best is not None
    return best
