"""Plain NumPy twins of coordinate descent, in float64 throughout: the same order of steps, one coordinate at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._kernels.reference import philox

Floats = NDArray[np.float64]

_STREAM = 8


def shuffled(order: NDArray[np.int64], epoch: int, seed: int) -> NDArray[np.int64]:
    """Return the order of an epoch, from that of the one before."""
    order, count = order.copy(), len(order)
    words = philox(np.arange((count + 3) // 4), 0, epoch, _STREAM, seed).reshape(-1)[:count]
    for place, word in enumerate(words.astype(object)):
        other = place + (word * (count - place) >> 32)
        order[place], order[other] = order[other], order[place]
    return order


def descend_rows(
    z: NDArray[Any],
    y: Floats,
    q: Floats,
    diag: Floats,
    upper: Floats,
    lam: float,
    a: Floats,
    v: Floats,
    max_epochs: int,
    tolerance: float,
    seed: int,
) -> tuple[int, float]:
    """Descend on `a` with K = z zᵀ and v = zᵀ(y∘a)/λ, in place."""
    z = z.astype(np.float64)

    def add(i: int, amount: float) -> None:
        v[...] += amount * z[i]

    curvature = np.sum(z * z, axis=1) / lam + diag
    return _descend(lambda i: float(z[i] @ v), add, curvature, y, q, diag, upper, lam, a, max_epochs, tolerance, seed)


def descend_gram(
    k: NDArray[Any],
    y: Floats,
    q: Floats,
    diag: Floats,
    upper: Floats,
    lam: float,
    a: Floats,
    product: Floats,
    max_epochs: int,
    tolerance: float,
    seed: int,
) -> tuple[int, float]:
    """Descend on `a` with product = k(y∘a)/λ, in place."""
    k = k.astype(np.float64)

    def add(i: int, amount: float) -> None:
        product[...] += amount * k[i]

    curvature = np.maximum(np.diag(k), 0) / lam + diag
    return _descend(lambda i: float(product[i]), add, curvature, y, q, diag, upper, lam, a, max_epochs, tolerance, seed)


def _descend(
    value: Callable[[int], float],
    add: Callable[[int, float], None],
    curvature: Floats,
    y: Floats,
    q: Floats,
    diag: Floats,
    upper: Floats,
    lam: float,
    a: Floats,
    max_epochs: int,
    tolerance: float,
    seed: int,
) -> tuple[int, float]:
    count = len(a)
    order = np.arange(count)
    active, low, high, violation = count, -np.inf, np.inf, np.inf
    for epoch in range(max_epochs):
        if epoch + 1 == max_epochs:
            active, low, high = count, -np.inf, np.inf
        whole, moved = active == count, False
        order[:active] = shuffled(order[:active], epoch, seed)
        most = least = 0.0
        place = 0
        while place < active:
            i = int(order[place])
            gradient = y[i] * (value(i) + q[i]) - 1 + diag[i] * a[i]
            at_zero, at_upper = a[i] <= 0, a[i] >= upper[i]
            if (at_zero and gradient > high) or (at_upper and gradient < low):
                active -= 1
                order[place], order[active] = order[active], order[place]
                continue
            place += 1
            if gradient == 0 or (at_zero and gradient > 0) or (at_upper and gradient < 0):
                continue
            most, least = max(most, gradient), min(least, gradient)
            step = gradient / curvature[i] if curvature[i] > 0 else np.copysign(np.inf, gradient)
            best = min(max(a[i] - step, 0.0), upper[i])
            if best == a[i] or best == np.inf:
                continue
            add(i, y[i] * (best - a[i]) / lam)
            a[i] = best
            moved = True
        violation = max(most, -least)
        settled = violation <= tolerance or not moved
        if settled and whole:
            return epoch + 1, violation
        if settled:
            active = count
        high = most if not settled and most > 0 else np.inf
        low = least if not settled and least < 0 else -np.inf
    return max_epochs, violation
