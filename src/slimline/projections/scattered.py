"""Families with few non-zeros a feature: what the sparse embedding and the very sparse signs share."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import Scatter, thread_count
from slimline.errors import InvalidParameterError
from slimline.projections.base import FloatArray, Projection
from slimline.projections.blocks import require_sound

#: Features whose rows of R are multiplied at a time.
_GRAM_FEATURES = 1 << 16

#: Stored values of a panel of columns that is turned into rows.
_PANEL = 1 << 20


def scattered_rows(native: Scatter, start: int, stop: int, n_components: int, scale: float, dtype: Any) -> sp.csr_array:
    """Return R[start:stop] as a CSR array."""
    count = native.count(start, stop - start)
    if count >= 2**31:
        raise InvalidParameterError(
            f"these rows of R have {count} entries, too many to write out: ask for fewer at a time."
        )
    pointer = np.empty(stop - start + 1, dtype=np.uint32)
    entries = np.empty(count, dtype=np.uint32)
    native.rows(start, pointer, entries)
    values = np.where(entries & np.uint32(1), -scale, scale).astype(dtype)
    rows = sp.csr_array(
        (values, (entries >> np.uint32(1)).astype(np.int32), pointer.astype(np.int32)),
        shape=(stop - start, n_components),
    )
    rows.sort_indices()
    return rows


def apply_sparse(native: Any, x: Any, feature: int, scale: float, out: FloatArray, accumulate: bool) -> None:
    """Write x R to `out`, or add it, row by row; columns are turned into rows panel by panel."""
    if x.format == "csr":
        native.apply_rows(x.indptr, x.indices, x.data, x.shape[1], feature, scale, out, accumulate, thread_count())
        return
    require_sound(x)
    panels = max(1, -(-x.nnz // _PANEL))
    step = -(-x.shape[1] // panels)
    for start in range(0, x.shape[1], step):
        part = x[:, start : start + step].tocsr()
        native.apply_rows(
            part.indptr,
            part.indices,
            part.data,
            part.shape[1],
            feature + start,
            scale,
            out,
            accumulate or start > 0,
            thread_count(),
        )


def scattered_gram(projection: Projection) -> NDArray[np.float64]:
    """Return RᵀR from the non-zeros alone: s² a feature."""
    total: Any = sp.csr_array((projection.n_components, projection.n_components))
    for start in range(0, projection.n_features, _GRAM_FEATURES):
        rows = projection.rows(start, min(start + _GRAM_FEATURES, projection.n_features))
        total = total + rows.T @ rows
    return np.asarray(total.toarray(), dtype=np.float64)
