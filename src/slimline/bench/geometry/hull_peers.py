"""The peers of margins and balls, each with the accuracy that it is good for.

Estimates of time and memory are rough: they only decide whether a peer is worth or able to run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from slimline.bench.case import Contender
from slimline.bench.geometry import names
from slimline.bench.geometry.answers import Answer, Arena, Floats
from slimline.bench.geometry.data_sets import DataSet, Labelled
from slimline.bench.geometry.ours import answering
from slimline.bench.geometry.quadratic import frank_wolfe, gram_in_double, solve_by_clarabel
from slimline.bench.learn.preprocess import gram_matrix
from slimline.bench.learn.problem import Problem

#: As good as no errors allowed, and a tolerance of values that are 1 on the margin.
_HARD, _TOL = 1e10, 1e-6
#: Megabytes for LIBSVM's rows of the kernel, and iterations that it should not need.
_CACHE, _MOST = 2000, 20_000_000
#: Epochs of LIBLINEAR, and steps of the methods that only get better with more of them.
_EPOCHS, _CORE_STEPS, _WOLFE_STEPS = 1000, 1000, 20_000
# Seconds, roughly: of a multiply-add in LIBSVM's dense and sparse kernels, in an epoch, in a BLAS, in a sparse factor.
_DENSE, _SPARSE, _EPOCH, _PRODUCT, _FACTOR = 1e-9, 3e-9, 2e-9, 5e-11, 1e-9
#: Factors of an interior-point method.
_INTERIOR_STEPS = 20


def margin_peers(data_set: DataSet, intercept: bool, arena: Arena) -> tuple[Contender, ...]:
    """Return the peers of the hard margin.

    Parameters
    ----------
    data_set : DataSet
        For the estimates.
    intercept : bool
        Which margin.
    arena : Arena
        Where the answers go.

    Returns
    -------
    peers : tuple of Contender
        LIBSVM, LIBSVM on a Gram matrix, LIBLINEAR where there is no intercept, Clarabel.
    """
    n, values = (data_set.size or (0, 0))[0], data_set.values
    every = n * values * (_DENSE if data_set.per_row is None else _SPARSE)  # the kernel of all pairs
    product = n * values * _PRODUCT
    svm: Any = {"requires": ("sklearn.svm",)}
    copies = 16.0 * values + 4.0 * n * n
    if intercept:
        peers = [
            answering(names.SVC, "peer", _svc, arena, estimated_seconds=every, estimated_bytes=copies, **svm),
            answering(
                names.SVC_GRAM, "peer", _svc_gram, arena, estimated_seconds=product, estimated_bytes=32.0 * n * n, **svm
            ),
        ]
    else:
        peers = [
            answering(
                names.ONE_CLASS, "peer", _one_class, arena, estimated_seconds=every, estimated_bytes=copies, **svm
            ),
            answering(
                names.ONE_CLASS_GRAM,
                "peer",
                _one_class_gram,
                arena,
                estimated_seconds=product,
                estimated_bytes=32.0 * n * n,
                **svm,
            ),
            answering(
                names.LINEAR_SVC,
                "peer",
                _linear_svc,
                arena,
                estimated_seconds=_EPOCHS * values * _EPOCH,
                estimated_bytes=24.0 * values,
                **svm,
            ),
        ]
    return (*peers, _clarabel(n, arena, lambda points: _margin_by_clarabel(points, intercept)))


def ball_peers(data_set: DataSet, arena: Arena) -> tuple[Contender, ...]:
    """Return the peers of the smallest ball.

    Parameters
    ----------
    data_set : DataSet
        For the estimates.
    arena : Arena
        Where the answers go.

    Returns
    -------
    peers : tuple of Contender
        Two methods that take a fixed number of steps, and Clarabel.
    """
    n = (data_set.size or (0, 0))[0]
    walking = _CORE_STEPS * data_set.values * 2e-10
    return (
        answering(names.CORE_SET, "peer", _core_set, arena, estimated_seconds=walking),
        answering(names.FRANK_WOLFE, "peer", _ball_by_frank_wolfe, arena, estimated_bytes=24.0 * n * n),
        _clarabel(n, arena, _ball_by_clarabel),
    )


def _clarabel(n: int, arena: Arena, ask: Callable[[Labelled], Answer]) -> Contender:
    return answering(
        names.CLARABEL,
        "peer",
        ask,
        arena,
        requires=("clarabel",),
        estimated_seconds=_INTERIOR_STEPS * n**3 / 3 * _FACTOR,
        estimated_bytes=60.0 * n * n,
    )


def _quiet(model: Any, X: Any, *labels: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge is for the judge to say
        return model.fit(X, *labels)


def _svc(points: Labelled) -> Answer:
    from sklearn.svm import SVC

    model = SVC(kernel="linear", C=_HARD, tol=_TOL, cache_size=_CACHE, max_iter=_MOST)
    coefficients = _quiet(model, points.X, points.labels).coef_
    dense = coefficients.toarray() if sp.issparse(coefficients) else coefficients
    return Answer(np.asarray(dense).reshape(-1), words=f"C={_HARD:g}, tol={_TOL:g}")


def _svc_gram(points: Labelled) -> Answer:
    from sklearn.svm import SVC

    model = SVC(kernel="precomputed", C=_HARD, tol=_TOL, cache_size=_CACHE, max_iter=_MOST)
    _quiet(model, _single_gram(points), points.labels)
    dual = _spread(model, len(points.labels))
    return Answer(combination(points, dual), words=f"C={_HARD:g}, tol={_TOL:g}")


def _one_class(points: Labelled) -> Answer:
    """Separate the points yᵢxᵢ from the origin: with ν = 1/n no error is allowed, so it is the same problem."""
    n = len(points.labels)
    squares = np.square(points.matrix.row_norms())
    signed = points.X.multiply(points.labels[:, None]).tocsr() if points.is_sparse else _signed(points)
    model = _one_class_machine("linear", float(squares.mean()), n)
    coefficients = _quiet(model, signed).coef_
    dense = coefficients.toarray() if sp.issparse(coefficients) else coefficients
    return Answer(np.asarray(dense).reshape(-1), words=_one_class_words())


def _one_class_gram(points: Labelled) -> Answer:
    n, signs = len(points.labels), points.labels.astype(np.float32)
    K = _single_gram(points)
    K *= signs[:, None]
    K *= signs
    model = _quiet(_one_class_machine("precomputed", float(K.diagonal().mean()), n), K)
    return Answer(combination(points, points.labels * _spread(model, n)), words=_one_class_words())


def _one_class_machine(kernel: str, square: float, n: int) -> Any:
    from sklearn.svm import OneClassSVM

    # gradients are squares of the margin, about the mean squared norm over n
    return OneClassSVM(kernel=kernel, nu=1.0 / n, tol=_TOL * square / n, cache_size=_CACHE, max_iter=_MOST)


def _one_class_words() -> str:
    return f"ν=1/n, tol={_TOL:g}‖x‖²/n"


def _linear_svc(points: Labelled) -> Answer:
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=_HARD, loss="hinge", fit_intercept=False, tol=_TOL, max_iter=_EPOCHS, random_state=0)
    return Answer(_quiet(model, points.X, points.labels).coef_[0], words=f"C={_HARD:g}, tol={_TOL:g}, ≤ {_EPOCHS} epochs")


def _margin_by_clarabel(points: Labelled, intercept: bool) -> Answer:
    K = gram_in_double(points)
    K *= points.labels[:, None] * points.labels
    group = (points.labels > 0).astype(np.intp) if intercept else np.zeros(len(K), dtype=np.intp)
    a, steps = solve_by_clarabel(K, np.zeros(len(K)), group)
    return Answer(combination(points, points.labels * a), words=f"{steps} steps")


def _ball_by_clarabel(points: Labelled) -> Answer:
    K = gram_in_double(points)
    a, steps = solve_by_clarabel(K, 0.5 * K.diagonal(), np.zeros(len(K), dtype=np.intp))
    return Answer(combination(points, a), words=f"{steps} steps")


def _ball_by_frank_wolfe(points: Labelled) -> Answer:
    a = frank_wolfe(gram_in_double(points), _WOLFE_STEPS)
    return Answer(combination(points, a), words=f"{_WOLFE_STEPS:,} steps")


def _core_set(points: Labelled) -> Answer:
    """Walk towards the farthest point, by 1/(k+1) of the way in step k (Bădoiu and Clarkson, 2003)."""
    X, squares = points.X, np.square(points.matrix.row_norms())
    weights = np.zeros(len(squares))
    weights[0] = 1.0
    values = _products(X, 0)
    for k in range(1, _CORE_STEPS + 1):
        far = int(np.argmax(squares - 2.0 * values))
        share = 1.0 / (k + 1)
        weights *= 1.0 - share
        weights[far] += share
        values += share * (_products(X, far) - values)
    return Answer(combination(points, weights), words=f"{_CORE_STEPS:,} steps")


def _products(X: Any, row: int) -> Floats:
    """Return the inner products of all rows with one."""
    one = X[[row]].toarray()[0] if sp.issparse(X) else X[row]
    return np.asarray(X @ one, dtype=np.float64)


def combination(points: Labelled, coefficients: Floats) -> Floats:
    """Return Σ bᵢxᵢ in float64, as an answer in dual variables needs it.

    Parameters
    ----------
    points : Labelled
        Data.
    coefficients : array of shape (n_samples,)
        b.

    Returns
    -------
    vector : array of shape (n_features,)
        By a pass of ours: no peer is slower for it.
    """
    return np.asarray(points.matrix.tdot(coefficients))


def _spread(model: Any, n: int) -> Floats:
    """Return the dual variables of all points, 0 but for the support vectors."""
    dual = np.zeros(n)
    coefficients = model.dual_coef_
    dual[model.support_] = np.asarray(coefficients.toarray() if sp.issparse(coefficients) else coefficients)[0]
    return dual


def _signed(points: Labelled) -> Any:
    return points.X * points.labels[:, None].astype(points.X.dtype)


def _single_gram(points: Labelled) -> Any:
    """Return XXᵀ in float32, by BLAS or SciPy."""
    return gram_matrix(Problem(points.X, points.labels, 1.0, points.matrix))
