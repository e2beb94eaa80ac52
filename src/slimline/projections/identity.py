"""The projection that changes nothing, for data that are narrow already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.errors import InvalidParameterError
from slimline.projections.base import FloatArray, Projection


@dataclass(frozen=True)
class Identity(Projection):
    """R = I: what is done with a sketch can be done with the data themselves.

    Parameters
    ----------
    n_features, n_components : int
        The same number.
    seed : int
        Of no effect.
    """

    family: ClassVar[str] = "identity"

    def __post_init__(self) -> None:
        """Refuse another number of components."""
        super().__post_init__()
        if self.n_components != self.n_features:
            raise InvalidParameterError(
                f"n_components={self.n_components} must be n_features={self.n_features}: nothing is projected."
            )

    def rows(self, start: int = 0, stop: int | None = None, dtype: Any = np.float64) -> FloatArray | sp.csr_array:
        """Return rows of the identity as a CSR array."""
        start, stop, dtype = self._row_range(start, stop, dtype)
        return sp.csr_array(sp.eye_array(stop - start, self.n_components, k=start, dtype=dtype))

    def _apply_dense(self, x: NDArray[Any], feature: int, out: FloatArray, accumulate: bool) -> None:
        if not accumulate:
            out[...] = 0
        out[:, feature : feature + x.shape[1]] += x

    def _apply_sparse(self, x: Any, feature: int, out: FloatArray, accumulate: bool) -> None:
        self._apply_dense(x.toarray(), feature, out, accumulate)

    def _lift(self, v: FloatArray, feature: int, out: FloatArray) -> None:
        out[...] = v[:, feature : feature + out.shape[1]]
