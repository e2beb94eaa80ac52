"""What the cost model looks at: sizes and storage, from a matrix or made up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from slimline.data import Matrix
from slimline.data.standardised import Standardised
from slimline.data.stored_rows import has_stored_rows

_SINGLE: np.dtype[Any] = np.dtype(np.float32)


@dataclass(frozen=True)
class DataShape:
    """Sizes and storage of data that may not be there yet.

    Parameters
    ----------
    shape : tuple of int
        Samples and features.
    dtype : numpy.dtype
        Of an element.
    density : float, optional
        Share of the elements that a sparse matrix stores; None: dense.
    normal_passes : int
        Passes that XᵀA and XXᵀA take together: 1 where whole columns can be had, else 2.
    standardised : bool
        Whether columns are centred and scaled.
    stored_rows : bool
        Whether rows can be visited one by one, as `method="direct"` does.
    from_file : bool
        Whether they are read from a file.
    packed : bool
        Whether genotypes are computed on as they are packed.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any] = _SINGLE
    density: float | None = None
    normal_passes: int = 1
    standardised: bool = False
    stored_rows: bool = False
    from_file: bool = False
    packed: bool = False

    @classmethod
    def of(cls, matrix: Matrix | DataShape) -> DataShape:
        """Return the shape of a matrix.

        Parameters
        ----------
        matrix : Matrix or DataShape
            One that is a shape already is returned as it is.

        Returns
        -------
        shape : DataShape
            No data behind it.
        """
        if isinstance(matrix, DataShape):
            return matrix
        return cls(
            matrix.shape,
            matrix.dtype,
            matrix.density,
            matrix.normal_passes,
            isinstance(matrix, Standardised),
            has_stored_rows(matrix),
            matrix.reads_ahead or matrix.packed,
            matrix.packed,
        )

    @property
    def cells(self) -> float:
        """Return how many elements are stored."""
        n, d = self.shape
        return float(n) * d * (1.0 if self.density is None else self.density)

    @property
    def nbytes(self) -> float:
        """Return how much memory or disk they take."""
        return self.cells * (self.dtype.itemsize + (4 if self.density is not None else 0))
