"""Limits of the machine, measured in the same run: reading X, writing, copying, the stored product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import slimline._kernels._native as native
from slimline._kernels import thread_count
from slimline_benchmarks.case import Contender, Work
from slimline_benchmarks.projections import names
from slimline_benchmarks.projections.data import Shape

#: Below this a second thread costs more than it brings.
_PARALLEL_BYTES = 8 << 20
#: Features of the slab with which the speed of a product is taken where a whole R in float32 would be too large.
_SLAB = 16384


def limit_contenders(shape: Shape) -> tuple[Contender, ...]:
    """Return the limits with which the families are compared on such data."""
    if shape.per_row is not None:
        return (writing(shape),)
    return reading(shape), stored_product(shape)


def reading(shape: Shape) -> Contender:
    """Return the reading of every byte of X."""
    return Contender(
        names.READING,
        "limit",
        lambda octets: native.read_all(octets, thread_count()),
        setup=lambda X: X.reshape(-1, order="A").view(np.uint8),  # as it lies in memory: no copy for either order
        work=Work(shape.input_bytes / 1e9, "GB/s"),
    )


def writing(shape: Shape) -> Contender:
    """Return the writing of a result into fresh memory."""

    def run(_: Any) -> NDArray[Any]:
        out = np.empty((shape.n, shape.r), dtype=shape.output_dtype)
        in_parts(lambda part: out[part].fill(1), shape.n, out.nbytes)
        return out

    return Contender(names.WRITING, "limit", run, work=Work(shape.output_bytes / 1e9, "GB/s"))


@dataclass(frozen=True)
class _Product:
    X: NDArray[Any]
    R: NDArray[Any]
    out: NDArray[Any]


def stored_product(shape: Shape) -> Contender:
    """Return the product with an R that is there already, into a result that is there already."""
    dtype = np.dtype(shape.output_dtype)
    width = min(shape.d, _SLAB) if shape.dtype == "i1" else shape.d

    def setup(X: NDArray[Any]) -> _Product:
        R = np.random.default_rng(0).random((width, shape.r), dtype=dtype.type)
        R -= dtype.type(0.5)
        slab = X[:, :width].astype(dtype) if X.dtype != dtype else X
        return _Product(slab, R, np.empty((shape.n, shape.r), dtype=dtype))

    return Contender(
        names.STORED_GEMM,
        "limit",
        lambda product: np.matmul(product.X, product.R, out=product.out),
        setup=setup,
        estimated_bytes=dtype.itemsize * (width * shape.r + (shape.n * width if shape.dtype == "i1" else 0)),
        work=Work(2e-9 * shape.n * width * shape.r, "GFLOP/s"),
    )


def in_parts(work: Callable[[slice], Any], rows: int, size: int) -> None:
    """Do row-wise work in as many threads as are allowed, if there is enough of it."""
    threads = thread_count() if size >= _PARALLEL_BYTES else 1
    parts = _slices(rows, threads)
    if len(parts) == 1:
        work(parts[0])
        return
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(work, parts))


def _slices(rows: int, parts: int) -> Sequence[slice]:
    edges = [rows * i // parts for i in range(parts + 1)]
    return [slice(a, b) for a, b in pairwise(edges) if b > a] or [slice(0, rows)]
