"""The families of slimline as contenders: a fresh transformer each time, fit and transform together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slimline.estimators import (
    GaussianProjection,
    HadamardProjection,
    SignProjection,
    SparseEmbedding,
    SparseSignProjection,
)
from slimline.projections import HashEmbedding
from slimline_benchmarks.case import Contender, Work
from slimline_benchmarks.projections import names
from slimline_benchmarks.projections.data import Shape

#: Of one core, roughly: only decides whether work with every entry of R is worth the wait.
_GIGAFLOPS = {names.SIGN: 200.0}
_GIGAFLOPS_OF_BLAS = 60.0

_FAMILIES: dict[str, Callable[[int], Any]] = {
    names.EMBEDDING_1: lambda r: SparseEmbedding(r, random_state=0),
    names.EMBEDDING_4: lambda r: SparseEmbedding(r, nnz_per_feature=4, random_state=0),
    names.EMBEDDING_INDEPENDENT: lambda r: SparseEmbedding(r, hash="independent", random_state=0),
    names.EMBEDDING_GENERALISED: lambda r: SparseEmbedding(r, n_stacks=4, bucket_width=4, random_state=0),
    names.EMBEDDING_GENERALISED_INDEPENDENT: lambda r: SparseEmbedding(
        r, n_stacks=4, bucket_width=4, hash="independent", random_state=0
    ),
    names.HADAMARD: lambda r: HadamardProjection(r, random_state=0),
    names.SPARSE_SIGN: lambda r: SparseSignProjection(r, random_state=0),
    names.SIGN: lambda r: SignProjection(r, random_state=0),
    names.GAUSSIAN: lambda r: GaussianProjection(r, random_state=0),
}
#: Relatives of these, which behave alike on all data of a kind.
_VARIANTS: dict[str, Callable[[int], Any]] = {
    names.EMBEDDING_WIDE: lambda r: SparseEmbedding(r, bucket_width=4, random_state=0),
    names.HADAMARD_REPLACED: lambda r: HadamardProjection(r, replace=True, random_state=0),
    names.ACHLIOPTAS: lambda r: SparseSignProjection(r, density=1 / 3, random_state=0),
}
#: On dense data these do n·d·r work.
_MULTIPLIED = (names.SIGN, names.GAUSSIAN, names.ACHLIOPTAS)


def our_contenders(shape: Shape, variants: bool) -> tuple[Contender, ...]:
    """Return every family, each beside the limit that it could reach: reading X, the product, writing the result.

    Parameters
    ----------
    shape : Shape
        Size, type and storage of the data.
    variants : bool
        Whether the relatives of the families take part, too.

    Returns
    -------
    contenders : tuple of Contender
        The families, and behind them their relatives.
    """
    reading = Work(shape.input_bytes / 1e9, "GB/s"), names.READING
    product = Work(shape.gigaflop, "GFLOP/s"), names.STORED_GEMM
    writing = Work(shape.output_bytes / 1e9, "GB/s"), names.WRITING

    def contender(name: str, make: Callable[[int], Any]) -> Contender:
        multiplied = name in _MULTIPLIED and shape.per_row is None
        work, limit = writing if shape.per_row is not None else product if multiplied else reading
        return Contender(
            name,
            "ours",
            lambda X: make(shape.r).fit_transform(X),
            estimated_seconds=shape.gigaflop / _GIGAFLOPS.get(name, _GIGAFLOPS_OF_BLAS) if multiplied else 0.0,
            work=work,
            limit=limit,
        )

    families = _FAMILIES | _VARIANTS if variants else _FAMILIES
    return tuple(contender(name, make) for name, make in families.items())


def one_row(shape: Shape) -> Contender:
    """Return the sketch of one sparse row: what a call costs when there is next to nothing to do."""
    projection = HashEmbedding(shape.d, shape.r, 0)
    return Contender(names.ONE_ROW, "ours", projection.apply, setup=lambda X: X[:1])
