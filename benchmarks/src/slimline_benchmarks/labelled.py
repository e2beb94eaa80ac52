"""Points of two classes, as ours and the peers are given them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.data import Matrix


@dataclass(frozen=True)
class Labelled:
    """Data and labels.

    Parameters
    ----------
    X : array or CSR matrix
        Data as they are stored.
    labels : array of shape (n_samples,)
        y, each -1 or +1.
    matrix : Matrix
        The same data, for ours.
    """

    X: Any
    labels: NDArray[np.float64]
    matrix: Matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Return samples and features."""
        return self.matrix.shape

    @property
    def is_sparse(self) -> bool:
        """Return whether X is a CSR matrix."""
        return bool(sp.issparse(self.X))

    @property
    def values(self) -> int:
        """Return how many values are stored."""
        return int(self.X.nnz if self.is_sparse else self.X.size)
