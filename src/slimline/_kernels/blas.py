"""Matrix products from C++: the BLAS that SciPy brings along, by the addresses that it exports."""

from functools import cache
from typing import Any

import scipy.linalg.cython_blas

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
