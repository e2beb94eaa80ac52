"""Labels of classes, checked and numbered."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from slimline.data._matrix import Matrix
from slimline.errors import DataError, InvalidParameterError


def class_codes(labels: Any, matrix: Matrix) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the names of the classes, and the number of the class of each row."""
    labels = np.asarray(labels)
    if labels.ndim != 1 and labels.shape[1:] != (1,):  # a column is common
        shown = "None" if labels.shape == () and labels.item() is None else f"an array of shape {labels.shape}"
        raise InvalidParameterError(f"must have one label for each of the {matrix.shape[0]:,} rows; got {shown}.", "y")
    labels = labels.ravel()
    if len(labels) != matrix.shape[0]:
        raise InvalidParameterError(f"has {len(labels):,} labels, and {matrix.name} {matrix.shape[0]:,} rows.", "y")
    require_labels(labels)
    if labels.dtype == object:
        labels = labels.astype(str)
    if type_of_target(labels).startswith("continuous"):
        raise InvalidParameterError(
            "holds measurements, not classes: a classifier has nothing to learn from them.", "y"
        )
    names, codes = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        raise DataError("y has only one class: there is nothing to tell apart.")
    return names, codes


def missing_labels(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels are None, NaN or another value that stands for none."""
    if labels.dtype.kind != "O":
        return np.asarray(labels != labels) if labels.dtype.kind in "fcmM" else np.zeros(labels.shape, dtype=bool)
    return np.array([_is_missing(value) for value in labels.ravel()], dtype=bool).reshape(labels.shape)


def _is_missing(value: Any) -> bool:
    # pandas.NA compares to neither True nor False
    differs = value is None or value != value
    return bool(differs) if isinstance(differs, (bool, np.bool_)) else True


def require_labels(labels: NDArray[Any]) -> None:
    """Refuse labels some of which are missing."""
    missing = missing_labels(labels)
    if missing.any():
        raise DataError(
            f"{int(missing.sum()):,} of {missing.size:,} samples have no label in y (None or NaN), the first of them "
            f"sample {int(missing.argmax()):,}, counted from 0. Leave them out of both: with known = ~pandas.isna(y), "
            "take y[known], and X.rows(known) of a Matrix or X[known] of an array."
        )


def as_one_type(labels: NDArray[Any]) -> NDArray[Any]:
    """Return numbers or truth values that lie in an array of objects as an array of their own type."""
    if labels.dtype.kind != "O" or not all(isinstance(value, (Real, np.bool_)) for value in labels):
        return labels
    typed = np.array(labels.tolist())
    return typed if typed.dtype.kind in "biuf" else labels
