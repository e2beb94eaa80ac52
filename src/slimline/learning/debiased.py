"""Dual recovery without the bias of the sketch: its dual variables times 1 - (d + 1)/r (docs/dual_recovery.md).

The inverse of a sketched matrix is too large on average. So the dual variables of the sketch are those of a larger
penalty, times a factor that the effective dimension d of the sketch tells.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import ROUNDOFF, overflow_allowed
from slimline.learning.algorithm import Step, step_of
from slimline.learning.problem import BinaryProblem, DualPoint, Point, SolverState
from slimline.learning.published import bound_around, dual_points
from slimline.learning.surrogate import Surrogate, gram_of
from slimline.learning.training_data import TrainingData

Floats = NDArray[np.float64]
#: Curvature of the hinge at its corner, beside λ and the squared norm of a sample: as good as infinite.
_CORNER = 1e10
#: Rows that are widened at a time.
_ROWS = 1024
#: Columns without a penalty depend on each other if a singular value is this small beside the largest.
_RANK = 1e-12


def recover_debiased(
    data: TrainingData, states: Sequence[SolverState], surrogate: Surrogate, Z: NDArray[Any]
) -> Iterator[Step]:
    """Solve on the sketch, shrink its dual variables, and multiply the data with them.

    The intercept stays as it is: its column is not sketched, so that it has no bias.
    """
    begin = time.perf_counter()
    with overflow_allowed():
        for state, point in zip(states, dual_points(data, states, surrogate), strict=True):
            problem = state.problem
            curvature = _curvature(problem, point.a, Z)
            dimension = effective_dimension(Z, curvature, problem.penalty, data.constant, problem.free)
            factor = max(0.0, 1.0 - (dimension + 1.0) / Z.shape[1])
            state.dual = _scaled(point, factor)
            kept = (1.0 - factor) * point.weights[-1]
            weights = np.append(state.dual.weights[:-1], state.dual.weights[-1] + kept)
            error = state.dual.values_error + 8.0 * ROUNDOFF * float(np.linalg.norm(weights) + point.norm)
            state.dual.settle(problem, data.row_bounds)
            values = state.dual.values + data.constant * kept
            state.best = Point(weights, values, error, problem.refitted_near(values, point.effects))
            bound_around(state, data.row_bounds)
    yield step_of(data, states, surrogate, begin)


@overflow_allowed()
def effective_dimension(
    Z: NDArray[Any], curvature: Floats, penalty: float, constant: float = 0.0, free: Floats | None = None
) -> float:
    """Return tr B(B + M)⁻¹, B = √D ZZᵀ√D and M = λI + c²√D11ᵀ√D, for the curvature D and the constant column c.

    Columns without a penalty stand for c → ∞: what they span is taken out of √D Z.
    """
    n, r = Z.shape
    root = np.sqrt(curvature)
    basis, shares = _unsketched(root, penalty, constant, free)
    if n <= r:
        G = gram_of(Z, 0.0)
        G *= root[:, None]
        G *= root
        side, scaled = G @ basis, basis * shares
        G += (scaled @ (basis.T @ side) - side) @ scaled.T - scaled @ side.T
    else:
        G, side = np.zeros((r, r)), np.zeros((basis.shape[1], r))
        for start in range(0, n, _ROWS):
            rows = slice(start, start + _ROWS)
            part = root[rows, None] * Z[rows].astype(np.float64)
            G += part.T @ part
            side += basis[rows].T @ part
        G -= side.T @ ((shares * (2.0 - shares))[:, None] * side)
    squares = np.maximum(np.linalg.eigvalsh(G), 0.0)
    return float((squares / (squares + penalty)).sum())


def _unsketched(root: Floats, penalty: float, constant: float, free: Floats | None) -> tuple[Floats, Floats]:
    """Return an orthonormal basis U and shares s such that √λ M^(-½) = I - U diag(s) Uᵀ."""
    basis = np.zeros((len(root), 0))
    if free is not None and free.shape[1]:
        left, sizes, _ = np.linalg.svd(root[:, None] * free, full_matrices=False)
        basis = left[:, sizes > _RANK * sizes[0]]
    rest = root - basis @ (basis.T @ root)
    size = float(np.linalg.norm(rest))
    shares = np.ones(basis.shape[1] + 1)
    shares[-1] = 1.0 - 1.0 / np.sqrt(1.0 + constant * size * (constant * size / penalty))
    return np.column_stack([basis, rest / size if size > 0.0 else rest]), shares


def _curvature(problem: BinaryProblem, a: Floats, Z: NDArray[Any]) -> Floats:
    """Return sᵢ ℓ''(mᵢ) at the solution on the sketch; for the hinge, large where a sample is on the margin."""
    if problem.loss.smoothness is None:
        mean_square = float(np.einsum("ij,ij->", Z, Z, dtype=np.float64)) / len(Z)
        corner = _CORNER * problem.penalty / mean_square if mean_square > 0.0 else 0.0
        return np.where((a > problem.loss.lower) & (a < problem.loss.upper), corner, 0.0)
    return problem.weights * problem.loss.curvature(problem.loss.inverse(a))


def _scaled(point: DualPoint, factor: float) -> DualPoint:
    """Return a dual point times a factor of at most 1, which is feasible too."""
    lost = 4.0 * ROUNDOFF * point.norm  # and the roundings of a are a small part of the error that the weights have
    return DualPoint(
        factor * point.weights,
        factor * point.values,
        factor * point.values_error + lost,
        point.effects,
        a=factor * point.a,
        weights_error=1.1 * factor * point.weights_error + lost,
    )
