"""The cases of the suite, at full size and at a size for a quick look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slimline_benchmarks.case import Case, Contender
from slimline_benchmarks.projections import targets
from slimline_benchmarks.projections.data import Shape
from slimline_benchmarks.projections.limits import limit_contenders
from slimline_benchmarks.projections.ours import one_row, our_contenders
from slimline_benchmarks.projections.peers import peer_contenders
from slimline_benchmarks.projections.transforms import normals_case, transform_case
from slimline_benchmarks.record import Target

#: Floats of the Walsh-Hadamard rows that come from memory: more than any cache holds.
_MEMORY_FLOATS = 1 << 26
_TYPES = {"f4": "float32", "f8": "float64", "i1": "int8"}


@dataclass(frozen=True)
class _Entry:
    name: str
    full: Shape
    quick: Shape
    targets: Callable[[Shape, int], tuple[Target, ...]]
    variants: bool = False  # in one case of a kind: in the others they would only take time
    extra: Callable[[Shape], Contender] | None = None


_PROJECTIONS = (
    _Entry("dense-f4", Shape(2000, 131072, 1024, "f4"), Shape(100, 4096, 128, "f4"), targets.wide_dense, variants=True),
    _Entry("dense-f8", Shape(2000, 131072, 1024, "f8"), Shape(100, 4096, 128, "f8"), targets.wide_dense),
    _Entry(
        "dense-columns",
        Shape(2000, 32768, 1024, "f4", by_column=True),
        Shape(100, 4096, 128, "f4", by_column=True),
        targets.dense_columns,
    ),
    _Entry("dense-small-f4", Shape(300, 20000, 1024, "f4"), Shape(30, 1000, 64, "f4"), targets.small_dense),
    _Entry("dense-small-f8", Shape(300, 20000, 1024, "f8"), Shape(30, 1000, 64, "f8"), targets.small_dense),
    _Entry("int8", Shape(2250, 492516, 2048, "i1"), Shape(100, 5000, 128, "i1"), targets.genotypes),
    _Entry(
        "csr-f4",
        Shape(20000, 1_000_000, 1024, "f4", 100),
        Shape(200, 10000, 128, "f4", 20),
        targets.wide_sparse,
        variants=True,
    ),
    _Entry("csr-f8", Shape(20000, 1_000_000, 1024, "f8", 100), Shape(200, 10000, 128, "f8", 20), targets.wide_sparse),
    _Entry(
        "csc-f4",
        Shape(20000, 1_000_000, 1024, "f4", 100, by_column=True),
        Shape(200, 10000, 128, "f4", 20, by_column=True),
        targets.sparse_columns,
    ),
    _Entry(
        "csr-small",
        Shape(200, 30000, 512, "f4", 150),
        Shape(50, 2000, 64, "f4", 20),
        targets.small_sparse,
        extra=one_row,
    ),
)


def projection_cases(threads: int, instruction_set: str, quick: bool = False) -> tuple[Case, ...]:
    """Return the cases of `slimline bench projections`.

    Parameters
    ----------
    threads : int
        Threads that everyone is allowed; some targets depend on it.
    instruction_set : str
        In force; some targets depend on it.
    quick : bool
        Small sizes, a few seconds in all, for which there are no targets.

    Returns
    -------
    cases : tuple of Case
        Dense float, int8, CSR, CSC, Walsh-Hadamard and random numbers.
    """
    cases = [_projection_case(entry, threads, quick) for entry in _PROJECTIONS]
    floats = _MEMORY_FLOATS >> 10 if quick else _MEMORY_FLOATS
    for bits in (10, 12) if quick else (14, 17, 19):
        for in_cache in (True, False):
            reach = () if quick else targets.transforms(bits, in_cache, instruction_set)
            cases.append(transform_case(bits, floats >> bits, in_cache, reach))
    cases.append(normals_case(64 if quick else 1024, 1024, () if quick else targets.normals(instruction_set)))
    return tuple(cases)


def _projection_case(entry: _Entry, threads: int, quick: bool) -> Case:
    shape = entry.quick if quick else entry.full
    ours = our_contenders(shape, entry.variants)
    extra = (entry.extra(shape),) if entry.extra else ()
    return Case(
        name=entry.name,
        title=f"{shape.n:,} × {shape.d:,} {_TYPES[shape.dtype]} ({shape.storage}) → {shape.r:,} components",
        make=shape.make,
        contenders=(*limit_contenders(shape), *ours, *extra, *peer_contenders(shape)),
        input_bytes=shape.input_bytes,
        targets=() if quick else entry.targets(shape, threads),
    )
