"""Peers that work on a Gram matrix: Clarabel's interior points, and Frank and Wolfe's steps."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline_benchmarks.labelled import Labelled

Floats = NDArray[np.float64]

#: Columns that are made float64 at a time.
_PANEL = 8192


def gram_in_double(points: Labelled) -> Floats:
    """Return XXᵀ in float64, by NumPy or SciPy.

    Parameters
    ----------
    points : Labelled
        Data.

    Returns
    -------
    K : array of shape (n_samples, n_samples)
        Dense in either case.
    """
    if points.is_sparse:
        X = points.X.astype(np.float64)
        return np.asarray((X @ X.T).toarray())
    n, d = points.X.shape
    K = np.zeros((n, n))
    for start in range(0, d, _PANEL):
        panel = points.X[:, start : start + _PANEL].astype(np.float64)
        K += panel @ panel.T  # NumPy sees that it is symmetric
    return K


def solve_by_clarabel(Q: Floats, c: Floats, group: NDArray[np.intp], tol: float) -> Floats:
    """Return the least point of ½aᵀQa - cᵀa over weights of sum 1 in each group.

    Parameters
    ----------
    Q : array of shape (n, n)
        Of the quadratic.
    c : array of shape (n,)
        Of its linear part.
    group : array of shape (n,)
        Number of each coordinate's group.
    tol : float
        Of gap and feasibility.

    Returns
    -------
    weights : array of shape (n,)
        Not negative, with a sum of 1 over each group.
    """
    clarabel = import_module("clarabel")  # it has no types

    n, n_groups = len(c), int(group.max()) + 1
    scale = float(Q.diagonal().mean())
    members = sp.csc_array((np.ones(n), (group, np.arange(n))), shape=(n_groups, n))
    constraints = sp.vstack([members, -sp.eye_array(n)], format="csc")
    cones: Any = [clarabel.ZeroConeT(n_groups), clarabel.NonnegativeConeT(n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = tol
    right = np.concatenate([np.ones(n_groups), np.zeros(n)])
    upper = sp.csc_array(np.triu(Q) / scale)
    solution = clarabel.DefaultSolver(upper, -c / scale, constraints, right, cones, settings).solve()
    weights = np.maximum(np.asarray(solution.x), 0.0)
    return np.asarray(weights / np.bincount(group, weights)[group])


def frank_wolfe(K: Floats, steps: int) -> Floats:
    """Return the weights of the centre of a ball after some steps, each as long as is best.

    Parameters
    ----------
    K : array of shape (n, n)
        Gram matrix.
    steps : int
        How many.

    Returns
    -------
    weights : array of shape (n,)
        Not negative, with a sum of 1.
    """
    squares = K.diagonal().copy()
    weights = np.zeros(len(K))
    weights[0] = 1.0
    values, norm, mean = K[0].copy(), float(squares[0]), float(squares[0])
    for _ in range(steps):
        far = int(np.argmax(squares - 2.0 * values))
        distance = float(squares[far]) - 2.0 * float(values[far]) + norm
        gain = distance - (mean - norm)  # the squared radius around the centre, less what the weights prove
        if not gain > 0.0 or not distance > 0.0:
            break
        step = min(1.0, 0.5 * gain / distance)
        norm = (1.0 - step) ** 2 * norm + 2.0 * step * (1.0 - step) * float(values[far]) + step**2 * float(squares[far])
        mean += step * (float(squares[far]) - mean)
        weights *= 1.0 - step
        weights[far] += step
        values += step * (K[far] - values)
    return weights
