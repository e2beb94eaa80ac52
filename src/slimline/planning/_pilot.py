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
    recover_certified,
    sketch_surrogate,
)
from slimline.learning.covariates import Covariates
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
#: Stands for the smoothness of a loss with a corner, which has none.
_CORNER = 4.0


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of XXᵀ for a sample of the rows, for half of it and for a quarter."""

    #: Those of the sample, the half and the quarter; not negative.
    eigenvalues: tuple[Floats, Floats, Floats]
    #: Number of rows in all.
    n_samples: float
    #: Those of the sample where dual variables are feasible beside columns U without a penalty, of QᵀXXᵀQ for a basis Q
    #: of the β with Uᵀβ = 0; None: no such columns.
    beside: Floats | None = None

    def of_sample(self, penalty: float) -> float:
        """Return d_λ = tr K(K + λI)⁻¹ of the rows that were looked at; beside U, that of QᵀKQ."""
        return _effective(self.eigenvalues[0] if self.beside is None else self.beside, penalty)

    def of_all(self, penalty: float) -> float:
        """Return d_λ of all rows.

        With each doubling of the rows it grows by a factor between 1, where nothing new is seen, and 2, where rows have
        nothing in common. That factor goes on falling as it fell from the quarter to the half to the sample. What U
        takes away is taken to be what it takes from the sample: with more rows it is hardly less, and at most the
        number of its columns, since eigenvalues interlace.
        """
        return self._of_every_direction(penalty) - _effective(self.eigenvalues[0], penalty) + self.of_sample(penalty)

    def _of_every_direction(self, penalty: float) -> float:
        """Return d_λ of all rows, U being left out."""
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


def spectrum_of(K: Floats, n_samples: float, covariates: Covariates | None = None) -> Spectrum:
    """Return the spectrum of the sample's XXᵀ, whose rows must be in random order."""
    half, quarter = (len(K) + 1) // 2, (len(K) + 3) // 4
    parts = (_eigenvalues(K), _eigenvalues(K[:half, :half]), _eigenvalues(K[:quarter, :quarter]))
    if covariates is None:
        return Spectrum(parts, float(n_samples))
    basis = covariates.basis
    rest = K - basis @ (basis.T @ K)
    return Spectrum(parts, float(n_samples), _eigenvalues(rest - (rest @ basis) @ basis.T))


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


def run_pilot(
    rows: Floats, problems: list[BinaryProblem], spectrum: Spectrum, problem: Problem, n_components: int
) -> PilotRun:
    """Take the steps on a sample."""
    penalty = min(one.penalty for one in problems)
    felt = penalty / (problems[0].loss.smoothness or _CORNER)  # the steps feel the effective dimension d_{λ/L}
    fewer = spectrum.of_sample(felt) / max(spectrum.of_all(felt), 1e-300)
    most = _MOST_COMPONENTS * len(rows)
    r = min(max(round(n_components * fewer), 8), most)
    data = TrainingData(open_matrix(rows), problem.constant)
    width = rows.shape[1]

    def draw(number: int, components: int) -> Gaussian:
        return Gaussian(width, components, seed=problem.seed + 1 + number)

    return _timed(
        data,
        problems,
        problem.tol,
        lambda: (sketch_surrogate(data, draw(0, r), penalty=penalty), growing(data, draw, most, penalty)),
    )


def run_exact_pilot(rows: Floats, problems: list[BinaryProblem], problem: Problem) -> PilotRun:
    """Solve the sample exactly, through its Gram matrix."""
    data = TrainingData(open_matrix(rows), problem.constant)
    K = gram_of(rows, data.constant)
    return _timed(data, problems, min(problem.tol, EXACT), lambda: (GramSurrogate(K, rows.shape[1], exact=True), None))


def run_direct_pilot(matrix: Matrix, problems: list[BinaryProblem], problem: Problem) -> PilotRun:
    """Solve the sample by going through its rows again and again."""
    data = TrainingData(matrix, problem.constant)
    return _timed(data, problems, problem.tol, lambda: (direct_surrogate(data), None))


def _timed(
    data: TrainingData,
    problems: list[BinaryProblem],
    tol: float,
    make: Callable[[], tuple[Surrogate, Improve | None]],
) -> PilotRun:
    """Return the steps; short ones are taken again, since the first time is often not the best."""
    first = _taken(data, problems, tol, *make())
    if first.step_seconds * len(first.errors) > _SHORT_SECONDS:
        return first
    again = _taken(data, problems, tol, *make())
    return replace(first, step_seconds=min(first.step_seconds, again.step_seconds))


def _taken(
    data: TrainingData,
    problems: list[BinaryProblem],
    tol: float,
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
    components = surrogate.n_components
    states = [SolverState.zero(one, data.shape) for one in problems]
    steps = list(
        recover_certified(
            data,
            states,
            surrogate,
            tol=tol,
            max_passes=data.passes + _MOST_STEPS * data.passes_of_a_step,
            max_seconds=_MOST_SECONDS,
            improve=better if improve is not None else None,
        )
    )
    seconds = (time.perf_counter() - begin - improving) / len(steps)
    dual = np.array([state.problem.representer(state.dual.a) for state in states])
    errors = tuple(max(step.relative_error) for step in steps)
    return PilotRun(errors, components, steps[-1].n_components / components, seconds, dual)
