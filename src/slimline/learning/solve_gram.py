"""Small problems on a Gram matrix: one system, coordinate descent, and Newton steps on β.

Covariates stand beside it. With D = √(s h), h the curvature, and B = I + D K D/λ a Newton step is

    dβ = A₁ - A₂ dc,   A₁ = g - D B⁻¹ D K g/λ,   A₂ = D B⁻¹ D U,   (Uᵀ A₂) dc = Uᵀ(β + A₁),

g being y s a(f) - β: the system bordered by U, of one factorisation and a right-hand side for each covariate.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.learning.active_set import EPOCHS, Descent, DescentProblem, descend_gram
from slimline.learning.covariates import minimise_effects, newton_step
from slimline.learning.interior_point import solve_box
from slimline.learning.line_search import smallest_along, solve_shifted
from slimline.learning.problem import BinaryProblem, Solution
from slimline.learning.proximal import FREE_SCALE, descend_beside

Floats = NDArray[np.float64]
#: So many samples on the margin are solved for in no time.
_FEW = 300
#: Newton steps, at most.
_MOST_STEPS = 100
#: Epochs of coordinate descent that cost about as much as the Newton steps they may save.
_MOST_EPOCHS = 12
#: A gap that is rounding and nothing else, for samples of weight 1.
_ROUNDING_GAP = 1e-28
#: A step that promises to lower the objective by no more than this part of it.
_ROUNDING_FALL = 1e-14


def solve_gram(K: Any, problem: BinaryProblem, start: Floats | None = None, target_gap: float = 0.0) -> Solution:
    """Solve the small problem from the Gram matrix of its features."""
    K = np.asarray(K, dtype=np.float64)
    has_covariates = problem.free.shape[1] > 0
    if problem.loss.is_quadratic:
        return _quadratic(K, problem)
    by_descent = problem.loss.dual_curvature is not None and (problem.is_smooth or problem.has_only_an_intercept)
    if by_descent and has_covariates and target_gap > 0.0:
        found = _descend_beside(K, problem, start, target_gap)
        if found.gap <= target_gap:
            return found
        start = found.dual
    if problem.loss.smoothness is None:
        if has_covariates or problem.loss.dual_curvature is None:
            return solve_box(K, problem, target_gap)
        return _hinge(K, problem, start, target_gap)
    if problem.loss.dual_curvature is not None and target_gap > 0.0 and not has_covariates:
        return _descent(K, problem, start, target_gap)
    if has_covariates:
        return _bordered_newton(K, problem, start, target_gap)
    return _newton(K, problem, start, target_gap)


def _quadratic(K: Floats, problem: BinaryProblem) -> Solution:
    # β = s (y - f), or s (0 - f) of a regression, and f = Kβ/λ + U c + q
    right = problem.loss.vertex * problem.labels - problem.offset
    free = problem.free
    if not free.shape[1]:
        beta = problem.penalty * solve_shifted(K, problem.penalty / problem.weights, right)
        return _solution(K, problem, beta, 1)
    sides = np.column_stack([right, free])
    solved = problem.penalty * solve_shifted(K, problem.penalty / problem.weights, sides)
    effects = np.asarray(np.linalg.lstsq(free.T @ solved[:, 1:], free.T @ solved[:, 0], rcond=None)[0])
    return _feasible_solution(K, problem, solved[:, 0] - solved[:, 1:] @ effects, effects, 0.0, 1)


def _hinge(K: Floats, problem: BinaryProblem, start: Floats | None, target_gap: float) -> Solution:
    """Solve the small problem with the hinge from the Gram matrix of its features."""
    descent = _GramDescent(K, problem)
    dual, gap, epochs = descent.solve(start, target_gap)
    return Solution(dual, descent.values, None, gap, epochs)


def _descend_beside(K: Floats, problem: BinaryProblem, start: Floats | None, target_gap: float) -> Solution:
    """Solve a problem with free columns by coordinate descent on the Gram matrix of these and the features."""
    factor = FREE_SCALE**2 * float(np.trace(K)) / len(K) * float(problem.weights.sum()) or 1.0
    beside = K + factor * (problem.free @ problem.free.T)
    solver = _descent if problem.is_smooth else _hinge

    def recover(dual: Floats) -> tuple[Floats, None]:
        return K @ (problem.labels * dual) / problem.penalty + problem.offset, None

    return descend_beside(problem, start, target_gap, factor, partial(solver, beside), recover)


class _GramDescent(DescentProblem):
    def __init__(self, K: Floats, problem: BinaryProblem) -> None:
        super().__init__(problem)
        self._K = K

    def refresh(self, dual: Floats) -> None:
        problem = self.problem
        self.values = np.asarray(self._K @ (problem.labels * dual) / problem.penalty + problem.offset)

    def descend(self, dual: Floats, tolerance: float, seed: int) -> Descent:
        p = self.problem
        box = (self.curvature, self.upper, p.penalty)
        return descend_gram(
            self._K, p.labels, p.offset, *box, dual, self.values, max_epochs=EPOCHS, tolerance=tolerance, seed=seed
        )

    def gram(self, part: NDArray[np.intp]) -> Floats:
        return np.asarray(self._K[np.ix_(part, part)])

    def max_active_set(self, tolerance: float, target_gap: float) -> int:
        # Descent alone soon reaches the modest gap of a step; factorisations pay where rounding is the aim.
        if tolerance > 0.01:
            return 0
        return len(self.upper) if target_gap == 0.0 else _FEW


def _descent(K: Floats, problem: BinaryProblem, start: Floats | None, target_gap: float) -> Solution:
    """Descend first: a modest gap takes less than one Newton step, and else these have a good start."""
    y, s = problem.labels, problem.weights
    dual = np.zeros(len(y)) if start is None else np.ascontiguousarray(problem.projected(start))
    values = K @ (y * dual) / problem.penalty + problem.offset
    assert problem.loss.dual_curvature is not None
    curvature, upper = problem.loss.dual_curvature / s, problem.loss.upper * s
    epochs, tolerance = 0, 0.1
    while epochs < _MOST_EPOCHS:
        descent = descend_gram(
            K,
            y,
            problem.offset,
            curvature,
            upper,
            problem.penalty,
            dual,
            values,
            max_epochs=_MOST_EPOCHS - epochs,
            tolerance=tolerance,
            seed=epochs,
        )
        epochs += descent.epochs
        gap = problem.gap(values, dual)
        if gap <= target_gap:
            return Solution(dual, values, None, gap, epochs)
        tolerance *= 0.2
    return _newton(K, problem, dual, target_gap)


def _newton(K: Floats, problem: BinaryProblem, start: Floats | None, target_gap: float) -> Solution:
    """Newton steps on the primal objective, each with an exact line search."""
    y, loss = problem.labels, problem.loss
    beta = np.zeros(len(y)) if start is None else y * problem.projected(start)
    values = K @ beta / problem.penalty + problem.offset
    best: Solution | None = None
    idle = steps = 0
    single = target_gap > 0.0
    floor = max(target_gap, float(problem.weights.sum()) * _ROUNDING_GAP)
    while steps < _MOST_STEPS and idle < 2:
        steps += 1
        if loss.dual_curvature is not None:
            new, full = _piece_target(K, problem, values, loss.dual_curvature)
        else:
            new, full = _curved_target(K, problem, beta, values, single)
        change, change_of_values = new - beta, full - values
        slope = _slope(problem, beta, values, change, change_of_values)
        # The gap may grow on the way, the objective falls: it is the fall that says when rounding has taken over.
        objective = 0.5 * float(beta @ (values - problem.offset)) + problem.loss_of(values)
        settled = -slope(0.0) <= _ROUNDING_FALL * objective
        # Where the values cannot get better, a full step still puts right what β has in the null space of K.
        length = smallest_along(slope, 4.0) or 1.0
        beta = beta + length * change
        values = values + length * change_of_values
        found = _solution(K, problem, beta, steps)
        poor = best is not None and found.gap >= 0.5 * best.gap
        if poor and single:
            single = False  # directions of float32 no longer do
        else:
            idle = idle + 1 if settled and poor else 0
        if best is None or found.gap < best.gap:
            best = found
        if best.gap <= floor:
            break
    assert best is not None
    best.iterations = steps
    return best


def _piece_target(K: Floats, problem: BinaryProblem, values: Floats, curvature: float) -> tuple[Floats, Floats]:
    """Return the minimiser of the quadratic piece that the values lie on, and its values."""
    active = np.flatnonzero(problem.labels * values < 1.0)
    beta = np.zeros(len(values))
    if active.size == 0:
        return beta, problem.offset.copy()
    every = active.size == len(values)
    part = K if every else K[np.ix_(active, active)]
    right = (problem.labels - problem.offset)[active]
    beta[active] = problem.penalty * solve_shifted(part, curvature * problem.penalty / problem.weights[active], right)
    return beta, K @ beta / problem.penalty + problem.offset


def _curved_target(
    K: Floats, problem: BinaryProblem, beta: Floats, values: Floats, single: bool
) -> tuple[Floats, Floats]:
    """Return β after a full Newton step, and its values.

    With H the curvature, (I + H K/λ) dβ = g, g = s y a(f) - β; so dβ = g - √H (λI + √H K √H)⁻¹ √H K g.
    """
    margin = problem.labels * values
    g = problem.labels * problem.weights * problem.loss.dual(margin) - beta
    root = np.sqrt(problem.weights * problem.loss.curvature(margin))
    inner = K * root[:, None]
    inner *= root[None, :]
    correction = root * solve_shifted(inner, np.full(len(g), problem.penalty), root * (K @ g), single=single)
    change = g - correction
    return beta + change, values + K @ change / problem.penalty


def _slope(problem: BinaryProblem, beta: Floats, values: Floats, change: Floats, change_of_values: Floats) -> Any:
    """Return the derivative of the primal objective along a direction, as a function of the step."""
    norm_start, norm_rise = float(beta @ change_of_values), float(change @ change_of_values)
    direction = problem.weights * problem.labels * change_of_values

    def slope(step: float) -> float:
        a = problem.loss.dual(problem.labels * (values + step * change_of_values))
        return norm_start + step * norm_rise - float(direction @ a)

    return slope


def _solution(K: Floats, problem: BinaryProblem, beta: Floats, iterations: int) -> Solution:
    dual = problem.projected(problem.labels * beta)
    values = K @ (problem.labels * dual) / problem.penalty + problem.offset
    return Solution(dual, values, None, problem.gap(values, dual), iterations)


def _bordered_newton(K: Floats, problem: BinaryProblem, start: Floats | None, target_gap: float) -> Solution:
    """Newton steps beside covariates, for a smooth loss; effects are refitted before each, so that g is feasible."""
    y, s, loss, free, penalty = problem.labels, problem.weights, problem.loss, problem.free, problem.penalty
    assert loss.smoothness is not None
    beta = np.zeros(len(y)) if start is None else y * problem.projected(start)
    values = K @ beta / penalty + problem.offset
    effects = np.zeros(free.shape[1])
    best: Solution | None = None
    idle = steps = 0
    floor = max(target_gap, float(s.sum()) * _ROUNDING_GAP)
    while steps < _MOST_STEPS and idle < 2:
        steps += 1
        effects = minimise_effects(free, s, loss, y, values, effects)
        scores = values + free @ effects
        g = y * s * loss.dual(y * scores) - beta
        root = np.sqrt(s * loss.curvature(y * scores))
        inner = K * root[:, None]
        inner *= root[None, :]
        sides = np.column_stack([root * (K @ g), penalty * root[:, None] * free])
        solved = root[:, None] * solve_shifted(inner, np.full(len(g), penalty), sides)
        towards, levels = g - solved[:, 0], solved[:, 1:]
        change_of_effects = newton_step(free.T @ levels, -(free.T @ (beta + towards)), loss.smoothness)
        change = towards - levels @ change_of_effects
        change_of_values = K @ change / penalty
        change_of_scores = change_of_values + free @ change_of_effects
        norm_start, norm_rise = float(beta @ change_of_values), float(change @ change_of_values)
        slope = partial(_slope_of_scores, problem, scores, change_of_scores, norm_start, norm_rise)
        objective = 0.5 * float(beta @ (values - problem.offset)) + problem.loss_of(scores)
        settled = -slope(0.0) <= _ROUNDING_FALL * objective
        length = smallest_along(slope, 4.0) or 1.0
        beta = beta + length * change
        values = values + length * change_of_values
        effects = effects + length * change_of_effects
        found = _feasible_solution(K, problem, beta, effects, target_gap, steps)
        idle = idle + 1 if settled and best is not None and found.gap >= 0.5 * best.gap else 0
        if best is None or found.gap < best.gap:
            best = found
        if best.gap <= floor:
            break
    assert best is not None
    best.iterations = steps
    return best


def _slope_of_scores(
    problem: BinaryProblem, scores: Floats, change: Floats, start: float, growth: float, length: float
) -> float:
    a = problem.loss.dual(problem.labels * (scores + length * change))
    return start + length * growth - float((problem.weights * problem.labels * change) @ a)


def _feasible_solution(
    K: Floats, problem: BinaryProblem, beta: Floats, effects: Floats, target_gap: float, iterations: int
) -> Solution:
    """Return feasible dual variables near β, of the nearest feasible point or of the scores, whichever proves more."""
    y, s, loss, free = problem.labels, problem.weights, problem.loss, problem.free
    best: Solution | None = None
    a = problem.feasible(y * beta / s)
    for _ in range(2):
        values = K @ (y * s * a) / problem.penalty + problem.offset
        own = minimise_effects(free, s, loss, y, values, effects)
        gap = float(s @ loss.residual(y * (values + free @ own), a))
        if best is None or gap < best.gap:
            best = Solution(s * a, values, None, gap, iterations, own)
        if gap <= target_gap:
            break
        a = loss.dual(y * (values + free @ own))
    assert best is not None
    return best
