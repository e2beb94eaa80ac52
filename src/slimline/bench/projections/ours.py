"""The families of slimline as contenders: a fresh transformer each time, fit and transform together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slimline.bench.case import Contender, Work
from slimline.bench.projections import names
from slimline.bench.projections.data import Shape
from slimline.estimators import (
    GaussianProjection,
    HadamardProjection,
    SignProjection,
    SparseEmbedding,
    SparseSignProjection,
)
from slimline.projections import HashEmbedding

#: Of one core, roughly: only decides whether a product with every entry of R is worth the wait.
_GIGAFLOPS = 60.0

_FAMILIES: dict[str, Callable[[int], Any]] = {
    names.EMBEDDING_1: lambda r: SparseEmbedding(r, random_state=0),
    names.EMBEDDING_4: lambda r: SparseEmbedding(r, nnz_per_feature=4, random_state=0),
    names.HADAMARD: lambda r: HadamardProjection(r, random_state=0),
    names.SPARSE_SIGN: lambda r: SparseSignProjection(r, random_state=0),
    names.SIGN: lambda r: SignProjection(r, random_state=0),
    names.GAUSSIAN: lambda r: GaussianProjection(r, random_state=0),
}


def our_contenders(shape: Shape) -> tuple[Contender, ...]:
    """Return every family, each beside the limit that it could reach: reading X, the product, writing the result."""
    reading = Work(shape.input_bytes / 1e9, "GB/s"), names.READING
    product = Work(shape.gigaflop, "GFLOP/s"), names.STORED_GEMM
    writing = Work(shape.output_bytes / 1e9, "GB/s"), names.WRITING

    def contender(name: str, make: Callable[[int], Any]) -> Contender:
        everywhere = name in (names.SIGN, names.GAUSSIAN)
        work, limit = writing if shape.per_row is not None else product if everywhere else reading
        return Contender(
            name,
            "ours",
            lambda X: make(shape.r).fit_transform(X),
            estimated_seconds=shape.gigaflop / _GIGAFLOPS if everywhere and shape.per_row is None else 0.0,
            work=work,
            limit=limit,
        )

    return tuple(contender(name, make) for name, make in _FAMILIES.items())


def one_row(shape: Shape) -> Contender:
    """Return the sketch of one sparse row: what a call costs when there is next to nothing to do."""
    projection = HashEmbedding(shape.d, shape.r, 0)
    return Contender(names.ONE_ROW, "ours", projection.apply, setup=lambda X: X[:1])
