"""Targets of the passes at the full sizes."""

from __future__ import annotations

from collections.abc import Sequence

from slimline_benchmarks.case import Contender
from slimline_benchmarks.matrix import names
from slimline_benchmarks.record import Target

#: Of the speed of reading the same data and doing nothing.
_READING_SHARE = 0.80
#: Of the speed of a product of the same size.
_GEMM_SHARE = 0.80
#: Of one pass over a file, however large it is, beyond the result.
FILE_MEMORY = 300_000_000
#: Of a pass over a CSR matrix in memory: sums of each thread, but no copy of the data.
SPARSE_MEMORY = 40_000_000

#: Passes that should be bound by reading, with one right-hand side.
_BOUND_BY_READING = {
    names.ours(operation, view, k)
    for operation, k in ((f"{names.CW} sketch", None), ("dot", 1), ("tdot", 1), ("normal", 1))
    for view in (names.RAW, names.STANDARDISED)
}


def genotypes(operation: str, ours: Sequence[Contender], in_memory: bool) -> tuple[Target, ...]:
    """Return the targets for genotypes.

    Parameters
    ----------
    operation : str
        Of the case.
    ours : sequence of Contender
        Who takes part.
    in_memory : bool
        Whether X is in memory; if not, what a pass holds is bounded, too.

    Returns
    -------
    targets : tuple of Target
        Shares of reading and of GEMM, and memory.
    """
    found: list[Target] = []
    for contender in ours:
        if contender.name in _BOUND_BY_READING:
            found.append(Target(contender.name, "share", _READING_SHARE))
        elif contender.limit in (names.GEMM_SINGLE, names.GEMM_DOUBLE):
            found.append(Target(contender.name, "share", _GEMM_SHARE))
        if not in_memory:
            found.append(Target(contender.name, "memory", FILE_MEMORY))
    return tuple(found)


def files(ours: Sequence[Contender]) -> tuple[Target, ...]:
    """Return the targets for a file of any format: as fast as reading it, in a few blocks of memory."""
    return tuple(
        target
        for contender in ours
        for target in (
            Target(contender.name, "share", _READING_SHARE),
            Target(contender.name, "memory", FILE_MEMORY),
        )
    )


def sparse(operation: str) -> tuple[Target, ...]:
    """Return the targets for a CSR matrix in memory: no slower than SciPy, no copy, never dense."""
    if operation == "stats":
        return (Target(names.ours("column_stats", names.RAW), "ratio", 1.0, names.SCALER),)
    first = names.ours(operation, names.RAW, 1)
    return (
        Target(first, "ratio", 1.0, names.peer(names.SCIPY, 1)),
        Target(names.ours(operation, names.FIRST, 1), "ratio", 1.0, names.SCALER),
        Target(first, "memory", SPARSE_MEMORY),
    )
