"""Columns without a penalty by coordinate descent, which knows penalised columns only: the proximal point method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from slimline.learning.problem import BinaryProblem, Solution

Floats = NDArray[np.float64]
#: The columns of a round are so many times as long as the features, root mean square rows of both being compared.
FREE_SCALE = 3.0
#: Rounds, at most.
_ROUNDS = 8
#: The first round, which only leads to the effects, and the others are solved to these parts of the gap asked for.
_FIRST_GOAL, _GOAL = 3.0, 0.3


def descend_beside(
    problem: BinaryProblem,
    start: Floats | None,
    target_gap: float,
    factor: float,
    descend: Callable[[BinaryProblem, Floats, float], Solution],
    recover: Callable[[Floats], tuple[Floats, Floats | None]],
) -> Solution:
    """Solve a problem with columns U that are not penalised: what their effects lack is penalised, and added to them.

    This is the proximal point method (Rockafellar, 1976): each round has the columns √factor U beside the features,
    whose weights move the effects, until they move no more. `descend` solves the problem of a round, with these
    columns, from dual variables to a gap; `recover` returns the values of a vector α, and its weights where they are
    known.
    """
    y, s, free = problem.labels, problem.weights, problem.free
    dual = np.zeros(len(y)) if start is None else problem.projected(start)
    effects, best, epochs = np.zeros(free.shape[1]), None, 0
    for count in range(_ROUNDS):
        inner = replace(problem, offset=problem.offset + free @ effects, free=np.zeros((len(y), 0)))
        found = descend(inner, dual, (_GOAL if count else _FIRST_GOAL) * target_gap)
        dual, epochs = found.dual, epochs + found.iterations
        effects = effects + factor * (free.T @ (y * dual)) / problem.penalty
        a = problem.feasible(dual / s)
        values, weights = recover(s * a)
        own = problem.refitted_near(values - problem.offset, effects)
        gap = float(s @ problem.loss.residual(y * (values + free @ own), a))
        if best is None or gap < best.gap:
            best = Solution(s * a, values, weights, gap, epochs, own)
        if gap <= target_gap:
            break
    assert best is not None
    return best
