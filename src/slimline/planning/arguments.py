"""What `plan` is given, checked before any work is done."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from slimline.data import Matrix, open_matrix
from slimline.errors import DataError, InvalidParameterError
from slimline.planning.shape import DataShape
from slimline.solvers import LOSSES

_METHODS = ("auto", "sketch", "gram", "direct")


def number(name: str, value: Any, above: float, most: float = np.inf) -> float:
    """Return a number within (above, most], or refuse it.

    Parameters
    ----------
    name : str
        What the message calls it.
    value : object
        What was given.
    above, most : float
        Ends; an infinite one is excluded.

    Returns
    -------
    number : float
        The value.
    """
    real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not real or not above < float(value) <= most or not np.isfinite(float(value)):
        end = f" and at most {most:g}" if most < np.inf else ""
        raise InvalidParameterError(f"{name} must be a number above {above:g}{end}; got {value!r}.")
    return float(value)


def whole(name: str, value: Any, least: int = 1, most: float = np.inf) -> int:
    """Return a whole number within [least, most], or refuse it.

    Parameters
    ----------
    name : str
        What the message calls it.
    value : object
        What was given.
    least, most : int
        Ends.

    Returns
    -------
    number : int
        The value.
    """
    good = isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most
    if not good:
        end = f" and at most {int(most):,}" if most < np.inf else ""
        raise InvalidParameterError(f"{name} must be a whole number, at least {least:,}{end}; got {value!r}.")
    return int(value)


def chance(name: str, value: Any) -> float:
    """Return a number within (0, 1), or refuse it."""
    if not (isinstance(value, Real) and 0 < float(value) < 1):
        raise InvalidParameterError(f"{name} must be a number in (0, 1); got {value!r}.")
    return float(value)


def check_choices(loss: str, method: str, n_components: Any) -> None:
    """Refuse a loss, a method or a number of components that there is not."""
    if loss not in LOSSES:
        raise InvalidParameterError(f"loss must be one of {', '.join(LOSSES)}; got {loss!r}.")
    if method not in _METHODS:
        raise InvalidParameterError(f"method must be one of {', '.join(_METHODS)}; got {method!r}.")
    if not (isinstance(n_components, str) and n_components == "auto"):
        whole('n_components, if it is not "auto",', n_components)


def seed_of(random_state: Any) -> int:
    """Return the seed that a number, a generator or None stands for, as in scikit-learn."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InvalidParameterError(f"random_state: {error}") from None


def opened(
    X: Any, y: Any, n_classes: int | None, standardize: bool
) -> tuple[Matrix | None, NDArray[np.intp] | None, int]:
    """Return the data as they are trained on, the class number of each row, and the number of classes.

    Parameters
    ----------
    X, y : object
        As `plan` has them.
    n_classes : int or None
        Classes, where there are no labels.
    standardize : bool
        Whether columns are centred and scaled.

    Returns
    -------
    matrix : Matrix or None
        None without data.
    codes : array or None
        None without labels.
    n_classes : int
        Two or more.
    """
    if X is None:
        if y is not None:
            raise InvalidParameterError("y was given without X: give both, or sizes alone.")
        return None, None, 2 if n_classes is None else whole("n_classes", n_classes, 2)
    matrix = X if isinstance(X, Matrix) else open_matrix(Path(X) if isinstance(X, str) else X)
    if not min(matrix.shape):
        raise DataError(f"{matrix.name} has the shape {matrix.shape}: there is nothing to plan for.")
    labels = _carried(matrix) if y is None else np.asarray(y).ravel()
    if standardize:
        matrix = matrix.standardised("mean", "std", "mean")
    if labels is None:
        return matrix, None, 2 if n_classes is None else whole("n_classes", n_classes, 2)
    codes, found = _codes(labels, matrix)
    if n_classes is not None and n_classes != found:
        raise InvalidParameterError(f"y has {found} classes, and n_classes={n_classes!r}: leave n_classes out.")
    return matrix, codes, found


def shape_of(
    matrix: Matrix | None, n_samples: Any, n_features: Any, density: Any, dtype: Any, standardize: bool
) -> DataShape:
    """Return the shape of all the data.

    Parameters
    ----------
    matrix : Matrix or None
        The data, or a sample of their rows.
    n_samples, n_features, density, dtype : object
        As `plan` has them.
    standardize : bool
        Whether columns are centred and scaled.

    Returns
    -------
    shape : DataShape
        Of all rows.
    """
    if matrix is None:
        if n_samples is None or n_features is None:
            raise InvalidParameterError("give data, or n_samples and n_features.")
        size = (whole("n_samples", n_samples), whole("n_features", n_features))
        share = None if density is None else number("density, if the data are not dense,", density, 0.0, 1.0)
        try:
            kind = np.dtype(dtype)
        except TypeError:
            raise InvalidParameterError(f'dtype must be a type of numbers, such as "float32"; got {dtype!r}.') from None
        if kind.kind not in "fiub":
            raise InvalidParameterError(f'dtype must be a type of real numbers, such as "int8"; got {dtype!r}.')
        stored = not standardize and (share is not None or kind.kind == "f")
        return DataShape(size, kind, share, 1 if share is None else 2, standardize, stored)
    if n_features is not None and n_features != matrix.shape[1]:
        raise InvalidParameterError(f"{matrix.name} has {matrix.shape[1]:,} features; leave n_features out.")
    if density is not None:
        raise InvalidParameterError(f"{matrix.name} has a density of its own; leave density out.")
    shape = DataShape.of(matrix)
    if n_samples is None:
        return shape
    if whole("n_samples", n_samples) < matrix.shape[0]:
        raise InvalidParameterError(
            f"{matrix.name} has {matrix.shape[0]:,} rows, and n_samples={n_samples:,}: it says how many rows there are "
            "in all, where X is a sample of them."
        )
    return replace(shape, shape=(int(n_samples), shape.shape[1]))


def _carried(matrix: Matrix) -> NDArray[Any] | None:
    """Return the labels in the data; none, where all are the same: such files are common, and mean nothing by it."""
    labels = matrix.labels
    known = labels[labels == labels] if labels is not None else ()  # NaN stands for a missing one
    return None if len(np.unique(known)) < 2 else labels


def _codes(labels: NDArray[Any], matrix: Matrix) -> tuple[NDArray[np.intp], int]:
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
        raise DataError("y has only one class: there is nothing to learn.")
    return codes, len(names)
