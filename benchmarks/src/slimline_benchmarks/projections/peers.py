"""The peers, each as its own documentation would have it used; fit and transform together.

Estimates of time and memory are rough: they only decide whether a peer is worth or able to run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from slimline_benchmarks.case import Contender
from slimline_benchmarks.projections import names
from slimline_benchmarks.projections.data import Shape

_SEED = 0
# A second of one core, roughly: numbers drawn, multiply-adds of a BLAS, of a scattering sparse product, pairs hashed.
_NORMALS, _PRODUCTS, _SCATTERS, _HASHES = 40e6, 30e9, 60e6, 1.5e6


def peer_contenders(shape: Shape) -> tuple[Contender, ...]:
    """Return the peers for such data."""
    passing = (_sklearn_sparse, _scipy_cw, _scipy_count_sketch)
    if shape.by_column:  # the others draw a whole R or want rows: how X is stored is nothing to them
        return tuple(make(shape) for make in passing)
    common = (_sklearn_gaussian, *passing, _numpy_naive)
    peers = common if shape.per_row is None else (*common, _sklearn_hasher)
    return tuple(make(shape) for make in peers)


def _entries(shape: Shape) -> int:
    return shape.n * (shape.d if shape.per_row is None else shape.per_row)


def _float_copy(shape: Shape) -> float:
    """Return the bytes of X as scikit-learn takes it: integers as float64."""
    return _entries(shape) * 8.0 if shape.dtype == "i1" else 0.0


def _dense(sketch: Any) -> Any:
    return sketch.toarray() if hasattr(sketch, "toarray") else sketch


def _sklearn_gaussian(shape: Shape) -> Contender:
    def run(X: Any) -> Any:
        from sklearn.random_projection import GaussianRandomProjection

        return GaussianRandomProjection(shape.r, random_state=_SEED).fit_transform(X)

    stored = shape.d * shape.r * (12.0 if shape.dtype == "f4" else 8.0)  # drawn in float64, then made float32
    return Contender(
        names.SKLEARN_GAUSSIAN,
        "peer",
        run,
        requires=("sklearn.random_projection",),
        estimated_bytes=stored + _float_copy(shape) + shape.output_bytes,
        estimated_seconds=shape.d * shape.r / _NORMALS + _entries(shape) * shape.r / _PRODUCTS,
    )


def _sklearn_sparse(shape: Shape) -> Contender:
    def run(X: Any) -> Any:
        from sklearn.random_projection import SparseRandomProjection

        return SparseRandomProjection(shape.r, dense_output=True, random_state=_SEED).fit_transform(X)

    nonzeros = shape.r / np.sqrt(shape.d)
    turned = 0.0 if shape.per_row else _entries(shape) * max(shape.itemsize, 8 if shape.dtype == "i1" else 0)
    return Contender(
        names.SKLEARN_SPARSE,
        "peer",
        run,
        requires=("sklearn.random_projection",),
        estimated_bytes=_float_copy(shape) + turned + 24.0 * shape.d * nonzeros + shape.output_bytes,
        estimated_seconds=shape.d * nonzeros / 1e6 + _entries(shape) * nonzeros / _SCATTERS,
    )


def _scipy_cw(shape: Shape) -> Contender:
    def run(X: Any) -> Any:
        sketch = scipy.linalg.clarkson_woodruff_transform(X.T, shape.r, _SEED).T
        return _dense(sketch)

    wide = 0.0 if shape.per_row else _entries(shape) * 8.0
    return Contender(
        names.SCIPY_CW,
        "peer",
        run,
        estimated_bytes=wide + 8.0 * shape.n * shape.r,
        estimated_seconds=_entries(shape) / _SCATTERS,
    )


def _scipy_count_sketch(shape: Shape) -> Contender:
    dtype = shape.output_dtype

    def run(X: Any) -> Any:
        rng = np.random.default_rng(_SEED)
        signs = (rng.integers(0, 2, size=shape.d) * 2 - 1).astype(dtype)
        S = sp.csr_array((signs, rng.integers(0, shape.r, size=shape.d), np.arange(shape.d + 1)), (shape.d, shape.r))
        sketch = X @ S
        return _dense(sketch)

    turned = (
        0.0 if shape.per_row else _entries(shape) * (np.dtype(dtype).itemsize + (1.0 if shape.dtype == "i1" else 0.0))
    )
    return Contender(
        names.SCIPY_COUNT_SKETCH,
        "peer",
        run,
        estimated_bytes=turned + 24.0 * shape.d + 2 * shape.output_bytes,
        estimated_seconds=_entries(shape) / _SCATTERS,
    )


def _numpy_naive(shape: Shape) -> Contender:
    dtype = np.dtype(shape.output_dtype).type

    def run(X: Any) -> Any:
        R = np.random.default_rng(_SEED).standard_normal((shape.d, shape.r), dtype=dtype)
        R *= dtype(1.0 / np.sqrt(shape.r))
        return X @ R

    stored = shape.d * shape.r * np.dtype(dtype).itemsize
    widened = _entries(shape) * 4.0 if shape.dtype == "i1" else 0.0
    return Contender(
        names.NUMPY_NAIVE,
        "peer",
        run,
        estimated_bytes=stored + widened + shape.output_bytes,
        estimated_seconds=shape.d * shape.r / (2 * _NORMALS) + _entries(shape) * shape.r / _PRODUCTS,
    )


def _sklearn_hasher(shape: Shape) -> Contender:
    def pairs(X: Any) -> list[list[tuple[str, float]]]:
        columns = [str(j) for j in X.indices]
        values = X.data.tolist()
        return [
            list(zip(columns[a:b], values[a:b], strict=True)) for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
        ]

    def run(rows: list[list[tuple[str, float]]]) -> Any:
        from sklearn.feature_extraction import FeatureHasher

        hasher = FeatureHasher(shape.r, input_type="pair", dtype=np.dtype(shape.output_dtype).type)
        return hasher.fit_transform(rows).toarray()

    return Contender(
        names.SKLEARN_HASHER,
        "peer",
        run,
        setup=pairs,
        requires=("sklearn.feature_extraction",),
        estimated_bytes=250.0 * _entries(shape) + 2 * shape.output_bytes,
        estimated_seconds=_entries(shape) / _HASHES,
    )
