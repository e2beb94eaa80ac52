"""The pilot run, and the spectrum that made-up data share with the real ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix, open_matrix
from slimline.learning import (
    BinaryProblem,
    SolverState,
    Surrogate,
    TrainingData,
    direct_surrogate,
    growing,
    loss_named,
    recover_certified,
    sketch_surrogate,
)
from slimline.learning.surrogate import EXACT, GramSurrogate, gram_of
from slimline.planning._problem import Problem
from slimline.projections import Gaussian

Floats = NDArray[np.float64]
Improve = Callable[[Surrogate, float], Surrogate | None]
#: Steps of a pilot run: a plan is not worth more.
_MOST_STEPS = 30
#: Seconds of a pilot run: no step is begun after these.
_MOST_SECONDS = 4.0
#: A sketch may have so many components for each sample: more would not make the steps fewer.
_MOST_COMPONENTS = 32
#: Seconds that the small problem of a step takes however small it is.
SMALLEST_STEP = 2e-3
#: A pilot run that is over before is made twice.
_SHORT_SECONDS = 0.2
#: To say how many steps are left: an error without a bound counts as this, and a step without a gain as this gain.
_LARGEST_ERROR, _SMALLEST_GAIN = 1e3, 1.1
#: Stands for the smoothness of the hinge, which has none.
_HINGE = 4.0


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of XXᵀ for a sample of the rows, for half of it and for a quarter."""

    #: Those of the sample, the half and the quarter; not negative.
    eigenvalues: tuple[Floats, Floats, Floats]
    #: Number of rows in all.
    n_samples: float

    def of_sample(self, penalty: float) -> float:
        """Return d_λ = tr K(K + λI)⁻¹ of the rows that were looked at."""
        return _effective(self.eigenvalues[0], penalty)

    def of_all(self, penalty: float) -> float:
        """Return d_λ of all rows.

        With each doubling of the rows it grows by a factor between 1, where nothing new is seen, and 2, where rows have
        nothing in common. That factor goes on falling as it fell from the quarter to the half to the sample.
        """
        here, half, quarter = (_effective(eigenvalues, penalty) for eigenvalues in self.eigenvalues)
        size = len(self.eigenvalues[0])
        doublings = float(np.log2(max(self.n_samples / size, 1.0)))
        if size < 4 or quarter <= 0.0:
            return float(here * 2.0**doublings)
        excess = float(np.clip(here / half - 1.0, 0.0, 1.0))
        before = float(np.clip(half / quarter - 1.0, 1e-9, 1.0))
        fall = min(excess / before, 1.0)
        while doublings > 0.0:
            excess *= fall
            here *= (1.0 + excess) ** min(doublings, 1.0)
            doublings -= 1.0
        return float(min(here, self.n_samples))


def spectrum_of(K: Floats, n_samples: float) -> Spectrum:
    """Return the spectrum of the sample's XXᵀ, whose rows must be in random order."""
    half, quarter = (len(K) + 1) // 2, (len(K) + 3) // 4
    parts = (_eigenvalues(K), _eigenvalues(K[:half, :half]), _eigenvalues(K[:quarter, :quarter]))
    return Spectrum(parts, float(n_samples))


def _eigenvalues(K: Floats) -> Floats:
    return np.asarray(np.maximum(np.linalg.eigvalsh(K), 0.0))


def _effective(eigenvalues: Floats, penalty: float) -> float:
    return float(np.sum(eigenvalues / (eigenvalues + penalty)))


@dataclass(frozen=True)
class PilotRun:
    """Errors and times of the steps of a pilot run."""

    #: Certified relative error after each step.
    errors: tuple[float, ...]
    #: Components that the sample was sketched to.
    n_components: int
    #: By what factor the sketch was made larger on the way.
    growth: float
    #: Seconds a step took on the sample.
    step_seconds: float
    #: y α of the best dual point of each task: with these factors the rows add up to λ times its weights; of
    #: shape (n_tasks, n_sample).
    dual: Floats

    @property
    def support(self) -> float:
        """Return the share of the rows that a solution stands on: the others need not be factorised."""
        return float(np.mean(self.dual != 0.0, axis=1).max())

    @property
    def growing_seconds(self) -> float:
        """Return what the steps took beyond what any step takes; never 0."""
        return len(self.errors) * max(self.step_seconds - SMALLEST_STEP, 0.1 * self.step_seconds)

    def steps_to(self, tol: float) -> int:
        """Return how many steps it takes to a certified error."""
        for k, error in enumerate(self.errors):
            if error <= tol:
                return k + 1
        last = min(self.errors[-1], _LARGEST_ERROR)
        before = min(self.errors[max(-4, -len(self.errors))], _LARGEST_ERROR)
        gain = max((before / last) ** (1.0 / min(3, max(len(self.errors) - 1, 1))), _SMALLEST_GAIN)
        return len(self.errors) + int(np.ceil(np.log(last / tol) / np.log(gain)))

    def error_after(self, steps: int) -> float:
        """Return the certified error after some steps."""
        return self.errors[min(steps, len(self.errors)) - 1]


