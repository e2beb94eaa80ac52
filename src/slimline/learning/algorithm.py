"""What every step does: solve the small problem of each task, and multiply the data with all answers at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import overflow_allowed, sum_error
from slimline.learning.certificate import GapBound, bound_gap, gap_parts
from slimline.learning.improve import dual_line_search, lowest_in_span, resolve_hinge_corner
from slimline.learning.problem import BinaryProblem, DualPoint, ExactSubspace, Point, SolverState, start_of
from slimline.learning.surrogate import Surrogate, SurrogateSolution
from slimline.learning.training_data import TrainingData

Floats = NDArray[np.float64]


@overflow_allowed()
def next_points(
    data: TrainingData,
    states: Sequence[SolverState],
    model: Surrogate,
    targets: Sequence[float] | None = None,
    *,
    corrected: bool = True,
) -> list[tuple[DualPoint, Point | None]]:
    """Return the dual point that the small problem of each task leads to, and weights of its own where it has any."""
    answers: list[Floats] = []
    found: list[SurrogateSolution | None] = []
    for i, state in enumerate(states):
        target = 0.0 if targets is None or model.exact else targets[i]
        start = _warm_start(states, answers) if state.untouched else None
        directions = state.directions if corrected else ExactSubspace(data.shape[0])
        a, own = _answer(state, model, directions, state.dual.a if start is None else start, target)
        answers.append(a)
        found.append(own)
    B = np.column_stack([state.task.representer(a) for state, a in zip(states, answers, strict=True)])
    W, F, terms = data.normal(B)
    points: list[tuple[DualPoint, Point | None]] = []
    for j, (state, a) in enumerate(zip(states, answers, strict=True)):
        penalty = state.task.penalty
        weights = W[j]
        weights /= penalty
        error = data.values_error(float(np.linalg.norm(weights)), terms)
        lost = data.weights_error(B[:, j]) / penalty
        dual = DualPoint(weights, F[:, j] / penalty, error, a=a, weights_error=lost)
        points.append((dual, _own_point(data, found[j])))
        state.untouched = False
    return points


def _answer(
    state: SolverState, model: Surrogate, directions: ExactSubspace, start: Floats, target: float
) -> tuple[Floats, SurrogateSolution | None]:
    task, dual = state.task, state.dual
    rows = slice(None) if task.rows is None else task.rows
    offset = dual.values - model.times(task.representer(dual.a), directions) / task.penalty
    problem = task.small_problem(offset)
    solved, own = model.solve(problem, task.rows, directions, (task.weights * start)[rows], target)
    a = task.loss.project(np.zeros(len(start)))
    a[rows] = task.loss.project(solved / problem.weights)
    return a, own


def _own_point(data: TrainingData, found: SurrogateSolution | None) -> Point | None:
    """Return the weights that a lossless model found, which are better than those of its dual variables."""
    if found is None:
        return None
    # Whatever the order of its sums, a product of so many terms is wrong by no more.
    error = sum_error(data.shape[1] + 2) * float(np.linalg.norm(found.weights))
    return Point(found.weights, found.values, error)


def _warm_start(states: Sequence[SolverState], answers: list[Floats]) -> Floats | None:
    """Return the newest answer to a problem that differs from the next one in its penalty alone: a path."""
    task = states[len(answers)].task
    for other, a in zip(reversed(states[: len(answers)]), reversed(answers), strict=True):
        if other.untouched and other.task.labels is task.labels and other.task.weights is task.weights:
            return a
    return None


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
#: For the number of steps to come: an error without a bound counts as this, and a step without a gain as this gain.
_LARGEST_ERROR, _SMALLEST_GAIN = 1e3, 1.05
#: So many steps in a row without any gain are the end, where the sketch cannot be improved: with the hinge the proof
#: may stand still while the dual point still moves.
_MOST_IDLE = 3


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


@dataclass
class Outcome:
    """Where the steps ended."""

    #: The points of each task.
    progress: list[SolverState]
    #: What is proved about each.
    proofs: list[GapBound]
    #: One entry a step.
    history: list[Step]
    #: What the last step used.
    model: Surrogate

    def part(self, tasks: slice) -> Outcome:
        """Return the outcome of some of the tasks."""
        names = ("primal", "dual", "gap", "radius", "relative_error")
        history = [replace(step, **{name: getattr(step, name)[tasks] for name in names}) for step in self.history]
        return Outcome(self.progress[tasks], self.proofs[tasks], history, self.model)


def recover_certified(
    data: TrainingData,
    tasks: Sequence[BinaryProblem],
    model: Surrogate,
    *,
    tol: float,
    max_passes: int,
    max_seconds: float = float("inf"),
    improve: Callable[[Surrogate, float], Surrogate | None] | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Outcome:
    """Take steps until every task is certified to `tol`, or the passes are used up."""
    begin = time.perf_counter()
    progress = [start_of(task, *data.shape) for task in tasks]
    proofs: list[GapBound | None] = [None] * len(tasks)
    history: list[Step] = []
    open_tasks = list(range(len(tasks)))
    parts = [_PART_OF_THE_GAP] * len(tasks)
    idle = 0
    while open_tasks:
        targets = [_target(progress[i], proofs[i], parts[i], tol if model.is_full_problem else 0.0) for i in open_tasks]
        states = [progress[i] for i in open_tasks]
        for state, (new, own) in zip(states, next_points(data, states, model, targets), strict=True):
            _move(data, state, new, own)
        before = [proofs[i] for i in open_tasks]
        for i in open_tasks:
            state = progress[i]
            proofs[i] = bound_gap(state.task, state.best, state.dual, data.row_bounds)
        history.append(record(data, progress, proofs, model, begin))
        if on_step is not None:
            on_step(history[-1])
        gained = [_gain(old, proofs[i]) for old, i in zip(before, open_tasks, strict=True)]
        unfinished = []
        for i, gain in zip(open_tasks, gained, strict=True):
            parts[i] *= _PART_OF_THE_GAP if gain < _POOR_GAIN else 1.0
            if _error(proofs[i]) > tol and not (model.exact and gain < 1.5):
                unfinished.append((i, gain))
        open_tasks, gains = [i for i, _ in unfinished], [gain for _, gain in unfinished]
        left = max_passes - data.passes
        if not open_tasks or left < data.passes_of_a_step or time.perf_counter() - begin > max_seconds:
            break
        errors = [_error(proofs[i]) for i in open_tasks]
        better = None
        if improve is not None and _is_slow(gains, errors, tol) and left > data.passes_of_a_step:
            better = improve(model, _steps_left(gains, errors, tol))
            model = better or model
        idle = idle + 1 if better is None and max(gains) < 1.0001 else 0
        if idle == _MOST_IDLE:
            break
    for state in progress:
        state.recent = []  # no span is searched any more, and each point is as long as the data are wide
    return Outcome(progress, [proof for proof in proofs if proof is not None], history, model)


def _target(state: SolverState, proof: GapBound | None, part: float, tol: float) -> float:
    """Return the gap that the small problem is solved to: as far as certifies `tol`, where it is the full problem."""
    if proof is None:
        part = min(part, _FIRST * tol**2) if tol > 0.0 else part
        return part * state.task.primal(state.best.weights, state.best.values)
    enough = _ENOUGH * min(tol / proof.relative_error, 1.0) ** 2 if proof.relative_error > 0.0 else 0.0
    # Dual variables solved to that may still have weights that prove less: after a slow step, further in either case.
    return part * max(1.0, enough / _PART_OF_THE_GAP) * proof.gap


@overflow_allowed()
def _move(data: TrainingData, state: SolverState, new: DualPoint, own: Point | None) -> None:
    """Move the points of a task, given a new dual one and perhaps weights that are better than its own."""
    task = state.task
    change = task.representer(new.a) - task.representer(state.dual.a)
    state.directions.add(change, task.penalty * (new.values - state.dual.values))
    state.dual = dual_line_search(task, state.dual, new, data.row_bounds)
    candidates: list[Point] = [state.best, *state.recent, new]
    if state.dual is not new:
        candidates.append(state.dual)
    if own is not None:
        candidates.append(own)
    choices = [state.best, new, state.dual, lowest_in_span(task, candidates)]
    if task.loss.smoothness is None:
        choices.append(resolve_hinge_corner(task, choices[2:], state.dual, data.row_bounds))
    if own is not None:
        choices.append(own)
    # What counts is what can be proved: a combination may be lower and have lost more to rounding.
    state.best = min(choices, key=lambda point: gap_parts(task, point, state.dual, data.row_bounds).gap)
    state.recent = [*state.recent, new][-_RECENT:]


def _error(proof: GapBound | None) -> float:
    return float("inf") if proof is None else proof.relative_error


def _gain(old: GapBound | None, new: GapBound | None) -> float:
    """Return by what factor a step made the radius smaller."""
    if old is None or new is None:
        return float("inf")
    return old.radius / new.radius if new.radius > 0.0 else float("inf")


def _steps_left(gains: list[float], errors: list[float], tol: float) -> float:
    """Return how many steps more the slowest task takes at its present pace."""
    return max(
        float(np.log(min(error, _LARGEST_ERROR) / tol) / np.log(max(gain, _SMALLEST_GAIN)))
        for gain, error in zip(gains, errors, strict=True)
    )


def _is_slow(gains: list[float], errors: list[float], tol: float) -> bool:
    """Say whether the sketch is too small: a step should nearly halve the error, unless the end is near."""
    for gain, error in zip(gains, errors, strict=True):
        if gain < _POOR_GAIN and not error <= tol * max(gain, 1.0) ** _STEPS_TO_BEAR:
            return True
    return False


@overflow_allowed()
def record(
    data: TrainingData, progress: list[SolverState], proofs: list[GapBound | None], model: Surrogate, begin: float
) -> Step:
    """Return what has been reached."""
    done = [proof for proof in proofs if proof is not None]
    return Step(
        passes=data.passes,
        seconds=time.perf_counter() - begin,
        n_components=model.n_components,
        primal=tuple(state.task.primal(state.best.weights, state.best.values) for state in progress),
        dual=tuple(state.task.dual(state.dual.a, state.dual.weights) for state in progress),
        gap=tuple(proof.gap for proof in done),
        radius=tuple(proof.radius for proof in done),
        relative_error=tuple(proof.relative_error for proof in done),
    )
