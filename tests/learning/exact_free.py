"""The exact optimum of a tiny problem beside covariates, in rational numbers; for the logistic loss in decimals.

Nothing here is shared with the library. The dual variable of a sample as a function of its margin is a monotone line of
pieces, given here once more; combinations of pieces are tried, the likeliest first, until all conditions hold exactly.
"""

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from tests.learning.exact import rationals, solve

#: Of the logistic loss.
DIGITS = 70
INFINITE = float("inf")
#: More combinations of pieces than this are not tried.
MOST_TRIALS = 1500


class Piece(NamedTuple):
    """a = level - slope · margin between two margins; at a corner these are one, and a lies in an interval."""

    left: object
    right: object
    level: object = 0
    slope: object = 0
    low: object = None
    high: object = None

    @property
    def is_corner(self):
        return self.low is not None

    def holds(self, margin, a):
        if self.is_corner:
            return self.low <= a <= self.high
        return self.left <= margin <= self.right

    def distance(self, margin, a):
        """Return about how far a margin and a dual variable are from this piece."""
        off = max(float(self.left) - margin, margin - float(self.right), 0.0)
        if self.is_corner:
            lost = max(float(self.low) - a, a - float(self.high), 0.0)
        else:
            lost = abs(float(self.level) - float(self.slope) * margin - a)
        return off / (1e-3 + abs(margin)) + lost / (1e-3 + abs(a))


def pieces_of(loss):
    """Return the pieces of a loss of the library, by its name and parameters."""
    one, far = Fraction(1), INFINITE
    name = loss.name
    if name == "squared":
        return [Piece(-far, far, one, one)]
    if name == "squared_error":
        return [Piece(-far, far, 0 * one, one)]
    if name == "squared_hinge":
        return [Piece(-far, one, 2 * one, 2 * one), Piece(one, far)]
    if name == "hinge":
        return [Piece(-far, one, one), Piece(one, one, low=0 * one, high=one), Piece(one, far)]
    if name == "huber":
        delta = Fraction(loss.delta)
        return [Piece(-far, -delta, delta), Piece(-delta, delta, 0 * one, one), Piece(delta, far, -delta)]
    if name == "quantile":
        # 1 - τ as the library has it: a float of its own
        upper, lower = Fraction(loss.quantile), Fraction(loss.quantile - 1.0)
        return [Piece(-far, 0 * one, upper), Piece(0 * one, 0 * one, low=lower, high=upper), Piece(0 * one, far, lower)]
    epsilon = Fraction(loss.epsilon)
    if name == "epsilon_insensitive":
        return [
            Piece(-far, -epsilon, one),
            Piece(-epsilon, -epsilon, low=0 * one, high=one),
            Piece(-epsilon, epsilon),
            Piece(epsilon, epsilon, low=-one, high=0 * one),
            Piece(epsilon, far, -one),
        ]
    assert name == "squared_epsilon_insensitive", name
    return [
        Piece(-far, -epsilon, -2 * epsilon, 2 * one),
        Piece(-epsilon, epsilon),
        Piece(epsilon, far, 2 * epsilon, 2 * one),
    ]


def exact_optimum(loss, X, y, s, lam, q, U):
    """Return w*, one b* and a* of (λ/2)‖w‖² + Σ s ℓ(y (Xw + Ub + q)); None where none is found.

    The columns of U must be independent, and the weights s positive.
    """
    if loss.name == "logistic":
        return _logistic(X, y, s, lam, q, U)
    n, k = U.shape
    margins, duals = _guess(loss, X, y, s, lam, q, U)
    pieces = pieces_of(loss)
    cost = [[piece.distance(m, a) for piece in pieces] for m, a in zip(margins, duals, strict=True)]
    choices = itertools.product(range(len(pieces)), repeat=n)
    likely = sorted(choices, key=lambda choice: sum(row[c] for row, c in zip(cost, choice, strict=True)))
    A, V, z, t, p, ridge = (*map(rationals, (X, U, y, s, q)), Fraction(float(lam)))
    K = [[_dot(one, other) / ridge for other in A] for one in A]
    for choice in likely[:MOST_TRIALS]:
        chosen = [pieces[c] for c in choice]
        free = [i for i in range(n) if chosen[i].is_corner or chosen[i].slope]
        if len(free) < k:
            continue
        beta = [z[i] * t[i] * chosen[i].level if i not in free else Fraction(0) for i in range(n)]
        matrix, right = [], []
        for i in free:
            piece = chosen[i]
            row = [K[i][j] for j in free] + V[i]
            if piece.is_corner:
                aim = z[i] * piece.left
            else:
                row[free.index(i)] += 1 / (t[i] * piece.slope)
                aim = z[i] * piece.level / piece.slope
            matrix.append(row)
            right.append(aim - p[i] - _dot(K[i], beta))
        for c in range(k):
            matrix.append([V[i][c] for i in free] + [Fraction(0)] * k)
            right.append(-sum((V[i][c] * beta[i] for i in range(n)), Fraction(0)))
        found = solve(matrix, right) if matrix else []
        if found is None:
            continue
        for i, value in zip(free, found, strict=False):
            beta[i] = value
        b = found[len(free) :]
        a = [z[i] * beta[i] / t[i] for i in range(n)]
        m = [z[i] * (_dot(K[i], beta) + _dot(V[i], b) + p[i]) for i in range(n)]
        if all(piece.holds(one, other) for piece, one, other in zip(chosen, m, a, strict=True)):
            w = [sum((A[i][j] * beta[i] for i in range(n)), Fraction(0)) / ridge for j in range(len(A[0]))]
            return w, b, a
    return None


