"""The peers of regression: how each fits a problem with an intercept, and the settings that it is tried with.

Snap ML and LIBLINEAR put a penalty on their intercept. Snap ML is given centred data, which is the same problem for the
squared loss. LIBLINEAR is given a target of median 0, whose intercept is small: its penalty hardly matters then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.linalg

from slimline._kernels.threads import thread_count
from slimline.learning.regression_losses import EpsilonInsensitive
from slimline_benchmarks.learn import names
from slimline_benchmarks.learn.peers import LIBLINEAR, MANY, ON_GRAM, SEED, Peer, quiet, tolerances
from slimline_benchmarks.learn.preprocess import as_peers_take_it, centred, gram_matrix, weights_of
from slimline_benchmarks.learn.problem import Fit, Problem
from slimline_benchmarks.search import Setting

_EPSILON = EpsilonInsensitive().epsilon


def _ridge(solver: str) -> Callable[[Problem, str, Mapping[str, Any]], Fit]:
    def fit(problem: Problem, loss: str, options: Mapping[str, Any]) -> Fit:
        from sklearn.linear_model import Ridge

        # what was standardised for this fit alone need not be copied again
        more: dict[str, Any] = {"max_iter": MANY, "random_state": SEED} if solver == "sag" else {}
        model = Ridge(1.0 / problem.C, solver=solver, copy_X=not problem.standardise, **more, **options)
        return Fit(quiet(lambda: model.fit(as_peers_take_it(problem), problem.labels)).coef_)

    return fit


def _snap(dual: bool) -> Callable[[Problem, str, Mapping[str, Any]], Fit]:
    def fit(problem: Problem, loss: str, options: Mapping[str, Any]) -> Fit:
        from snapml import LinearRegression  # type: ignore[import-not-found,import-untyped,unused-ignore]

        target = problem.labels - problem.labels.mean()
        model = LinearRegression(
            regularizer=1.0 / problem.C, dual=dual, max_iter=MANY, n_jobs=thread_count(), random_state=SEED, **options
        )
        return Fit(np.ravel(quiet(lambda: model.fit(centred(problem), target)).coef_))

    return fit


def _kernel_ridge(problem: Problem, loss: str, options: Mapping[str, Any]) -> Fit:
    """β = (HXXᵀH + λ)⁻¹Hy with H = I - 11ᵀ/n, which has the sum 0, and w = Xᵀβ."""
    K = gram_matrix(problem).astype(np.float64)
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    K.flat[:: len(K) + 1] += 1.0 / problem.C
    factor = scipy.linalg.cho_factor(K, overwrite_a=True, check_finite=False)
    return Fit(weights_of(problem, scipy.linalg.cho_solve(factor, problem.labels - problem.labels.mean())))


def _linear_svr(problem: Problem, loss: str, options: Mapping[str, Any]) -> Fit:
    from sklearn.svm import LinearSVR

    model = LinearSVR(
        C=problem.C,
        epsilon=_EPSILON,
        loss=loss,
        dual=True,
        max_iter=MANY,
        random_state=SEED,
        **options,
    )
    target = problem.labels - np.median(problem.labels)
    return Fit(quiet(lambda: model.fit(as_peers_take_it(problem), target)).coef_)


def _svr(problem: Problem, loss: str, options: Mapping[str, Any]) -> Fit:
    from sklearn.svm import SVR

    model = SVR(C=problem.C, epsilon=_EPSILON, kernel="precomputed", cache_size=1000, **options)
    quiet(lambda: model.fit(gram_matrix(problem), problem.labels))
    dual = np.zeros(problem.shape[0])
    dual[model.support_] = model.dual_coef_[0]
    return Fit(weights_of(problem, dual), dual)


_SQUARED, _ONCE = ("squared",), (Setting(""),)
_RIDGE: dict[str, Any] = {"centred": True, "requires": ("sklearn.linear_model",)}

REGRESSION_PEERS = (
    Peer(names.KERNEL_RIDGE, _kernel_ridge, _SQUARED, _ONCE, on_gram=True, sample_bytes=16.0, pair_seconds=1e-11),
    Peer(names.RIDGE["cholesky"], _ridge("cholesky"), _SQUARED, _ONCE, sample_bytes=8.0, pair_seconds=2e-11, **_RIDGE),
    # a copy of X, and the right singular vectors twice
    Peer(names.RIDGE["svd"], _ridge("svd"), _SQUARED, _ONCE, value_bytes=12.0, pair_seconds=1e-10, **_RIDGE),
    Peer(
        names.RIDGE["sag"],
        _ridge("sag"),
        _SQUARED,
        tolerances(0.1, 0.01, 1e-3, 1e-4, 1e-5),
        value_seconds=2e-8,
        **_RIDGE,
    ),
    *(
        Peer(
            name,
            _snap(dual),
            _SQUARED,
            tolerances(0.1, 0.01, 1e-3, 1e-4, 1e-5),
            centred=True,
            value_seconds=2e-8,
            requires=("snapml",),
        )
        for dual, name in names.SNAP.items()
    ),
    Peer(names.LINEAR_SVR, _linear_svr, ("epsilon_insensitive",), tolerances(0.1, 0.01, 1e-3, 1e-4, 1e-5), **LIBLINEAR),
    Peer(
        names.SVR_GRAM,
        _svr,
        ("epsilon_insensitive",),
        tolerances(0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6),
        **ON_GRAM,
    ),
)
