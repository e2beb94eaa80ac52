"""Labels of classes, checked and numbered."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from slimline.data.matrix import Matrix
from slimline.errors import DataError, InvalidParameterError


def class_codes(labels: Any, matrix: Matrix) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the names of the classes, and the number of the class of each row.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        One label a row.
    matrix : Matrix
        The data that they belong to.

    Returns
    -------
    names : array of shape (n_classes,)
        Two or more, sorted.
    codes : array of shape (n_samples,)
        Places in `names`.
    """
    labels = np.asarray(labels)
    if labels.ndim != 1 and labels.shape[1:] != (1,):  # a column is common
        shown = "None" if labels.shape == () and labels.item() is None else f"an array of shape {labels.shape}"
        raise InvalidParameterError(f"y must have one label for each of the {matrix.shape[0]:,} rows; got {shown}.")
    labels = labels.ravel()
    if len(labels) != matrix.shape[0]:
        raise InvalidParameterError(f"y has {len(labels):,} labels, and {matrix.name} {matrix.shape[0]:,} rows.")
    missing = np.array([value is None or value != value for value in labels.tolist()])
    if missing.any():
        raise DataError(f"{int(missing.sum()):,} rows have no label: leave them out, for instance with X.rows(known).")
    if labels.dtype == object:
        labels = labels.astype(str)
    if type_of_target(labels).startswith("continuous"):
        raise InvalidParameterError("y holds measurements, not classes: a classifier has nothing to learn from them.")
    names, codes = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        raise DataError("y has only one class: there is nothing to tell apart.")
    return names, codes
