"""Speeds that the cost model thinks in.

Only their ratios matter, and these hardly differ between machines: a core that multiplies faster reads faster too.
They were measured (two cores with AVX2) and are kept fixed, so that the same data take the same route everywhere.
"""

from __future__ import annotations

import time
from functools import cache

import numpy as np

#: Multiply-adds a second of a float32 matrix product.
FLOAT32 = 9e10
#: And of a float64 one.
FLOAT64 = 4.5e10
#: Bytes a second from memory.
READ = 3.5e10

_SIDE = 768
_NUMBERS = 1 << 23


@cache
def slowness() -> float:
    """Return how many times longer this machine takes than the speeds above say, now: in a few hundredths of a second.

    Returns
    -------
    factor : float
        The mean of a product of matrices and of reading memory, in proportion.
    """
    A = np.ones((_SIDE, _SIDE), dtype=np.float32)
    x = np.ones(_NUMBERS, dtype=np.float32)
    product, read = [], []
    for _ in range(4):
        begin = time.perf_counter()
        A @ A
        product.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        x @ x
        read.append(time.perf_counter() - begin)
    return float(np.sqrt(min(product) * FLOAT32 / _SIDE**3 * min(read) * READ / x.nbytes))
