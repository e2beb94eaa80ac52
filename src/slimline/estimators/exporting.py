"""Certified classifiers as models of other libraries: the weights remain, the certificate stays behind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from slimline.data.write.new_files import NewFiles
from slimline.errors import MissingReaderError


def to_sklearn(model: Any) -> Any:
    """Return a plain scikit-learn linear model with the weights of a certified classifier.

    Parameters
    ----------
    model : CertifiedClassifier
        Fitted.

    Returns
    -------
    plain : LinearSVC, LogisticRegression or SGDClassifier
        By the loss; the last for the squared loss, and for the logistic one with several classes.
    """
    C = float(getattr(model, "C_", None) or model.C)
    plain = _like(model, C)
    plain.classes_ = model.classes_.copy()
    plain.coef_ = np.array(model.coef_, order="C")
    plain.intercept_ = model.intercept_.copy()
    plain.n_features_in_ = model.n_features_in_
    plain.n_iter_ = np.array([model.n_iter_], dtype=np.int32)
    if hasattr(model, "feature_names_in_"):
        plain.feature_names_in_ = model.feature_names_in_
    return plain


def to_onnx(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write the model of `to_sklearn` as ONNX.

    Parameters
    ----------
    model : CertifiedClassifier
        Fitted.
    path : str or path
        The file.
    overwrite : bool
        Whether a file that exists may be replaced.
    """
    try:
        from skl2onnx import to_onnx as convert
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError as error:
        raise MissingReaderError(
            f'ONNX files need skl2onnx ({error.name} is missing): pip install "slimline[onnx]"'
        ) from None
    columns, plain = FloatTensorType([None, model.n_features_in_]), to_sklearn(model)
    # one array of probabilities or scores, not a dict a row; LinearSVC has never anything else
    options = {"zipmap": False} if hasattr(plain, "predict_proba") or model.loss == "squared" else None
    converted = convert(plain, initial_types=[("X", columns)], options=options)
    with NewFiles([Path(path)], overwrite=overwrite) as files:
        files.create(Path(path)).write(converted.SerializeToString())


def _like(model: Any, C: float) -> Any:
    """Return an estimator of scikit-learn that makes the same of its scores, not fitted."""
    if model.loss in ("hinge", "squared_hinge"):
        from sklearn.svm import LinearSVC

        return LinearSVC(C=C, loss=model.loss, fit_intercept=model.fit_intercept)
    if model.loss == "logistic" and len(model.classes_) == 2:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=C, fit_intercept=model.fit_intercept)
    from sklearn.linear_model import SGDClassifier

    # LogisticRegression has other probabilities where there are several classes, RidgeClassifier a private part
    loss = "log_loss" if model.loss == "logistic" else "squared_error"
    return SGDClassifier(loss=loss, fit_intercept=model.fit_intercept)
