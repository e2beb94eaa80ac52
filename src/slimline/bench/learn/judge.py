"""The judge: how far a contender's weights are proved to be from the optimum, outside the clock and in float64.

Everyone is judged by the same duality gap of the full problem. Its dual point is the better of two: that of the
contender's own answer, and one that was found beforehand, to a certified error of 1e-3, by the certified recovery. The
second matters for the hinge, where weights alone do not tell their dual variables; it can only help a peer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from slimline.bench.learn.problem import Fit, Floats, Problem
from slimline.estimators.certified_fit import Fitting
from slimline.planning import choose_route
from slimline.recovery import Outcome, Task, TrainingData
from slimline.recovery.certificate import gap_parts, relative
from slimline.recovery.task import DualPoint, Point
from slimline.solvers import loss_named

#: Certified error of the dual point that is found beforehand, and the passes that it may take.
_REFERENCE_ERROR, _REFERENCE_PASSES = 1e-3, 60


@dataclass(frozen=True)
class Judgement:
    """What is proved about weights.

    Parameters
    ----------
    error : float
        An upper bound of ‖w - w*‖/‖w*‖.
    gap : float
        P(w) - D(α), an upper bound of P(w) - P*, beside the objective at the best weights that are known.
    """

    error: float
    gap: float


class Judge:
    """Judges answers to one problem.

    Parameters
    ----------
    problem : Problem
        Data, labels and C.
    loss : str
        Which loss.
    """

    def __init__(self, problem: Problem, loss: str) -> None:
        n = problem.shape[0]
        self._problem = problem
        self._task = Task(loss_named(loss), problem.labels, np.ones(n), 1.0 / problem.C)
        self._data = TrainingData(problem.trained_on)

    @cached_property
    def reference(self) -> DualPoint:
        """Return the dual point that was found beforehand."""
        return self._outcome.progress[0].dual

    @cached_property
    def objective(self) -> float:
        """Return the objective at the best weights that were found beforehand."""
        best = self._outcome.progress[0].best
        return self._task.primal(best.weights, best.values)

    @cached_property
    def _outcome(self) -> Outcome:
        route = choose_route(self._problem.trained_on, float(self._data.shape[0]), 1)
        fitting = Fitting(route, "certified", "auto", 0, _REFERENCE_ERROR, _REFERENCE_PASSES)
        return fitting.outcome(self._data, [self._task], lambda step: None)

    def judge(self, fit: Fit) -> Judgement:
        """Return what is proved about an answer.

        Parameters
        ----------
        fit : Fit
            Weights, and dual variables where there are any.

        Returns
        -------
        judgement : Judgement
            Infinite where the answer is not finite.
        """
        weights = np.append(np.asarray(fit.weights, dtype=np.float64), 0.0)
        reference = self.reference  # first: its passes tell the norms of the rows
        if not np.isfinite(weights).all():
            return Judgement(float("inf"), float("inf"))
        values = self._data.values(weights[:, None])[:, 0] + fit.intercept
        point = Point(weights, values, self._data.values_error(float(np.linalg.norm(weights))))
        # With an intercept that is not penalised the reference answers another problem.
        duals = [self._own_dual(fit, point)] if fit.intercept != 0.0 else [self._own_dual(fit, point), reference]
        found = [self._bounds(point, dual) for dual in duals]
        return Judgement(min(f.error for f in found), min(f.gap for f in found))

    def _own_dual(self, fit: Fit, point: Point) -> DualPoint:
        """Return the dual point of the answer: its own variables, or those that are optimal for its margins."""
        task = self._task
        a = task.loss.dual(task.labels * point.values) if fit.dual is None else self._unsigned(fit.dual)
        beta = task.representer(task.loss.project(a))
        W, F = self._data.normal(beta[:, None])
        weights = W[:, 0] / task.penalty
        error = self._data.weights_error(beta) / task.penalty
        values_error = self._data.values_error(float(np.linalg.norm(weights)))
        return DualPoint(weights, F[:, 0] / task.penalty, values_error, a=task.loss.project(a), weights_error=error)

    def _unsigned(self, dual: Floats) -> Floats:
        return np.asarray(self._task.labels * dual * self._task.penalty)

    def _bounds(self, point: Point, dual: DualPoint) -> Judgement:
        parts = gap_parts(self._task, point, dual, self._data.row_bounds)
        # w* is within η of the midpoint of w and w_α, so w is within half their distance more of it.
        radius = 0.5 * parts.distance + float(np.sqrt(parts.residuals / self._task.penalty + 0.25 * parts.distance**2))
        return Judgement(relative(radius, point.norm), parts.gap / self.objective)
