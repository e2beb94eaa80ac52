"""Memory of blocks, straight from the system, and memory that goes back to it."""

from __future__ import annotations

import ctypes
import mmap
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: From here on large pages are asked for, as NumPy does: a block is cleared in fewer steps.
_LARGE_PAGES = 4 << 20


def block_memory(size: int, dtype: Any) -> NDArray[Any]:
    """Return a vector of zeros whose memory goes back to the system with the last array that looks at it.

    Blocks are made by one thread and dropped by another. The C library would keep what they leave behind in a pool of
    each thread, and how much that is depends on which thread was quicker.

    Parameters
    ----------
    size : int
        Number of elements.
    dtype : data type
        Of the elements.

    Returns
    -------
    memory : array
        One-dimensional.
    """
    dtype = np.dtype(dtype)
    count = size * dtype.itemsize
    if not count:
        return np.empty(size, dtype=dtype)
    # private: a process that is forked gets a copy, not a share
    memory = mmap.mmap(-1, count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if count >= _LARGE_PAGES and hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype=dtype)


def give_back() -> None:
    """Return freed memory to the system: the C library would keep it, and later arrays may not fit into the holes."""
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim  # the GNU C library has it
    except (OSError, AttributeError, TypeError):
        return None
