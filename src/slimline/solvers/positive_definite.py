"""Linear systems with a symmetric matrix that may be singular to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def solve_shifted(matrix: Any, shift: Floats, right: Floats, *, single: bool = False) -> Floats:
    """Return the solution of (M + diag(shift)) x = right, M being positive semi-definite up to rounding.

    Parameters
    ----------
    matrix : array of shape (n, n)
        M; left as it is.
    shift : array of shape (n,)
        Not negative.
    right : array of shape (n,)
        Right-hand side.
    single : bool
        Factor in float32, where that succeeds: for a direction that need not be exact.

    Returns
    -------
    x : array of shape (n,)
        Where the sum is singular to rounding, the solution that leaves its null space alone.
    """
    kinds: list[Any] = [np.float32, np.float64] if single else [np.float64]
    for dtype in kinds:
        total = _sum(matrix, shift, dtype)
        try:
            factor: Any = scipy.linalg.cho_factor(total, lower=True, overwrite_a=True, check_finite=False)
            with np.errstate(over="ignore"):
                side = right.astype(dtype)
            x = scipy.linalg.cho_solve(factor, side, check_finite=False).astype(np.float64)
            if np.isfinite(x).all():
                return np.asarray(x)
        except np.linalg.LinAlgError:
            pass
    total = _sum(matrix, shift, np.float64)
    values, vectors = scipy.linalg.eigh(total, overwrite_a=True, check_finite=False)
    kept = values > len(values) * np.finfo(float).eps * max(float(values[-1]), np.finfo(float).tiny)
    return np.asarray(vectors[:, kept] @ ((vectors[:, kept].T @ right) / values[kept]))


def _sum(matrix: Any, shift: Floats, dtype: Any) -> Any:
    with np.errstate(over="ignore"):  # an infinity ends the factorisation, and float64 takes over
        total = np.array(matrix.T, dtype=dtype, order="F")  # symmetric, and by rows: copied as it lies
        total[np.diag_indices_from(total)] += shift.astype(dtype)
    return total
