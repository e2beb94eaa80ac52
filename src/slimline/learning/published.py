"""Recovery as published: naive, dual (Zhang et al. 2013) and iterative (vaswani2013 §2.5), each with a certificate.

They are here for comparison. Naive weights predict well and are far from the optimum's (vaswani2013, theorem 1); dual
ones are within ε/(1 - ε); the iteration contracts by that factor, and diverges where it is above 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import bound, overflow_allowed
from slimline.learning.algorithm import Outcome, Step, next_points, record
from slimline.learning.certificate import GapBound, bound_gap, relative
from slimline.learning.problem import BinaryProblem, Point, start_of
from slimline.learning.surrogate import Surrogate
from slimline.learning.training_data import TrainingData
from slimline.projections import Projection

Floats = NDArray[np.float64]
#: Weights of this norm have diverged.
_DIVERGED = 1e60


def recover_iterative(
    data: TrainingData,
    tasks: Sequence[BinaryProblem],
    model: Surrogate,
    *,
    tol: float,
    max_passes: int,
    on_step: Callable[[Step], None] | None = None,
) -> Outcome:
    """Iterate as published: linearise at the last weights, solve on the sketch, take its dual variables as they are."""
    begin = time.perf_counter()
    progress = [start_of(task, *data.shape) for task in tasks]
    proofs: list[GapBound | None] = [None] * len(tasks)
    history: list[Step] = []
    while True:
        new = [dual for dual, _ in next_points(data, progress, model, corrected=False)]
        for i, (state, point) in enumerate(zip(progress, new, strict=True)):
            state.best = state.dual = point
            proofs[i] = bound_gap(state.task, point, point, data.row_bounds)
        history.append(record(data, progress, proofs, model, begin))
        if on_step is not None:
            on_step(history[-1])
        worst = max(proof.relative_error for proof in proofs if proof is not None)
        # Where it diverges it does so by a factor a step: an end, well before squares overflow.
        diverged = not all(point.norm < _DIVERGED for point in new)
        if worst <= tol or diverged or max_passes - data.passes < data.passes_of_a_step:
            break
    return Outcome(progress, [proof for proof in proofs if proof is not None], history, model)


def recover_dual(
    data: TrainingData,
    tasks: Sequence[BinaryProblem],
    model: Surrogate,
    *,
    on_step: Callable[[Step], None] | None = None,
) -> Outcome:
    """Solve on the sketch, and multiply the data with its dual variables: the first step of the iteration."""
    return recover_iterative(data, tasks, model, tol=np.inf, max_passes=0, on_step=on_step)


@overflow_allowed()
def recover_naive(
    data: TrainingData,
    tasks: Sequence[BinaryProblem],
    model: Surrogate,
    Z: NDArray[Any],
    projection: Projection,
    *,
    on_step: Callable[[Step], None] | None = None,
) -> Outcome:
    """Lift the weights of the sketch, w = R z."""
    begin = time.perf_counter()
    progress = [start_of(task, *data.shape) for task in tasks]
    duals = [dual for dual, _ in next_points(data, progress, model, corrected=False)]
    W = np.zeros((data.shape[1] + 1, len(tasks)))
    for j, (state, dual) in enumerate(zip(progress, duals, strict=True)):
        beta = state.task.representer(dual.a) / state.task.penalty
        z = np.asarray(beta @ Z, dtype=np.float64)
        W[:-1, j] = projection.lift(z[None, :])[0]
        W[-1, j] = data.constant * beta.sum()
    F, terms = data.values(W)
    proofs: list[GapBound | None] = []
    for j, (state, dual) in enumerate(zip(progress, duals, strict=True)):
        weights = np.ascontiguousarray(W[:, j])
        state.dual = dual
        state.best = Point(weights, F[:, j], data.values_error(float(np.linalg.norm(weights)), terms))
        middle = bound_gap(state.task, state.best, dual, data.row_bounds)
        radius = bound((middle.radius + float(np.linalg.norm(weights - middle.weights))) * (1.0 + 1e-9))
        proofs.append(GapBound(weights, radius, middle.gap, relative(radius, state.best.norm)))
    history = [record(data, progress, proofs, model, begin)]
    if on_step is not None:
        on_step(history[-1])
    return Outcome(progress, [proof for proof in proofs if proof is not None], history, model)
