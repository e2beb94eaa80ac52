"""The peers of embedding error and distortions: what one writes down with NumPy, SciPy and scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg

from slimline.projections import Projection
from slimline_benchmarks.case import Contender
from slimline_benchmarks.data_sets import Size
from slimline_benchmarks.geometry import names
from slimline_benchmarks.geometry.answers import Answer
from slimline_benchmarks.labelled import Labelled
from slimline_benchmarks.search import Arena, Setting, Solver, searching

# Of a decomposition, roughly: multiply-adds for each n²d, and seconds of one.
_DECOMPOSITION, _PRODUCT = 20.0, 5e-11

_DOUBLE, _SINGLE = (Setting("float64"),), (Setting("float32"),)


def embedding_peers(size: Size, projection: Projection, arena: Arena) -> tuple[Contender, ...]:
    """Return the peers of the embedding error: an orthonormal basis V of the row space, written out, and its sketch.

    Parameters
    ----------
    size : (int, int)
        Samples and features.
    projection : Projection
        R.
    arena : Arena
        Judge and findings.

    Returns
    -------
    peers : tuple of Contender
        By a singular value decomposition, and by QR.
    """
    n, d = size
    needs: Any = {"estimated_bytes": 32.0 * n * d, "estimated_seconds": _DECOMPOSITION * n * n * d * _PRODUCT}

    def by_svd(points: Labelled, _: Mapping[str, Any]) -> Answer:
        sizes, rows = np.linalg.svd(_dense(points), full_matrices=False)[1:]
        return _error(rows[sizes > len(rows) * np.finfo(float).eps * sizes[0]], projection)

    def by_qr(points: Labelled, _: Mapping[str, Any]) -> Answer:
        basis, triangle = scipy.linalg.qr(_dense(points).T, mode="economic", pivoting=True, check_finite=False)[:2]
        sizes = np.abs(triangle.diagonal())
        return _error(basis.T[sizes > len(sizes) * np.finfo(float).eps * sizes[0]], projection)

    return (
        searching(names.SVD, by_svd, _DOUBLE, arena, **needs),
        searching(names.QR, by_qr, _DOUBLE, arena, **needs),
    )


def _dense(points: Labelled) -> Any:
    X = points.X.toarray() if points.is_sparse else points.X
    return X.astype(np.float64)


def _error(basis: Any, projection: Projection) -> Answer:
    sketch = projection.apply(np.ascontiguousarray(basis))
    error = np.linalg.norm(np.eye(len(basis)) - sketch @ sketch.T, 2)
    return Answer(value=float(error))


def distortion_peers(size: Size, projection: Projection, arena: Arena) -> tuple[Contender, ...]:
    """Return the peer of the distortions: distances, cosines and inner products of all pairs, before and after.

    Parameters
    ----------
    size : (int, int)
        Samples and features.
    projection : Projection
        R.
    arena : Arena
        Judge and findings.

    Returns
    -------
    peers : tuple of Contender
        scikit-learn's pairwise functions; extremes only, no quantiles.
    """
    n, _ = size
    needs: Any = {"requires": ("sklearn.metrics.pairwise",), "estimated_bytes": 80.0 * n * n}
    return (searching(names.PAIRWISE, _pairwise(projection), _SINGLE, arena, **needs),)


def _pairwise(projection: Projection) -> Solver:
    def ask(points: Labelled, _: Mapping[str, Any]) -> Answer:
        from sklearn.metrics.pairwise import cosine_similarity, linear_kernel, pairwise_distances

        sketch = projection.apply(points.X)
        pairs = np.triu_indices(len(sketch), 1)
        distances = [pairwise_distances(these)[pairs] for these in (points.X, sketch)]
        largest = [float(np.abs(np.square(distances[1] / distances[0]) - 1.0).max())]
        for similarity in (cosine_similarity, linear_kernel):
            before, after = (np.asarray(_written(similarity(these)))[pairs] for these in (points.X, sketch))
            largest.append(float(np.abs(after - before).max()))
        return Answer(value=largest[0])

    return ask


def _written(values: Any) -> Any:
    return values.toarray() if hasattr(values, "toarray") else values
