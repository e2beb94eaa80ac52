"""Fitted models as files, as scikit-learn models and as ONNX."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from slimline._base.plain import plain
from slimline.data._names import PackedStrings
from slimline.data._write import NewFiles
from slimline.errors import MissingReaderError, ModelFileError, SlimlineError
from slimline.estimators._certified_model import CertifiedModel
from slimline.estimators._covariates import FreeEffects
from slimline.estimators._fitting import check_parameters
from slimline.estimators._penalty_factors import PenaltyFactors
from slimline.learning import Certificate, Step, loss_named
from slimline.model_files import StoredModel
from slimline.planning import Route
from slimline.projections import (
    GaussianProjection,
    HadamardProjection,
    SignProjection,
    SparseEmbedding,
    SparseSignProjection,
)
from slimline.projections._transformer import RandomProjection

_PROJECTIONS: dict[str, type[RandomProjection]] = {
    kind.__name__: kind
    for kind in (GaussianProjection, HadamardProjection, SignProjection, SparseEmbedding, SparseSignProjection)
}
#: Results of a search over penalties, beside its best model.
_SEARCH = ("C_", "Cs_", "scores_")


def to_sklearn(model: Any) -> Any:
    """Return a plain scikit-learn linear model with the weights of a certified one, and its effects."""
    C = float(getattr(model, "C_", None) or model.C)
    plain = _like(model, C)
    effects = np.nan_to_num(model.covariate_coef_)  # those that were left out count for nothing
    plain.coef_ = np.hstack([np.atleast_2d(model.coef_), effects]).reshape(*np.shape(model.coef_)[:-1], -1)
    plain.intercept_ = np.array(model.intercept_) if np.ndim(model.intercept_) else float(model.intercept_)
    if hasattr(model, "classes_"):
        plain.classes_ = model.classes_.copy()
    plain.n_features_in_ = plain.coef_.shape[-1]
    plain.n_iter_ = np.array([model.n_iter_], dtype=np.int32)
    beside = (model._free.names if model._free is not None else None) or ()
    if hasattr(model, "feature_names_in_") and len(beside) == effects.shape[1]:
        plain.feature_names_in_ = np.concatenate([model.feature_names_in_, np.array(beside, dtype=object)])
    return plain


def to_onnx(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write the model of `to_sklearn` as ONNX."""
    try:
        from skl2onnx import to_onnx as convert
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError as error:
        raise MissingReaderError(
            f'ONNX files need skl2onnx ({error.name} is missing): pip install "slimline[onnx]"'
        ) from None
    plain = to_sklearn(model)
    columns = FloatTensorType([None, plain.n_features_in_])
    # one array of probabilities or scores, not a dict a row; these two have never anything else
    options = None if type(plain).__name__ in ("LinearSVC", "Ridge") else {"zipmap": False}
    converted = convert(plain, initial_types=[("X", columns)], options=options)
    with NewFiles([Path(path)], overwrite=overwrite) as files:
        files.create(Path(path)).write(converted.SerializeToString())


def _like(model: Any, C: float) -> Any:
    """Return an estimator of scikit-learn that makes the same of its scores, not fitted."""
    if not hasattr(model, "classes_"):
        from sklearn.linear_model import Ridge

        return Ridge(1.0 / C, fit_intercept=model.fit_intercept)
    if model.loss in ("hinge", "squared_hinge"):
        from sklearn.svm import LinearSVC

        return LinearSVC(C=C, loss=model.loss, fit_intercept=model.fit_intercept)
    if model.loss == "logistic" and len(model.classes_) == 2:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=C, fit_intercept=model.fit_intercept)
    from sklearn.linear_model import SGDClassifier

    # LogisticRegression has other probabilities where there are several classes, RidgeClassifier a private part
    return SGDClassifier(loss=loss_named(model.loss).sklearn_name, fit_intercept=model.fit_intercept)


