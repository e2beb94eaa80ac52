"""Cases without a projection: Walsh-Hadamard transforms, and normal random numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import slimline._kernels._native as native
from slimline._kernels import native_rows, thread_count
from slimline_benchmarks.case import Case, Contender, Work
from slimline_benchmarks.projections import names
from slimline_benchmarks.projections.limits import in_parts
from slimline_benchmarks.record import Target

# Each unnormalised transform multiplies the size by √d: from 2^-60 on, this many in a row stay within float32.
_RUNS_IN_CACHE = 12
_START = 2.0**-60


@dataclass(frozen=True)
class _Rows:
    """Rows to transform in place, and what they were."""

    original: NDArray[np.float32]
    work: NDArray[np.float32]

    def reset(self) -> None:
        self.work[...] = self.original


def transform_case(bits: int, n_rows: int, in_cache: bool, targets: tuple[Target, ...]) -> Case:
    """Return Walsh-Hadamard transforms of float32 rows with 2^bits entries, in place.

    Parameters
    ----------
    bits : int
        Logarithm of the row length.
    n_rows : int
        Rows from memory.
    in_cache : bool
        One row again and again, instead of many.
    targets : tuple of Target
        What should be reached at this size.

    Returns
    -------
    case : Case
        Ours, FFHT and NumPy; from memory, copying as well.
    """
    size, rows, runs = 1 << bits, (1 if in_cache else n_rows), (_RUNS_IN_CACHE if in_cache else 1)
    passed = Work(2e-9 * 4 * size * rows * runs, "GB/s")  # read and written
    additions = Work(1e-9 * size * bits * rows * runs, "Gadd/s")

    def make() -> _Rows:
        original = np.random.default_rng(0).standard_normal((rows, size), dtype=np.float32)
        original *= np.float32(_START)
        return _Rows(original, original.copy())

    def contender(name: str, role: Any, transform: Callable[[_Rows], Any], **fields: Any) -> Contender:
        def run(data: _Rows) -> None:
            for _ in range(runs):
                transform(data)

        # additions a second where everything is in cache; beside the speed of copying where it is not
        settings = {"work": additions} if in_cache else {"work": passed, "limit": names.COPYING}
        return Contender(name, role, run, reset=_Rows.reset, **(settings | fields))

    contenders = [
        contender(names.WALSH, "ours", lambda data: native.walsh_hadamard(data.work, thread_count())),
        contender(names.FFHT, "peer", _ffht, requires=("ffht",)),
        contender(names.NUMPY_BUTTERFLY, "peer", lambda data: _butterflies(data.work)),
    ]
    if not in_cache:
        contenders.append(contender(names.COPYING, "limit", _copy, limit=""))
    where = "in cache" if in_cache else f"{rows:,} rows from memory"
    return Case(
        name=f"hadamard-{bits}-{'cache' if in_cache else 'memory'}",
        title=f"Walsh-Hadamard transform, float32 rows of 2^{bits}, {where}",
        make=make,
        contenders=tuple(contenders),
        input_bytes=8 * size * rows,
        targets=targets,
        threads=1 if in_cache else None,
    )


def _copy(data: _Rows) -> None:
    in_parts(lambda part: np.copyto(data.work[part], data.original[part]), len(data.work), data.work.nbytes)


def _ffht(data: _Rows) -> None:
    import ffht  # type: ignore[import-not-found]

    transform = getattr(ffht, "fht_", ffht.fht)  # two packages of that name: in place is `fht_` in the newer
    for row in data.work:
        transform(row)


def _butterflies(work: NDArray[np.float32]) -> None:
    half = 1
    while half < work.shape[1]:
        pairs = work.reshape(len(work), -1, 2, half)
        difference = pairs[:, :, 0] - pairs[:, :, 1]
        pairs[:, :, 0] += pairs[:, :, 1]
        pairs[:, :, 1] = difference
        half *= 2


def normals_case(n_rows: int, r: int, targets: tuple[Target, ...]) -> Case:
    """Return float32 normals, n_rows × r of them, written into memory that is there already; one thread.

    Parameters
    ----------
    n_rows, r : int
        How many.
    targets : tuple of Target
        What should be reached.

    Returns
    -------
    case : Case
        Ours, and NumPy's two generators.
    """
    work = Work(1e-6 * n_rows * r, "M/s")
    generator = np.random.Generator(np.random.PCG64(0))
    old = np.random.RandomState(0)  # what scikit-learn draws from
    contenders = (
        Contender(names.NORMALS, "ours", lambda out: native_rows("normal", 0, r).rows(0, out), work=work),
        Contender(
            names.NUMPY_PCG64,
            "peer",
            lambda out: _no_result(generator.standard_normal(dtype=np.float32, out=out)),
            work=work,
        ),
        Contender(names.NUMPY_RANDOM_STATE, "peer", lambda out: old.normal(size=out.shape), work=work),
    )
    return Case(
        name="normals",
        title=f"{n_rows * r / 1e6:.3g} million normal numbers, float32 (RandomState: float64)",
        make=lambda: np.zeros((n_rows, r), dtype=np.float32),
        contenders=contenders,
        input_bytes=4 * n_rows * r,
        targets=targets,
        threads=1,
    )


def _no_result(_: Any) -> None:
    """Drop what was written in place: it is no fresh result."""
