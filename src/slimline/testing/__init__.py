"""Checks for anyone who adds a projection or a storage format, as functions that raise AssertionError.

The invariance checks compare with proved rounding bounds or bit for bit; the statistical ones state the probability
with which a correct projection fails them.
"""

from slimline._kernels.threads import number_of_threads
from slimline.testing.adjoint import check_adjoint
from slimline.testing.formats import check_format_invariance
from slimline.testing.invariance import check_block_invariance, check_thread_invariance
from slimline.testing.matrix import check_matrix
from slimline.testing.matrix_blocks import block_bytes
from slimline.testing.moments import check_isometry, check_second_moment, exact_variance
from slimline.testing.projection import check_projection
from slimline.testing.round_trip import check_round_trip

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
