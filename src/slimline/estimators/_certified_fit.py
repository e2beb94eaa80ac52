"""What fitting the certified classifier and regressor has in common: problems, steps, results, warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from slimline.data import Matrix
from slimline.data._arrays import supports_row_access
from slimline.data._covariates import GivenCovariates
from slimline.data._standardised import Standardised
from slimline.errors import InvalidParameterError
from slimline.estimators._certified_model import CertifiedModel
from slimline.estimators._covariates import FreeEffects, prepare_covariates
from slimline.estimators._fitting import CallbackSupport, Solver, StepCallbacks, effective_samples, require_weights
from slimline.estimators._penalty_factors import PenaltyFactors
from slimline.learning import BinaryProblem, SolverState, Step, TrainingData, certificate_of
from slimline.learning.covariates import Covariates
from slimline.learning.losses import Loss
from slimline.learning.score_bounds import bound_scores
from slimline.planning import choose_route

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """One vector of weights that is fitted: a class against the rest, or a target."""

    loss: Loss
    #: ±1, or all 1 for a regression; of shape (n_samples,).
    labels: Floats
    #: Minus the target of a regression; None: a class.
    offset: Floats | None = None
    #: What C is multiplied by for this task.
    factor: float = 1.0
    #: What the values of C that are tried go with: the size of the target, if the loss is linear in it.
    unit: float = 1.0


@dataclass
class FitJob:
    """What all fits to the same samples share."""

    solver: Solver
    #: Weights of the samples, those of the classes included; of shape (n_samples,).
    weights: Floats
    tasks: list[Task]
    given: GivenCovariates
    #: Whether an intercept is among the columns without a penalty.
    intercept: bool
    #: Penalty factors of the features; None: all are 1.
    factors: PenaltyFactors | None
    _covariates: dict[bytes, Covariates] = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        """Return whether there are columns without a penalty."""
        return self.intercept or self.given.n_columns > 0

    def problems(self, penalty: float, weights: Floats | None = None) -> list[BinaryProblem]:
        """Return the problems of all tasks; with other weights of the samples, those of a fold for one."""
        weights = self.weights if weights is None else weights
        covariates = self.covariates(weights) if self.is_free else None
        return [
            BinaryProblem(
                task.loss,
                task.labels,
                weights,
                penalty / task.factor,
                task.offset,  # type: ignore[arg-type]
                covariates,
            )
            for task in self.tasks
        ]

    def covariates(self, weights: Floats) -> Covariates:
        """Return the columns without a penalty, prepared once for each set of weights."""
        key = weights.tobytes()
        if key not in self._covariates:
            self._covariates[key] = prepare_covariates(self.given, weights, intercept=self.intercept)
        return self._covariates[key]

    def effects(self, states: Sequence[SolverState], *, with_pass: bool) -> FreeEffects | None:
        """Return intercept and effects of fits to all samples, with their bounds; None if there are none."""
        if not self.is_free:
            return None
        bounds = bound_scores(self.solver.data, list(states), with_pass=with_pass)
        kept = self.covariates(self.weights).kept
        given = self.given
        return FreeEffects(given.n_covariates, given.names, self.intercept, kept, tuple(bounds), given.features)


class CertifiedFit(CallbackSupport, CertifiedModel):
    """Base of the certified classifier and regressor; not for direct use."""

    def _job(
        self,
        matrix: Matrix,
        weight: Floats,
        s: Floats,
        tasks: list[Task],
        given: GivenCovariates,
        n_fits: int = 1,
        n_searched: int = 0,
    ) -> FitJob:
        """Return what the fits share: the solver with its data and route, weights s and tasks."""
        require_weights(s)
        factors = self._penalty_factors(matrix)
        seen = self._as_trained(matrix, weight, factors)
        free = bool(self.fit_intercept) and self.intercept == "free"
        if given.n_columns and self.fit_intercept and not free:
            raise InvalidParameterError(
                'must be "free" beside covariates and features of penalty factor 0.', "intercept", self.intercept
            )
        data = TrainingData(seen, self.intercept_scaling if self.fit_intercept and not free else 0.0, s)
        method = self.method if self.recovery == "certified" else "sketch"  # the published ways have no other
        if method == "direct" and not supports_row_access(seen):
            raise InvalidParameterError(
                f'cannot be "direct" for {matrix.name}: it needs rows that are not standardised: sparse ones, or rows '
                "that lie in memory one after the other as float32 or float64 and have no penalty factors. "
                '"auto" chooses another.',
                "method",
                method,
            )
        samples, count = effective_samples(weight), len(tasks)
        n_free = int(free) + given.n_covariates
        self.route_ = choose_route(
            seen, samples, n_fits * count, method, self.n_components, self.loss, n_searched * count, n_free
        )
        solver = Solver(
            data,
            self.route_,
            float(self.tol),
            int(self.max_passes),
            self.recovery,
            self.projection,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            may_switch=method == "auto",
        )
        return FitJob(solver, s, tasks, given, free, factors)

    def _solve(
        self, solver: Solver, problems: Sequence[BinaryProblem], callbacks: StepCallbacks
    ) -> tuple[list[SolverState], list[Step]]:
        """Return where the steps ended and what each reached, after telling of each as it is taken."""
        states = [SolverState.zero(problem, solver.data.shape) for problem in problems]
        history = []
        for step in solver.steps(states):
            history.append(step)
            callbacks.step()
            if (on_step := self.__dict__.get("_on_step")) is not None:
                on_step(step)
            if self.verbose:
                worst = max(step.relative_error)
                print(f"pass {step.passes}: certified relative error {worst:.2g}, {step.seconds:.2f} s", flush=True)
        return states, history

    def _as_trained(self, matrix: Matrix, weight: Floats, factors: PenaltyFactors | None) -> Matrix:
        """Return the view that is trained on: standardised and scaled by penalty factors, if these are asked for."""
        scale = None if factors is None else factors.scale
        if not self.standardize:
            return matrix if scale is None else Standardised(matrix, None, None, None, factor=scale)
        if isinstance(matrix, Standardised):
            raise InvalidParameterError(f"must be False: {matrix.name} is standardised already.", "standardize", True)
        return Standardised(matrix, "mean", "std", "mean", _unless_uniform(weight), scale)

    def _penalty_factors(self, matrix: Matrix) -> PenaltyFactors | None:
        """Return the factors of the penalties of the features; None: all are 1."""
        factors = PenaltyFactors.of(self.penalty_factor, matrix.shape[1], self._feature_names)
        if factors is not None and isinstance(matrix, Standardised):
            raise InvalidParameterError(
                f"must be None: {matrix.name} is standardised already. Give the plain matrix, and standardize=True.",
                "penalty_factor",
            )
        return factors

    def _beside(self, matrix: Matrix, weight: Floats, given: GivenCovariates) -> GivenCovariates:
        """Return the covariates, and beside them the features that have no penalty."""
        factors, fill = self._penalty_factors(matrix), bool(self.standardize)
        if factors is None:
            return given
        return factors.beside(given, matrix, self._feature_names, _unless_uniform(weight) if fill else None, fill=fill)

    def _keep(self, job: FitJob, states: Sequence[SolverState], history: list[Step]) -> None:
        solver = job.solver
        data, surrogate = solver.data, solver.surrogate
        centre = factor = fill = None
        if self.standardize or job.factors is not None:
            assert isinstance(data.matrix, Standardised)
            centre, factor, fill = data.matrix.transform.parts
        if job.given.fill is not None and fill is not None:
            fill = fill.copy()
            fill[job.given.features] = job.given.fill  # to the last bit what training has seen
        self._centre, self._factor, self._fill, self._factors = centre, factor, fill, job.factors
        self._free = job.effects(states, with_pass=bool(self.score_bounds))
        self.certificate_ = certificate_of(data, states, factor)
        if self._free is not None:
            self.certificate_ = self._free.certificate(self.certificate_)
        self._tell_weights(data.constant)
        assert surrogate is not None
        if self.route_.method == "sketch" and (surrogate.exact or surrogate.is_full_problem):
            taken = "gram" if surrogate.exact else "direct"
            self.route_ = replace(self.route_, method=taken, reason="steps with the sketch gained too little")
        self.history_ = history
        self.n_iter_ = len(history)
        self.n_passes_ = data.passes + job.given.passes
        self.projections_ = [projection.to_json() for projection in solver.drawn]

    def watch(self, on_step: Callable[[Step], None] | None) -> Self:
        """Call a function after every step of the next fits; None ends that.

        Parameters
        ----------
        on_step : callable
            Called with a `Step`.

        Returns
        -------
        self : object
            The estimator. Copies, in this process or another, are not watched.
        """
        self._on_step = on_step
        return self

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_on_step", None)  # a screen, perhaps: it stays here
        return state

    def _warn_if_open(self, depth: int = 0) -> None:
        task = int(self.certificate_.relative_error.argmax())
        worst = float(self.certificate_.relative_error[task])
        if worst <= self.tol:
            return
        reached = f"{worst:.2g}" if np.isfinite(worst) else "not bounded"
        with np.errstate(over="ignore"):
            largest = float(np.linalg.norm(self.certificate_.weights[task])) + float(self.certificate_.radius[task])
        if not np.isfinite(worst) and np.isfinite(largest):
            reached += f" (the exact weights may be 0, and their norm is at most {largest:.2g})"
        remedies = ["standardised features or rows of norm 1", "a smaller C"]
        if self.route_.method != "gram":
            remedies.append(f"more than {self.max_passes} passes")
            remedies.append('the method "gram", which is exact to rounding and takes n² numbers')
        if self.route_.method == "sketch":
            remedies.append("more components")
        warnings.warn(
            f"the certified relative error after {self.history_[-1].passes} passes is {reached}, above the tol of "
            f"{self.tol:g}. The weights may be more accurate: the bound is loose if C is large relative to the scale "
            f"of the data. What may help: {', '.join(remedies)}.",
            ConvergenceWarning,
            stacklevel=6 + depth,  # the line that called `fit`
        )

    def _warn_if_worthless(self) -> None:
        """Warn of weights of a published recovery that are not proved to be nearer to the exact ones than zeros are."""
        worst = int(self.certificate_.relative_error.argmax())
        error, radius = self.certificate_.relative_error[worst], self.certificate_.radius[worst]
        if error <= 1.0:
            return
        proved = f"the certified relative error is {error:.2g}" if np.isfinite(error) else "no error could be proved"
        grew = ""
        if radius > 1.1 * (first := self.history_[0].radius[worst]):  # by less: both are printed alike
            grew = (
                " The iterations did not converge: the certified distance to the exact weights grew from "
                f"{first:.2g} to {radius:.2g}."
            )
        warnings.warn(
            f'recovery="{self.recovery}": {proved}, so these weights may be further from the exact ones than weights '
            f"of 0, whose relative error is 1.{grew} What may help: rows of norm 1, more components, a smaller C, "
            'or recovery="certified", which never diverges.',
            ConvergenceWarning,
            stacklevel=6,  # the line that called `fit`
        )


def _unless_uniform(weight: Floats) -> Floats | None:
    """Return the weights of the samples, or None where they are the same."""
    return None if bool((weight == weight[0]).all()) else weight