def smoothness(loss: str) -> float:
    """Return L of a loss: the steps feel the effective dimension d_{λ/L}."""
    return loss_named(loss).smoothness or _HINGE


def run_pilot(rows: Floats, signs: list[Floats], spectrum: Spectrum, problem: Problem, n_components: int) -> PilotRun:
    """Take the steps on a sample."""
    penalty = 1.0 / problem.C
    felt = penalty / smoothness(problem.loss)
    fewer = spectrum.of_sample(felt) / max(spectrum.of_all(felt), 1e-300)
    most = _MOST_COMPONENTS * len(rows)
    r = min(max(round(n_components * fewer), 8), most)
    data = TrainingData(open_matrix(rows), problem.constant)
    width = rows.shape[1]

    def draw(number: int, components: int) -> Gaussian:
        return Gaussian(width, components, seed=problem.seed + 1 + number)

    return _timed(
        data,
        signs,
        problem,
        lambda: (sketch_surrogate(data, draw(0, r), penalty=penalty), growing(data, draw, most, penalty)),
    )


def run_exact_pilot(rows: Floats, signs: list[Floats], problem: Problem) -> PilotRun:
    """Solve the sample exactly, through its Gram matrix."""
    data = TrainingData(open_matrix(rows), problem.constant)
    K = gram_of(rows, data.constant)
    problem = replace(problem, tol=min(problem.tol, EXACT))
    return _timed(data, signs, problem, lambda: (GramSurrogate(K, rows.shape[1], exact=True), None))


def run_direct_pilot(matrix: Matrix, signs: list[Floats], problem: Problem) -> PilotRun:
    """Solve the sample by going through its rows again and again."""
    data = TrainingData(matrix, problem.constant)
    return _timed(data, signs, problem, lambda: (direct_surrogate(data), None))


def _timed(
    data: TrainingData, signs: list[Floats], problem: Problem, make: Callable[[], tuple[Surrogate, Improve | None]]
) -> PilotRun:
    """Return the steps; short ones are taken again, since the first time is often not the best."""
    first = _taken(data, signs, problem, *make())
    if first.step_seconds * len(first.errors) > _SHORT_SECONDS:
        return first
    again = _taken(data, signs, problem, *make())
    return replace(first, step_seconds=min(first.step_seconds, again.step_seconds))


def _taken(
    data: TrainingData,
    signs: list[Floats],
    problem: Problem,
    surrogate: Surrogate,
    improve: Improve | None,
) -> PilotRun:
    improving = 0.0

    def better(surrogate: Surrogate, steps_left: float) -> Surrogate | None:
        nonlocal improving
        assert improve is not None
        begin = time.perf_counter()
        made = improve(surrogate, steps_left)
        improving += time.perf_counter() - begin
        return made

    begin = time.perf_counter()
    loss, components = loss_named(problem.loss), surrogate.n_components
    problems = [BinaryProblem(loss, y, np.ones(len(y)), 1.0 / problem.C) for y in signs]
    states = [SolverState.zero(one, data.shape) for one in problems]
    steps = list(
        recover_certified(
            data,
            states,
            surrogate,
            tol=problem.tol,
            max_passes=data.passes + _MOST_STEPS * data.passes_of_a_step,
            max_seconds=_MOST_SECONDS,
            improve=better if improve is not None else None,
        )
    )
    seconds = (time.perf_counter() - begin - improving) / len(steps)
    dual = np.array([state.problem.representer(state.dual.a) for state in states])
    errors = tuple(max(step.relative_error) for step in steps)
    return PilotRun(errors, components, steps[-1].n_components / components, seconds, dual)
