"""The algorithm: solve the small problem, recover weights in one pass, move both points, certify; and again.

The small problem has a surrogate in place of K = XXᵀ: a sketch, corrected in all directions that earlier passes have
seen, with an offset that makes it exact at the present dual point. Its dual variables give w_α = Xᵀβ/λ and the values
X w_α in one pass. Line search and a search of the span of recent points then need no pass, so that D never falls and P
never rises, however poor the sketch. The gap P - D bounds the distance from the optimum (docs/certificates.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import overflow_allowed, sum_error
from slimline.learning.certificate import GapBound, bound_gap, gap_parts
from slimline.learning.improve import dual_line_search, lowest_in_span, resolve_hinge_corner
from slimline.learning.problem import DualPoint, ExactSubspace, Point, SolverState
from slimline.learning.surrogate import Surrogate
from slimline.learning.training_data import TrainingData

Floats = NDArray[np.float64]
#: Points beside the best primal and the dual one whose span is searched for the lowest objective.
_RECENT = 4
#: The small problem is solved to this part of the gap of the full one, and to this part of it after a slow step: where
#: the gap is far above the optimum itself, a part of it may say nothing.
_PART_OF_THE_GAP = 3e-4
#: The error is as the root of the gap: this part of the gap that should certify `tol` leaves room for the rounding.
_ENOUGH = 0.3
#: Before anything is proved, the gap beside the objective of w = 0 that is likely to certify an error of 1.
_FIRST = 0.1
#: A step that makes the error smaller by less than this is poor: the sketch is improved,
_POOR_GAIN = 1.6
#: unless so many steps more would do.
_STEPS_TO_BEAR = 3
#: With an exact surrogate a step that gains less than this has reached the rounding.
_ROUNDING_GAIN = 1.5
#: For the number of steps to come: an error without a bound counts as this, and a step without a gain as this gain.
_LARGEST_ERROR, _SMALLEST_GAIN = 1e3, 1.05
#: So many steps in a row without any gain are the end, where the sketch cannot be improved: with the hinge the proof
#: may stand still while the dual point still moves.
_MOST_IDLE, _NO_GAIN = 3, 1.0001


@dataclass(frozen=True)
class Step:
    """The state of a fit after a step; one entry for each task.

    Parameters
    ----------
    passes : int
        Number of passes over the data so far.
    seconds : float
        Time so far.
    n_components : int
        Number of components of the sketch.
    primal, dual : tuple of float
        Objectives of the best points, P and D.
    gap : tuple of float
        Duality gap P - D, as a sum of terms that are never negative, with its rounding error added.
    radius : tuple of float
        Certified distance from the optimum.
    relative_error : tuple of float
        Certified relative error.
    """

    passes: int
    seconds: float
    n_components: int
    primal: tuple[float, ...]
    dual: tuple[float, ...]
    gap: tuple[float, ...]
    radius: tuple[float, ...]
    relative_error: tuple[float, ...]


@dataclass(frozen=True)
class Answer:
    """The answer of a small problem, over all rows."""

    #: Dual variables, feasible to rounding; of shape (n_samples,).
    a: Floats
    #: Effects of the basis of the covariates; of shape (n_covariates,).
    effects: Floats
    #: Weights of its own, where the small problem has any.
    own: Point | None


def recover_certified(
    data: TrainingData,
    states: Sequence[SolverState],
    surrogate: Surrogate,
    *,
    tol: float,
    max_passes: int,
    max_seconds: float = float("inf"),
    improve: Callable[[Surrogate, float], Surrogate | None] | None = None,
) -> Iterator[Step]:
    """Take steps until every problem is certified to `tol`, or passes or time are used up; yield what each reached.

    Points and what is proved of them are in `states`. `improve` may return a better surrogate if steps gain too little.
    """
    begin, idle, unfinished = time.perf_counter(), 0, list(states)
    while unfinished:
        targets = [_target_gap(state, tol if surrogate.is_full_problem else 0.0) for state in unfinished]
        answers = solve(unfinished, surrogate, targets)  # project: the surrogate is made of a sketch
        duals = recover(data, unfinished, answers)  # the pass over the data
        for state, dual, answer in zip(unfinished, duals, answers, strict=True):
            _move(data, state, dual, answer.own)
            _certify(data, state)
        del answers, duals  # as long as the data are wide, like those that the states keep
        yield step_of(data, states, surrogate, begin)

        unfinished = [s for s in unfinished if s.error > tol and not (surrogate.exact and s.gain < _ROUNDING_GAIN)]
        passes_left = max_passes - data.passes
        if not unfinished or passes_left < data.passes_of_a_step or time.perf_counter() - begin > max_seconds:
            break
        better = None
        if improve is not None and passes_left > data.passes_of_a_step and _is_slow(unfinished, tol):
            better = improve(surrogate, _steps_left(unfinished, tol))
            surrogate = better or surrogate
        idle = idle + 1 if better is None and max(state.gain for state in unfinished) < _NO_GAIN else 0
        if idle == _MOST_IDLE:
            break
    for state in states:
        state.recent = []  # no span is searched any more


def _target_gap(state: SolverState, tol: float) -> float:
    """Return the gap that the small problem is solved to: as far as certifies `tol`, where it is the full problem."""
    part, bound = _PART_OF_THE_GAP * state.share, state.bound
    if bound is None:
        part = min(part, _FIRST * tol**2) if tol > 0.0 else part
        return part * state.problem.objective(state.best)
    enough = _ENOUGH * min(tol / bound.relative_error, 1.0) ** 2 if bound.relative_error > 0.0 else 0.0
    # Dual variables solved to that may still have weights that prove less: after a slow step, further in either case.
    return part * max(1.0, enough / _PART_OF_THE_GAP) * bound.gap


@overflow_allowed()
def solve(
    states: Sequence[SolverState], surrogate: Surrogate, targets: Sequence[float], *, corrected: bool = True
) -> list[Answer]:
    """Solve the small problem of each state.

    The small problem has the surrogate in place of K, and an offset that makes it exact at the present dual point.
    """
    answers: list[Answer] = []
    for state, target in zip(states, targets, strict=True):
        problem, dual = state.problem, state.dual
        subspace = state.subspace if corrected else ExactSubspace(len(dual.a))
        start = _warm_start(states, answers)
        rows = slice(None) if problem.rows is None else problem.rows
        offset = dual.values - surrogate.times(problem.representer(dual.a), subspace) / problem.penalty
        small, alpha = problem.small(offset), (problem.weights * start)[rows]
        found = surrogate.solve(small, problem.rows, subspace, alpha, 0.0 if surrogate.exact else target)
        a = problem.loss.project(np.zeros(len(start)))
        a[rows] = problem.loss.project(found.dual / small.weights)
        own = None
        if found.weights is not None:
            # Whatever the order of its sums, a product of so many terms is wrong by no more.
            error = sum_error(len(found.weights) + 1) * float(np.linalg.norm(found.weights))
            own = Point(found.weights, found.values, error, found.effects)
        answers.append(Answer(a, found.effects, own))
    return answers


def _warm_start(states: Sequence[SolverState], answers: list[Answer]) -> Floats:
    """Return the present dual variables; at first, the newest answer to a problem with another penalty: a path."""
    state = states[len(answers)]
    if state.bound is None:
        for other, answer in zip(reversed(states[: len(answers)]), reversed(answers), strict=True):
            if other.problem.labels is state.problem.labels and other.problem.weights is state.problem.weights:
                return answer.a
    return state.dual.a


@overflow_allowed()
def recover(data: TrainingData, states: Sequence[SolverState], answers: Sequence[Answer]) -> list[DualPoint]:
    """Return w_α = Xᵀβ/λ of dual variables, and its values X w_α, all in one pass over whole columns."""
    B = np.column_stack([state.problem.representer(one.a) for state, one in zip(states, answers, strict=True)])
    covariates = {id(state.problem.covariates): state.problem.covariates for state in states}
    W, F, terms = data.normal(B, covariates.popitem()[1] if len(covariates) == 1 else None)
    points = []
    for j, (state, answer) in enumerate(zip(states, answers, strict=True)):
        penalty = state.problem.penalty
        weights = W[j]
        weights /= penalty
        error = data.values_error(float(np.linalg.norm(weights)), terms)
        lost = data.weights_error(B[:, j]) / penalty
        values = F[:, j] / penalty
        effects = state.problem.refitted(values, answer.effects) if state.problem.is_smooth else answer.effects
        points.append(DualPoint(weights, values, error, effects, a=answer.a, weights_error=lost))
    return points


@overflow_allowed()
def _move(data: TrainingData, state: SolverState, new: DualPoint, own: Point | None) -> None:
    """Move both points, given a new dual one and perhaps better weights: D never falls, and P never rises."""
    problem = state.problem
    change = problem.representer(new.a) - problem.representer(state.dual.a)
    state.subspace.add(change, problem.penalty * (new.values - state.dual.values))
    state.dual = dual_line_search(problem, state.dual, new, data.row_bounds)
    state.dual.settle(problem, data.row_bounds)
    candidates: list[Point] = [state.best, *state.recent, new]
    if state.dual is not new:
        candidates.append(state.dual)
    if own is not None:
        candidates.append(own)
    choices = [state.best, new, state.dual, lowest_in_span(problem, candidates)]
    if not problem.is_smooth and len(new.effects):
        effects = problem.refitted_near(new.values, new.effects)
        choices.append(Point(new.weights, new.values, new.values_error, effects))
    if problem.loss.name == "hinge":
        choices.append(resolve_hinge_corner(problem, choices[2:], state.dual, data.row_bounds))
    if own is not None:
        choices.append(own)
    # What counts is what can be proved: a combination may be lower and have lost more to rounding.
    state.best = min(choices, key=lambda point: gap_parts(problem, point, state.dual, data.row_bounds).gap)
    state.recent = [*state.recent, new][-_RECENT:]


def _certify(data: TrainingData, state: SolverState) -> None:
    """Bound the gap between both points, and note by what factor the step made the radius smaller."""
    before, state.bound = state.bound, bound_gap(state.problem, state.best, state.dual, data.row_bounds)
    state.gain = float("inf")
    if before is not None and state.bound.radius > 0.0:
        state.gain = before.radius / state.bound.radius
    state.share *= _PART_OF_THE_GAP if state.gain < _POOR_GAIN else 1.0


def _is_slow(states: Sequence[SolverState], tol: float) -> bool:
    """Return whether the sketch is too small: a step should nearly halve the error, unless the end is near."""
    return any(s.gain < _POOR_GAIN and not s.error <= tol * max(s.gain, 1.0) ** _STEPS_TO_BEAR for s in states)


def _steps_left(states: Sequence[SolverState], tol: float) -> float:
    """Return how many steps more the slowest problem takes at its present pace."""
    return max(
        float(np.log(min(state.error, _LARGEST_ERROR) / tol) / np.log(max(state.gain, _SMALLEST_GAIN)))
        for state in states
    )


@overflow_allowed()
def step_of(data: TrainingData, states: Sequence[SolverState], surrogate: Surrogate, begin: float) -> Step:
    """Return a record of the points and bounds of all problems."""
    bounds: list[GapBound] = [state.bound for state in states if state.bound is not None]
    return Step(
        passes=data.passes,
        seconds=time.perf_counter() - begin,
        n_components=surrogate.n_components,
        primal=tuple(state.problem.objective(state.best) for state in states),
        dual=tuple(state.problem.dual(state.dual.a, state.dual.weights) for state in states),
        gap=tuple(bound.gap for bound in bounds),
        radius=tuple(bound.radius for bound in bounds),
        relative_error=tuple(bound.relative_error for bound in bounds),
    )
