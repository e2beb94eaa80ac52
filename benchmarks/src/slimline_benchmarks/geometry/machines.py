"""scikit-learn's machines with no errors allowed, which makes them hard-margin ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from slimline_benchmarks.geometry.answers import Answer, Floats
from slimline_benchmarks.geometry.quadratic import gram_in_double
from slimline_benchmarks.labelled import Labelled
from slimline_benchmarks.learn.preprocess import gram_matrix
from slimline_benchmarks.learn.problem import Problem

Options = Mapping[str, Any]

#: As good as no errors allowed.
_HARD = 1e10
#: Megabytes for LIBSVM's rows of the kernel, and iterations that it should not need.
_CACHE, _MOST = 2000, 20_000_000


def svc(points: Labelled, options: Options) -> Answer:
    """Ask LIBSVM, with an intercept."""
    from sklearn.svm import SVC

    model = SVC(kernel="linear", C=_HARD, cache_size=_CACHE, max_iter=_MOST, **options)
    return Answer(_written(_quiet(model, points.X, points.labels).coef_))


def svc_gram(points: Labelled, options: Options) -> Answer:
    """Ask LIBSVM, with XXᵀ made by BLAS or SciPy."""
    from sklearn.svm import SVC

    model = SVC(kernel="precomputed", C=_HARD, cache_size=_CACHE, max_iter=_MOST, tol=options["tol"])
    _quiet(model, _gram(points, options), points.labels)
    return Answer(np.asarray(points.matrix.tdot(_dual(model, len(points.labels)))))


def one_class(points: Labelled, options: Options) -> Answer:
    """Ask LIBSVM to separate the points yᵢxᵢ from the origin: with ν = 1/n no error is allowed, so it is the same."""
    squares = np.square(points.matrix.row_norms())
    signs = points.labels[:, None].astype(points.X.dtype)
    signed = points.X.multiply(signs).tocsr() if points.is_sparse else points.X * signs
    model = _one_class_machine("linear", float(squares.mean()), len(squares), options)
    return Answer(_written(_quiet(model, signed).coef_))


def one_class_gram(points: Labelled, options: Options) -> Answer:
    """Ask the same, with the Gram matrix of these points."""
    n = len(points.labels)
    K = _gram(points, options)
    K *= points.labels[:, None]
    K *= points.labels
    model = _quiet(_one_class_machine("precomputed", float(K.diagonal().mean()), n, options), K)
    return Answer(np.asarray(points.matrix.tdot(points.labels * _dual(model, n))))


def linear_svc(points: Labelled, options: Options) -> Answer:
    """Ask LIBLINEAR, which has no other than a penalised intercept: through the origin."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=_HARD, loss="hinge", fit_intercept=False, random_state=0, **options)
    return Answer(_quiet(model, points.X, points.labels).coef_[0])


def _one_class_machine(kernel: str, square: float, n: int, options: Options) -> Any:
    from sklearn.svm import OneClassSVM

    # gradients are squares of the margin, about the mean squared norm over n
    tol = options["tol"] * square / n
    return OneClassSVM(kernel=kernel, nu=1.0 / n, tol=tol, cache_size=_CACHE, max_iter=_MOST)


def _gram(points: Labelled, options: Options) -> Any:
    return gram_in_double(points) if options["double"] else gram_matrix(Problem(points.X, points.labels, points.matrix))


def _quiet(model: Any, X: Any, *labels: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge is for the judge to say
        return model.fit(X, *labels)


def _written(coefficients: Any) -> Floats:
    return np.asarray(coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients).reshape(-1)


def _dual(model: Any, n: int) -> Floats:
    """Return the dual variables of all points, 0 but for the support vectors."""
    dual = np.zeros(n)
    dual[model.support_] = _written(model.dual_coef_)
    return dual
