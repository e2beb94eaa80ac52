"""A training problem, as ours and the peers are given it, and what a contender returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.data import Matrix

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """minimise ½‖w‖² + C Σ ℓ(yᵢ wᵀxᵢ), without an intercept.

    Parameters
    ----------
    X : array or CSR matrix
        Data as they are stored.
    labels : array of shape (n_samples,)
        y, each -1 or +1.
    C : float
        Inverse strength of the penalty.
    matrix : Matrix
        The same data, for ours.
    standardise : bool
        Whether the columns are to be standardised and missing calls filled: X is int8 then.
    """

    X: Any
    labels: Floats
    C: float
    matrix: Matrix
    standardise: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Return samples and features."""
        return self.matrix.shape

    @property
    def is_sparse(self) -> bool:
        """Say whether X is a CSR matrix."""
        return bool(sp.issparse(self.X))

    @property
    def values(self) -> int:
        """Return how many values are stored."""
        return int(self.X.nnz if self.is_sparse else self.X.size)

    @cached_property
    def trained_on(self) -> Matrix:
        """Return the view that everyone's weights belong to."""
        return self.matrix.standardised("mean", "std", "mean") if self.standardise else self.matrix


@dataclass(frozen=True)
class Fit:
    """What a contender found.

    Parameters
    ----------
    weights : array of shape (n_features,)
        w, of the columns as they are trained on.
    dual : array of shape (n_samples,), optional
        y α, where the contender has dual variables: w = Xᵀ(yα).
    intercept : float
        Constant of a contender that cannot do without; it is judged by the problem that has one.
    passes : int, optional
        Passes over the data, where they are counted.
    """

    weights: NDArray[Any]
    dual: Floats | None = None
    intercept: float = 0.0
    passes: int | None = None
