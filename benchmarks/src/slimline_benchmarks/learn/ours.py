"""Ours: the certified classifier and regression by each of their routes, and the solvers of the small problem."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from slimline.data import open_matrix
from slimline.estimators import CertifiedClassifier, CertifiedRegressor
from slimline.learning import Rows, solve_gram, solve_rows
from slimline.learning.surrogate import gram_of
from slimline_benchmarks.learn import names
from slimline_benchmarks.learn.problem import Fit, Problem, Regression

#: Certified relative error that is asked for.
TOLERANCE = 1e-2
METHODS = {names.SKETCH: "sketch", names.GRAM: "gram", names.DIRECT: "direct", names.AUTO: "auto"}


def certified(method: str, loss: str, *, from_file: bool = False) -> Callable[[Problem], Fit]:
    """Return the certified classifier or regression by one of its routes, everything else as it comes.

    Parameters
    ----------
    method : str
        "sketch", "gram", "direct" or "auto".
    loss : str
        Of the problem.
    from_file : bool
        Whether a regression reads the PLINK file of its genotypes.

    Returns
    -------
    fit : callable
        Takes a problem.
    """

    def fit(problem: Problem) -> Fit:
        data = problem.matrix if problem.standardise else problem.X
        options: dict[str, Any] = {"loss": loss, "tol": TOLERANCE, "method": method, "random_state": 0}
        model: CertifiedClassifier | CertifiedRegressor
        if isinstance(problem, Regression):
            data = open_matrix(problem.bed) if from_file else data
            model = CertifiedRegressor(problem.C, standardize=problem.standardise, **options)
        else:
            model = CertifiedClassifier(problem.C, fit_intercept=False, standardize=problem.standardise, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # that it did not reach it is for the judge to say
            model.fit(data, problem.labels)
        proof = model.certificate_
        return Fit(proof.weights[0, :-1], passes=model.n_passes_, certified=float(proof.relative_error[0]))

    return fit


def by_rows(loss: str, target: Callable[[], float]) -> Callable[[Problem], Fit]:
    """Return `solve_rows` to a target gap.

    Parameters
    ----------
    loss : str
        Of the problem.
    target : callable
        Returns the duality gap to stop at.

    Returns
    -------
    fit : callable
        Takes a problem.
    """

    def fit(problem: Problem) -> Fit:
        small = problem.task(loss)
        solution = solve_rows(Rows(problem.X, 0.0), small, None, target())
        assert solution.weights is not None
        return Fit(solution.weights[: problem.shape[1]], problem.labels * solution.dual * problem.C)

    return fit


def by_gram(loss: str, target: Callable[[], float]) -> Callable[[Problem], Fit]:
    """Return `solve_gram` to a target gap, the Gram matrix included.

    Parameters
    ----------
    loss : str
        Of the problem.
    target : callable
        Returns the duality gap to stop at.

    Returns
    -------
    fit : callable
        Takes a problem.
    """

    def fit(problem: Problem) -> Fit:
        small = problem.task(loss)
        solution = solve_gram(gram_of(problem.X, 0.0), small, None, target())
        dual = problem.labels * solution.dual * problem.C
        return Fit(np.asarray(problem.X.T @ dual.astype(np.float32)), dual)

    return fit
