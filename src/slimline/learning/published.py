"""Recovery as published: naive, dual (Zhang et al. 2013) and iterative (vaswani2013 §2.5), each with a certificate.

They are here for comparison. Naive weights predict well and are far from the optimum's (vaswani2013, theorem 1); dual
ones are within ε/(1 - ε); the iteration contracts by that factor, and diverges where it is above 1.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import bound, overflow_allowed
from slimline.learning.algorithm import Step, recover, solve, step_of
from slimline.learning.certificate import bound_gap, relative
from slimline.learning.problem import DualPoint, Point, SolverState
from slimline.learning.surrogate import Surrogate
from slimline.learning.training_data import TrainingData
from slimline.projections import Projection

Floats = NDArray[np.float64]
#: Weights of this norm have diverged.
_DIVERGED = 1e60


def recover_iterative(
    data: TrainingData, states: Sequence[SolverState], surrogate: Surrogate, *, tol: float, max_passes: int
) -> Iterator[Step]:
    """Iterate as published: linearise at the last weights, solve on the sketch, take its dual variables as they are."""
    begin = time.perf_counter()
    while True:
        new = dual_points(data, states, surrogate)
        for state, point in zip(states, new, strict=True):
            point.settle(state.problem, data.row_bounds)
            state.best = state.dual = point
            state.bound = bound_gap(state.problem, point, point, data.row_bounds)
        yield step_of(data, states, surrogate, begin)
        # Where it diverges it does so by a factor a step: an end, well before squares overflow.
        diverged = not all(point.norm < _DIVERGED for point in new)
        is_certified = max(state.error for state in states) <= tol
        if is_certified or diverged or max_passes - data.passes < data.passes_of_a_step:
            return


def recover_dual(data: TrainingData, states: Sequence[SolverState], surrogate: Surrogate) -> Iterator[Step]:
    """Solve on the sketch, and multiply the data with its dual variables: the first step of the iteration."""
    return recover_iterative(data, states, surrogate, tol=np.inf, max_passes=0)


def recover_naive(
    data: TrainingData,
    states: Sequence[SolverState],
    surrogate: Surrogate,
    Z: NDArray[Any],
    projection: Projection,
) -> Iterator[Step]:
    """Lift the weights of the sketch, w = R z."""
    begin = time.perf_counter()
    with overflow_allowed():
        duals = dual_points(data, states, surrogate)
        W = np.zeros((data.shape[1] + 1, len(states)))
        for j, (state, dual) in enumerate(zip(states, duals, strict=True)):
            beta = state.problem.representer(dual.a) / state.problem.penalty
            z = np.asarray(beta @ Z, dtype=np.float64)
            W[:-1, j] = projection.lift(z[None, :])[0]
            W[-1, j] = data.constant * beta.sum()
        F, terms = data.values(W)
        for j, (state, dual) in enumerate(zip(states, duals, strict=True)):
            weights = np.ascontiguousarray(W[:, j])
            dual.settle(state.problem, data.row_bounds)
            state.dual = dual
            error = data.values_error(float(np.linalg.norm(weights)), terms)
            effects = state.problem.refitted_near(F[:, j], dual.effects)
            state.best = Point(weights, F[:, j], error, effects)
            bound_around(state, data.row_bounds)
    yield step_of(data, states, surrogate, begin)


def bound_around(state: SolverState, row_bounds: Floats) -> None:
    """Bound how far the best weights themselves are from the optimum, and not the midpoint."""
    weights = state.best.weights
    middle = bound_gap(state.problem, state.best, state.dual, row_bounds)
    radius = bound((middle.radius + float(np.linalg.norm(weights - middle.weights))) * (1.0 + 1e-9))
    error = relative(radius, state.best.norm)
    state.bound = replace(middle, weights=weights, radius=radius, relative_error=error)


def dual_points(data: TrainingData, states: Sequence[SolverState], surrogate: Surrogate) -> list[DualPoint]:
    """Return the dual points of the small problems, solved to the end, without what earlier steps have learned."""
    return recover(data, states, solve(states, surrogate, [0.0] * len(states), corrected=False))
