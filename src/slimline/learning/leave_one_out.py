"""Leave-one-out residuals of ridge regression, for every penalty from one eigendecomposition.

Ridge regression is a linear smoother: what it leaves of the targets is a matrix times them. Leaving out a sample
divides its residual by a number on the diagonal of this matrix, so no fit is repeated. The section "The penalty by
leaving one sample out" of docs/covariates.md has the proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Rows that are worked on at a time, so that no further n × n matrix is held.
_ROWS = 256
#: A sample has an effect of its own if less than this part of it, squared, is orthogonal to the covariates.
_OWN_EFFECT = 1e-12
#: Such parts are computed to about this.
_ROUNDING = 1e-14


class LeaveOneOut:
    """Leave-one-out residuals of ridge regression, the effects of covariates fitted anew without each sample.

    The fit to all samples but i minimises (λ/2)‖w‖² + Σ_{j≠i} sⱼ(yⱼ - xⱼᵀw - uⱼᵀb)²/2. Its residual at i is

        (y - Xw - Ub)ᵢ = (G S^½y)ᵢ / (√sᵢ Gᵢᵢ),      λG = E (λ/(e + λ)) Eᵀ + (I - VVᵀ - EEᵀ).

    The columns of V are an orthonormal basis of S^½U. Those of E are orthonormal eigenvectors of S^½KS^½, restricted to
    the vectors orthogonal to V, with eigenvalues e; those that are left out have the eigenvalue 0.

    Conventions: targets and residuals are float64, of shape (n_samples, n_targets); weights are above 0. The rounding
    of a residual grows with the root of the largest weight over its own.
    """

    def __init__(self, E: Floats, e: Floats, weights: Floats, free: Floats, targets: Floats) -> None:
        n, n_free = free.shape
        self._E, self._e, self._root = E, e, np.sqrt(weights)[:, None]
        # Covariates are taken out before rows are scaled: a target far from 0 would hide samples of little weight.
        effects = np.linalg.lstsq(self._root * free, self._root * targets, rcond=None)[0]
        rest = self._root * (targets - free @ effects)
        self._coordinates = E.T @ rest
        self._part, self._outside = np.zeros((n, 1)), np.zeros_like(rest)
        squares = _squares_times(E, np.ones((E.shape[1], 1)))
        if E.shape[1] < n - n_free:
            squares_of_free = np.square(_basis(weights, free)).sum(axis=1, keepdims=True)
            self._part = 1.0 - squares_of_free - squares
            self._part[self._part < _ROUNDING] = 0.0
            self._outside = np.where(self._part > 0.0, rest - E @ self._coordinates, 0.0)
        #: Which samples can be left out: the others determine the effects of all covariates.
        self.defined = (squares + self._part)[:, 0] > _OWN_EFFECT

    @classmethod
    def of_gram(cls, K: Floats, weights: Floats, free: Floats, targets: Floats) -> LeaveOneOut:
        """Return that of a Gram matrix, by one eigendecomposition."""
        return cls(*_eigenvectors_beside(K, weights, _basis(weights, free)), weights, free, targets)

    @classmethod
    def of_rows(cls, Z: NDArray[Any], weights: Floats, free: Floats, targets: Floats) -> LeaveOneOut:
        """Return that of features, fewer than there are samples, by one singular value decomposition."""
        basis = _basis(weights, free)
        rows = np.sqrt(weights)[:, None] * Z
        size = float(np.square(rows).sum(axis=1).max(initial=0.0))
        for _ in range(2):  # once more, for what rounding left
            rows -= basis @ (basis.T @ rows)
        E, roots, _ = scipy.linalg.svd(rows, full_matrices=False, overwrite_a=True, check_finite=False)
        seen = roots > _negligible(len(rows), float(np.sqrt(size)), roots)
        return cls(E[:, seen], np.square(roots[seen]), weights, free, targets)

    def residuals(self, penalties: Floats) -> Iterator[Floats]:
        """Yield the residual of each sample in the fit without it, for each penalty; NaN where that is not defined."""
        shares = penalties / (self._e[:, None] + penalties)
        diagonal = _squares_times(self._E, shares) + self._part
        diagonal[~self.defined] = np.nan
        for share, own in zip(shares.T, diagonal.T, strict=True):
            left = self._E @ (share[:, None] * self._coordinates) + self._outside
            yield left / (self._root * own[:, None])


def _basis(weights: Floats, free: Floats) -> Floats:
    """Return V."""
    return np.asarray(np.linalg.qr(np.sqrt(weights)[:, None] * free)[0])


def _eigenvectors_beside(K: Floats, weights: Floats, basis: Floats) -> tuple[Floats, Floats]:
    """Return E and e: V goes into the matrix with an eigenvalue below all others, and is left out again.

    With P = I - VVᵀ and A = S^½KS^½, the matrix PAP - μVVᵀ = A - VWᵀ - WVᵀ, where W = AV - ½V(VᵀAV - μI).
    """
    n, count = basis.shape
    root = np.sqrt(weights)
    size = float(np.max(np.diagonal(K) * weights, initial=0.0)) or 1.0
    image = root[:, None] * (K @ (root[:, None] * basis))
    image -= 0.5 * basis @ (basis.T @ image - size * np.eye(count))
    left, right = np.hstack([basis, image]), np.hstack([image, basis])
    matrix = np.empty((n, n), order="F")  # LAPACK works in its place; it is symmetric
    for start in range(0, n, _ROWS):
        rows = slice(start, start + _ROWS)
        matrix[:, rows] = (root[rows, None] * K[rows] * root - left[rows] @ right.T).T
    e, E = scipy.linalg.eigh(matrix, overwrite_a=True, check_finite=False)
    e, E = e[count:], E[:, count:]
    # Of a K of low rank some would be left above 0 by rounding, and others below.
    e[e <= _negligible(n, size, e)] = 0.0
    return E, e


def _negligible(n: int, size: float, largest: Floats) -> float:
    """Return what an eigenvalue or singular value may be by rounding alone."""
    return n * float(np.finfo(float).eps) * max(size, float(largest.max(initial=0.0)))


def _squares_times(E: Floats, shares: Floats) -> Floats:
    """Return the squares of all entries, times a matrix."""
    product = np.empty((len(E), shares.shape[1]))
    for start in range(0, len(E), _ROWS):
        rows = slice(start, start + _ROWS)
        product[rows] = np.square(E[rows]) @ shares
    return product
