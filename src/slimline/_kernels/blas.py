"""BLAS and LAPACK without the GIL: those that SciPy brings along, called from C++ by the addresses that it exports."""

import os
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
import scipy.linalg.cython_blas
import scipy.linalg.cython_lapack
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from slimline._kernels import _native
from slimline.errors import SlimlineError

#: What the names of routines begin with, by the element type.
_PREFIX = {"f": "s", "d": "d"}
_EXPORTED: dict[str, Any] = {**scipy.linalg.cython_blas.__pyx_capi__, **scipy.linalg.cython_lapack.__pyx_capi__}


def add_product(values: NDArray[Any], out: NDArray[Any], *, lower: bool = True) -> None:
    """Add values valuesᵀ to one triangle of `out`, an array in Fortran order of the same type, float32 or float64."""
    by_row, by_column = values.flags.c_contiguous, values.flags.f_contiguous
    if not (by_row or by_column):
        values = np.ascontiguousarray(values)
    _native.syrk(exported(_PREFIX[values.dtype.char] + "syrk"), values, out, lower)


def factorise(matrix: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Factorise a symmetric matrix in Fortran order, in place; return what `scipy.linalg.cho_solve` takes.

    Only the lower triangle is read. Raises `numpy.linalg.LinAlgError` if the matrix is not positive definite.
    """
    if info := _native.potrf(exported(_PREFIX[matrix.dtype.char] + "potrf"), matrix):
        raise np.linalg.LinAlgError(f"leading minor {info} is not positive definite")
    return matrix, True


@cache
def exported(name: str) -> Any:
    """Return a routine, such as `dgemm`, as a capsule."""
    capsule = _EXPORTED[name]
    # The name of the capsule is the C signature; a BLAS that counts in 64 bits would need other calls.
    if " int *" not in repr(capsule):
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
