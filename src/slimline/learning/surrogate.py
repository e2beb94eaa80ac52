"""Surrogates of K = XXᵀ: the sketch, the Gram matrix, the rows themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import add_product
from slimline.errors import DataError
from slimline.learning.problem import BinaryProblem, ExactSubspace, Solution, orthonormal_part
from slimline.learning.rows import ArrayRows, Rows, SparseRows
from slimline.learning.solve_features import solve_rows
from slimline.learning.solve_gram import solve_gram
from slimline.learning.training_data import TrainingData
from slimline.projections import Projection

Floats = NDArray[np.float64]
#: Rounding of the squared norm of a row, as a part of λ, that does not disturb the small problem.
_VISIBLE = 0.1
#: Columns that are widened at a time.
_COLUMNS = 4096
#: Up to so many samples the small problem lives in the n × n matrix of the sketch.
GRAM_SAMPLES = 5000
#: Error that an exact surrogate aims at: one step reaches it unless rounding is in the way; then a second may help.
EXACT = 1e-8


class Surrogate(ABC):
    """Stands for K = XXᵀ in the small problems, all of which share it."""

    #: Components of the sketch, or features where nothing was sketched.
    n_components: int
    #: Whether it is the data themselves, to rounding, and small problems are solved to rounding.
    exact: bool
    #: Whether what is left of the gap of a small problem is what is left of the full one's.
    is_full_problem = False

    @abstractmethod
    def times(self, beta: Floats, subspace: ExactSubspace) -> Floats:
        """Return K̃β."""

    @abstractmethod
    def solve(
        self, problem: BinaryProblem, rows: NDArray[np.intp] | None, subspace: ExactSubspace, start: Floats, gap: float
    ) -> Solution:
        """Solve the small problem to within `gap`; with weights, and the values of all rows, only if these are of X."""


class GramSurrogate(Surrogate):
    """The Gram matrix of a sketch, or of the data."""

    def __init__(self, K: Floats, n_components: int, exact: bool = False) -> None:
        self.K = K
        self.n_components = n_components
        self.exact = exact

    def times(self, beta: Floats, subspace: ExactSubspace) -> Floats:
        """Return K̃β."""
        product = self.K @ beta
        if len(subspace):
            out = self._taken_out(subspace)
            product += subspace.products @ (subspace.products.T @ beta) - out @ (out.T @ beta)
        return np.asarray(product)

    def solve(
        self, problem: BinaryProblem, rows: NDArray[np.intp] | None, subspace: ExactSubspace, start: Floats, gap: float
    ) -> Solution:
        """Solve the small problem to within `gap`."""
        K, known, out = self.K, subspace.products, self._taken_out(subspace)
        if rows is not None:
            K, known, out = K[np.ix_(rows, rows)], known[rows], out[rows]
        if len(subspace):
            K = K + np.hstack([known, -out]) @ np.hstack([known, out]).T
        return solve_gram(K, problem, start, gap)

    def add(self, other: GramSurrogate) -> None:
        """Average with the Gram matrix of another sketch, weighted by their sizes: the sketch of both together."""
        both = self.n_components + other.n_components
        self.K *= self.n_components / both
        self.K += other.K * (other.n_components / both)
        self.n_components = both

    def _taken_out(self, subspace: ExactSubspace) -> Floats:
        images = self.K @ subspace.vectors
        return orthonormal_part(subspace.vectors.T @ images, images)


class FeatureSurrogate(Surrogate):
    """The rows of a sketch, or of the data, where there are more of them than components."""

    def __init__(self, Z: NDArray[Any], constant: float, exact: bool = False) -> None:
        self.Z = Z
        self.constant = constant
        self.n_components = Z.shape[1]
        self.exact = exact

    def times(self, beta: Floats, subspace: ExactSubspace) -> Floats:
        """Return K̃β."""
        features = self._features(None, subspace)
        return features.times(features.transposed_times(beta))

    def solve(
        self, problem: BinaryProblem, rows: NDArray[np.intp] | None, subspace: ExactSubspace, start: Floats, gap: float
    ) -> Solution:
        """Solve the small problem to within `gap`."""
        return replace(solve_rows(self._features(rows, subspace), problem, start, gap), weights=None)

    def columns(self) -> Floats:
        """Return all columns in float64, the constant one last."""
        return np.column_stack([self.Z, np.full(len(self.Z), self.constant)]).astype(np.float64, copy=False)

    def _features(self, rows: NDArray[np.intp] | None, subspace: ExactSubspace) -> Rows:
        Z, known, basis = self.Z, subspace.products, None
        if len(subspace):
            basis = np.linalg.qr(Rows(Z, self.constant).images(subspace.vectors))[0]
        if rows is not None:
            Z, known = Z[rows], known[rows]
        return Rows(Z, self.constant, basis, known)


class DirectSurrogate(Surrogate):
    """Rows of the data as they are, solved as far as a step asks for; K is exact, so the subspace corrects nothing."""

    exact = False
    is_full_problem = True

    def __init__(self, Z: Any, constant: float) -> None:
        self._features = _features(Z, constant)
        self.n_components = Z.shape[1]

    def times(self, beta: Floats, subspace: ExactSubspace) -> Floats:
        """Return K β."""
        return self._features.times(self._features.transposed_times(beta))

    def solve(
        self, problem: BinaryProblem, rows: NDArray[np.intp] | None, subspace: ExactSubspace, start: Floats, gap: float
    ) -> Solution:
        """Solve the problem; with its weights, unless those of the dual point are as good."""
        features = self._features
        if rows is not None:
            features = _features(features.Z[rows], features.constant)
        solution = solve_rows(features, problem, start, gap)
        if problem.loss.smoothness is None or solution.weights is None:
            return replace(solution, weights=None)
        return replace(solution, values=self._features.times(solution.weights))


def sketch_surrogate(
    data: TrainingData, projection: Projection, Z: NDArray[Any] | None = None, penalty: float | None = None
) -> Surrogate:
    """Return the Gram matrix of a sketch if samples are few, or fewer than components; else the sketch; in one pass."""
    if Z is None:
        Z = data.sketch(projection)
    require_finite_squares(Z, data.matrix.name)
    if data.shape[0] <= max(GRAM_SAMPLES, Z.shape[1]):
        return GramSurrogate(gram_of(Z, data.constant, penalty), Z.shape[1])
    return FeatureSurrogate(Z if squares_are_safe(Z) else Z.astype(np.float64), data.constant)


def exact_surrogate(data: TrainingData) -> Surrogate:
    """Return the Gram matrix of the data, or X itself if it has fewer columns than rows."""
    n, d = data.shape
    if d < n:
        X = data.dense()
        require_finite_squares(X, data.matrix.name)
        return FeatureSurrogate(X, data.constant, exact=True)
    K = data.gram()
    K += data.constant**2
    return GramSurrogate(K, d, exact=True)


def direct_surrogate(data: TrainingData) -> DirectSurrogate:
    """Return the rows of the data as they are stored, in one pass."""
    Z = data.stored_rows()
    values = Z.data if sp.issparse(Z) else Z  # type: ignore[attr-defined]
    require_finite_squares(values, data.matrix.name)
    if not sp.issparse(Z) and not squares_are_safe(values):
        Z = Z.astype(np.float64)
    return DirectSurrogate(Z, data.constant)


def growing(
    data: TrainingData,
    draw: Callable[[int, int], Projection],
    most_components: int,
    penalty: float | None = None,
) -> Callable[[Surrogate, float], Surrogate | None]:
    """Return what improves a sketch that contracts too little: a fresh one beside it, or in its place."""
    count = 0

    def improve(surrogate: Surrogate, steps_left: float) -> Surrogate | None:
        nonlocal count
        if not isinstance(surrogate, GramSurrogate):
            count += 1
            return sketch_surrogate(data, draw(count, surrogate.n_components), penalty=penalty)
        # As many components as samples are the worst number of all: a small sketch jumps over it.
        more = max(surrogate.n_components, 4 * data.shape[0] // 64 * 64)
        if surrogate.n_components + more > most_components:
            return None
        count += 1
        fresh = sketch_surrogate(data, draw(count, more), penalty=penalty)
        assert isinstance(fresh, GramSurrogate)
        surrogate.add(fresh)
        return surrogate

    return improve


def gram_of(Z: NDArray[Any], constant: float, penalty: float | None = None) -> Floats:
    """Return Z Zᵀ + c² in float64, made by one triangle in the precision of Z where that is enough."""
    narrow = Z.dtype == np.float32 and squares_are_safe(Z)
    if narrow and penalty is not None:
        largest = float(np.einsum("ij,ij->i", Z, Z).max(initial=0.0))
        narrow = float(np.finfo(np.float32).eps) * largest <= _VISIBLE * penalty
    # BLAS fills one triangle of an array by columns, and leaves zeros in the other.
    half: NDArray[Any]
    if narrow:
        half = np.zeros((len(Z), len(Z)), dtype=np.float32, order="F")
        add_product(Z, half, lower=False)
    else:
        half = np.zeros((len(Z), len(Z)), order="F")
        for start in range(0, Z.shape[1], _COLUMNS):  # so that no second sketch is held
            part = Z[:, start : start + _COLUMNS].astype(np.float64)
            add_product(part, half, lower=False)
            del part  # before the next one is made
    K = np.add(half, half.T, dtype=np.float64, order="C")
    K[np.diag_indices_from(K)] *= 0.5
    if constant != 0.0:
        K += constant**2
    return np.asarray(K)


def squares_are_safe(Z: NDArray[Any]) -> bool:
    """Return whether squares of these values stay well within float32."""
    largest = float(max(Z.max(), -Z.min())) if Z.size else 0.0
    return largest == 0.0 or 1e-15 < largest < 1e15


def require_finite_squares(Z: NDArray[Any], name: str) -> None:
    """Refuse values whose squares float64 cannot hold."""
    largest = float(max(Z.max(), -Z.min())) if Z.size else 0.0
    if not largest < 1e150:
        raise DataError(f"{name}: values of {largest:.1g} are too large, their squares overflow: scale the data first.")


def _features(Z: Any, constant: float) -> ArrayRows | SparseRows:
    return SparseRows(Z, constant) if sp.issparse(Z) else ArrayRows(Z, constant)
