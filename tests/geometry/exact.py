"""Margins, balls and quadratics over simplices by methods of their own: nothing here is shared with the library."""

import itertools
from fractions import Fraction

import clarabel
import mpmath
import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC

from tests.learning.exact import rationals, solve


def gram(Z):
    """Return the inner products of rows of exact numbers."""
    return [[sum(p * q for p, q in zip(u, v, strict=True)) for v in Z] for u in Z]


def exact_simplex(Q, c, group, tolerance=0):
    """Return the least ½aᵀQa - cᵀa over a ≥ 0 with sums of 1 over the groups, and a: every face is tried.

    An optimal a of the smallest support has a non-singular system: one could move along a null direction else.
    """
    n, groups = len(c), sorted(set(group))
    for size in range(len(groups), n + 1):
        for free in itertools.combinations(range(n), size):
            if {group[i] for i in free} != set(groups):
                continue
            levels = [[-1 if group[i] == s else 0 for s in groups] for i in free]
            matrix = [[Q[i][j] for j in free] + level for i, level in zip(free, levels, strict=True)]
            matrix += [[1 if group[i] == s else 0 for i in free] + [0] * len(groups) for s in groups]
            found = solve(_as(matrix, Q), _as([[c[i] for i in free] + [1] * len(groups)], Q)[0])
            if found is None or min(found[:size]) < -tolerance:
                continue
            a = [0 * Q[0][0]] * n
            for i, value in zip(free, found, strict=False):
                a[i] = value
            level = dict(zip(groups, found[size:], strict=True))
            gradient = [sum(Q[i][j] * a[j] for j in free) - c[i] for i in range(n)]
            if all(gradient[i] >= level[group[i]] - tolerance for i in range(n)):
                return sum(a[i] * (gradient[i] - c[i]) for i in free) / 2, a
    raise AssertionError("no face is optimal")


def _as(rows, like):
    number = type(like[0][0])
    return [[number(value) for value in row] for row in rows]


def exact_margin(X, y, intercept, normalised=False):
    """Return the margin of float data, rounded once from 60 digits; the hulls meet where it is 0."""
    Z = [[int(sign) * value for value in row] for sign, row in zip(y, rationals(X), strict=True)]
    group = [int(sign > 0) if intercept else 0 for sign in y]
    K, tolerance = gram(Z), 0
    with mpmath.workdps(60):
        if normalised:
            K = [[_wide(value) for value in row] for row in K]
            norms = [mpmath.sqrt(K[i][i]) for i in range(len(K))]
            K = [[K[i][j] / (norms[i] * norms[j]) for j in range(len(K))] for i in range(len(K))]
            tolerance = mpmath.mpf(10) ** -25
        half, _ = exact_simplex(K, [0 * K[0][0]] * len(K), group, tolerance)
        return mpmath.sqrt(max(_wide(2 * half), 0)) / (2 if intercept else 1)


def exact_ball(X):
    """Return the radius of the smallest ball around float points, to 60 digits."""
    K = gram(rationals(X))
    least, _ = exact_simplex(K, [K[i][i] / 2 for i in range(len(K))], [0] * len(K))
    with mpmath.workdps(60):
        return mpmath.sqrt(max(_wide(-2 * least), 0))


def _wide(value):
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else value


def settings(tolerance=1e-12, regularisation=1e-11):
    """Return Clarabel's settings for solutions to the last digits."""
    chosen = clarabel.DefaultSettings()
    chosen.verbose = False
    chosen.max_threads = 1
    chosen.tol_gap_abs = chosen.tol_gap_rel = chosen.tol_feas = tolerance
    # with its own it now and then ends early, "almost solved", a millionth off
    chosen.max_step_fraction = 0.9
    chosen.static_regularization_constant = regularisation
    chosen.iterative_refinement_max_iter = 50
    return chosen


