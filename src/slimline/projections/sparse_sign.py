"""Sparse sign projection: Achlioptas (one entry in three) and very sparse (one in √d)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import Rows, Scatter, native_rows, native_scatter
from slimline.errors import InvalidParameterError
from slimline.projections.base import FloatArray
from slimline.projections.row_drawn import RowDrawnProjection
from slimline.projections.scattered import apply_sparse, scattered_gram, scattered_rows

#: Above this density the tiles are written out and left to BLAS, which then does more a second than a scatter.
_DENSE_FROM = 0.12


@dataclass(frozen=True)
class SparseSign(RowDrawnProjection):
    """R with independent entries ±√(1 / (density · r)), each with probability density / 2, else 0.

    `density` = 1/3 is Achlioptas (2003), 1/√d Li, Hastie and Church (2006).
    """

    density: float

    family: ClassVar[str] = "sparse_sign"

    def __post_init__(self) -> None:
        """Refuse an impossible density."""
        super().__post_init__()
        if (
            isinstance(self.density, bool)
            or not isinstance(self.density, (float, int))
            or not 2**-24 <= self.density <= 1
        ):
            raise InvalidParameterError(f"density must lie between 2**-24 and 1; got {self.density!r}.")
        object.__setattr__(self, "density", float(self.density))

    @property
    def scale(self) -> float:
        """√(1 / (density · r))."""
        return 1.0 / math.sqrt(self.density) / math.sqrt(self.n_components)

    @property
    def kurtosis(self) -> float:
        """1 / density: 3 for Achlioptas, √d for very sparse."""
        return 1.0 / self.density

    @cached_property
    def _native(self) -> Rows | Scatter:  # type: ignore[override]
        if self.density >= _DENSE_FROM:
            return native_rows("sparse_sign", self.seed, self.n_components, self.density)
        return self._scatter

    @cached_property
    def _scatter(self) -> Scatter:
        return native_scatter("sparse_sign", self.seed, self.n_components, density=self.density)

    def rows(self, start: int = 0, stop: int | None = None, dtype: Any = np.float64) -> FloatArray | sp.csr_array:
        """Return R[start:stop] as a CSR array."""
        start, stop, dtype = self._row_range(start, stop, dtype)
        return scattered_rows(self._scatter, start, stop, self.n_components, self.scale, dtype)

    def gram(self) -> NDArray[np.float64]:
        """Return RᵀR from the non-zeros of R."""
        return scattered_gram(self)

    def _apply_sparse(self, x: Any, feature: int, out: FloatArray, accumulate: bool) -> None:
        if self.density >= _DENSE_FROM:
            super()._apply_sparse(x, feature, out, accumulate)
        else:
            apply_sparse(self._scatter, x, feature, self.scale, out, accumulate)
