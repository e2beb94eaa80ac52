"""Linear systems with a symmetric matrix that may be singular to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def solve_shifted(matrix: Any, shift: Floats, right: Floats) -> Floats:
    """Return the solution of (M + diag(shift)) x = right, M being positive semi-definite up to rounding.

    Parameters
    ----------
    matrix : array of shape (n, n)
        M; left as it is.
    shift : array of shape (n,)
        Not negative.
    right : array of shape (n,)
        Right-hand side.

    Returns
    -------
    x : array of shape (n,)
        Where the sum is singular to rounding, the solution that leaves its null space alone.
    """
    total = np.array(matrix.T, dtype=np.float64, order="F")  # symmetric, and by rows: copied as it lies
    total[np.diag_indices_from(total)] += shift
    try:
        factor = scipy.linalg.cho_factor(total, lower=True, overwrite_a=True, check_finite=False)
        x: Floats = scipy.linalg.cho_solve(factor, right, check_finite=False)
        if np.isfinite(x).all():
            return x
    except np.linalg.LinAlgError:
        pass
    total = np.array(matrix.T, dtype=np.float64, order="F")  # symmetric, and by rows: copied as it lies
    total[np.diag_indices_from(total)] += shift
    values, vectors = scipy.linalg.eigh(total, overwrite_a=True, check_finite=False)
    kept = values > len(values) * np.finfo(float).eps * max(float(values[-1]), np.finfo(float).tiny)
    x = vectors[:, kept] @ ((vectors[:, kept].T @ right) / values[kept])
    return x