def _dot(one, other):
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


#: Parts of the dual variable: factor, lowest, highest, slope of the conjugate, its curvature.
PARTS = {
    "squared": lambda loss: [(1, -INFINITE, INFINITE, -1, 1)],
    "squared_error": lambda loss: [(1, -INFINITE, INFINITE, 0, 1)],
    "squared_hinge": lambda loss: [(1, 0, INFINITE, -1, 0.5)],
    "hinge": lambda loss: [(1, 0, 1, -1, 0)],
    "huber": lambda loss: [(1, -loss.delta, loss.delta, 0, 1)],
    "quantile": lambda loss: [(1, loss.quantile - 1, loss.quantile, 0, 0)],
    "epsilon_insensitive": lambda loss: [(1, 0, 1, loss.epsilon, 0), (-1, 0, 1, loss.epsilon, 0)],
    "squared_epsilon_insensitive": lambda loss: [
        (1, 0, INFINITE, loss.epsilon, 0.5),
        (-1, 0, INFINITE, loss.epsilon, 0.5),
    ],
}


def conic_optimum(loss, X, y, s, lam, q, U):
    """Return w*, b* and a* to about ten digits, from the dual problem by Clarabel."""
    n, k = U.shape
    parts = PARTS[loss.name](loss)
    signs = np.concatenate([np.full(n, factor) for factor, *_ in parts]) * np.tile(y * s, len(parts))
    spread = sp.csc_matrix((signs, (np.tile(np.arange(n), len(parts)), np.arange(len(signs)))))  # β of the parts
    B = spread.toarray()
    quadratic = B.T @ (X @ X.T / lam) @ B
    quadratic[np.diag_indices(len(signs))] += np.concatenate([s * curved for *_, curved in parts])
    linear = np.concatenate([s * slope for *_, slope, _ in parts]) + B.T @ q
    lows = np.concatenate([np.full(n, part[1], dtype=float) for part in parts])
    highs = np.concatenate([np.full(n, part[2], dtype=float) for part in parts])
    eye = np.eye(len(signs))
    below, above = np.isfinite(lows), np.isfinite(highs)
    scale = np.abs(U).max(axis=0, initial=0.0) + 1e-300
    A = np.vstack([(U / scale).T @ B, -eye[below], eye[above]])
    right = np.concatenate([np.zeros(k), -lows[below], highs[above]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    cones = [clarabel.ZeroConeT(k)] * (k > 0) + [clarabel.NonnegativeConeT(len(right) - k)] * (len(right) > k)
    if not cones:
        x, b = np.linalg.lstsq(quadratic, -linear, rcond=None)[0], np.zeros(0)
    else:
        triangle = sp.csc_matrix(np.triu(quadratic))
        found = clarabel.DefaultSolver(triangle, linear, sp.csc_matrix(A), right, cones, settings).solve()
        x, b = np.array(found.x), np.array(found.z)[:k] / scale
    beta = B @ x
    return X.T @ beta / lam, b, y * beta / s


def _guess(loss, X, y, s, lam, q, U):
    w, b, a = conic_optimum(loss, X, y, s, lam, q, U)
    return np.nan_to_num(y * (X @ w + U @ b + q)), np.nan_to_num(a)


def _logistic_in_floats(A, s, lam, p, d):
    """Return a start for the decimals: Newton steps with line searches by bisection, in float64."""
    z = np.zeros(A.shape[1])
    penalty = np.where(np.arange(len(z)) < d, lam, 0.0)

    def slope(direction, z):
        return float((penalty * z) @ direction - (s * expit(-(A @ z + p))) @ (A @ direction))

    for _ in range(200):
        a = expit(-(A @ z + p))
        gradient = penalty * z - A.T @ (s * a)
        hessian = (A * (s * a * (1.0 - a))[:, None]).T @ A + np.diag(penalty)
        unit = 1.0 / np.sqrt(np.maximum(np.diag(hessian), 1e-300))
        inverse = np.linalg.pinv(hessian * unit[:, None] * unit, rcond=1e-14, hermitian=True)
        change = -unit * (inverse @ (unit * gradient))
        if not slope(change, z) < 0.0:
            change = -gradient
        low, high = 0.0, 1.0
        while slope(change, z + high * change) < 0.0 and high < 1e6:
            low, high = high, 2.0 * high
        if low == 0.0:
            low, high = 0.0, 1.0
            while slope(change, z + high * change) > 0.0 and high > 1e-12:
                high *= 0.5
            low, high = high, 2.0 * high
        for _ in range(20):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if slope(change, z + middle * change) < 0.0 else (low, middle)
        length = 1.0 if abs(low - 1.0) < 1e-3 else low
        z = z + length * change
        if np.abs(length * change).max() <= 1e-9 * np.abs(z).max():
            break
    return z if np.isfinite(z).all() else np.zeros_like(z)


def _logistic(X, y, s, lam, q, U):
    n, d, k = len(y), X.shape[1], U.shape[1]
    with localcontext() as context:
        context.prec = DIGITS
        A = [[Decimal(float(a)) * Decimal(float(v)) for v in row] for a, row in zip(y, np.hstack([X, U]), strict=True)]
        t, ridge, p = [Decimal(float(v)) for v in s], Decimal(float(lam)), [Decimal(float(v)) for v in y * q]
        with np.errstate(all="ignore"):
            start = _logistic_in_floats(y[:, None] * np.hstack([X, U]), s, lam, y * q, d)
        z = [Decimal(float(v)) for v in start]

        def state(z):
            m = [sum((a * b for a, b in zip(row, z, strict=True)), o) for row, o in zip(A, p, strict=True)]
            value = ridge / 2 * sum(v * v for v in z[:d])
            for c, margin in zip(t, m, strict=True):
                value += c * ((1 + (-abs(margin)).exp()).ln() + max(-margin, Decimal(0)))
            return m, value

        m, value = state(z)
        for _ in range(40):
            e = [(-abs(margin)).exp() for margin in m]
            a = [(x if margin >= 0 else 1) / (1 + x) for x, margin in zip(e, m, strict=True)]
            h = [c * x / (1 + x) ** 2 for c, x in zip(t, e, strict=True)]
            gradient = [
                (ridge * z[j] if j < d else Decimal(0)) - sum(t[i] * a[i] * A[i][j] for i in range(n))
                for j in range(d + k)
            ]
            hessian = [
                [sum(h[i] * A[i][j] * A[i][c] for i in range(n)) + (ridge if j == c < d else 0) for c in range(d + k)]
                for j in range(d + k)
            ]
            change = solve(hessian, [-g for g in gradient])
            if change is None:
                return None
            slope = sum(g * c for g, c in zip(gradient, change, strict=True))
            step = Decimal(1)
            while True:
                trial = [v + step * c for v, c in zip(z, change, strict=True)]
                m, new = state(trial)
                if new <= value + slope * step / 10 or -slope <= value.scaleb(-55):  # or it is rounding
                    break
                if step < Decimal("1e-9"):
                    return None
                step /= 2
            z, value = trial, new
            parts = [(z[:d], change[:d]), (z[d:], change[d:])]
            tiny = Decimal(10) ** -40
            if step == 1 and all(
                max(map(abs, c), default=0) <= tiny * max(map(abs, v), default=0) + tiny**2 for v, c in parts
            ):
                e = [(-abs(margin)).exp() for margin in m]
                return z[:d], z[d:], [(x if margin >= 0 else 1) / (1 + x) for x, margin in zip(e, m, strict=True)]
        return None
