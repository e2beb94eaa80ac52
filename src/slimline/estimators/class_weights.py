"""Weights of the classes, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.errors import InvalidParameterError

Floats = NDArray[np.float64]


def class_factors(class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp], weight: Floats) -> Floats:
    """Return what the weight of each class is multiplied with.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        As in scikit-learn; "balanced" counts samples by their weight.
    classes : array of shape (n_classes,)
        Labels.
    codes : array of shape (n_samples,)
        Class number of each sample.
    weight : array of shape (n_samples,)
        Sample weights.

    Returns
    -------
    factors : array of shape (n_classes,)
        One number a class.
    """
    factors = np.ones(len(classes))
    if class_weight is None:
        return factors
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise InvalidParameterError(f'class_weight must be a dict, "balanced" or None; got {class_weight!r}.')
        total = np.bincount(codes, weights=weight, minlength=len(classes))
        return np.asarray(weight.sum() / (len(classes) * total))
    if not isinstance(class_weight, Mapping):
        raise InvalidParameterError(f'class_weight must be a dict, "balanced" or None; got {class_weight!r}.')
    if class_weight and not any(_plain(label) in classes.tolist() for label in class_weight):
        raise InvalidParameterError(
            f"no key of class_weight is a class: it has {list(class_weight)!r:.100}, "
            f"and y has {classes.tolist()!r:.100}."
        )
    numbers = {label: k for k, label in enumerate(classes.tolist())}
    for label, factor in class_weight.items():
        plain = _plain(label)
        if plain not in numbers:
            continue  # a class that this part of the data does not hold
        if not np.isfinite(factor) or factor <= 0:
            raise InvalidParameterError(f"class_weight of {label!r} must be above 0 and finite; got {factor!r}.")
        factors[numbers[plain]] = float(factor)
    return factors


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
