"""Matrix products from C++: the BLAS that SciPy brings along, by the addresses that it exports."""

import os
from functools import cache
from threading import Lock
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


class _OneThread:
    """Keeps BLAS to one thread from the first that asks for it to the last that is done."""

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def _forget(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    def _after_fork(self) -> None:  # whoever was inside is not in the child
        if self._limit is not None:
            self._limit.restore_original_limits()
        self._forget()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0 and any(library.num_threads != 1 for library in _controller().lib_controllers):
                self._limit = _controller().limit(limits=1)
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._limit is not None:
                self._limit.restore_original_limits()
                self._limit = None


@cache
def _controller() -> Any:
    return ThreadpoolController().select(user_api="blas")


#: Keeps BLAS to the thread that calls it: the kernels cut the work themselves, and call it from each of theirs.
one_blas_thread = _OneThread()