def stored_model(model: Any, details: dict[str, Any] | None = None, **more: Any) -> StoredModel:
    """Return everything that a fitted certified classifier knows, as it is written to a file."""
    check_parameters(model)  # they may have been changed since the fit, and a file with others cannot be read
    claim = model.certificate_
    names = model._feature_names
    own: dict[str, Any] = {}
    if hasattr(model, "delta_"):
        own |= {"delta": model.delta_.tolist(), "table": not model._is_flat}
    if (prior := getattr(model, "class_prior_", None)) is not None:
        own["class_prior"] = prior.tolist()
    own |= {
        "history": [asdict(step) for step in model.history_],
        "route": asdict(model.route_),
        "n_passes": model.n_passes_,
        "projections": model.projections_,
        "search": {name: np.asarray(getattr(model, name)).tolist() for name in _SEARCH if hasattr(model, name)},
    }
    return StoredModel(
        kind=type(model).__name__,
        parameters=_plain_parameters(model.get_params(deep=False)),
        classes=getattr(model, "classes_", np.zeros(0)),
        constant=model.intercept_scaling_,
        passes=claim.passes,
        weights=claim.weights,
        intercept=model._certified_intercept(),
        gap=claim.gap,
        radius=claim.radius,
        relative_error=claim.relative_error,
        coordinate_radius=claim.coordinate_radius,
        interval_centre=claim.interval_centre,
        interval_radius=claim.interval_radius,
        centre=model._centre,
        factor=model._factor,
        fill=model._fill,
        penalty_factor=None if model._factors is None else model._factors.values,
        feature_names=None if names is None else PackedStrings.of(names),
        **({} if model._free is None else model._free.fields()),
        details=plain(own | (details or {})),
        **more,
    )


def load_model(path: str | os.PathLike[str]) -> CertifiedModel:
    """Return the classifier that a file holds."""
    return restored_model(StoredModel.read(path), str(path))


def restored_model(stored: StoredModel, path: str) -> CertifiedModel:
    """Return a stored classifier."""
    from slimline import estimators

    if stored.kind not in (
        "CertifiedClassifier",
        "CertifiedClassifierCV",
        "CertifiedRegressor",
        "CertifiedRegressorCV",
    ):
        raise ModelFileError(f"{path} holds a {stored.kind!r:.60}, which this version of slimline does not know.")
    model: CertifiedModel = getattr(estimators, stored.kind)()
    _restore(model, stored, path)
    return model


def _restore(model: Any, stored: StoredModel, path: str) -> None:
    known = model.get_params(deep=False)
    try:
        parameters = {"intercept": "penalised"} | stored.parameters  # files of before there were others
        model.set_params(**{k: v for k, v in _parameters(parameters).items() if k in known})
        check_parameters(model)
        model.route_ = _route(stored.details["route"])
        model.history_ = [_step(entry, len(stored.weights)) for entry in stored.details["history"]]
        _require_last_step(model.history_, stored)
        model.n_passes_ = _whole(stored.details["n_passes"])
        model.projections_ = [str(line) for line in stored.details["projections"]]
        _restore_search(model, stored.details["search"])
        restore = _restore_targets if stored.is_regression else _restore_classes
        restore(model, stored)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        said = str(error) if isinstance(error, SlimlineError) else repr(error)
        raise ModelFileError(f"{path} is damaged: what it says of the fit cannot be read ({said:.200}).") from None
    model.n_features_in_ = stored.n_features
    if stored.feature_names is not None:
        model.feature_names_in_ = stored.feature_names
    model.certificate_ = Certificate(
        gap=stored.gap,
        radius=stored.radius,
        relative_error=stored.relative_error,
        weights=stored.weights,
        coordinate_radius=stored.coordinate_radius,
        interval_centre=stored.interval_centre,
        interval_radius=stored.interval_radius,
        passes=stored.passes,
    )
    model._free = FreeEffects.of_fields(stored)
    model._centre, model._factor, model._fill = stored.centre, stored.factor, stored.fill
    if stored.penalty_factor is not None:
        model.penalty_factor, model._factors = stored.penalty_factor, PenaltyFactors(stored.penalty_factor)
    model._tell_weights(stored.constant)
    model.intercept_ = stored.intercept[0] if getattr(model, "_is_flat", False) else stored.intercept
    model.n_iter_ = len(model.history_)


def _restore_targets(model: Any, stored: StoredModel) -> None:
    """Give a regression what it knows of its targets."""
    deltas, table = stored.details["delta"], stored.details["table"]
    model.delta_ = np.array([float("nan") if value is None else _number(value) for value in deltas])
    if len(deltas) != len(stored.weights) or (model.delta_ <= 0.0).any() or type(table) is not bool:
        raise ValueError("what it says of the targets does not belong together")
    model._is_flat = len(stored.weights) == 1 and not table


