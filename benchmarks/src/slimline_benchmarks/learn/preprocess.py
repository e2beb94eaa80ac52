"""Preprocessing of int8 genotypes for the peers: float32, standardised, missing calls imputed; and X Xᵀ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import ssyrk

from slimline.data._blocks import MISSING_CALL
from slimline_benchmarks.learn.problem import Problem

#: Columns of a panel that is standardised at a time.
PANEL = 4096


def as_peers_take_it(problem: Problem) -> Any:
    """Return X as an estimator of scikit-learn can take it: standardised float32, or as it is.

    Parameters
    ----------
    problem : Problem
        Data.

    Returns
    -------
    X : array or CSR matrix
        A copy only where the columns have to be standardised.
    """
    if not problem.standardise:
        return problem.X
    out = np.empty(problem.X.shape, dtype=np.float32)
    for columns, panel in standardised_panels(problem.X):
        out[:, columns] = panel
    return out


def centred(problem: Problem) -> NDArray[np.float32]:
    """Return a dense X as float32 with columns of mean 0: a copy.

    Parameters
    ----------
    problem : Problem
        Data.

    Returns
    -------
    X : array of shape (n_samples, n_features), float32
        Standardised where the problem is.
    """
    if problem.standardise:
        return np.asarray(as_peers_take_it(problem))
    X = problem.X.astype(np.float32)
    X -= X.mean(axis=0, dtype=np.float64).astype(np.float32)
    return np.asarray(X)


def standardised_panels(X: NDArray[np.int8]) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield panels of columns, centred and scaled, with the mean in place of missing calls.

    Parameters
    ----------
    X : array of shape (n_samples, n_features), int8
        Genotypes.

    Yields
    ------
    columns : slice
        Which.
    panel : array, float32
        By rows.
    """
    for start in range(0, X.shape[1], PANEL):
        columns = slice(start, min(start + PANEL, X.shape[1]))
        raw = X[:, columns]
        missing = raw == MISSING_CALL
        panel = raw.astype(np.float32)
        panel[missing] = 0.0
        known = np.maximum(len(X) - missing.sum(axis=0), 1).astype(np.float32)
        panel -= panel.sum(axis=0) / known
        panel[missing] = 0.0
        deviation = np.sqrt(np.einsum("ij,ij->j", panel, panel) / known)
        panel /= np.where(deviation > 0.0, deviation, np.float32(1.0))
        yield columns, panel


def gram_matrix(problem: Problem) -> NDArray[np.float32]:
    """Return X Xᵀ in float32, one triangle by BLAS (ssyrk) and the other copied.

    Parameters
    ----------
    problem : Problem
        Data.

    Returns
    -------
    K : array of shape (n_samples, n_samples), float32
        Symmetric, so either order will do.
    """
    if problem.is_sparse:
        return np.asarray((problem.X @ problem.X.T).toarray(), dtype=np.float32)
    if not problem.standardise:
        return mirrored(ssyrk(1.0, problem.X.T, trans=1))
    n = problem.shape[0]
    K = np.zeros((n, n), dtype=np.float32, order="F")
    for _, panel in standardised_panels(problem.X):
        K = ssyrk(1.0, panel.T, beta=1.0, c=K, trans=1, overwrite_c=1)
    return mirrored(K)


def mirrored(K: NDArray[np.float32], step: int = 1024) -> NDArray[np.float32]:
    """Copy the upper triangle onto the lower one, in place.

    Parameters
    ----------
    K : array of shape (n_samples, n_samples)
        With an upper triangle.
    step : int
        Rows at a time.

    Returns
    -------
    K : array
        The same one.
    """
    for start in range(0, len(K), step):
        stop = min(start + step, len(K))
        K[stop:, start:stop] = K[start:stop, stop:].T
        corner = K[start:stop, start:stop]
        corner[...] = np.triu(corner) + np.triu(corner, 1).T
    return K


def weights_of(problem: Problem, dual: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return Xᵀ(yα), which an answer in dual variables still needs to be a classifier of the features.

    Parameters
    ----------
    problem : Problem
        Data.
    dual : array of shape (n_samples,)
        y α.

    Returns
    -------
    weights : array of shape (n_features,), float32
        w.
    """
    right = dual.astype(np.float32)
    if not problem.standardise:
        return np.asarray(problem.X.T @ right)
    weights = np.empty(problem.shape[1], dtype=np.float32)
    for columns, panel in standardised_panels(problem.X):
        weights[columns] = right @ panel
    return weights
