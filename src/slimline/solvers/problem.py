"""The small problem: what a solver is given and what it returns.

minimise over v:  (λ/2)‖v‖² + Σ sᵢ ℓ(yᵢ fᵢ),  f = Z v + q

Z has one row a sample, or only its Gram matrix Z Zᵀ is known. The offset q carries whatever is already explained. A
linear term λ vᵀu is the same problem for v + u with the offset q - Z u, so it needs no place of its own here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.solvers.losses import Loss

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SmallProblem:
    """Everything but the features.

    Parameters
    ----------
    loss : Loss
        ℓ.
    labels : array of shape (n_samples,)
        y, each -1 or +1.
    weights : array of shape (n_samples,)
        s, each above 0.
    penalty : float
        λ = 1/C.
    offset : array of shape (n_samples,)
        q.
    """

    loss: Loss
    labels: Floats
    weights: Floats
    penalty: float
    offset: Floats

    def primal(self, squared_norm: float, values: Floats) -> float:
        """Return the objective of a point with this ‖v‖² and these values f."""
        losses = self.loss.value(self.labels * values)
        return 0.5 * self.penalty * squared_norm + float(self.weights @ losses)

    def gap(self, values: Floats, dual: Floats) -> float:
        """Return the duality gap of a point v = Zᵀ(yα)/λ with values f and its own dual variables α."""
        a = self.loss.project(dual / self.weights)
        return float(self.weights @ self.loss.residual(self.labels * values, a))

    def dual_of(self, values: Floats) -> Floats:
        """Return the dual variables that are optimal for these values."""
        return self.weights * self.loss.dual(self.labels * values)

    def projected(self, dual: Floats) -> Floats:
        """Return the nearest feasible dual variables."""
        return self.weights * self.loss.project(dual / self.weights)

    def with_linear_term(self, Z: Any, u: Floats) -> SmallProblem:
        """Return the problem for v + u that has the further term λ vᵀu."""
        return replace(self, offset=self.offset - np.asarray(Z @ u, dtype=np.float64))


@dataclass
class Solution:
    """What a solver found.

    Parameters
    ----------
    dual : array of shape (n_samples,)
        α, feasible.
    values : array of shape (n_samples,)
        f = Z v + q.
    weights : array of shape (n_components,), or None
        v, where the features are known.
    gap : float
        Duality gap: how far the objective can be from the optimum.
    iterations : int
        Steps or epochs that were taken.
    """

    dual: Floats
    values: Floats
    weights: Floats | None
    gap: float
    iterations: int
