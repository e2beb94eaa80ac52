"""Labels of classes, checked and numbered."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import type_of_target

from slimline._base.checks import real_array
from slimline.errors import DataError, InvalidParameterError


def class_labels(
    y: Any, n_samples: int | None = None, *, name: str = "y", warn: bool = False
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes, in order, and the number of the class of each sample; `warn` of a column, as scikit-learn."""
    if y is None:
        raise DataError("there are no labels: this estimator requires y to be passed, but the target y is None.")
    try:
        labels = column_or_1d(y, warn=warn)
    except ValueError as error:
        raise InvalidParameterError(f"must have one label for each sample: {error}", name) from error
    if n_samples is not None and len(labels) != n_samples:
        raise InvalidParameterError(
            f"has {len(labels):,} labels for {n_samples:,} samples (inconsistent numbers of samples).", name
        )
    require_labels(labels)
    labels = as_one_type(labels)
    assert_all_finite(labels, input_name=name)
    if len(labels) and (kind := type_of_target(labels, input_name=name)) not in ("binary", "multiclass"):
        raise InvalidParameterError(f"holds measurements, not classes (Unknown label type: {kind}).", name)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        held = f"only one class, {classes.tolist()[0]!r}" if len(classes) else "no class"
        raise DataError(f"{name} holds {held}: a classifier needs samples of at least two classes.", parameter="label")
    return classes, codes


def missing_labels(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels are missing: None, NaN or the like."""
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
            f"sample {int(missing.argmax()):,}, counted from 0.",
            "Leave them out of y and X: with known = ~pandas.isna(y), take y[known] and open_matrix(X).rows(known).",
        )


def as_one_type(labels: NDArray[Any]) -> NDArray[Any]:
    """Return numbers or truth values that lie in an array of objects as an array of their own type."""
    if labels.dtype.kind != "O" or not all(isinstance(value, (Real, np.bool_)) for value in labels):
        return labels
    typed = np.array(labels.tolist())
    return typed if typed.dtype.kind in "biuf" else labels


def numeric_targets(y: Any, n_samples: int) -> NDArray[np.float64]:
    """Return targets as float64, or say what is wrong with them."""
    if y is None:
        raise DataError("requires y to be passed, but the target y is None.")
    if np.asarray(y).dtype.kind == "O":
        type_of_target(y, raise_unknown=True)
    targets = np.asarray(real_array(y, "y"), dtype=np.float64)
    if targets.ndim not in (1, 2) or len(targets) != n_samples or targets.size == 0:
        raise DataError(f"y must have one row for each of {n_samples} samples; it has shape {targets.shape}.")
    if not np.isfinite(targets).all():
        raise DataError("y contains NaN or infinity: leave out the samples whose target is missing.")
    return targets
