"""The problem that a plan is about, and the checks of what was given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import is_auto, number, one_of, whole
from slimline.data import Matrix, open_matrix
from slimline.data._labels import class_labels
from slimline.errors import DataError, InvalidParameterError
from slimline.learning import LOSSES
from slimline.planning._route import DataShape

_METHODS = ("auto", "sketch", "gram", "direct")


@dataclass(frozen=True)
class Problem:
    """The problem of a plan."""

    #: As for the classifier.
    C: float
    #: Name of the loss.
    loss: str
    #: Certified error to stop at.
    tol: float
    #: Value of the constant column, as in `TrainingData`; 0: there is none.
    constant: float | str
    #: Two or more.
    n_classes: int
    #: Rows in all, of which the data at hand may be a sample.
    n_samples: int
    #: For the sample and the sketches.
    seed: int

    @property
    def n_tasks(self) -> int:
        """Return how many problems share the passes: one for two classes, else one a class."""
        return 1 if self.n_classes == 2 else self.n_classes


def check_choices(loss: str, method: str, n_components: Any) -> None:
    """Refuse a loss, a method or a number of components that there is not."""
    one_of("loss", loss, LOSSES)
    one_of("method", method, _METHODS)
    if not is_auto(n_components):
        whole("n_components", n_components, auto=True)


def opened(
    X: Any, y: Any, n_classes: int | None, standardize: bool
) -> tuple[Matrix | None, NDArray[np.intp] | None, int]:
    """Return the data as they are trained on, the class number of each row, and the number of classes."""
    if X is None:
        if y is not None:
            raise InvalidParameterError("was given without X: give both, or sizes alone.", "y")
        return None, None, 2 if n_classes is None else whole("n_classes", n_classes, 2)
    matrix = X if isinstance(X, Matrix) else open_matrix(Path(X) if isinstance(X, str) else X)
    if not min(matrix.shape):
        raise DataError(f"{matrix.name} has the shape {matrix.shape}: there is nothing to plan for.")
    labels = _carried(matrix) if y is None else np.asarray(y).ravel()
    if standardize:
        matrix = matrix.standardised("mean", "std", "mean")
    if labels is None:
        return matrix, None, 2 if n_classes is None else whole("n_classes", n_classes, 2)
    names, codes = class_labels(labels, matrix.shape[0])
    found = len(names)
    if n_classes is not None and n_classes != found:
        raise InvalidParameterError(
            f"must be {found}, as many as y has, or be left out; got {n_classes!r}.", "n_classes", n_classes
        )
    return matrix, codes, found


def shape_of(
    matrix: Matrix | None, n_samples: Any, n_features: Any, density: Any, dtype: Any, standardize: bool
) -> DataShape:
    """Return the shape of all the data."""
    if matrix is None:
        if n_samples is None or n_features is None:
            raise InvalidParameterError("give data, or n_samples and n_features.")
        size = (whole("n_samples", n_samples), whole("n_features", n_features))
        share = None if density is None else number("density", density, most=1.0)
        try:
            kind = np.dtype(dtype)
        except TypeError:
            raise InvalidParameterError(
                f'must be a type of numbers, such as "float32"; got {dtype!r}.', "dtype", dtype
            ) from None
        if kind.kind not in "fiub":
            raise InvalidParameterError(
                f'must be a type of real numbers, such as "int8"; got {dtype!r}.', "dtype", dtype
            )
        stored = not standardize and (share is not None or kind.kind == "f")
        return DataShape(size, kind, share, 1 if share is None else 2, standardize, stored)
    if n_features is not None and n_features != matrix.shape[1]:
        raise InvalidParameterError(
            f"must be left out, or be that of {matrix.name}, {matrix.shape[1]:,}; got {n_features!r}.",
            "n_features",
            n_features,
        )
    if density is not None:
        raise InvalidParameterError(f"must be left out: {matrix.name} has one of its own.", "density", density)
    shape = DataShape.of(matrix)
    if n_samples is None:
        return shape
    if whole("n_samples", n_samples) < matrix.shape[0]:
        raise InvalidParameterError(
            f"must be at least {matrix.shape[0]:,}, the rows of {matrix.name}, or be left out: it counts "
            f"all rows, of which these are a sample; got {n_samples:,}.",
            "n_samples",
            n_samples,
        )
    return replace(shape, shape=(int(n_samples), shape.shape[1]))


def _carried(matrix: Matrix) -> NDArray[Any] | None:
    """Return the labels in the data; none, where all are the same: such files are common, and mean nothing by it."""
    labels = matrix.labels
    known = labels[labels == labels] if labels is not None else ()  # NaN stands for a missing one
    return None if len(np.unique(known)) < 2 else labels
