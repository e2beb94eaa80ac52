"""The search over C of the certified estimators: all folds and penalties share the passes, or the sketch alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from slimline.errors import SearchWarning
from slimline.estimators._certified_fit import CertifiedFit, FitJob
from slimline.estimators._fitting import StepCallbacks
from slimline.estimators._penalty_search import (
    PenaltySearch,
    TryPenalties,
    most_tasks_at_once,
    penalties,
    scores_on_sketch,
    search_penalties,
)
from slimline.learning import BinaryProblem, SolverState, Step, Surrogate, certificate_of

Floats = NDArray[np.float64]
#: Samples to train on, and samples to score.
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
#: Returns score and mean loss of scores of all samples, on the samples of some rows.
Judge = Callable[[Floats, NDArray[np.intp]], tuple[float, float]]


def folds_of(splitter: Any, y: NDArray[Any], kept: NDArray[np.intp], groups: Any) -> list[Fold]:
    """Return the folds that a splitter of scikit-learn makes of all samples, numbered among those that are kept."""
    place = np.full(len(y), -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    parts = splitter.split(np.zeros((len(y), 1)), y, groups)
    both = [[place[np.asarray(rows)] for rows in pair] for pair in parts]
    return [(train[train >= 0], test[test >= 0]) for train, test in both]


class CertifiedSearch(CertifiedFit):
    """Base of the certified estimators that choose C by cross-validation; not for direct use."""

    Cs: Any
    search: str

    def _fit_counts(self, folds: list[Fold]) -> tuple[int, int]:
        """Return how many fits are certified, and how many only search."""
        tried = len(penalties(self.Cs))
        return (1, tried * len(folds)) if self.search == "sketch" else (tried * (len(folds) + 1), 0)

    def _search(
        self,
        job: FitJob,
        folds: list[Fold],
        judge: Judge,
        zero_loss: float,
        callbacks: StepCallbacks,
        unit: float = 1.0,
    ) -> PenaltySearch:
        """Try the values of C on folds and choose one; `unit` divides those of an automatic grid."""
        self._begin(job)
        self._members = Members(job, partial(self._solve, job.solver, callbacks=callbacks), folds, judge)
        attempt = self._members.on_sketch if self.search == "sketch" else self._members.certified
        return self._choose(job, attempt, zero_loss, unit)

    def _begin(self, job: FitJob) -> Surrogate:
        """Return the surrogate that all fits of the search share."""
        for name in ("coefs_path_", "certificates_path_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        return job.solver.start(0.0 if isinstance(self.Cs, Integral) else 1.0 / float(penalties(self.Cs).max()))

    def _choose(self, job: FitJob, attempt: TryPenalties, zero_loss: float, unit: float = 1.0) -> PenaltySearch:
        """Try the values of C and choose one."""
        found = search_penalties(self.Cs, unit * (job.solver.data.mean_square or 1.0), zero_loss, attempt)
        self.Cs_, self.scores_, self.losses_ = found.Cs, found.scores, found.losses
        self.C_ = float(found.Cs[found.best])
        return found

    def _finish(self, job: FitJob, callbacks: StepCallbacks) -> None:
        """Keep the fit to all samples with the chosen C; take it, if the search did not."""
        members, solver = self.__dict__.pop("_members", None), job.solver
        if self.search == "sketch":
            self._keep(job, *self._solve(solver, job.problems(1.0 / self.C_), callbacks))
            self._warn_if_open(1)
            return
        self._keep(job, *members.whole[self.C_])
        path = [members.whole[C][0] for C in self.Cs_.tolist()]
        self.certificates_path_ = [certificate_of(solver.data, states, self._factor) for states in path]
        factor = 1.0 if self._factor is None else self._factor
        self.coefs_path_ = np.array([claim.weights[:, :-1] * factor for claim in self.certificates_path_])
        if len(job.given.features):
            self._add_free_features(job, path)
        self._warn_of_members(members.errors)

    def _add_free_features(self, job: FitJob, path: list[list[SolverState]]) -> None:
        """Give the models of the path the effects of the features that have no penalty."""
        for number, states in enumerate(path):
            effects = job.effects(states, with_pass=False)
            assert effects is not None
            effects.add_to(self.coefs_path_[number])
            self.certificates_path_[number] = effects.certificate(self.certificates_path_[number])

    def _warn_of_edge(self, found: PenaltySearch, target: str) -> None:
        if found.edge and isinstance(self.Cs, Integral):
            warnings.warn(
                f"the best C, {self.C_:.3g}, is the {found.edge} that was tried: the score may be better still beyond "
                "it. Try values that go further"
                + (
                    f", or use other features: these may say nothing about the {target}."
                    if found.edge == "smallest"
                    else "."
                ),
                SearchWarning,
                stacklevel=7,
            )

    def _warn_of_members(self, errors: list[float]) -> None:
        above = sum(error > self.tol for error in errors)
        if above:
            warnings.warn(
                f"{above} of {len(errors)} fits (penalties, folds and classes) did not reach a certified relative "
                f"error of {self.tol:g} within {self.max_passes} passes; the worst has {max(errors):.2g}. What may "
                "help: standardised features or rows of norm 1, smaller values of C, more passes.",
                ConvergenceWarning,
                stacklevel=7,  # the line that called `fit`
            )


class Members:
    """The fits of a search: every set of samples (all of them, and those of each fold) with every C and class."""

    def __init__(
        self,
        job: FitJob,
        solve: Callable[[list[BinaryProblem]], tuple[list[SolverState], list[Step]]],
        folds: list[Fold],
        scores: Judge,
    ) -> None:
        self._job, self._solve, self._folds, self._scores = job, solve, folds, scores
        #: States and steps of the fits to all samples, by their C, and the certified relative error of every fit.
        self.whole: dict[float, tuple[list[SolverState], list[Step]]] = {}
        self.errors: list[float] = []

    def on_sketch(self, Cs: Floats) -> tuple[Floats, Floats]:
        """Return scores and losses of fits to the sketch."""
        surrogate = self._job.solver.surrogate
        assert surrogate is not None
        return scores_on_sketch(surrogate, self._job.problems, self._job.weights, Cs, self._folds, self._scores)

    def certified(self, Cs: Floats) -> tuple[Floats, Floats]:
        """Return scores and losses of certified fits, as many of them at once as memory allows."""
        problems, per_fit = self._problems(Cs), len(self._job.tasks)
        at_once = max(per_fit, most_tasks_at_once(self._job.solver.data.shape) // per_fit * per_fit)
        found = np.empty((2, len(self._folds), len(Cs)))
        for first in range(0, len(problems), at_once):
            states, history = self._solve(problems[first : first + at_once])
            self.errors += [state.error for state in states]
            for k in range(0, len(states), per_fit):
                own = slice(k, k + per_fit)
                fold, number = divmod((first + k) // per_fit, len(Cs))
                if fold == 0:
                    self.whole[float(Cs[number])] = states[own], [_part(step, own) for step in history]
                    continue
                values = np.column_stack([_scores_between(state) for state in states[own]])
                found[:, fold - 1, number] = self._scores(values, self._folds[fold - 1][1])
        return found[0], found[1]

    def _problems(self, Cs: Floats) -> list[BinaryProblem]:
        """Return a problem for every set of samples (all of them first), C and class."""
        problems, weights = [], self._job.weights
        for train in [np.arange(len(weights)), *(train for train, _ in self._folds)]:
            kept = np.zeros_like(weights)
            kept[train] = weights[train]
            for C in Cs:
                problems += self._job.problems(1.0 / float(C), kept)
        return problems


def _scores_between(state: SolverState) -> Floats:
    """Return the scores of the midpoint of w and w_α; those of a regression less the target."""
    values = 0.5 * (state.best.values + state.dual.values)
    return state.problem.scores(values, 0.5 * (state.best.effects + state.dual.effects))


def _part(step: Step, own: slice) -> Step:
    """Return what a step reached for some of its problems."""
    names = ("primal", "dual", "gap", "radius", "relative_error")
    return replace(step, **{name: getattr(step, name)[own] for name in names})
