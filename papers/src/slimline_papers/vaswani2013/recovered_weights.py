"""Experiment 1: weights recovered from sketches of ARCENE and DOROTHEA, beside the exact ones.

As in the document: no intercept, squared loss, λ = 1. It does not say how features were scaled: they are taken as they
come, and with rows of norm 1. The exact weights are computed in float64 from the Gram matrix. Classification is judged
on the validation part, since the labels of the test part are not public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, eigvalsh
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.preprocessing import normalize

from slimline import CertifiedClassifier, GaussianProjection, SignProjection, open_matrix
from slimline.learning import (
    BinaryProblem,
    SolverState,
    TrainingData,
    loss_named,
    recover_dual,
    recover_naive,
    sketch_surrogate,
)
from slimline_papers.item import Experiment, Part
from slimline_papers.sources.records import Challenge
from slimline_papers.study import Study

Floats = NDArray[np.float64]

SETS = ("ARCENE", "DOROTHEA")
FAMILIES = {"Gaussian": GaussianProjection, "Bernoulli": SignProjection}
#: Shares of the features that are compared, largest weights first.
SHARES = (0.01, 0.05, 0.1, 0.25)
#: So many of the directions in which the data are longest are looked at apart.
LONGEST = 5
_PENALTY = 1.0
_PROJECTIONS = {
    "ARCENE": (100, 200, 500, 1000, 2000, 3000, 5000, 10_000),
    "DOROTHEA": (500, 1600, 3000, 7000),
}
_FULL_DOROTHEA = (500, 1000, 1600, 2000, 3000, 4000, 5000, 7000, 10_000, 14_000, 20_000)
_MINIATURE = {"ARCENE": (200, 1000, 5000), "DOROTHEA": (1600, 2000)}


@dataclass(frozen=True)
class Ridge:
    """The problem on all features, solved exactly.

    Parameters
    ----------
    challenge : Challenge
        The data.
    gram : array of shape (n_samples, n_samples)
        X Xᵀ.
    weights : array of shape (n_features,)
        w* = Xᵀ(X Xᵀ + λI)⁻¹y.
    longest : array of shape (n_features, LONGEST)
        Right singular vectors of X: the directions in which the data are longest.
    """

    challenge: Challenge
    gram: Floats
    weights: Floats
    longest: Floats

    def relative_error(self, weights: Floats) -> float:
        """Return ‖weights - w*‖/‖w*‖."""
        return float(np.linalg.norm(weights - self.weights) / np.linalg.norm(self.weights))


def exact_ridge(challenge: Challenge) -> Ridge:
    """Solve the problem on all features, in float64.

    Parameters
    ----------
    challenge : Challenge
        The data.

    Returns
    -------
    ridge : Ridge
        With its Gram matrix.
    """
    X: Any = challenge.X
    product = X @ X.T
    gram = np.asarray(product if isinstance(product, np.ndarray) else product.toarray())
    weights = X.T @ np.linalg.solve(gram + _PENALTY * np.eye(len(gram)), challenge.y)
    squares, left = eigh(gram, subset_by_index=[len(gram) - LONGEST, len(gram) - 1])
    return Ridge(challenge, gram, weights, X.T @ (left / np.sqrt(squares)))


def _parts(study: Study) -> Sequence[Part]:
    runs = range(study.pick(2, 3, 10))
    kinds = [("exact", 0), *((family, run) for family in FAMILIES for run in runs)]
    return [(scaling, name, *kind) for scaling in ("raw", "unit") for name in SETS for kind in kinds]


def scaled(challenge: Challenge, scaling: str) -> Challenge:
    """Return a data set with its rows scaled.

    Parameters
    ----------
    challenge : Challenge
        The data.
    scaling : str
        "raw" or "unit": as they come, or rows of norm 1.

    Returns
    -------
    scaled : Challenge
        Training and validation part.
    """
    if scaling == "raw":
        return challenge
    return replace(challenge, X=normalize(challenge.X), X_valid=normalize(challenge.X_valid))


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    scaling, name, family, run = str(part[0]), str(part[1]), str(part[2]), int(part[3])
    challenge = scaled(study.load(name.lower()), scaling)
    ridge = exact_ridge(challenge)
    X, y = challenge.X, challenge.y
    facts = int(np.linalg.matrix_rank(ridge.gram, hermitian=True)), X.shape[1]
    if family == "exact":
        fitted = CertifiedClassifier(C=1 / _PENALTY, loss="squared", method="gram", fit_intercept=False).fit(X, y)
        certified = fitted.certificate_.relative_error[0]
        yield scaling, name, family, 0, run, "exact", *facts, 0.0, certified, *_quality(ridge, fitted.coef_[0])
        return
    data = TrainingData(open_matrix(X))
    problem = BinaryProblem(loss_named("squared"), y, np.ones(len(y)), _PENALTY)
    for r in study.pick(_MINIATURE, _PROJECTIONS, _PROJECTIONS | {"DOROTHEA": _FULL_DOROTHEA})[name]:
        seed = study.seed_of("vaswani2013.recovered", name, family, r, run)
        projection = FAMILIES[family](r, random_state=seed).projection_for(X.shape)
        Z = data.matrix.sketch(projection, double=True)
        surrogate = sketch_surrogate(data, projection, Z, _PENALTY)
        embedding = np.abs(eigvalsh(Z @ Z.T, ridge.gram) - 1).max()
        naive, dual = SolverState.zero(problem, data.shape), SolverState.zero(problem, data.shape)
        for _ in (*recover_naive(data, [naive], surrogate, Z, projection), *recover_dual(data, [dual], surrogate)):
            pass  # one step each
        for recovery, state in (("naive", naive), ("dual", dual)):
            assert state.bound is not None
            weights = state.bound.weights[:-1]  # the last one is the intercept's, and there is none
            yield (
                scaling, name, family, r, run, recovery, *facts, embedding, state.error, *_quality(ridge, weights),
            )  # fmt: skip


def _quality(ridge: Ridge, weights: Floats) -> Iterator[float]:
    """Yield the relative error, the Jaccard indices, and how the weights classify the validation part."""
    yield ridge.relative_error(weights)
    yield jaccard(weights != 0, ridge.weights != 0)
    for share in SHARES:
        k = round(share * len(weights))
        yield jaccard(largest(weights, k), largest(ridge.weights, k))
    labels, scores = ridge.challenge.y_valid, ridge.challenge.X_valid @ weights
    predicted = np.where(scores > 0, 1, -1)
    yield np.mean(predicted != labels)
    yield 1 - balanced_accuracy_score(labels, predicted)
    yield roc_auc_score(labels, scores)
    along = ridge.longest @ (ridge.longest.T @ (weights - ridge.weights))
    yield np.mean(np.where(ridge.challenge.X_valid @ (weights - along) > 0, 1, -1) != labels)


def largest(weights: Floats, k: int) -> NDArray[np.bool_]:
    """Return which k features have the largest absolute weights.

    Parameters
    ----------
    weights : array of shape (n_features,)
        Weights.
    k : int
        How many.

    Returns
    -------
    chosen : array of shape (n_features,), bool
        k of them are true.
    """
    chosen = np.zeros(len(weights), dtype=bool)
    chosen[np.argpartition(-np.abs(weights), k - 1)[:k]] = True
    return chosen


def jaccard(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Return the size of the intersection of two sets over that of their union.

    Parameters
    ----------
    one, other : arrays of bool
        Which elements are in.

    Returns
    -------
    index : float
        From 0 to 1.
    """
    return float(np.sum(one & other) / np.sum(one | other))


RECOVERED = Experiment(
    name="vaswani2013.recovered",
    about="ARCENE and DOROTHEA, features as they come and (Fig. 3) with rows of norm 1, squared loss, λ = 1: weights "
    "by naive and dual recovery from Gaussian and Bernoulli sketches, beside the exact weights; classification on the "
    "validation part.",
    columns=(
        "scaling", "set", "family", "r", "run", "recovery", "rank", "features", "embedding_error", "certified",
        "relative_error", "jaccard_nonzero", *(f"jaccard_{100 * share:g}" for share in SHARES), "wrong",
        "balanced_wrong", "auc", "wrong_elsewhere",
    ),
    parts=_parts,
    measure=_measure,
    sources=("arcene", "dorothea"),
)  # fmt: skip
