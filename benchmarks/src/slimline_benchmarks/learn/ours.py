"""Ours: the certified classifier by each of its routes, and the solvers of the small problem."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from slimline.estimators import CertifiedClassifier
from slimline.learning import BinaryProblem, Rows, loss_named, solve_gram, solve_rows
from slimline.learning.surrogate import gram_of
from slimline_benchmarks.learn import names
from slimline_benchmarks.learn.problem import Fit, Problem

#: Certified relative error that is asked for.
TOLERANCE = 1e-2
METHODS = {names.SKETCH: "sketch", names.GRAM: "gram", names.DIRECT: "direct", names.AUTO: "auto"}


def certified(method: str, loss: str) -> Callable[[Problem], Fit]:
    """Return the certified classifier by one of its routes, everything else as it comes.

    Parameters
    ----------
    method : str
        "sketch", "gram", "direct" or "auto".
    loss : str
        Of the problem.

    Returns
    -------
    fit : callable
        Takes a problem.
    """

    def fit(problem: Problem) -> Fit:
        model = CertifiedClassifier(
            problem.C,
            loss=loss,
            tol=TOLERANCE,
            method=method,
            fit_intercept=False,
            standardize=problem.standardise,
            random_state=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # that it did not reach it is for the judge to say
            model.fit(problem.matrix if problem.standardise else problem.X, problem.labels)
        proof = model.certificate_
        return Fit(proof.weights[0, :-1], passes=model.n_passes_, certified=float(proof.relative_error[0]))

    return fit


def small_problem(problem: Problem, loss: str) -> BinaryProblem:
    """Return a problem as the solvers take it.

    Parameters
    ----------
    problem : Problem
        Labels and C.
    loss : str
        Which.

    Returns
    -------
    small : BinaryProblem
        Without an offset.
    """
    n = problem.shape[0]
    return BinaryProblem(loss_named(loss), problem.labels, np.ones(n), 1.0 / problem.C, np.zeros(n))


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
        small = small_problem(problem, loss)
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
        small = small_problem(problem, loss)
        solution = solve_gram(gram_of(problem.X, 0.0), small, None, target())
        dual = problem.labels * solution.dual * problem.C
        return Fit(np.asarray(problem.X.T @ dual.astype(np.float32)), dual)

    return fit
