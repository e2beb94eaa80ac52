"""The peers: how each fits classes without an intercept, and the settings that it is tried with, loosest first."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from slimline_benchmarks.learn import names
from slimline_benchmarks.learn.preprocess import as_peers_take_it, gram_matrix, weights_of
from slimline_benchmarks.learn.problem import Fit, Problem
from slimline_benchmarks.search import Setting

#: Iterations that no solver should need.
MANY = 20_000
#: Of every peer.
SEED = 0


@dataclass(frozen=True)
class Peer:
    """A library's way of training.

    Parameters
    ----------
    name : str
        Of the contender.
    fit : callable
        Takes problem, loss and options; returns a `Fit`.
    losses : tuple of str
        That it has.
    settings : tuple of Setting
        Loosest first.
    value_bytes, sample_bytes : float
        Memory above the data: for each stored value, and for each pair of samples.
    value_seconds, pair_seconds : float
        Rough time of one fit: for each stored value, and for each pair of samples and feature.
    needed_as : str
        What the memory is needed for.
    centred : bool
        Whether it is given, or makes, a copy whose columns are centred.
    on_gram : bool
        Whether X Xᵀ is all that it takes.
    requires : tuple of str
        Modules without which it is absent.
    """

    name: str
    fit: Callable[[Problem, str, Mapping[str, Any]], Fit]
    losses: tuple[str, ...]
    settings: tuple[Setting, ...]
    value_bytes: float = 0.0
    sample_bytes: float = 0.0
    value_seconds: float = 0.0
    pair_seconds: float = 0.0
    needed_as: str = ""
    centred: bool = False
    on_gram: bool = False
    requires: tuple[str, ...] = ("sklearn.svm",)


def tolerances(*values: float) -> tuple[Setting, ...]:
    """Return settings that differ in the tolerance.

    Parameters
    ----------
    *values : float
        Loosest first.

    Returns
    -------
    settings : tuple of Setting
        One for each.
    """
    return tuple(Setting(f"tol={value:g}", {"tol": value}) for value in values)


def quiet(fit: Callable[[], Any]) -> Any:
    """Return what a fit returns, without its warnings.

    Parameters
    ----------
    fit : callable
        Takes nothing.

    Returns
    -------
    model : object
        The fitted model.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge is for the judge to say
        return fit()


def _linear_svc(dual: bool) -> Callable[[Problem, str, Mapping[str, Any]], Fit]:
    def fit(problem: Problem, loss: str, options: Mapping[str, Any]) -> Fit:
        from sklearn.svm import LinearSVC

        model = LinearSVC(
            C=problem.C,
            loss=loss,
            dual=dual,
            fit_intercept=False,
            max_iter=MANY,
            random_state=SEED,
            **options,
        )
        return Fit(quiet(lambda: model.fit(as_peers_take_it(problem), problem.labels)).coef_[0])

    return fit


def _lbfgs(problem: Problem, loss: str, options: Mapping[str, Any]) -> Fit:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=problem.C, solver="lbfgs", fit_intercept=False, max_iter=MANY, **options)
    return Fit(quiet(lambda: model.fit(as_peers_take_it(problem), problem.labels)).coef_[0])


def _sgd(problem: Problem, loss: str, options: Mapping[str, Any]) -> Fit:
    """Take the better of scikit-learn's schedules: steps of one size for the squared hinge, averaged in the end."""
    from sklearn.linear_model import SGDClassifier

    n, d = problem.shape
    schedule: dict[str, Any] = {"learning_rate": "optimal"}
    if loss == "squared_hinge":
        squared_norm = d if problem.standardise else 1
        half = options["max_iter"] * n // 2
        schedule = {"learning_rate": "constant", "eta0": 0.1 / squared_norm, "average": half}
    model = SGDClassifier(
        loss="log_loss" if loss == "logistic" else loss,
        alpha=1.0 / (problem.C * n),
        fit_intercept=False,
        tol=None,
        random_state=SEED,
        **schedule,
        **options,
    )
    return Fit(quiet(lambda: model.fit(as_peers_take_it(problem), problem.labels)).coef_[0])


def _svc(problem: Problem, loss: str, options: Mapping[str, Any]) -> Fit:
    """LIBSVM has no way to leave out its intercept; it is judged by the problem that it solves."""
    from sklearn.svm import SVC

    model = SVC(C=problem.C, kernel="precomputed", cache_size=1000, **options)
    quiet(lambda: model.fit(gram_matrix(problem), problem.labels))
    dual = np.zeros(problem.shape[0])
    dual[model.support_] = model.dual_coef_[0]
    return Fit(weights_of(problem, dual), dual, float(model.intercept_[0]))


def _pipeline(problem: Problem, loss: str, options: Mapping[str, Any]) -> Fit:
    """Return the weights of the sketch, brought back by the projection that made it: w = Rᵀv."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.random_projection import SparseRandomProjection
    from sklearn.svm import LinearSVC

    r = max(2, min(int(options["n_components"]), problem.shape[1] // 4))
    projection = SparseRandomProjection(r, dense_output=True, random_state=SEED)
    model: Any
    if loss == "logistic":
        model = LogisticRegression(C=problem.C, fit_intercept=False, max_iter=MANY)
    else:
        model = LinearSVC(C=problem.C, loss=loss, fit_intercept=False, max_iter=MANY, random_state=SEED)

    def fit() -> Any:
        Z = projection.fit_transform(as_peers_take_it(problem))
        return model.fit(Z, problem.labels)

    quiet(fit)
    return Fit(np.asarray(projection.components_.T @ model.coef_[0]).reshape(-1))


_EPOCHS = tuple(Setting(f"{count} epochs", {"max_iter": count}, count) for count in (10, 30, 100, 300))
_HINGES = ("squared_hinge", "hinge")
#: LIBLINEAR takes float64 and makes a list of it, 16 bytes a value.
LIBLINEAR: dict[str, Any] = {"value_bytes": 24.0, "value_seconds": 4e-8, "needed_as": "as LIBLINEAR's lists"}

LINEAR_SVC_DUAL = Peer(
    names.LINEAR_SVC_DUAL, _linear_svc(True), _HINGES, tolerances(1.0, 0.1, 0.03, 0.01, 1e-3, 1e-4), **LIBLINEAR
)
LINEAR_SVC_PRIMAL = Peer(
    names.LINEAR_SVC_PRIMAL,
    _linear_svc(False),
    ("squared_hinge",),
    tolerances(0.1, 0.01, 1e-3, 1e-4, 1e-5),
    **LIBLINEAR,
)
#: LIBSVM, given X Xᵀ.
ON_GRAM: dict[str, Any] = {"on_gram": True, "sample_bytes": 16.0, "pair_seconds": 1e-11}
SVC_GRAM = Peer(names.SVC_GRAM, _svc, ("hinge",), tolerances(0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6), **ON_GRAM)
_PROJECTED: dict[str, Any] = {"value_bytes": 4.0, "value_seconds": 2e-8}
_COMPONENTS = (Setting("r=1024", {"n_components": 1024}),)

PEERS = (
    LINEAR_SVC_DUAL,
    LINEAR_SVC_PRIMAL,
    SVC_GRAM,
    Peer(names.LBFGS, _lbfgs, ("logistic",), tolerances(1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7), value_seconds=1e-8),
    Peer(names.SGD, _sgd, names.LOSSES, _EPOCHS, value_seconds=2e-8),
    Peer(names.PIPELINE, _pipeline, _HINGES, _COMPONENTS, **_PROJECTED),
    Peer(names.PIPELINE_LBFGS, _pipeline, ("logistic",), _COMPONENTS, **_PROJECTED),
)
