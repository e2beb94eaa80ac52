"""Plain NumPy twins of coordinate descent, in float64 throughout: the same steps in the same order, one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._kernels.reference import philox

Floats = NDArray[np.float64]

_STREAM = 8
_BLOCK, _SHARE = 32, 0.6


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
    curvature = np.sum(z * z, axis=1) / lam + diag
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
            gradient = y[i] * (float(z[i] @ v) + q[i]) - 1 + diag[i] * a[i]
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
            v += y[i] * (best - a[i]) / lam * z[i]
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
    """Descend on `a` with product = k(y∘a)/λ, in place; coordinates that cannot move are not tried again."""
    k = k.astype(np.float64)
    count = len(a)
    curvature = np.maximum(np.diag(k), 0) / lam + diag
    root = np.sqrt(curvature.max() / np.where(curvature > 0, curvature, curvature.max() or 1.0))
    weight = np.where(curvature > 0, np.minimum(root, 1e6), 1.0)
    blocks = np.arange((count + _BLOCK - 1) // _BLOCK)
    stuck = np.zeros(count, dtype=bool)

    def projected(i: int) -> float:
        gradient = float(y[i] * (product[i] + q[i]) - 1 + diag[i] * a[i])
        return 0.0 if (a[i] <= 0 and gradient > 0) or (a[i] >= upper[i] and gradient < 0) else gradient

    def counted(i: int) -> float:
        return 0.0 if stuck[i] else abs(projected(i)) * float(weight[i])

    def violation() -> float:
        return max(abs(projected(i)) for i in range(count))

    sweeps = steps = 0
    largest = max(counted(i) for i in range(count))
    settled = violation() <= tolerance
    while not settled and max(sweeps, steps) < max_epochs * count and largest > 0:
        blocks = shuffled(blocks, sweeps, seed)
        threshold, largest = _SHARE * largest, 0.0
        for i in (_BLOCK * blocks[:, None] + np.arange(_BLOCK)).ravel().tolist():
            if i >= count:
                continue
            largest = max(largest, counted(i))
            if counted(i) < threshold or counted(i) == 0:
                continue
            gradient = projected(i)
            step = gradient / curvature[i] if curvature[i] > 0 else np.copysign(np.inf, gradient)
            best = min(max(a[i] - step, 0.0), upper[i])
            stuck[i] = best == a[i] or best == np.inf
            if not stuck[i]:
                product += y[i] * (best - a[i]) / lam * k[i]
                a[i] = best
                steps += 1
        sweeps += 1
        if largest <= tolerance * weight.max() or sweeps % 64 == 0:
            settled = violation() <= tolerance
    return max(1, -(-max(steps, sweeps) // count)), violation()
