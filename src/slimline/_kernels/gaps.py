"""Runs of zeros between the non-zeros of a sparse sign matrix, as a table of thresholds.

Where each entry is non-zero with probability p, the run before the next non-zero has at least k zeros with
probability (1 - p)^k. A 31-bit draw u gives a run of at least k iff u < floor(2^31 (1 - p)^k). Powers are
made by repeated multiplication, so that the table has the same bits on every platform.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

EMPTY = np.zeros(0, dtype=np.uint32)


@lru_cache(maxsize=16)
def gap_table(density: float, n_components: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return thresholds for k = 0, 1, …, and for each value of a draw's top 8 bits a run length to start from."""
    powers = np.multiply.accumulate(np.full(n_components + 1, 1.0 - density))
    threshold = np.floor(np.concatenate([[1.0], powers[:n_components]]) * 2.0**31)
    # Nothing is drawn below a threshold of zero, and a run as long as the row ends it.
    threshold = threshold[: max(int(np.count_nonzero(threshold)), 1)].astype(np.uint32)
    largest_draw = (np.arange(256, dtype=np.uint64) << np.uint64(23)) + np.uint64(2**23 - 1)
    # the answer falls as the draw rises: begin at the answer of the largest draw with these top bits
    guide = np.searchsorted(-threshold.astype(np.int64), -largest_draw.astype(np.int64), side="left") - 1
    return threshold, np.maximum(guide, 0).astype(np.uint32)