def _restore_classes(model: Any, stored: StoredModel) -> None:
    """Give a classifier its classes, and their shares in training, which files of earlier versions do not have."""
    prior, model.classes_ = stored.details.get("class_prior"), stored.classes
    model.class_prior_ = None if prior is None else np.array([_number(share) for share in prior])
    if prior is None:
        return
    if len(prior) != len(stored.classes) or not (model.class_prior_ > 0.0).all():
        raise ValueError("the shares of the classes do not belong to them")
    if not abs(model.class_prior_.sum() - 1.0) < 1e-9:
        raise ValueError("the shares of the classes do not sum to 1")


def _plain_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that JSON can hold; a generator, a splitter or a scorer is left out."""
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, RandomProjection):
            inner = _plain_parameters(value.get_params(deep=False))
            found[name] = {"class": type(value).__name__, "parameters": inner}
        elif name == "penalty_factor":
            continue  # an array of its own
        elif name == "class_weight" and isinstance(value, dict):
            pairs = [[_as_python(label), float(weight)] for label, weight in value.items()]
            found[name] = {"pairs": pairs}
        else:
            value = _as_python(value)
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError):
                continue
            found[name] = value
    return found


def _as_python(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    # a fraction, for one
    return float(value) if isinstance(value, Real) and not isinstance(value, (int, float)) else value


def _parameters(found: dict[str, Any]) -> dict[str, Any]:
    values = dict(found)
    for name, value in found.items():
        if isinstance(value, dict) and "class" in value:
            values[name] = _PROJECTIONS[value["class"]](**value["parameters"])
        elif isinstance(value, dict) and "pairs" in value:
            values[name] = {label: _number(weight) for label, weight in value["pairs"]}
            if not np.isfinite(list(values[name].values())).all():
                raise ValueError("a class_weight that is not finite")
    return values


def _restore_search(model: Any, found: dict[str, Any]) -> None:
    """Give a search over penalties what it found; no other classifier has such a thing."""
    if not hasattr(model, "Cs"):
        if found:
            raise ValueError("a search, of a classifier that has none")
        return
    best = _number(found["C_"])
    tried, scores = (np.asarray(found[name], dtype=np.float64) for name in ("Cs_", "scores_"))
    if not 0.0 < best < float("inf") or tried.ndim != 1 or scores.ndim != 2 or scores.shape[1] != len(tried):
        raise ValueError("what the search found does not belong together")
    model.C_, model.Cs_, model.scores_ = best, tried, scores


def _route(entry: dict[str, Any]) -> Route:
    values: dict[str, Any] = dict(entry)
    values |= {name: _number(value) for name, value in entry.items() if name.endswith("seconds")}
    route = Route(**values)
    if route.method not in ("sketch", "gram", "direct") or not isinstance(route.reason, str):
        raise ValueError(f"a route {route.method!r:.50}")
    _whole(route.n_components)
    return route


def _step(entry: dict[str, Any], tasks: int) -> Step:
    values: dict[str, Any] = dict(entry)
    for name, value in entry.items():
        if name in ("passes", "n_components"):
            _whole(value)
        elif name == "seconds":
            values[name] = _number(value)
        else:
            values[name] = tuple(map(_number, value))
            if len(values[name]) != tasks:
                raise ValueError(f"{name} of a step has {len(values[name])} values")
    return Step(**values)


def _require_last_step(history: list[Step], stored: StoredModel) -> None:
    """Refuse a certificate that claims more than the last step did, which made it."""
    for name in ("gap", "radius", "relative_error"):
        if not (getattr(stored, name) >= np.array(getattr(history[-1], name))).all():
            raise ValueError(f"the last step had a larger {name} than the certificate")


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r:.50} is no count")
    return value


def _number(value: Any) -> float:
    """Return a number of a record; JSON has none for infinity, and nothing else in them can be absent."""
    if value is None:
        return float("inf")
    if type(value) not in (int, float):
        raise TypeError(f"{value!r:.50} is no number")
    return float(value)
