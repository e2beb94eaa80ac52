"""Parameters of the certified classifiers, checked, and what follows from labels and weights."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.errors import InvalidParameterError
from slimline.estimators.certified_fit import RECOVERIES
from slimline.estimators.make_projection import transformer_of
from slimline.recovery.training_data import AUTO
from slimline.solvers import loss_named

Floats = NDArray[np.float64]


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that cannot work, before any data are read.

    Parameters
    ----------
    estimator : CertifiedClassifier
        Its parameters.
    """
    loss_named(estimator.loss)
    for name in ("C", "tol", "intercept_scaling"):
        value = getattr(estimator, name, 1.0)  # a search over C has no C
        if name == "intercept_scaling" and isinstance(value, str) and value == AUTO:
            continue
        if isinstance(value, bool) or not isinstance(value, Real) or not _size(value) > 0.0:
            either = f'"{AUTO}" or ' if name == "intercept_scaling" else ""
            raise InvalidParameterError(f"{name} must be {either}a number above 0; got {value!r}.")
        if not 1e-100 <= _size(value) <= 1e100:
            raise InvalidParameterError(f"{name}={value!r:.50} is beyond what can be computed with: 1e-100 to 1e100.")
    for name, choices in (("method", ("auto", "sketch", "gram", "direct")), ("recovery", RECOVERIES)):
        if getattr(estimator, name) not in choices:
            raise InvalidParameterError(f"{name} must be one of {choices}; got {getattr(estimator, name)!r}.")
    for name in ("fit_intercept", "standardize"):
        if not isinstance(getattr(estimator, name), (bool, np.bool_, Integral)):
            raise InvalidParameterError(f"{name} must be True or False; got {getattr(estimator, name)!r:.50}.")
    transformer_of(estimator.projection, 64)  # refuses what is not a projection, whichever route is taken
    r = estimator.n_components
    if r != "auto" and (isinstance(r, bool) or not isinstance(r, Integral) or r < 1):
        raise InvalidParameterError(f'n_components must be "auto" or a whole number above 0; got {r!r}.')
    if (
        isinstance(estimator.max_passes, bool)
        or not isinstance(estimator.max_passes, Integral)
        or estimator.max_passes < 1
    ):
        raise InvalidParameterError(f"max_passes must be a whole number above 0; got {estimator.max_passes!r}.")
    if estimator.recovery != "certified" and estimator.method not in ("auto", "sketch"):
        raise InvalidParameterError(
            f"recovery={estimator.recovery!r} needs a sketch: it cannot go with method={estimator.method!r}."
        )


def _size(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of more digits than a float has
        return float("inf") if value > 0 else float("-inf")  # type: ignore[operator]


def effective_samples(weight: Floats) -> float:
    """Return how many samples the cost model should think of: a weight of 2 is a row that comes twice.

    Parameters
    ----------
    weight : array of shape (n_samples,)
        Sample weights.

    Returns
    -------
    samples : float
        Their sum, within reason: weights may be on any scale.
    """
    n = len(weight)
    return float(np.clip(weight.sum(), n / 16.0, n * 16.0))


def require_weights(weight: Floats) -> None:
    """Refuse weights that cannot be computed with.

    Parameters
    ----------
    weight : array of shape (n_samples,)
        Sample weights times class weights, all above 0.
    """
    if not (weight.min() >= 1e-100 and weight.max() <= 1e100):
        raise InvalidParameterError("weights beyond 1e-100 to 1e100 cannot be computed with: rescale sample_weight.")