def clarabel_simplex(Q, c, group):
    """Return the least ½aᵀQa - cᵀa over simplices, and a, by an interior-point method."""
    n, groups = len(c), int(max(group)) + 1
    scale = max(float(np.abs(Q).max()), float(np.abs(c).max()), 1e-300)
    members = np.array([[float(g == s) for g in group] for s in range(groups)])
    A = sp.csc_matrix(np.vstack([members, -np.eye(n)]))
    b = np.concatenate([np.ones(groups), np.zeros(n)])
    cones = [clarabel.ZeroConeT(groups), clarabel.NonnegativeConeT(n)]
    P = sp.csc_matrix(np.triu(Q / scale))
    a = np.maximum(clarabel.DefaultSolver(P, -c / scale, A, b, cones, settings()).solve().x, 0.0)
    for s in range(groups):
        a[np.asarray(group) == s] /= a[np.asarray(group) == s].sum()
    return 0.5 * a @ Q @ a - c @ a, a


def coordinates(X):
    """Return the rows in an orthonormal basis of the space that they span: the same inner products, fewer columns."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    return X if X.shape[1] <= X.shape[0] else np.linalg.qr(X.T, mode="r").T


def clarabel_margin(Z, y, intercept):
    """Return the hard margin by the primal machine min ½‖w‖² with y(w·z + b) ≥ 1."""
    size = np.linalg.norm(Z, axis=1).max()
    n, d = Z.shape
    A = -y[:, None] * np.column_stack([Z / size, np.ones((n, int(intercept)))])
    P = sp.diags_array(np.append(np.ones(d), np.zeros(int(intercept)))).tocsc()
    q = np.zeros(d + int(intercept))
    problem = sp.csc_matrix(P), q, sp.csc_matrix(A), -np.ones(n), [clarabel.NonnegativeConeT(n)]
    for tolerance, regularisation in itertools.product((1e-12, 1e-10), (1e-11, 1e-8)):
        solution = clarabel.DefaultSolver(*problem, settings(tolerance, regularisation)).solve()
        if solution.status == clarabel.SolverStatus.Solved:
            break
    else:
        raise AssertionError(f"Clarabel did not solve it: {solution.status}")
    w = np.asarray(solution.x)
    # the machine scaled so that its least distance is what is measured
    values = y * (Z @ w[:d])
    least = 0.5 * (values[y > 0].min() + values[y < 0].min()) if intercept else values.min()
    return least / np.linalg.norm(w[:d])


def svc_margin(K, y, intercept):
    """Return the hard margin by LIBSVM, from inner products.

    LIBSVM has an intercept always; without one, the points and their mirror images are as far apart.
    """
    if not intercept:
        K, y = np.block([[K, -K], [-K, K]]), np.append(y, -y)
    scale = K.diagonal().max()
    machine = SVC(kernel="precomputed", C=1e10, tol=1e-10, cache_size=500).fit(K / scale, y)
    beta, chosen = machine.dual_coef_[0], machine.support_
    values = y * (K[:, chosen] @ beta)
    least = 0.5 * (values[y > 0].min() + values[y < 0].min())
    return least / np.sqrt(beta @ K[np.ix_(chosen, chosen)] @ beta)


def clarabel_ball(X):
    """Return the radius of the smallest ball by a second-order cone program: min r with ‖xᵢ - c‖ ≤ r."""
    n, d = X.shape
    size = np.abs(X).max() or 1.0
    columns = np.tile(np.arange(d + 1), n)
    A = sp.csc_matrix((-np.ones(n * (d + 1)), (np.arange(n * (d + 1)), columns)), shape=(n * (d + 1), d + 1))
    b = np.column_stack([np.zeros(n), -X / size]).ravel()
    cones = [clarabel.SecondOrderConeT(d + 1)] * n
    q = np.append(1.0, np.zeros(d))
    found = clarabel.DefaultSolver(sp.csc_matrix((d + 1, d + 1)), q, A, b, cones, settings()).solve().x
    return float(np.linalg.norm(X - size * np.asarray(found)[1:], axis=1).max())
