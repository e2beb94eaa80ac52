"""Sample and class weights, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.errors import InvalidParameterError

Floats = NDArray[np.float64]


def checked_sample_weight(sample_weight: Any, n_samples: int) -> Floats:
    """Return one weight a sample.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), number or None
        Weights, 0 or more; None: 1.
    n_samples : int
        How many there must be.

    Returns
    -------
    weight : array of shape (n_samples,), float64
        Not all of them 0.
    """
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.ndim != 1:
        raise InvalidParameterError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array.")
    if weight.shape != (n_samples,):
        raise InvalidParameterError(f"sample_weight.shape == {weight.shape}, expected {(n_samples,)}!")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise InvalidParameterError("sample_weight must be finite and not negative.")
    if not weight.any():
        raise InvalidParameterError("sample_weight must not be zero for every sample.")
    return weight


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
    numbers = {label: k for k, label in enumerate(classes.tolist())}
    for label, factor in class_weight.items():
        plain = label.item() if isinstance(label, np.generic) else label
        if plain not in numbers:
            continue  # a class that this part of the data does not hold
        if not np.isfinite(factor) or factor <= 0:
            raise InvalidParameterError(f"class_weight of {label!r} must be above 0 and finite; got {factor!r}.")
        factors[numbers[plain]] = float(factor)
    return factors
