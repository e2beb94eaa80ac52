"""How fast this machine multiplies and reads: measured once a process, in a few milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np


@dataclass(frozen=True)
class Machine:
    """Speeds of this machine.

    Parameters
    ----------
    float32, float64 : float
        Multiply-adds a second of a matrix product.
    read : float
        Bytes a second from memory.
    """

    float32: float
    float64: float
    read: float


@cache
def this_machine() -> Machine:
    """Return the speeds of this machine."""
    size = 512
    rates = []
    for dtype in (np.float32, np.float64):
        A = np.ones((size, size), dtype=dtype)
        rates.append(size**3 / _best(partial(np.matmul, A, A)))
    block = np.ones(1 << 22)
    return Machine(rates[0], rates[1], block.nbytes / _best(partial(np.dot, block, block)))


def _best(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return max(min(seconds), 1e-6)
