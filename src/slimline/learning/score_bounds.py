"""Bounds of scores and of the effects of covariates: how far xᵀw + uᵀb of the exact model can be from what is reported.

For any c with Uᵀc = u, xᵀw* + uᵀb* = (x - Xᵀc)ᵀw* + cᵀf*. With Ω ≥ 0, M = UᵀSΩU and c = SΩU M⁻¹u the first order of the
second part vanishes, since both dual points are feasible (docs/covariates.md, "Scores and effects").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import ROUNDOFF, overflow_allowed, sum_error
from slimline.learning.covariates import Covariates
from slimline.learning.problem import BinaryProblem, SolverState
from slimline.learning.training_data import TrainingData

Floats = NDArray[np.float64]
#: Curvature of the scores along covariates below this part of the largest identifies no effects.
_FLAT = 1e-9
#: Dual variables nearer to the ends of their domain than this fix no score.
_AT_THE_END = 1e-6
#: Intervals of the scores of the training rows sharpen the bounds, which give sharper intervals.
_ROUNDS = 2
#: The product X̄ loses no more than this part of the sums of absolute values that it is made of.
_LOST = 1e-9
#: Bisections of the interval of an intercept, and doublings before.
_BISECTIONS = 200


@dataclass(frozen=True)
class ScoreBounds:
    """Reported effects of covariates, and how far the exact score of a sample can be from the one that is reported.

    For x and u = Tᵀ(covariates), the error of xᵀw_m + uᵀeffects is at most ::

        η √(‖x - X̄ᵀu‖² + 2λ uᵀN u) + linear·|u| + size·‖u‖

    where X̄, the regression of X on U, is known after one more pass; else ‖x‖ + reach·|u| stands for that norm.
    """

    #: Effects of the basis; of shape (n_covariates,).
    effects: Floats
    #: T: effects of the covariates are T times those of the basis, which are the covariates times T.
    transform: Floats
    #: η.
    radius: float
    #: 2λN; of shape (n_covariates, n_covariates).
    square: Floats
    #: Of shape (n_covariates,).
    linear: Floats
    size: float
    #: ‖X̄ᵀu‖ ≤ reach·|u|; of shape (n_covariates,).
    reach: Floats
    #: X̄; of shape (n_covariates, n_features); None: not computed.
    explained: Floats | None = None
    #: Norms of the rows of X̄ in features whose values are not known; of shape (n_covariates,); None: there are none.
    hidden: Floats | None = None

    def as_stored(self) -> ScoreBounds:
        """Return the bounds as a file holds them.

        Their arrays lie row by row, since the last bits of products depend on it, and `linear` alone is infinite.
        """
        bounds = self
        if not np.isfinite(self.square).all():
            bounds = replace(self, square=np.zeros_like(self.square), linear=np.full_like(self.linear, np.inf))
        if self.explained is not None and not np.isfinite(self.explained).all():
            bounds = replace(bounds, explained=None)
        arrays = {name: value for name, value in vars(bounds).items() if isinstance(value, np.ndarray)}
        by_rows: dict[str, Any] = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
        return replace(bounds, **by_rows)

    def of_features(self, known: NDArray[np.intp], unknown: NDArray[np.intp]) -> ScoreBounds:
        """Return the bounds for samples with the known features, in their order, and any values of the unknown ones."""
        if self.explained is None:
            return self
        hidden = np.linalg.norm(self.explained[:, unknown], axis=1)
        return replace(self, explained=self.explained[:, known], hidden=hidden)

    @overflow_allowed()
    def error(
        self,
        covariates: Floats,
        norms: Floats,
        inner: Floats | None = None,
        sizes: Floats | None = None,
        unknown: float = 0.0,
    ) -> Floats:
        """Return how far scores can be from the exact ones.

        `covariates` is of shape (n, n_covariates); `norms` are upper bounds of ‖x‖; `inner` are the products X̄x, whose
        rounding goes with `sizes` where centring makes it larger than that of x. `unknown` bounds the norm of the part
        of a sample in features that are not known, which `norms` and `inner` do not count.
        """
        u = covariates @ self.transform
        lost = sum_error(len(self.effects) + 2) * (np.abs(covariates) @ np.abs(self.transform))
        size = np.linalg.norm(u, axis=1) + np.linalg.norm(lost, axis=1)
        absolute = np.abs(u) + lost
        if self.explained is None or inner is None:
            apart = np.hypot(norms, unknown) + absolute @ self.reach
        else:
            # ‖x - X̄ᵀu‖² = ‖x‖² - 2 uᵀX̄x + uᵀX̄X̄ᵀu, each with its rounding
            gram = self.explained @ self.explained.T
            square = np.square(norms) - 2.0 * np.einsum("ij,ij->i", u, inner) + np.einsum("ij,jk,ik->i", u, gram, u)
            largest = (norms if sizes is None else sizes) + absolute @ np.linalg.norm(self.explained, axis=1)
            square += 4.0 * sum_error(self.explained.shape[1] + len(self.effects)) * np.square(largest)
            beyond = unknown if self.hidden is None else unknown + absolute @ self.hidden
            apart = np.hypot(np.sqrt(np.maximum(square, 0.0)), beyond) + _LOST * (absolute @ self.reach)
        spread = np.maximum(np.einsum("ij,jk,ik->i", u, self.square, u), 0.0)
        bound = self.radius * np.sqrt(np.square(apart) + spread) * (1.0 + 1e-9) + absolute @ self.linear
        rounding = 2.0 * (lost @ np.abs(self.effects)) + np.linalg.norm(lost, axis=1) * np.linalg.norm(self.effects)
        total = bound + self.size * size + rounding
        return np.where(np.isnan(total), np.inf, total)  # 0 times infinity is no bound

    def scores(self, covariates: Floats) -> Floats:
        """Return uᵀb of the reported effects."""
        return np.asarray((covariates @ self.transform) @ self.effects)


@overflow_allowed()
def bound_scores(data: TrainingData, states: list[SolverState], *, with_pass: bool = False) -> list[ScoreBounds]:
    """Return bounds of the scores of every problem; `with_pass` makes them sharper by one pass over the data."""
    parts = [_Part.of(data, state) for state in states]
    if with_pass:
        n = data.shape[0]
        known = [
            np.zeros((n, len(part.covariates))) if part.multipliers is None else part.multipliers for part in parts
        ]
        products = data.matrix.tdot(np.hstack(known)).T
        for part, multipliers in zip(parts, known, strict=True):
            count = multipliers.shape[1]
            part.explained, products = products[:count], products[count:]
    return [part.bounds().as_stored() for part in parts]


@dataclass
class _Part:
    """What the bounds of one problem are made of."""

    data: TrainingData
    problem: BinaryProblem
    covariates: Covariates
    a: Floats
    slack: Floats
    radius: float
    #: X w_m, and how far it may be from the exact values.
    values: Floats
    values_error: Floats
    norm: float
    #: Fallback where no curvature identifies the effects.
    effects: Floats
    #: Ω, f_g less the offset, and C = SΩU M⁻¹; None where M is singular.
    sure: Floats
    scores: Floats
    inverse: Floats | None = None
    multipliers: Floats | None = None
    explained: Floats | None = None

    @classmethod
    def of(cls, data: TrainingData, state: SolverState) -> _Part:
        problem, best, dual, bound = state.problem, state.best, state.dual, state.bound
        assert bound is not None
        assert problem.covariates is not None
        slack = np.zeros_like(dual.a) if dual.slack is None else dual.slack
        values = 0.5 * (best.values + dual.values)
        error = (best.values_error + dual.values_error + 8 * ROUNDOFF * (best.norm + dual.norm)) * data.row_bounds
        used = problem.weights > 0.0
        excess = np.zeros_like(dual.a)
        excess[used] = problem.penalty * bound.radius**2 / problem.weights[used] * (1.0 + 1e-9)
        sure = problem.loss.sure_curvature(dual.a, excess)
        if not problem.is_smooth:
            sure = np.maximum(sure - slack, 0.0)
            sure[sure <= _AT_THE_END] = 0.0
        sure[~used] = 0.0
        norm = float(np.linalg.norm(bound.weights))
        args = problem.covariates, dual.a, slack, bound.radius, values, error, norm
        effects = 0.5 * (best.effects + dual.effects)
        part = cls(data, problem, *args, effects, sure, np.zeros_like(values))
        part._identify(excess)
        return part

    def _identify(self, excess: Floats) -> None:
        problem, U = self.problem, self.covariates.basis
        weight = problem.weights * self.sure
        square = (U * weight[:, None]).T @ U
        largest = np.linalg.eigvalsh(square) if len(square) else np.ones(1)
        self._excess = excess
        if not (np.isfinite(self.radius) and np.isfinite(self.slack).all()):
            return
        if not largest[0] > _FLAT * max(float(largest[-1]), 1e-300):
            return
        self.inverse = np.linalg.inv(square)
        self.multipliers = weight[:, None] * (U @ self.inverse)
        with np.errstate(all="ignore"):
            margins = np.where(weight > 0.0, problem.loss.inverse(self.a), 0.0)
        self.scores = np.where(weight > 0.0, problem.labels * margins - problem.offset, 0.0)
        self.effects = self.multipliers.T @ (self.scores - self.values)

    def bounds(self) -> ScoreBounds:
        """Return the bounds."""
        covariates, q = self.covariates, len(self.covariates)
        if self.multipliers is None or self.inverse is None:
            return self._without_curvature()
        problem, U, C = self.problem, covariates.basis, np.abs(self.multipliers)
        s, n = problem.weights, len(self.a)
        rounding = sum_error(q + 2) * covariates.sizes
        # the score of a moves with it, and has a rounding of its own
        weight = s * self.sure
        with np.errstate(all="ignore"):
            ends = [problem.loss.inverse(problem.loss.project(self.a + move)) for move in (-self.slack, self.slack)]
            moved = np.abs(ends[0] - ends[1]) if problem.is_smooth else np.zeros(n)
        moved = np.where(weight > 0.0, moved + 8 * ROUNDOFF * (np.abs(self.scores) + np.abs(problem.offset) + 1.0), 0.0)
        linear = C.T @ (moved + self.values_error)
        linear += sum_error(n) * (C.T @ (np.abs(self.scores) + np.abs(self.values)))
        linear += sum_error(q) * np.abs(self.effects)
        lost = np.linalg.norm(U.T @ self.multipliers - np.eye(q)) + np.linalg.norm(rounding.T @ C)
        skew = float(lost + sum_error(n) * np.linalg.norm(np.abs(U).T @ C))
        reach = C.T @ self.data.row_bounds
        square = np.zeros((q, q))
        if problem.is_smooth:
            linear = linear + np.abs(self.inverse @ U.T) @ (s * self.slack)
        else:
            with np.errstate(all="ignore"):
                far = np.where(C > 0.0, C / (s * self.sure)[:, None], 0.0).max(axis=0)
            linear = linear + problem.penalty * self.radius**2 * far * (1.0 + 1e-9)
        found = ScoreBounds(self.effects, covariates.transform, self.radius, square, linear, 0.0, reach, self.explained)
        if problem.is_smooth:
            low, high = np.full(n, -np.inf), np.full(n, np.inf)
            for last in range(_ROUNDS + 1):
                found = self._with_spread(found, low, high, skew)
                if last < _ROUNDS:
                    centre = self.values + problem.free @ self.effects
                    around = found.error(covariates.columns, self.data.row_bounds) + self.values_error
                    one, other = (
                        problem.labels * (centre - around + problem.offset),
                        problem.labels * (centre + around + problem.offset),
                    )
                    low, high = np.maximum(low, np.minimum(one, other)), np.minimum(high, np.maximum(one, other))
            return found
        return self._with_size(found, skew)

    def _with_spread(self, found: ScoreBounds, low: Floats, high: Floats, skew: float) -> ScoreBounds:
        """Return the bounds with N of the curvature's error, given intervals of the optimal margins."""
        problem, U = self.problem, self.covariates.basis
        used = problem.weights > 0.0
        errors = problem.loss.curvature_error(self.sure, self.a, self._excess, low, high)
        errors = np.where(used, problem.weights * errors, 0.0)
        assert self.inverse is not None
        spread = self.inverse @ ((U * errors[:, None]).T @ U) @ self.inverse
        return self._with_size(replace(found, square=2.0 * problem.penalty * spread), skew)

    def _with_size(self, found: ScoreBounds, skew: float) -> ScoreBounds:
        """Return the bounds with what C, which is not exact, leaves of the effects."""
        q = len(self.effects)
        each = np.linalg.inv(self.covariates.transform)  # the basis in terms of the covariates
        around = found.error(each, np.zeros(q)) if q else np.zeros(0)
        norm = float(np.linalg.norm(self.effects)) + 2.0 * float(np.linalg.norm(around))
        return replace(found, size=skew * norm)

    def _without_curvature(self) -> ScoreBounds:
        """Return bounds from monotony for an intercept alone, and infinite ones for more."""
        q, covariates = len(self.covariates), self.covariates
        nothing, linear = np.zeros((q, q)), np.full(q, np.inf)
        effects = self.effects
        ones = covariates.columns[:, 0] if q == 1 else np.zeros(1)
        if q == 1 and np.isfinite(self.radius) and (ones == ones[0]).all():
            reach = self.radius * self.data.row_bounds + self.values_error
            low, high = _intercept_interval(self.problem, self.values, reach)
            scale = ones[0] * covariates.transform[0, 0]
            effects = np.array([0.5 * (low + high) / scale])
            linear = np.array([0.5 * (high - low) * (1.0 + 1e-9) / abs(scale)])
        return ScoreBounds(effects, covariates.transform, self.radius, nothing, linear, 0.0, np.zeros(q))


def _intercept_interval(problem: BinaryProblem, values: Floats, reach: Floats) -> tuple[float, float]:
    """Return bounds of the optimal intercept: the derivative in it is monotone, whatever the loss."""
    loss, y, s = problem.loss, problem.labels, problem.weights

    def slope(shifts: Floats, intercept: float) -> float:
        return -float((y * s) @ loss.dual(y * (shifts + intercept + problem.offset)))

    def root(shifts: Floats, *, last: bool) -> float:
        low, high = -1.0, 1.0
        for _ in range(_BISECTIONS):
            if slope(shifts, low) < 0.0:
                break
            low *= 2.0
        for _ in range(_BISECTIONS):
            if slope(shifts, high) > 0.0:
                break
            high *= 2.0
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            value = slope(shifts, middle)
            if value < 0.0 or (last and value <= 0.0):
                low = middle
            else:
                high = middle
        return high if last else low

    return root(values + reach, last=False), root(values - reach, last=True)
