"""Small problems on rows of features: coordinate descent, and Newton steps for smooth losses or rounded corners."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.learning.active_set import EPOCHS, MOST_ROUNDS, Descent, DescentProblem, descend_rows
from slimline.learning.corners import MOST_INSIDE, Box, settle_at_corners
from slimline.learning.line_search import smallest_along, smallest_among_corners, solve_shifted
from slimline.learning.losses import Loss, SmoothedHinge
from slimline.learning.problem import BinaryProblem, Solution
from slimline.learning.proximal import FREE_SCALE, descend_beside
from slimline.learning.rows import Rows, SparseRows

Floats = NDArray[np.float64]
#: More samples on the margin than this are left to coordinate descent.
_MOST_FREE = 4000
#: Rounds over fewer numbers than this have more epochs, but not more than so many.
_CHEAP, _MOST_EPOCHS = 2e6, 2000
#: Newton steps, and conjugate gradients of a direction, at most.
_MOST_STEPS, _MOST_INNER_STEPS = 200, 500
#: Corners are rounded to this part of the loss, at the sharpest.
_SHARPEST = 1e-9
#: A gap of this part of the objective is rounding.
_ROUNDING = 1e-15
#: Curvature of covariates is taken to be no less than this part of what it is where all rows are curved.
_FLAT = 1e-7
#: Steps in a row that do not lower the objective.
_MOST_IDLE_STEPS = 8
#: Up to so many components the Hessian is made and factored.
_DIRECT_COMPONENTS = 768
#: Rounds of coordinate descent before Newton steps by conjugate gradients take over.
_DESCENT_ROUNDS = 4


def solve_rows(
    features: Rows | SparseRows, problem: BinaryProblem, start: Floats | None = None, target_gap: float = 0.0
) -> Solution:
    """Solve the small problem from the rows of its features."""
    has_covariates = problem.free.shape[1] > 0
    if problem.loss.dual_curvature is not None and problem.has_only_an_intercept:
        found = _descend_beside_intercept(features, problem, start, target_gap)
        if found.gap <= target_gap:
            return found
        start = found.dual
    if problem.loss.smoothness is None and (has_covariates or problem.loss.dual_curvature is None):
        return _solve_rounded_rows(features, problem, start, target_gap)
    if problem.loss.smoothness is None:
        return solve_by_descent(features, problem, start, target_gap)
    exact = target_gap == 0.0 and features.shape[1] <= _DIRECT_COMPONENTS
    if problem.loss.dual_curvature is not None and not exact and not has_covariates:
        # An epoch costs little more than a product and gains far more, until C is large for the data.
        found = solve_by_descent(features, problem, start, target_gap, _DESCENT_ROUNDS)
        return found if found.gap <= target_gap else solve_smooth_rows(features, problem, found.weights, target_gap)
    weights = None
    if start is not None and start.any():
        weights = features.transposed_times(problem.labels * problem.projected(start)) / problem.penalty
    return solve_smooth_rows(features, problem, weights, target_gap)


def solve_by_descent(
    features: Rows | SparseRows,
    problem: BinaryProblem,
    start: Floats | None,
    target_gap: float,
    most_rounds: int = MOST_ROUNDS,
) -> Solution:
    """Solve the small problem by coordinate descent over the rows of its features."""
    descent = _RowsDescent(features, problem)
    dual, gap, epochs = descent.solve(start, target_gap, most_rounds)
    return Solution(dual, descent.values, descent.weights, gap, epochs)


class _RowsDescent(DescentProblem):
    def __init__(self, features: Rows | SparseRows, problem: BinaryProblem) -> None:
        super().__init__(problem)
        self._features = features
        self._Z: Any
        self._Z, self._constant = features.for_descent()
        self.finest = features.finest
        n, r = features.shape
        self._epochs = int(np.clip(EPOCHS * _CHEAP / (n * r), EPOCHS, _MOST_EPOCHS))

    def refresh(self, dual: Floats) -> None:
        problem = self.problem
        self.weights = self._features.transposed_times(problem.labels * dual) / problem.penalty
        self.values = self._features.times(self.weights) + problem.offset

    def descend(self, dual: Floats, tolerance: float, seed: int) -> Descent:
        p = self.problem
        descent = descend_rows(
            self._Z,
            p.labels,
            p.offset,
            self.curvature,
            self.upper,
            p.penalty,
            dual,
            self.weights[: self._Z.shape[1] + (self._constant != 0.0)],
            constant=self._constant,
            max_epochs=self._epochs,
            tolerance=tolerance,
            seed=seed,
        )
        self.refresh(dual)  # by the features as they are, not as their array rounds them
        return descent

    def gram(self, part: NDArray[np.intp]) -> Floats:
        return self._features.gram(part)

    def max_active_set(self, tolerance: float, target_gap: float) -> int:
        if tolerance > (0.01 if target_gap == 0.0 else 1e-3):
            return 0
        # At the optimum there are hardly more of them than components. Their Gram matrix should cost no more than a
        # round of descent, unless rounding is the aim.
        n, r = self._features.shape
        most = min(_MOST_FREE, 2 * r + 8)
        return most if target_gap == 0.0 else min(most, int((2.0 * EPOCHS * n) ** 0.5))


def _descend_beside_intercept(
    features: Rows | SparseRows, problem: BinaryProblem, start: Floats | None, target_gap: float
) -> Solution:
    """Solve a problem with a free intercept by coordinate descent on the rows and a constant."""
    columns = features.with_constant(FREE_SCALE * features.root_mean_square)

    def descend(inner: BinaryProblem, dual: Floats, goal: float) -> Solution:
        return solve_by_descent(columns, inner, dual, goal, _DESCENT_ROUNDS)

    def recover(dual: Floats) -> tuple[Floats, Floats]:
        weights = features.transposed_times(problem.labels * dual) / problem.penalty
        return features.times(weights) + problem.offset, weights

    factor = (columns.constant / float(problem.free[0, 0])) ** 2
    return descend_beside(problem, start, target_gap, factor, descend, recover)


class _Products:
    """K = XXᵀ by the rows of X."""

    def __init__(self, features: Rows | SparseRows) -> None:
        self._features = features
        self.most_inside = min(MOST_INSIDE, 2 * features.shape[1] + 8)

    def product(self, beta: Floats) -> Floats:
        return self._features.times(self._features.transposed_times(beta))

    def part(self, rows: NDArray[np.intp]) -> Floats:
        return self._features.gram(rows)


def _solve_rounded_rows(
    features: Rows | SparseRows, problem: BinaryProblem, start: Floats | None, target_gap: float
) -> Solution:
    """Solve a problem whose loss has corners by Newton steps for ever sharper roundings, and then at the corners."""
    y, s = problem.labels, problem.weights
    total = float(s.sum())
    size = problem.loss_of(problem.offset) / total or 1.0
    finest = max(target_gap / total, _SHARPEST * size)
    enough = max(target_gap, _ROUNDING * size * total)
    K, box = _Products(features), Box(problem)
    weights = effects = best = None
    if start is not None and start.any():
        weights = features.transposed_times(y * problem.projected(start)) / problem.penalty
    width = max(size, finest)
    steps = 0
    while True:
        rounded = replace(problem, loss=problem.loss.smoothed(width))
        found = solve_smooth_rows(features, rounded, weights, max(0.1 * width * total, target_gap), effects)
        weights, effects, steps = found.weights, found.effects, steps + found.iterations
        x = box.variables(problem.loss.project(found.dual / s))
        if width <= finest or np.count_nonzero((x > 0.0) & (x < 1.0)) <= K.most_inside:
            settled = settle_at_corners(K, problem, box, x, effects, enough, steps)
            best = settled if best is None or settled.gap < best.gap else best
            if best.gap <= enough:
                break
        if width <= finest:
            break
        width = max(0.1 * width, finest)
    assert best is not None
    effects = problem.refitted_near(best.values - problem.offset, best.effects)
    gap = float(s @ problem.loss.residual(y * (best.values + problem.free @ effects), best.dual / s))
    if gap < best.gap:
        best.gap, best.effects = gap, effects
    best.weights, best.iterations = features.transposed_times(y * best.dual) / problem.penalty, steps
    return best


def solve_smooth_rows(
    features: Rows | SparseRows,
    problem: BinaryProblem,
    start: Floats | None = None,
    target_gap: float = 0.0,
    effects: Floats | None = None,
) -> Solution:
    """Solve the small problem with a smooth loss by Newton steps, each with an exact line search.

    Effects of covariates are refitted before each, so that α is feasible, unless corners are rounded: then they only
    take part in the steps, whose system has them eliminated.
    """
    y, s, penalty, loss, free = problem.labels, problem.weights, problem.penalty, problem.loss, problem.free
    c = np.zeros(free.shape[1]) if effects is None else effects
    refits = len(c) > 0 and not hasattr(loss, "width")
    v = np.zeros(features.shape[1]) if start is None else start.astype(np.float64)
    values = features.times(v) + problem.offset
    settled = idle = 0
    lowest = np.inf
    steps = 0
    while steps < _MOST_STEPS:
        steps += 1
        if refits:
            c = problem.refitted(values - problem.offset, c)
        scores = values + free @ c if len(c) else values
        margin = y * scores
        dual = s * loss.dual(margin)
        gradient = penalty * v - features.transposed_times(y * dual)
        gap = float(gradient @ gradient) / (2.0 * penalty)  # α is optimal for f, so all of the gap is ‖v - Zᵀ(yα)/λ‖²
        beside = _Beside(free, s * loss.curvature(margin), float(loss.smoothness or 1.0))
        gradient_of_effects = -(free.T @ (y * dual))
        lead = beside.solved(gradient_of_effects)
        gap += 0.5 * float(gradient_of_effects @ lead) if len(c) else 0.0
        if gap <= target_gap:
            break
        # Of a quadratic one step is all, if it is exact enough.
        enough = 2.0 * penalty * target_gap if loss.is_quadratic else 0.0
        right = gradient - features.transposed_times(beside.weighted(lead)) if len(c) else gradient
        change = _newton_direction(features, beside, penalty, right, enough)
        # The gradient may grow on the way, the objective falls: it is the fall that says when rounding has taken over.
        change_of_values = features.times(change)
        change_of_effects = beside.effects(change_of_values) - lead
        fall = -float(gradient @ change) - float(gradient_of_effects @ change_of_effects)
        objective = problem.primal(v, scores)
        settled = settled + 1 if fall <= 1e-14 * objective else 0
        # Corners that are sharper than rounding promise a fall for ever; Newton's method has none to give by now.
        idle = 0 if objective < lowest else idle + 1
        lowest = min(lowest, objective)
        if settled == 3 or idle == _MOST_IDLE_STEPS:
            break
        if len(c):
            change_of_values = change_of_values + free @ change_of_effects
        norm_start, norm_rise = penalty * float(v @ change), penalty * float(change @ change)
        rise = y * change_of_values
        if isinstance(loss, SmoothedHinge):
            length = smallest_among_corners(norm_start, norm_rise, s, 1.0 - margin, rise, loss.width, 4.0)
        else:
            length = smallest_along(partial(_slope, loss, margin, rise, s * rise, norm_start, norm_rise), 4.0)
        if length == 0.0:
            break
        v = v + length * change
        c = c + length * change_of_effects
        values = features.times(v) + problem.offset  # afresh: sums of rounded changes would drift
    if refits:
        c = problem.refitted(values - problem.offset, c)
    scores = values + free @ c if len(c) else values
    return Solution(problem.projected(s * loss.dual(y * scores)), values, v, gap, steps, c)


class _Beside:
    """The curvature h of a Newton step, with covariates U eliminated: H - H U (Uᵀ H U)⁻¹ Uᵀ H."""

    def __init__(self, free: Floats, curvature: Floats, smoothness: float) -> None:
        self.curvature = curvature
        self._weighted = free * curvature[:, None] if free.shape[1] else free
        values, vectors = np.linalg.eigh(free.T @ self._weighted)
        # Where no row is curved, a step is long but not infinite: the line search shortens it.
        self._inverse = (vectors / np.maximum(values, _FLAT * smoothness)) @ vectors.T

    def __len__(self) -> int:
        return int(self._weighted.shape[1])

    def solved(self, gradient: Floats) -> Floats:
        """Return (Uᵀ H U)⁻¹ times a gradient by the effects."""
        return np.asarray(self._inverse @ gradient)

    def weighted(self, effects: Floats) -> Floats:
        """Return H U times effects."""
        return np.asarray(self._weighted @ effects)

    def effects(self, change: Floats) -> Floats:
        """Return the change of the effects that goes best with a change of the values."""
        return np.asarray(-(self._inverse @ (self._weighted.T @ change)))

    def times(self, change: Floats) -> Floats:
        """Return the product with a change of the values."""
        return np.asarray(self.curvature * change + self._weighted @ self.effects(change))

    def weighted_square(self, features: Rows | SparseRows) -> Floats:
        """Return the square of the features, weighted with all of it."""
        square = features.weighted_square(self.curvature)
        if not len(self):
            return square
        products = np.column_stack([features.transposed_times(column) for column in self._weighted.T])
        return np.asarray(square - products @ self._inverse @ products.T)


def _slope(
    loss: Loss, margin: Floats, rise: Floats, weighted_rise: Floats, start: float, growth: float, length: float
) -> float:
    """Return the derivative of the objective along a direction, at some length of it."""
    return start + length * growth - float(weighted_rise @ loss.dual(margin + length * rise))


def _newton_direction(
    features: Rows | SparseRows, beside: _Beside, penalty: float, gradient: Floats, enough: float
) -> Floats:
    """Return -(λI + Zᵀ H Z)⁻¹ gradient, H without covariates, exactly for few components, else by conjugate gradients.

    These stop where the residual is a tenth of the gradient, or its square is `enough`, if that is less and not 0.
    """
    r = features.shape[1]
    if r <= _DIRECT_COMPONENTS:
        return -solve_shifted(beside.weighted_square(features), np.full(r, penalty), gradient)
    x = np.zeros(r)
    residual = -gradient
    direction = residual.copy()
    square = float(residual @ residual)
    stop = min(0.01 * square, enough) if enough > 0.0 else 0.01 * square
    for _ in range(_MOST_INNER_STEPS):
        if len(beside):
            product = penalty * direction + features.transposed_times(beside.times(features.times(direction)))
        else:
            product = penalty * direction + features.curvature_times(beside.curvature, direction)
        length = square / float(direction @ product)
        x += length * direction
        residual -= length * product
        last, square = square, float(residual @ residual)
        if square <= stop or not np.isfinite(square):
            break
        direction = residual + (square / last) * direction
    return x
