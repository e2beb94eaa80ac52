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
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to the thread that calls it: the kernels cut the work themselves, and call it from each of theirs."""
    controller = _controller()
    if all(library.num_threads == 1 for library in controller.lib_controllers):
        yield
        return
    with controller.limit(limits=1):
        yield


@cache
def _controller() -> Any:
    return ThreadpoolController().select(user_api="blas")
