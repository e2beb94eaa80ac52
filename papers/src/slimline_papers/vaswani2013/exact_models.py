"""The two data sets as experiments take them, and exact weights of every loss, found by nothing of slimline."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from slimline_papers.study import Study

Floats = NDArray[np.float64]

#: How rows are scaled.
SCALINGS = {"unit": "rows of norm 1", "raw": "as they come"}
#: Why both are tried where the document's own are judged.
LEFT_OPEN = "The document does not say how features were scaled"


def training_part(study: Study, name: str, scaling: str) -> tuple[Any, Floats]:
    """Return the training part of a challenge data set.

    Parameters
    ----------
    study : Study
        Where the data are.
    name : str
        "arcene" or "dorothea".
    scaling : str
        One of `SCALINGS`.

    Returns
    -------
    X : array or csc_array
        Sparse data by columns: a step over columns of full height takes one pass, not two.
    y : array
        Labels, -1 and 1.
    """
    data = study.load(name)
    X = normalize(data.X) if scaling == "unit" else data.X
    return (X.tocsc() if hasattr(X, "tocsc") else X), data.y


def exact_weights(X: Any, y: Floats, loss: str) -> Floats:
    """Return the minimiser of ½‖w‖² + Σ ℓ(yᵢ wᵀxᵢ): by linear algebra, or by LIBLINEAR.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
        Data.
    y : array
        Labels, -1 and 1.
    loss : {"squared", "squared_hinge", "hinge", "logistic"}
        As `CertifiedClassifier` names it.

    Returns
    -------
    weights : array of shape (n_features,)
        To about eight digits, and to rounding for the squared loss.
    """
    if loss == "squared":
        K = X @ X.T
        K = K.toarray() if hasattr(K, "toarray") else K
        return np.asarray(X.T @ solve(K + np.eye(len(y)), y, assume_a="pos"))
    settings: dict[str, Any] = {"fit_intercept": False, "dual": True, "tol": 1e-9, "max_iter": 1_000_000}
    if loss == "logistic":
        model = LogisticRegression(solver="liblinear", random_state=0, **settings)
    else:
        model = LinearSVC(loss=loss, random_state=0, **settings)
    return np.asarray(model.fit(X, y).coef_[0])


def distance(weights: Floats, exact: Floats) -> float:
    """Return ‖w - w*‖/‖w*‖.

    Parameters
    ----------
    weights, exact : array
        w and w*.

    Returns
    -------
    error : float
        Relative.
    """
    return float(np.linalg.norm(weights - exact) / np.linalg.norm(exact))


@contextmanager
def stopped_early() -> Iterator[None]:
    """Keep quiet about fits that end without a certified error, where that is the experiment.

    Yields
    ------
    None
        While warnings are off.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
