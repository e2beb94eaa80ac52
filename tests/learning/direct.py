"""The optimum of a problem of some size, with a rigorous bound of its own error.

Newton's method in the smaller of the two dimensions, gradients in long double. Weights w with a gradient g are within
‖g‖/λ of the optimum, because the objective is λ-strongly convex. The hinge has no gradient: its dual variables come
from the exact Gram matrix, and the duality gap of the pair, in long double, bounds the error.
"""

import numpy as np

from slimline.learning import LOSSES, BinaryProblem, solve_gram

Wide = np.longdouble


def derivative(name, m):
    """Return -ℓ'(m) and ℓ''(m), written out again."""
    if name == "squared":
        return 1 - m, np.ones_like(m)
    if name == "squared_hinge":
        return 2 * np.maximum(1 - m, 0), np.where(m < 1, 2.0, 0.0)
    e = np.exp(-np.abs(m))
    a = np.where(m >= 0, e, 1) / (1 + e)
    return a, e / (1 + e) ** 2


def value(name, m):
    if name == "squared":
        return (1 - m) ** 2 / 2
    if name == "squared_hinge":
        return np.maximum(1 - m, 0) ** 2
    if name == "hinge":
        return np.maximum(1 - m, 0)
    return np.log1p(np.exp(-np.abs(m))) + np.maximum(-m, 0)


def direct_optimum(name, X, y, s, lam):
    """Return weights and a bound of their distance to the exact optimum."""
    if name == "hinge":
        return _hinge(X, y, s, lam)
    A = y[:, None] * X
    n, d = A.shape
    wide, dual_form = A.astype(Wide), n < d
    K = A @ A.T if dual_form else None
    w = np.zeros(d, dtype=Wide)
    best, bound = w, np.inf
    idle = 0
    for _ in range(200):
        m = wide @ w
        a, h = derivative(name, m)
        gradient = lam * w - wide.T @ (s * a)
        error = float(np.sqrt(gradient @ gradient)) / lam
        idle = 0 if error < 0.5 * bound else idle + 1
        if error < bound:
            best, bound = w, error
        if idle > 5 or bound == 0.0:
            break
        g, weight = gradient.astype(np.float64), (s * h).astype(np.float64)
        if dual_form:  # (λI + AᵀHA)⁻¹ by the matrix inversion lemma
            root = np.sqrt(weight)
            inner = lam * np.eye(n) + root[:, None] * K * root[None, :]
            change = -(g - A.T @ (root * np.linalg.solve(inner, root * (A @ g)))) / lam
        else:
            change = -np.linalg.solve(lam * np.eye(d) + A.T @ (weight[:, None] * A), g)
        w = w + _step(name, s, lam, w, m, change.astype(Wide), wide @ change.astype(Wide)) * change.astype(Wide)
    return best.astype(np.float64), bound * (1 + 1e-6) + 2.0**-52 * float(np.sqrt(best @ best))


def _step(name, s, lam, w, m, change, rise):
    def slope(t):
        return lam * ((w + t * change) @ change) - rise @ (s * derivative(name, m + t * rise)[0])

    if slope(1.0) <= 0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return 0.5 * (low + high) if low > 0 else 1.0


def _hinge(X, y, s, lam):
    n = len(y)
    alpha = solve_gram(X @ X.T, BinaryProblem(LOSSES["hinge"], y, s, lam, np.zeros(n))).dual
    wide = (y[:, None] * X).astype(Wide)
    alpha = np.clip(alpha, 0, s).astype(Wide)
    w = wide.T @ alpha / lam
    short = 1 - wide @ w
    gap = np.sum(np.where(short > 0, (s - alpha) * short, -alpha * short))
    error = float(np.sqrt(gap / lam))  # w is both points of the pair: λ‖w - w*‖² ≤ gap
    return w.astype(np.float64), error * (1 + 1e-6) + 2.0**-52 * float(np.sqrt(w @ w))
