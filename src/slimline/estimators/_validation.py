"""Checks of data, labels and weights; scores and probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import validate_data

from slimline._base.checks import sample_weights
from slimline._base.system import total_bytes
from slimline.data import Matrix, open_matrix
from slimline.data._labels import class_labels
from slimline.data._names import PackedStrings
from slimline.data.formats._dense import DenseMatrix
from slimline.data.formats._sparse import SparseMatrix
from slimline.errors import DataError, InvalidParameterError

Floats = NDArray[np.float64]
#: Four numbers of each feature: its weight, centre and radius of its interval, and the bound of its coefficient.
_CERTIFICATE_BYTES = 32
#: How many names a message lists.
_NAMES_SHOWN = 5


def class_factors(class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp], weight: Floats) -> Floats:
    """Return what the weight of each class is multiplied with."""
    factors = np.ones(len(classes))
    if class_weight is None:
        return factors
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise InvalidParameterError(
                f'must be a dict, "balanced" or None; got {class_weight!r}.', "class_weight", class_weight
            )
        total = np.bincount(codes, weights=weight, minlength=len(classes))
        return np.asarray(weight.sum() / (len(classes) * total))
    if not isinstance(class_weight, Mapping):
        raise InvalidParameterError(
            f'must be a dict, "balanced" or None; got {class_weight!r}.', "class_weight", class_weight
        )
    if class_weight and not any(_plain(label) in classes.tolist() for label in class_weight):
        raise InvalidParameterError(
            f"must have classes as its keys; it has {list(class_weight)!r:.100}, and y has {classes.tolist()!r:.100}.",
            "class_weight",
            class_weight,
        )
    numbers = {label: k for k, label in enumerate(classes.tolist())}
    for label, factor in class_weight.items():
        plain = _plain(label)
        if plain not in numbers:
            continue  # a class that this part of the data does not hold
        if not np.isfinite(factor) or factor <= 0:
            raise InvalidParameterError(
                f"must be above 0 and finite for each class; got {factor!r} for {label!r}.",
                "class_weight",
                class_weight,
            )
        factors[numbers[plain]] = float(factor)
    return factors


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def class_of_scores(scores: Floats) -> NDArray[np.intp]:
    """Return the number of the class with the highest score."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)


def log_probabilities(scores: Floats) -> Floats:
    """Return logarithms of the probabilities that the logistic loss gives each class; none is infinite."""
    if scores.ndim == 1:
        return np.column_stack([log_expit(-scores), log_expit(scores)])
    each = log_expit(scores)
    return np.asarray(each - logsumexp(each, axis=1, keepdims=True))


def probabilities(scores: Floats) -> Floats:
    """Return the probabilities that the logistic loss gives each class."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return np.exp(log_probabilities(scores))


def as_matrix(estimator: Any, X: Any, *, reset: bool, finite: bool = True) -> Matrix:
    """Return data as a `Matrix`, and record or compare the number and the names of its columns.

    Numbers keep their type; truth values stay, objects become float64, as in scikit-learn. A `Matrix` is not read:
    its passes refuse what is not finite. An array in memory is looked through here, unless scikit-learn's
    `assume_finite` is set; one that is mapped from a file is not.
    """
    if isinstance(X, Matrix):
        _require_some(X)
        _record_names(estimator, None if X.feature_names is None else PackedStrings.of(X.feature_names), reset)
        _record_number(estimator, X.shape[1], reset)
        return X
    mapped = type(X) is np.memmap and X.ndim == 2 and X.dtype.kind in "fiub" and X.size > 0
    if mapped:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return open_matrix(X)
    array = validate_data(
        estimator, X, reset=reset, accept_sparse=["csr", "csc"], dtype="numeric", ensure_all_finite=False
    )
    if finite:
        _require_finite(array, type(estimator).__name__)
    framed = hasattr(X, "columns") and hasattr(X, "to_numpy")
    kind = SparseMatrix if sp.issparse(array) else DenseMatrix
    return kind(array, "X", feature_names=[str(name) for name in X.columns] if framed else None)


def require_memory(X: Any) -> None:
    """Refuse data so wide that the machine cannot hold the certificate; one damaged feature number makes such data."""
    d, total = (getattr(X, "shape", None) or (0, 0))[-1], total_bytes()
    needed = _CERTIFICATE_BYTES * int(d)
    if total is not None and needed > total:
        raise DataError(
            f"the data have {d:,} features, whose certificate alone takes {needed / 1e9:,.0f} GB; the memory of this "
            f"machine is {total / 1e9:,.0f} GB. Leave out features, and look for a feature number that is damaged."
        )


def training_weights(sample_weight: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Return the weights of the samples as float64, or None where none were given."""
    weights = None if sample_weight is None else np.asarray(sample_weight)
    if weights is not None and weights.size and not weights.any():
        raise DataError("every sample_weight is zero: nothing is left to train on.")
    return sample_weights(weights, n_samples)


