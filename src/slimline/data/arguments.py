"""What the passes are given, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.errors import InvalidParameterError


def sample_weights(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Return the weights as float64, or raise; None stays None."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise InvalidParameterError(f"sample_weight must have one entry for each of {n} samples; got {weight.shape}.")
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise InvalidParameterError("sample_weight must hold finite numbers, 0 or more.")
    if n and not 0 < weight.sum() < np.inf:
        raise InvalidParameterError("sample_weight must have a finite sum above 0.")
    return weight


def right_hand_sides(V: Any, size: int, name: str, of: str) -> tuple[NDArray[np.float64], bool]:
    """Return k vectors side by side, in float64 and C order, and whether one came alone; or raise."""
    V = np.asarray(V)
    flat = V.ndim == 1
    if V.ndim not in (1, 2) or V.shape[0] != size:
        raise InvalidParameterError(f"{name} must have one row for each of {size} {of}s; got shape {V.shape}.")
    if V.dtype.kind not in "fiub":
        raise InvalidParameterError(f"{name} must hold real numbers; got element type {V.dtype}.")
    V = np.ascontiguousarray(V.reshape(size, -1) if size else V.reshape(0, 1 if flat else V.shape[1]), dtype=np.float64)
    if not np.isfinite(V).all():
        raise InvalidParameterError(f"{name} holds NaN or an infinity.")
    return V, flat
