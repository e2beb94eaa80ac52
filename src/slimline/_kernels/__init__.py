"""C++ kernels: random numbers by coordinate, sparse embedding, Walsh-Hadamard, products with tiles of R.

Each has a reference implementation in NumPy, with which the tests compare it. The instruction set is the best that
the CPU has, or the one that the environment variable `SLIMLINE_ISA` names.
"""

import os

from slimline._kernels import _native
from slimline._kernels._native import Hadamard, Rows, Scatter
from slimline._kernels.blas import add_product, exported, factorise, one_blas_thread
from slimline._kernels.gaps import EMPTY, gap_table
from slimline._kernels.threads import half_of_the_threads, thread_count
from slimline.errors import UnsupportedInstructionSetError

__all__ = [
    "Hadamard",
    "Rows",
    "Scatter",
    "add_product",
    "factorise",
    "half_of_the_threads",
    "instruction_set",
    "instruction_sets",
    "native_rows",
    "native_scatter",
    "one_blas_thread",
    "select_instruction_set",
    "thread_count",
]


def instruction_sets() -> list[str]:
    """Return the instruction sets that this CPU has, best first."""
    return _native.supported()


def instruction_set() -> str:
    """Return the instruction set in force."""
    return _native.current()


def select_instruction_set(name: str) -> None:
    """Use the kernels of another instruction set from now on."""
    if not _native.select(name):
        raise UnsupportedInstructionSetError(
            f"SLIMLINE_ISA={name!r} is not supported by this CPU. "
            f"Choose one of {', '.join(instruction_sets())}, or unset it."
        )


def native_rows(entries: str, seed: int, n_components: int, density: float | None = None) -> Rows:
    """Return the kernels of a family whose rows of R are written out: "normal", "sign" or "sparse_sign"."""
    threshold, guide = (EMPTY, EMPTY) if density is None else gap_table(density, n_components)
    return Rows(entries, seed, n_components, threshold, guide, exported("sgemm"), exported("dgemm"))


def native_scatter(
    hash: str,
    seed: int,
    n_components: int,
    nonzeros: int = 1,
    stacks: int = 1,
    width: int = 1,
    density: float | None = None,
) -> Scatter:
    """Return the kernels of a family with few non-zeros a feature: "grouped", "independent" or "sparse_sign"."""
    threshold, guide = (EMPTY, EMPTY) if density is None else gap_table(density, n_components)
    return Scatter(hash, seed, n_components, nonzeros, stacks, threshold, guide, width)


if wanted := os.environ.get("SLIMLINE_ISA"):
    select_instruction_set(wanted)
