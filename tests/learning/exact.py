"""The exact optimum of a tiny problem, in rational numbers; for the logistic loss in decimals of 110 digits.

Nothing here is shared with the library: the pieces of the optimality conditions are tried one after the other.
"""

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

DIGITS = 110


def rationals(values):
    """Return an array of floats as nested lists of the rational numbers that they are."""
    return [rationals(part) if np.ndim(part) else Fraction(float(part)) for part in values]


def exact_weights(loss, X, y, s, lam, q=None):
    """Return the weights that minimise (λ/2)‖v‖² + Σ s ℓ(y (X v + q)), as a list of exact numbers."""
    q = np.zeros(len(y)) if q is None else q
    problem = rationals(X), rationals(y), rationals(s), Fraction(float(lam)), rationals(q)
    if loss == "logistic":
        exact = _logistic(*problem)
    else:
        X_, y_, _, lam_, _ = problem
        alpha = {"squared": _squared, "squared_hinge": _squared_hinge, "hinge": _hinge}[loss](*problem)
        columns = range(len(X_[0]))
        exact = [sum((a * b * row[j] for a, b, row in zip(alpha, y_, X_, strict=True)), Fraction(0)) for j in columns]
        exact = [value / lam_ for value in exact]
    return exact


def distance(exact, w):
    """Return the distance of float weights from exact ones, rounded once."""
    with localcontext() as context:
        context.prec = DIGITS
        return float(sum((e - type(e)(float(v))) ** 2 for e, v in zip(exact, w, strict=True))) ** 0.5


def as_floats(exact):
    """Return exact numbers, each rounded once."""
    return np.array([float(value) for value in exact])


def _gram(X, y):
    """Return y_i y_j x_iᵀx_j."""
    return [
        [a * b * sum((p * q for p, q in zip(u, v, strict=True)), Fraction(0)) for b, v in zip(y, X, strict=True)]
        for a, u in zip(y, X, strict=True)
    ]


def solve(matrix, right):
    """Return the solution of a linear system in exact numbers, or None where the matrix is singular."""
    n = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if rows[pivot][k] == 0:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            if factor:
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    x = [None] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum((rows[k][j] * x[j] for j in range(k + 1, n)), 0 * rows[k][n])) / rows[k][k]
    return x


def _smooth_piece(H, y, s, lam, q, active, factor):
    """Return α of the quadratic piece whose active samples these are: margin = 1 - α/(factor s)."""
    part = [[H[i][j] / lam + (1 / (factor * s[i]) if i == j else 0) for j in active] for i in active]
    found = solve(part, [1 - y[i] * q[i] for i in active])
    alpha = [Fraction(0)] * len(y)
    for i, value in zip(active, found, strict=True):
        alpha[i] = value
    return alpha


def _margins(H, y, lam, q, alpha):
    n = len(y)
    return [sum((H[i][j] * alpha[j] for j in range(n) if alpha[j]), Fraction(0)) / lam + y[i] * q[i] for i in range(n)]


def _squared(X, y, s, lam, q):
    return _smooth_piece(_gram(X, y), y, s, lam, q, range(len(y)), 1)


def _squared_hinge(X, y, s, lam, q):
    H, n = _gram(X, y), len(y)
    for size in reversed(range(n + 1)):
        for active in itertools.combinations(range(n), size):
            alpha = _smooth_piece(H, y, s, lam, q, active, 2)
            if min([*alpha, 0]) < 0:
                continue
            margins = _margins(H, y, lam, q, alpha)
            if all(margins[i] >= 1 for i in range(n) if i not in active):
                return alpha
    raise AssertionError("no piece is optimal")


def _hinge(X, y, s, lam, q):
    H, n = _gram(X, y), len(y)
    # an optimal α with a non-singular free part always exists: one can move along a null direction to a bound
    for kinds in itertools.product("0bf", repeat=n):
        free = [i for i in range(n) if kinds[i] == "f"]
        alpha = [s[i] if kinds[i] == "b" else Fraction(0) for i in range(n)]
        if free:
            margins = _margins(H, y, lam, q, alpha)
            found = solve([[H[i][j] for j in free] for i in free], [lam * (1 - margins[i]) for i in free])
            if found is None or any(not 0 <= value <= s[i] for i, value in zip(free, found, strict=True)):
                continue
            for i, value in zip(free, found, strict=True):
                alpha[i] = value
        margins = _margins(H, y, lam, q, alpha)
        if all((kind != "0" or m >= 1) and (kind != "b" or m <= 1) for kind, m in zip(kinds, margins, strict=True)):
            return alpha
    raise AssertionError("no partition is optimal")


def _logistic(X, y, s, lam, q):
    with localcontext() as context:
        context.prec = DIGITS
        number = lambda f: Decimal(f.numerator) / Decimal(f.denominator)  # noqa: E731
        A = [[number(a * v) for v in row] for a, row in zip(y, X, strict=True)]
        s, lam, t = [number(v) for v in s], number(lam), [number(a * b) for a, b in zip(y, q, strict=True)]
        d = len(A[0])
        w = [Decimal(0)] * d

        def state(w):
            m = [sum((a * b for a, b in zip(row, w, strict=True)), o) for row, o in zip(A, t, strict=True)]
            value = lam / 2 * sum(v * v for v in w)
            for c, margin in zip(s, m, strict=True):
                e = (-abs(margin)).exp()
                value += c * ((1 + e).ln() + max(-margin, Decimal(0)))
            return m, value

        m, value = state(w)
        for _ in range(2000):
            e = [(-abs(margin)).exp() for margin in m]
            a = [(x if margin >= 0 else 1) / (1 + x) for x, margin in zip(e, m, strict=True)]
            h = [c * x / (1 + x) ** 2 for c, x in zip(s, e, strict=True)]
            n = range(len(y))
            gradient = [lam * w[j] - sum(s[i] * a[i] * A[i][j] for i in n) for j in range(d)]
            square = sum(g * g for g in gradient)
            if square <= lam * lam * sum(v * v for v in w) * Decimal(10) ** -60 or square == 0:
                return w
            hessian = [
                [sum(h[i] * A[i][j] * A[i][k] for i in n) + (lam if j == k else 0) for k in range(d)] for j in range(d)
            ]
            change = solve(hessian, [-g for g in gradient])
            slope = sum(g * c for g, c in zip(gradient, change, strict=True))
            step = Decimal(1)
            while True:
                trial = [v + step * c for v, c in zip(w, change, strict=True)]
                m, new = state(trial)
                if new <= value + slope * step / 10 or step < Decimal("1e-12"):
                    break
                step /= 2
            w, value = trial, new
    raise AssertionError("Newton's method did not end")
