"""The peers of margins and balls: how each is asked, and the settings that it is tried with, loosest first.

Estimates of time and memory are rough: they only decide whether a peer is worth or able to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from slimline_benchmarks.case import Contender
from slimline_benchmarks.data_sets import DataSet
from slimline_benchmarks.geometry import names
from slimline_benchmarks.geometry.answers import Answer, Floats
from slimline_benchmarks.geometry.machines import linear_svc, one_class, one_class_gram, svc, svc_gram
from slimline_benchmarks.geometry.quadratic import frank_wolfe, gram_in_double, solve_by_clarabel
from slimline_benchmarks.labelled import Labelled
from slimline_benchmarks.search import Arena, Setting, searching

#: Of LIBSVM: on the margin values are 1, so the margin is off by about as much. LIBLINEAR is asked for the same.
_TOL, _TIGHTER = 2e-6, 2e-7
# Seconds, roughly: of a multiply-add in LIBSVM's dense and sparse kernels, in an epoch, in a BLAS, in a sparse factor.
_DENSE, _SPARSE, _EPOCH, _PRODUCT, _FACTOR = 2e-9, 1e-8, 2e-9, 5e-11, 1e-9
#: Factors of an interior-point method.
_INTERIOR_STEPS = 20

_MACHINE = tuple(Setting(f"tol={tol:g}", {"tol": tol}) for tol in (_TOL, _TIGHTER))
_ON_GRAM = (
    Setting(f"float32, tol={_TOL:g}", {"tol": _TOL, "double": False}),
    Setting(f"float64, tol={_TIGHTER:g}", {"tol": _TIGHTER, "double": True}, 2.0),
)
_EPOCHS = tuple(Setting(f"{n:,} epochs", {"tol": _TOL, "max_iter": n}, n) for n in (100, 1000))
_INTERIOR = tuple(Setting(f"tol={tol:g}", {"tol": tol}) for tol in (1e-8, 1e-10))
_STEPS = tuple(Setting(f"{n:,} steps", {"steps": n}, n) for n in (1000, 20_000))


def margin_peers(data_set: DataSet[Labelled], intercept: bool, arena: Arena) -> tuple[Contender, ...]:
    """Return the peers of the hard margin.

    Parameters
    ----------
    data_set : DataSet
        For the estimates.
    intercept : bool
        Which margin.
    arena : Arena
        Judge and findings.

    Returns
    -------
    peers : tuple of Contender
        LIBSVM, LIBSVM on a Gram matrix, LIBLINEAR where there is no intercept, Clarabel.
    """
    n, values = (data_set.size or (0, 0))[0], data_set.values
    kernel = n * values * (_SPARSE if data_set.kind == "sparse" else _DENSE)  # of all pairs
    needs: Any = {"estimated_seconds": kernel, "estimated_bytes": 16.0 * values + 4.0 * n * n}
    on_gram: Any = {"estimated_seconds": n * values * _PRODUCT, "estimated_bytes": 32.0 * n * n}
    epochs: Any = {"estimated_seconds": 100 * values * _EPOCH, "estimated_bytes": 24.0 * values}
    if intercept:
        peers = [
            searching(names.SVC, svc, _MACHINE, arena, requires=("sklearn.svm",), **needs),
            searching(names.SVC_GRAM, svc_gram, _ON_GRAM, arena, requires=("sklearn.svm",), **on_gram),
        ]
    else:
        peers = [
            searching(names.ONE_CLASS, one_class, _MACHINE, arena, requires=("sklearn.svm",), **needs),
            searching(names.ONE_CLASS_GRAM, one_class_gram, _ON_GRAM, arena, requires=("sklearn.svm",), **on_gram),
            searching(names.LINEAR_SVC, linear_svc, _EPOCHS, arena, requires=("sklearn.svm",), **epochs),
        ]

    def by_clarabel(points: Labelled, options: Mapping[str, Any]) -> Answer:
        K = gram_in_double(points)
        K *= points.labels[:, None] * points.labels
        group = (points.labels > 0).astype(np.intp) if intercept else np.zeros(len(K), dtype=np.intp)
        return Answer(_vector(points, points.labels * solve_by_clarabel(K, np.zeros(len(K)), group, **options)))

    return *peers, searching(names.CLARABEL, by_clarabel, _INTERIOR, arena, **_interior_needs(n))


def ball_peers(data_set: DataSet[Labelled], arena: Arena) -> tuple[Contender, ...]:
    """Return the peers of the smallest ball.

    Parameters
    ----------
    data_set : DataSet
        For the estimates.
    arena : Arena
        Judge and findings.

    Returns
    -------
    peers : tuple of Contender
        Two methods that take a fixed number of steps, and Clarabel.
    """
    n = (data_set.size or (0, 0))[0]
    walking = _STEPS[0].cost * data_set.values * 2e-10
    return (
        searching(names.CORE_SET, _core_set, _STEPS[:1], arena, estimated_seconds=walking),
        searching(names.FRANK_WOLFE, _ball_by_frank_wolfe, _STEPS, arena, estimated_bytes=24.0 * n * n),
        searching(names.CLARABEL, _ball_by_clarabel, _INTERIOR, arena, **_interior_needs(n)),
    )


def _interior_needs(n: int) -> dict[str, Any]:
    seconds = _INTERIOR_STEPS * n**3 / 3 * _FACTOR
    return {"requires": ("clarabel",), "estimated_seconds": seconds, "estimated_bytes": 60.0 * n * n}


def _ball_by_clarabel(points: Labelled, options: Mapping[str, Any]) -> Answer:
    K = gram_in_double(points)
    a = solve_by_clarabel(K, 0.5 * K.diagonal(), np.zeros(len(K), dtype=np.intp), **options)
    return Answer(_vector(points, a))


def _ball_by_frank_wolfe(points: Labelled, options: Mapping[str, Any]) -> Answer:
    return Answer(_vector(points, frank_wolfe(gram_in_double(points), **options)))


def _core_set(points: Labelled, options: Mapping[str, Any]) -> Answer:
    """Walk towards the farthest point, by 1/(k+1) of the way in step k (Bădoiu and Clarkson, 2003)."""
    X, squares = points.X, np.square(points.matrix.row_norms())

    def products(row: int) -> Floats:
        one = X[[row]].toarray()[0] if points.is_sparse else X[row]
        return np.asarray(X @ one, dtype=np.float64)

    weights = np.zeros(len(squares))
    weights[0] = 1.0
    values = products(0)
    for k in range(1, options["steps"] + 1):
        far = int(np.argmax(squares - 2.0 * values))
        share = 1.0 / (k + 1)
        weights *= 1.0 - share
        weights[far] += share
        values += share * (products(far) - values)
    return Answer(_vector(points, weights))


def _vector(points: Labelled, coefficients: Floats) -> Floats:
    """Return Σ bᵢxᵢ, as an answer in dual variables needs it, by a pass of ours: no peer is slower for it."""
    return np.asarray(points.matrix.tdot(coefficients))
