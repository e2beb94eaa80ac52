"""Checks for anyone who adds a projection or a storage format, as functions that raise AssertionError.

The invariance checks compare with proved rounding bounds or bit for bit; the statistical ones state the probability
with which a correct projection fails them.
"""

from slimline._kernels.threads import number_of_threads
from slimline.testing._matrix import block_bytes, check_matrix
from slimline.testing._moments import check_adjoint, check_isometry, check_second_moment, exact_variance
from slimline.testing._projection import (
    check_block_invariance,
    check_format_invariance,
    check_projection,
    check_round_trip,
    check_thread_invariance,
)

__all__ = [
    "block_bytes",
    "check_adjoint",
    "check_block_invariance",
    "check_format_invariance",
    "check_isometry",
    "check_matrix",
    "check_projection",
    "check_round_trip",
    "check_second_moment",
    "check_thread_invariance",
    "exact_variance",
    "number_of_threads",
]
