"""The lift is the transpose of the sketch."""

from __future__ import annotations

from typing import Any

import numpy as np

from slimline.projections import Projection
from slimline.testing.rounding import accumulation_error, dense_rows, require_close


def check_adjoint(projection: Projection, *, n_samples: int = 4, seed: int = 0) -> None:
    """Check that ⟨x R, v⟩ = ⟨x, v Rᵀ⟩ for random x and v, in float64 and in float32.

    Parameters
    ----------
    projection : Projection
        What is checked.
    n_samples : int
        How many pairs (x, v).
    seed : int
        Seed of x and v.

    Raises
    ------
    AssertionError
        If the two sides differ by more than rounding explains. No chance is involved in the bound.

    Examples
    --------
    >>> from slimline.projections import Gaussian
    >>> from slimline.testing import check_adjoint
    >>> check_adjoint(Gaussian(n_features=100, n_components=16, seed=0))
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, projection.n_features))
    V = rng.standard_normal((n_samples, projection.n_components))
    R = np.abs(dense_rows(projection))
    dtypes: tuple[Any, ...] = (np.float64, np.float32)
    for dtype in dtypes:
        x, v = X.astype(dtype), V.astype(dtype)
        sketched = np.sum(projection.apply(x).astype(np.float64) * v, axis=1)
        lifted = np.sum(x * projection.lift(v).astype(np.float64), axis=1)
        size = np.sum((np.abs(x).astype(np.float64) @ R) * np.abs(v), axis=1)
        # One side adds up over the features, the other over the components; both inner products are in float64.
        operations = projection.n_features + projection.n_components + 32
        bound = size * (accumulation_error(operations, dtype) + accumulation_error(operations, np.float64))
        require_close(sketched, lifted, bound, f"adjoint in {np.dtype(dtype)}: <xR, v> against <x, vR^T>")
