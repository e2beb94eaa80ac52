"""Dual coordinate descent with an active set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import _native
from slimline.learning.line_search import solve_shifted
from slimline.learning.problem import BinaryProblem

Floats = NDArray[np.float64]
#: Newton steps on the free variables, at most.
_MOST_STEPS = 60
#: Epochs of a round.
EPOCHS = 50
#: The tolerance of a round as a part of that of the round before.
_FINER = 0.1
#: Rounds, at most.
MOST_ROUNDS = 60
#: Rounds in a row without a smaller gap: the dual objective rises all the time, the gap now and then.
_MOST_IDLE = 8


class Descent(NamedTuple):
    """The end of a descent."""

    #: Epochs that were run, the last perhaps in part.
    epochs: int
    #: Largest projected gradient over all coordinates: at most the tolerance, or the epochs did not suffice. On rows,
    #: each as it was when the last epoch came to it; on a Gram matrix, as it is at the end.
    violation: float


class DescentProblem(ABC):
    """A small problem as coordinate descent sees it: on a Gram matrix, or on rows of features."""

    #: Gradients below this are rounding.
    finest = 1e-13
    #: f at the dual variables of the last `refresh`.
    values: Floats

    def __init__(self, problem: BinaryProblem) -> None:
        self.problem = problem
        assert problem.loss.dual_curvature is not None
        self.curvature = problem.loss.dual_curvature / problem.weights
        self.upper = problem.loss.upper * problem.weights

    def solve(
        self, start: Floats | None, target_gap: float, most_rounds: int = MOST_ROUNDS
    ) -> tuple[Floats, float, int]:
        """Return dual variables, their duality gap, and the epochs that were run; `values` belong to them."""
        problem = self.problem
        dual = np.zeros(len(problem.labels)) if start is None else np.ascontiguousarray(problem.projected(start))
        self.refresh(dual)
        best, best_gap = dual.copy(), problem.gap(self.values, dual)
        tolerance = 0.1
        epochs = idle = 0
        for _ in range(most_rounds):
            if best_gap <= target_gap:
                break
            descent = self.descend(dual, tolerance, epochs)
            epochs += descent.epochs
            gap = problem.gap(self.values, dual)
            if problem.loss.smoothness is None and gap > target_gap:
                # At the optimum these have a margin of 1: Newton finds their values where descent would creep.
                free = np.flatnonzero((dual > 0.0) & (dual < self.upper))
                if 0 < free.size <= self.max_active_set(tolerance, target_gap):
                    at = (problem.labels[free], self.values[free], self.upper[free], dual[free])
                    dual[free] = solve_free_variables(self.gram(free), *at, problem.penalty)
                    self.refresh(dual)
                    gap = problem.gap(self.values, dual)
            idle = 0 if gap < 0.999 * best_gap else idle + 1
            if gap < best_gap:
                best, best_gap = dual.copy(), gap
            if tolerance <= self.finest and (descent.violation <= tolerance or idle > _MOST_IDLE):
                break
            tolerance = max(tolerance * _FINER, self.finest)
        if not np.array_equal(best, dual):
            self.refresh(best)
        return best, best_gap, epochs

    @abstractmethod
    def refresh(self, dual: Floats) -> None:
        """Compute `values` afresh."""

    @abstractmethod
    def descend(self, dual: Floats, tolerance: float, seed: int) -> Descent:
        """Move the dual variables and `values`; `refresh` was called before."""

    @abstractmethod
    def gram(self, part: NDArray[np.intp]) -> Floats:
        """Return the Gram matrix of some samples."""

    @abstractmethod
    def max_active_set(self, tolerance: float, target_gap: float) -> int:
        """Return the largest number of samples on the margin that is worth a factorisation."""


def solve_free_variables(
    K: Floats, labels: Floats, values: Floats, upper: Floats, dual: Floats, penalty: float
) -> Floats:
    """Move dual variables of the hinge to where every margin is 1, stopping at each bound on the way."""
    dual, values = dual.copy(), values.copy()
    free = np.arange(len(dual))
    for _ in range(_MOST_STEPS):
        if free.size == 0:
            break
        part = K[np.ix_(free, free)]
        # K dβ = λ (y - f) makes every margin 1; the ridge is far below anything that K resolves
        ridge = np.full(free.size, 1e-13 * max(float(np.trace(part)) / free.size, np.finfo(float).tiny))
        change = labels[free] * solve_shifted(part, ridge, penalty * (labels - values)[free])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            down, up = -dual[free] / change, (upper - dual)[free] / change
        room = np.where(change < 0.0, down, np.where(change > 0.0, up, np.inf))
        step = min(1.0, float(room.min()))
        blocked = room <= step * (1.0 + 1e-12) if step < 1.0 else np.zeros(free.size, dtype=bool)
        moved = np.clip(dual[free] + step * change, 0.0, upper[free])
        moved[blocked] = np.where(change[blocked] < 0.0, 0.0, upper[free][blocked])
        values += K[:, free] @ (labels[free] * (moved - dual[free])) / penalty
        dual[free] = moved
        if step >= 1.0:
            break
        free = free[~blocked]
    return dual


def descend_rows(
    Z: Any,
    y: Floats,
    q: Floats,
    diag: Floats,
    upper: Floats,
    lam: float,
    a: Floats,
    v: Floats,
    *,
    constant: float = 0.0,
    max_epochs: int,
    tolerance: float,
    seed: int,
) -> Descent:
    """Descend on `a` with K = Z Zᵀ, which is never formed; Z is an array or CSR, and the kernel checks all of them."""
    problem = (constant, y, q, diag, upper, lam, a, v, max_epochs, tolerance, seed)
    sparse = sp.issparse(Z)  # in a variable, or mypy would take Z for a class without arrays
    if sparse:
        return Descent(*_native.descend_sparse(Z.indptr, Z.indices, Z.data, *problem))
    return Descent(*_native.descend_rows(Z, *problem))


def descend_gram(
    K: NDArray[Any],
    y: Floats,
    q: Floats,
    diag: Floats,
    upper: Floats,
    lam: float,
    a: Floats,
    f: Floats,
    *,
    max_epochs: int,
    tolerance: float,
    seed: int,
) -> Descent:
    """Descend on `a` with K written out."""
    product = f - q
    ended = _native.descend_gram(K, y, q, diag, upper, lam, a, product, max_epochs, tolerance, seed)
    np.add(product, q, out=f)
    return Descent(*ended)
