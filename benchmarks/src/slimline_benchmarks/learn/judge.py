"""The judge: how far a contender's weights are proved to be from the optimum, outside the clock and in float64.

Everyone is judged by the same duality gap of the full problem. Its dual point is the better of two: that of the
contender's own answer, and one that was found beforehand, to a certified error of 1e-3, by the certified recovery. The
second matters for the hinge, where weights alone do not tell their dual variables; it can only help a peer. A free
intercept of a regression is refitted to the weights: only these are judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from slimline.estimators._fitting import Solver
from slimline.learning import Rows, SolverState, TrainingData, solve_rows
from slimline.learning.certificate import gap_parts, relative
from slimline.learning.problem import DualPoint, Point
from slimline.planning import choose_route
from slimline_benchmarks.learn.problem import Fit, Floats, Problem

#: Certified error of the dual point that is found beforehand, and the passes that it may take.
_REFERENCE_ERROR, _REFERENCE_PASSES = 1e-3, 60
#: Where there are fewer features than samples: its relative gap, and how often the solver is asked again.
_REFERENCE_GAP, _REFERENCE_ROUNDS = 1e-6, 3


@dataclass(frozen=True)
class Judgement:
    """Certified statements about weights.

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
        self._problem = problem
        self._task = problem.task(loss)
        self._data = TrainingData(problem.trained_on)

    @cached_property
    def reference(self) -> DualPoint:
        """Return the dual point that was found beforehand."""
        return self._known[1]

    @cached_property
    def objective(self) -> float:
        """Return the objective at the best weights that were found beforehand."""
        return self._task.objective(self._known[0])

    @cached_property
    def _known(self) -> tuple[Point, DualPoint]:
        n, d = self._data.shape
        if d < n and not self._problem.is_sparse and not self._problem.standardise:
            return self._solved()
        route = choose_route(self._problem.trained_on, float(n), 1)
        state = SolverState.zero(self._task, self._data.shape)
        for _ in Solver(self._data, route, _REFERENCE_ERROR, _REFERENCE_PASSES).steps([state]):
            pass
        return state.best, state.dual

    def _solved(self) -> tuple[Point, DualPoint]:
        """Return what the solver of small problems finds; the exact route would go on until rounding stops it."""
        task, features = self._task, Rows(self._problem.X, 0.0)
        small = task.small(np.zeros(self._data.shape[0]))
        objective = small.loss_of(small.offset)
        solution = solve_rows(features, small, None, _REFERENCE_GAP * objective)
        for _ in range(_REFERENCE_ROUNDS):  # the target is known as soon as the objective is
            assert solution.weights is not None
            objective = small.primal(solution.weights, solution.values)
            if solution.gap <= _REFERENCE_GAP * objective:
                break
            solution = solve_rows(features, small, solution.dual, _REFERENCE_GAP * objective)
        assert solution.weights is not None
        point = self._point(Fit(solution.weights[: self._data.shape[1]]))
        return point, self._dual_point(task.loss.project(solution.dual))

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
        reference = self.reference  # first: its passes tell the norms of the rows
        if not np.isfinite(fit.weights).all():
            return Judgement(float("inf"), float("inf"))
        point = self._point(fit)
        # With an intercept that is not penalised the reference answers another problem.
        duals = [self._own_dual(fit, point)] if fit.intercept != 0.0 else [self._own_dual(fit, point), reference]
        found = [self._bounds(point, dual) for dual in duals]
        return Judgement(min(fit.certified, *(f.error for f in found)), min(f.gap for f in found))

    def _point(self, fit: Fit) -> Point:
        weights = np.append(np.asarray(fit.weights, dtype=np.float64), 0.0)
        values, terms = self._data.values(weights[:, None])
        error = self._data.values_error(float(np.linalg.norm(weights)), terms)
        effects = self._task.refitted_near(values[:, 0], np.zeros(self._task.free.shape[1]))
        return Point(weights, values[:, 0] + fit.intercept, error, effects)

    def _own_dual(self, fit: Fit, point: Point) -> DualPoint:
        """Return the dual point of the answer: its own variables, or those that are optimal for its margins."""
        loss, labels = self._task.loss, self._task.labels
        scores = self._task.scores_of(point)
        a = loss.dual(labels * scores) if fit.dual is None else labels * fit.dual * self._task.penalty
        return self._dual_point(self._task.feasible(a))

    def _dual_point(self, a: Floats) -> DualPoint:
        """Return w_α and its values, in one pass."""
        penalty = self._task.penalty
        beta = self._task.representer(a)
        W, F, terms = self._data.normal(beta[:, None], self._task.covariates)
        weights = W[0] / penalty
        values_error = self._data.values_error(float(np.linalg.norm(weights)), terms)
        error = self._data.weights_error(beta) / penalty
        dual = DualPoint(weights, F[:, 0] / penalty, values_error, a=a, weights_error=error)
        dual.settle(self._task, self._data.row_bounds)
        return dual

    def _bounds(self, point: Point, dual: DualPoint) -> Judgement:
        parts = gap_parts(self._task, point, dual, self._data.row_bounds)
        # w* is within η of the midpoint of w and w_α, so w is within half their distance more of it.
        radius = 0.5 * parts.distance + float(np.sqrt(parts.residuals / self._task.penalty + 0.25 * parts.distance**2))
        return Judgement(relative(radius, point.norm), parts.gap / self.objective)
