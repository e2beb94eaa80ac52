"""Data frames of pandas and polars: their numbers as an array, and their names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.errors import InvalidParameterError


def read_frame(frame: Any) -> tuple[NDArray[Any], dict[str, Any]]:
    """Return the numbers of a frame, and what `DenseMatrix` is told of them.

    Parameters
    ----------
    frame : pandas or polars data frame
        Columns of numbers; a null is a missing value.

    Returns
    -------
    array : array of shape (n_samples, n_features)
        The frame's own memory where all columns are of one type.
    options : dict
        Name, names of the columns, and those of the rows if pandas has an index that says more than their number.
    """
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if not _holds_numbers(dtype):
            raise InvalidParameterError(
                f"frame: column {name!r} does not hold numbers, but {dtype}: leave it out, or turn it into numbers."
            )
    index = getattr(frame, "index", None)  # polars has none
    array = frame.to_numpy()
    if array.dtype.kind == "O":  # numbers beside truth values, or pandas' own types with nulls
        array = array.astype(np.float64) if index is None else frame.to_numpy(dtype=np.float64, na_value=np.nan)
    options: dict[str, Any] = {"name": "frame", "feature_names": [str(name) for name in frame.columns]}
    if index is not None and not _only_counts(index):
        options["sample_ids"] = [str(name) for name in index]
    return array, options


def _holds_numbers(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "fiub"


def _only_counts(index: Any) -> bool:
    """Say whether an index of pandas is the one that it makes by itself, which counts from 0."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
