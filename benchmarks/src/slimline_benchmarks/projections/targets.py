"""Targets of our families at the full sizes: one small table for each kind of data.

A target is a ratio of times to a peer, a share of the machine's limit, or a bound on memory above X and the result.
"""

from __future__ import annotations

from slimline_benchmarks.projections import names
from slimline_benchmarks.projections.data import Shape
from slimline_benchmarks.record import Target

#: Memory comes in huge pages of 2 MB, so what should need none may show as one or two of them.
_RESOLUTION = 4 << 20
_MEGABYTE = 1_000_000
#: Tiles of R, where they are written out.
_TILES = 20 * _MEGABYTE
#: A panel of columns that is turned into rows: it does not grow with X.
_TURNED_PANEL = 40 * _MEGABYTE


def _against(contender: str, **bounds: float) -> tuple[Target, ...]:
    peers = {
        "gaussian": names.SKLEARN_GAUSSIAN,
        "sparse": names.SKLEARN_SPARSE,
        "hasher": names.SKLEARN_HASHER,
        "cw": names.SCIPY_CW,
        "count_sketch": names.SCIPY_COUNT_SKETCH,
    }
    return tuple(Target(contender, "ratio", bound, peers[peer]) for peer, bound in bounds.items())


def _dense_families(gaussian: float, threads: int) -> tuple[Target, ...]:
    """Return the targets of families with an entry everywhere: nearly as fast as the product alone."""
    share = 0.90 if threads == 1 else 0.85
    return tuple(
        target
        for name in (names.SIGN, names.GAUSSIAN)
        for target in (
            *_against(name, gaussian=gaussian),
            Target(name, "share", share),
            Target(name, "memory", _TILES),
        )
    )


def wide_dense(shape: Shape, threads: int) -> tuple[Target, ...]:
    """Return the targets for dense float data with many features."""
    row = threads * 4.0 * (1 << (shape.d - 1).bit_length())
    return (
        *_against(names.EMBEDDING_1, count_sketch=0.035, cw=0.02),
        Target(names.EMBEDDING_1, "share", 0.95),
        Target(names.EMBEDDING_1, "memory", 0.01 * shape.input_bytes),
        *_against(names.EMBEDDING_4, gaussian=0.012, sparse=0.02),
        Target(names.EMBEDDING_4, "share", 0.80),
        Target(names.EMBEDDING_4, "memory", 0.01 * shape.input_bytes),
        *_against(names.HADAMARD, gaussian=0.03),
        Target(names.HADAMARD, "share", 0.45),
        Target(names.HADAMARD, "memory", row + _RESOLUTION),
        *_dense_families(0.45, threads),
    )


def small_dense(shape: Shape, threads: int) -> tuple[Target, ...]:
    """Return the targets for dense float data that fit into the cache."""
    rate = (Target(names.EMBEDDING_4, "rate", 8.0),) if threads == 1 else ()
    return (
        *_against(names.EMBEDDING_4, gaussian=0.008, sparse=0.012, count_sketch=0.3),
        *rate,
        *_dense_families(0.20, threads),
    )


def dense_columns(shape: Shape, threads: int) -> tuple[Target, ...]:
    """Return the targets for dense float data in F order: no copy of them."""
    return _by_column(_RESOLUTION)


def genotypes(shape: Shape, threads: int) -> tuple[Target, ...]:
    """Return the targets for int8 data."""
    return (
        *_against(names.EMBEDDING_1, sparse=0.002, count_sketch=0.012),
        Target(names.EMBEDDING_1, "share", 0.80),
        Target(names.EMBEDDING_1, "memory", 20 * _MEGABYTE),
        *_against(names.EMBEDDING_4, sparse=0.003, count_sketch=0.012),
        Target(names.EMBEDDING_4, "share", 0.45),
        Target(names.EMBEDDING_4, "memory", 20 * _MEGABYTE),
    )


def wide_sparse(shape: Shape, threads: int) -> tuple[Target, ...]:
    """Return the targets for CSR data with many rows and features: any table of the features is small.

    Kernels make one where it takes at most 8 MB; a million features in groups take 1 MB with four entries each.
    """
    return (
        *_against(names.EMBEDDING_1, count_sketch=0.16, sparse=0.01, gaussian=0.0005),
        Target(names.EMBEDDING_1, "share", 0.65),
        Target(names.EMBEDDING_1, "memory", _RESOLUTION),
        *_against(names.EMBEDDING_4, count_sketch=0.33, sparse=0.01, gaussian=0.0005),
        Target(names.EMBEDDING_4, "memory", _RESOLUTION),
    )


def sparse_columns(shape: Shape, threads: int) -> tuple[Target, ...]:
    """Return the targets for CSC data: at most a panel of them is turned into rows."""
    return _by_column(_TURNED_PANEL)


def _by_column(embedding: float) -> tuple[Target, ...]:
    """Return bounds on the memory of the embeddings and of the families with an entry everywhere."""
    return (
        Target(names.EMBEDDING_1, "memory", embedding),
        Target(names.EMBEDDING_4, "memory", embedding),
        Target(names.SIGN, "memory", _TILES),
        Target(names.GAUSSIAN, "memory", _TILES),
    )


def small_sparse(shape: Shape, threads: int) -> tuple[Target, ...]:
    """Return the targets for small CSR data, where the call itself counts."""
    return (
        *_against(names.EMBEDDING_1, count_sketch=0.25, sparse=0.001, hasher=0.02),
        Target(names.ONE_ROW, "seconds", 30e-6),
    )


def transforms(bits: int, in_cache: bool, instruction_set: str) -> tuple[Target, ...]:
    """Return the targets for Walsh-Hadamard transforms of rows with 2^bits entries."""
    if in_cache:
        return (Target(names.WALSH, "ratio", 0.70 if instruction_set == "avx512" else 0.85, names.FFHT),)
    against = Target(names.WALSH, "ratio", 0.90, names.FFHT)
    return (against, Target(names.WALSH, "share", 0.40)) if bits <= 17 else (against,)


def normals(instruction_set: str) -> tuple[Target, ...]:
    """Return the target for normal random numbers."""
    bound = 0.10 if instruction_set == "avx512" else 0.25
    return (Target(names.NORMALS, "ratio", bound, names.NUMPY_PCG64),)
