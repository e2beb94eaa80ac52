"""Matrix products from C++: the BLAS that SciPy brings along, by the addresses that it exports."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import scipy.linalg.cython_blas
from threadpoolctl import ThreadpoolController

from slimline.errors import SlimlineError


@cache
def gemm(precision: str) -> Any:
    """Return `sgemm` ("s") or `dgemm` ("d") as a capsule."""
    exported: Any = scipy.linalg.cython_blas.__pyx_capi__
    capsule = exported[f"{precision}gemm"]
    # The name of the capsule is the C signature; a BLAS that counts in 64 bits would need other calls.
    if "int *, int *, int *" not in repr(capsule):
        raise SlimlineError(
            f"This SciPy ({scipy.__version__}) exports a BLAS with 64-bit integers, which slimline cannot call. "
            "Install SciPy from PyPI or conda-forge."
        )
    return capsule


@contextmanager
def blas_threads(wanted: int) -> Iterator[None]:
    """Let BLAS use that many threads inside the block, and what it used before after it.

    BLAS has its own count and waits for work in a busy loop, so too many threads can cost far more than they bring.
    """
    controller = _controller()
    if all(library.num_threads == wanted for library in controller.lib_controllers):
        yield
        return
    with controller.limit(limits=wanted, user_api="blas"):
        yield


@cache
def _controller() -> Any:
    return ThreadpoolController().select(user_api="blas")