def without_zero_weights(
    matrix: Matrix, classes: NDArray[Any], codes: NDArray[np.intp], weights: NDArray[np.float64] | None
) -> tuple[Matrix, NDArray[Any], NDArray[np.intp], NDArray[np.float64] | None]:
    """Leave out rows of weight 0, and the classes that only they have."""
    if weights is None or weights.all():
        return matrix, classes, codes, weights
    kept = np.flatnonzero(weights)
    return matrix.rows(kept), *class_labels(classes[codes[kept]]), weights[kept]


def _require_finite(array: Any, name: str) -> None:
    """Raise scikit-learn's error for NaN and infinity."""
    values = array.data if sp.issparse(array) else array  # type: ignore[attr-defined]
    if values.dtype.kind != "f" or sklearn.get_config()["assume_finite"]:
        return
    with np.errstate(invalid="ignore", over="ignore"):
        total = values.sum(dtype=np.float32 if values.itemsize == 2 else None)
        if not np.isfinite(total):  # a value, or the sum of finite ones
            assert_all_finite(values, estimator_name=name, input_name="X")


def _require_some(matrix: Matrix) -> None:
    for size, what in zip(matrix.shape, ("sample", "feature"), strict=True):
        if size < 1:
            raise DataError(
                f"{matrix.name}: found 0 {what}(s) (shape={matrix.shape}) while a minimum of 1 is required."
            )


def _record_number(estimator: Any, n_features: int, reset: bool) -> None:
    if reset:
        estimator.n_features_in_ = n_features
    elif n_features != estimator.n_features_in_:
        raise DataError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )


class NamedFeatures:
    """Gives an estimator `feature_names_in_`, and keeps the names of a `Matrix` packed: a fifth of the memory."""

    _feature_names: Sequence[str] | None = None

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Return the names of the features as scikit-learn has them."""
        if self._feature_names is None:
            raise AttributeError(f"this {type(self).__name__} has no feature_names_in_: its features have no names.")
        return np.array(list(self._feature_names), dtype=object)

    @feature_names_in_.setter
    def feature_names_in_(self, names: Sequence[str]) -> None:
        self._feature_names = names

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        del self._feature_names


def _record_names(estimator: Any, names: PackedStrings | None, reset: bool) -> None:
    """Do for the names of a `Matrix` what scikit-learn does for those of a frame."""
    kind = type(estimator).__name__
    if reset:
        estimator.__dict__.pop("_feature_names", None)
        if names is not None:
            estimator.feature_names_in_ = names
        return
    fitted: Sequence[str] | None = estimator._feature_names
    if names is None and fitted is None:
        return
    if fitted is None:
        warnings.warn(f"X has feature names, but {kind} was fitted without feature names", stacklevel=4)
    elif names is None:
        warnings.warn(f"X does not have valid feature names, but {kind} was fitted with feature names", stacklevel=4)
    elif names != (fitted if isinstance(fitted, PackedStrings) else list(fitted)):
        raise DataError(_difference(fitted, names))


def _difference(fitted: Sequence[str], names: Sequence[str]) -> str:
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
    for found, what in ((unseen, "unseen at fit time"), (missing, "seen at fit time, yet now missing")):
        if found:
            shown = [*found[:_NAMES_SHOWN], *(["..."] if len(found) > _NAMES_SHOWN else [])]
            message += f"Feature names {what}:\n" + "".join(f"- {name}\n" for name in shown)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message
