"""Crammer and Singer's multi-class hinge for any linear scores, by smoothing, with the duality gap as judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]

#: The hinge is smoothed over this width at first, then over ever smaller ones.
_FIRST_SHARPNESS = 1.0
_SHARPER = 4.0
#: A stage ends when the part of the gap that it can still close is this share of the part that smoothing leaves.
_STAGE = 0.5
#: Where v = 0 is the minimum nothing is gained that a gap could be a fraction of: then of this share of P(0).
_FLOOR = 0.01
#: Values of a block of rows.
_CACHED = 1 << 15
#: Stages end by the gap, not by the rules of L-BFGS.
_LBFGS = {"maxiter": 10**9, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0, "maxcor": 20}


class ClassScores(Protocol):
    """Scores of all samples for all classes, linear in v, some classes at a time."""

    @property
    def chunks(self) -> Sequence[slice]:
        """Ranges of classes whose scores fit in memory together; they cover all classes in order."""

    @property
    def n_components(self) -> int:
        """Length of v."""

    def scores(self, v: Floats, classes: slice) -> Floats:
        """Return S v: the scores for these classes, of shape (n_samples, n_classes in the range)."""

    def adjoint(self, G: Floats, classes: slice) -> Floats:
        """Return Sᵀ G, of shape (n_components,)."""


@dataclass(frozen=True)
class CrammerSingerSolution:
    """The best vector seen, with bounds of its objective."""

    #: The best vector seen; of shape (n_components,).
    v: Floats
    #: Its objective P, and the best lower bound D on the minimum.
    objective: float
    dual: float
    #: Number of times that all scores were computed.
    evaluations: int
    #: Whether the gap is as small as it was to be.
    converged: bool = False

    @property
    def gap(self) -> float:
        """P - D: by so much the objective is above the minimum, at most."""
        return max(0.0, self.objective - self.dual)


class _StageDoneError(Exception):
    """The stage has done its part, or the whole is done."""


class CrammerSinger:
    """minimise P(v) = ½‖v‖² + Σ cᵢ max_y (1[y ≠ yᵢ] + s_iy - s_iyᵢ), where s = S v.

    The maximum over y is smoothed: log Σ_y exp(β(…))/β, whose gradient weighs the classes by a softmax αᵢ. Such an α
    is feasible in the dual of P itself: with v_α = Sᵀ(c(onehot - α)),

        D(α) = Σ cᵢ(1 - α_iyᵢ) - ½‖v_α‖²   and   P(v) - D(α) = Σ cᵢ(max - mean under αᵢ) + ½‖v - v_α‖²,

    and v - v_α is the smoothed gradient. So every gradient brings a proof of how far P is from its minimum. L-BFGS
    minimises the smoothed problem until the second part is below the first, then β grows: the first part is at most
    Σ cᵢ log(L)/β, so the gap goes to 0.
    """

    def __init__(self, S: ClassScores, codes: NDArray[np.intp], costs: Floats) -> None:
        self._S, self._codes, self._costs = S, codes, costs
        self._best = CrammerSingerSolution(np.zeros(S.n_components), np.inf, -np.inf, 0)

    def solve(self, tol: float, max_evaluations: int) -> CrammerSingerSolution:
        """Return v with a small gap, or the best within `max_evaluations`."""
        run: Any = minimize
        sharpness, v = _FIRST_SHARPNESS, self._best.v

        def evaluate(v: Floats) -> tuple[float, Floats]:
            value, gradient, smoothing = self._evaluate(v, sharpness)
            best, steps_left = self._best, 0.5 * float(gradient @ gradient)
            if self._is_near(tol) or best.evaluations >= max_evaluations or steps_left <= _STAGE * smoothing:
                self._last = v.copy()
                raise _StageDoneError
            return value, gradient

        while True:
            try:
                # rounding can keep L-BFGS from going on before the stage is done: then a sharper one takes over
                v = run(evaluate, v, jac=True, method="L-BFGS-B", options=_LBFGS).x
            except _StageDoneError:
                v = self._last
            if self._is_near(tol) or self._best.evaluations >= max_evaluations:
                return replace(self._best, converged=self._is_near(tol))
            sharpness *= _SHARPER

    def _is_near(self, tol: float) -> bool:
        objective, at_zero = self._best.objective, float(self._costs.sum())
        return self._best.gap <= tol * max(min(objective, at_zero - objective), _FLOOR * objective)

    def _evaluate(self, v: Floats, sharpness: float) -> tuple[float, Floats, float]:
        """Return the smoothed objective, its gradient, and what smoothing adds to the gap; note P and D."""
        S, codes, costs = self._S, self._codes, self._costs
        n = codes.size
        own, highest, total = np.zeros(n), np.full(n, -np.inf), np.zeros(n)
        margins = np.empty((n, 0))
        for chunk in S.chunks:
            margins = self._margins(v, chunk, own)
            for rows in _row_blocks(margins):
                part = margins[rows]
                higher = np.maximum(highest[rows], part.max(axis=1))
                total[rows] *= np.exp(sharpness * (highest[rows] - higher))
                total[rows] += np.exp(sharpness * (part - higher[:, None])).sum(axis=1)
                highest[rows] = higher
        gradient = v.copy()
        own_share, mean = np.zeros(n), np.zeros(n)
        for chunk in S.chunks:
            if len(S.chunks) > 1:
                margins = self._margins(v, chunk, own)
            inside, at = self._own_places(chunk)
            for rows in _row_blocks(margins):
                below = margins[rows] - highest[rows, None]
                share = np.exp(sharpness * below) / total[rows, None]
                mean[rows] += np.einsum("ij,ij->i", share, below)
                margins[rows] = share
            own_share[inside] = margins[at]
            margins[at] -= 1.0
            margins *= costs[:, None]
            gradient += S.adjoint(margins, chunk)
        norm, hinge = 0.5 * float(v @ v), highest - own
        objective = norm + float(costs @ hinge)
        v_dual = v - gradient
        dual = float(costs @ (1.0 - own_share)) - 0.5 * float(v_dual @ v_dual)
        self._note(v, objective, dual)
        smoothed = norm + float(costs @ (hinge + np.log(total) / sharpness))
        return smoothed, gradient, -float(costs @ mean)

    def _margins(self, v: Floats, chunk: slice, own: Floats) -> Floats:
        """Return 1[y ≠ yᵢ] + s_iy for a range of classes, and note s_iyᵢ."""
        margins = self._S.scores(v, chunk)
        inside, at = self._own_places(chunk)
        own[inside] = margins[at]
        margins += 1.0
        margins[at] = own[inside]
        return margins

    def _own_places(self, chunk: slice) -> tuple[NDArray[np.intp], tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return the samples whose class is in the range, and where their own scores stand."""
        inside = np.flatnonzero((self._codes >= chunk.start) & (self._codes < chunk.stop))
        return inside, (inside, self._codes[inside] - chunk.start)

    def _note(self, v: Floats, objective: float, dual: float) -> None:
        best = self._best
        better = objective < best.objective
        self._best = CrammerSingerSolution(
            v.copy() if better else best.v,
            objective if better else best.objective,
            max(dual, best.dual),
            best.evaluations + 1,
        )


def _row_blocks(margins: Floats) -> Iterator[slice]:
    """Yield rows whose values stay in the cache from one step to the next."""
    step = max(1, _CACHED // max(margins.shape[1], 1))
    for start in range(0, margins.shape[0], step):
        yield slice(start, start + step)
