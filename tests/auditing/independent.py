"""Every number of an audit once more: by Clarabel's interior point method, dense factorisations and plain loops."""

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.linalg import svdvals

from slimline.projections import Projection


def _solved(P, q, A, b, cones):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solution = clarabel.DefaultSolver(sp.csc_matrix(P), q, sp.csc_matrix(A), b, cones, settings).solve()
    assert str(solution.status) in ("Solved", "AlmostSolved"), solution.status
    return np.array(solution.x)


def _hard_margin(rows, free=0):
    """Return 1/‖w‖ of the shortest w with rows @ w ≥ 1; the last `free` weights count nothing."""
    m, k = rows.shape
    P = sp.diags_array(np.r_[np.ones(k - free), np.zeros(free)])
    w = _solved(P, np.zeros(k), -rows, -np.ones(m), [clarabel.NonnegativeConeT(m)])
    return 1.0 / np.linalg.norm(w[: k - free])


def plain_margin(X, signs):
    return _hard_margin(signs[:, None] * X)


def normalised_margin(X, signs):
    return _hard_margin(signs[:, None] * X / np.linalg.norm(X, axis=1)[:, None])


def margin_with_intercept(X, signs):
    return _hard_margin(signs[:, None] * np.c_[X, np.ones(len(X))], free=1)


def _pairs(X, codes, n_classes):
    """Yield (row, own class, rival class)."""
    for i in range(len(X)):
        for rival in range(n_classes):
            if rival != codes[i]:
                yield i, codes[i], rival


def crammer_singer_margin(X, codes, n_classes):
    rows = []
    for i, own, rival in _pairs(X, codes, n_classes):
        row = np.zeros((n_classes, X.shape[1]))
        row[own], row[rival] = X[i], -X[i]
        rows.append(row.ravel())
    return _hard_margin(np.array(rows))


def relaxed_definition_7(X, codes, n_classes):
    """Return the largest least lead in cosines of vectors of norm 1 or less: an upper bound of Definition 7."""
    unit, d = X / np.linalg.norm(X, axis=1)[:, None], X.shape[1]
    rows = []
    for i, own, rival in _pairs(X, codes, n_classes):
        row = np.zeros((n_classes, d))
        row[own], row[rival] = -unit[i], unit[i]
        rows.append(np.r_[row.ravel(), 1.0])  # lead ≥ t
    blocks, b, cones = [np.array(rows)], [np.zeros(len(rows))], [clarabel.NonnegativeConeT(len(rows))]
    for y in range(n_classes):
        ball = np.zeros((d + 1, n_classes * d + 1))
        ball[1:, y * d : (y + 1) * d] = -np.eye(d)
        blocks.append(ball)
        b.append(np.r_[1.0, np.zeros(d)])
        cones.append(clarabel.SecondOrderConeT(d + 1))
    size = n_classes * d + 1
    q = np.zeros(size)
    q[-1] = -1.0
    return float(_solved(sp.csc_matrix((size, size)), q, np.vstack(blocks), np.concatenate(b), cones)[-1])


def one_parameter_margin(X, codes, n_classes, projection):
    """Return the largest least cosine of one vector with R_yᵀx - R_y'ᵀx, class y drawn from the y-th seed."""
    seeds = np.random.SeedSequence(projection.seed).generate_state(n_classes, np.uint64)
    sketches = [X @ dense(type(projection)(projection.n_features, projection.n_components, int(s))) for s in seeds]
    apart = np.array([sketches[own][i] - sketches[rival][i] for i, own, rival in _pairs(X, codes, n_classes)])
    return _hard_margin(apart / np.linalg.norm(apart, axis=1)[:, None])


def ball_radius(X):
    """Return the radius of the smallest ball: the least t with ‖x - c‖ ≤ t for all x."""
    n, d = X.shape
    A, b = np.zeros((n * (d + 1), d + 1)), np.zeros(n * (d + 1))
    for i, x in enumerate(X):
        first = i * (d + 1)
        A[first, d] = -1.0
        A[first + 1 : first + d + 1, :d] = np.eye(d)
        b[first + 1 : first + d + 1] = x
    q = np.r_[np.zeros(d), 1.0]
    cones = [clarabel.SecondOrderConeT(d + 1)] * n
    return float(_solved(sp.csc_matrix((d + 1, d + 1)), q, A, b, cones)[-1])


def dense(projection):
    """Return R, written out."""
    R = projection.rows()
    return R.toarray() if sp.issparse(R) else np.asarray(R)


def rebuilt(found):
    """Return the draws of an audit, from their JSON lines."""
    return [Projection.from_json(line) for line in found.projections]


def embedding_error(X, R):
    _, values, V = np.linalg.svd(X, full_matrices=False)
    V = V[values > 1e-10 * values[0]].T
    squares = svdvals(V.T @ R) ** 2
    least = squares.min() if V.shape[1] <= R.shape[1] else 0.0
    return max(squares.max() - 1.0, 1.0 - least)


def pair_changes(X, Z):
    """Return the changes of squared distances, cosines and scaled inner products, a pair after the other."""
    distances, angles, products = [], [], []
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            x, u, z, v = X[i], X[j], Z[i], Z[j]
            if np.any(x != u):
                distances.append(np.sum((z - v) ** 2) / np.sum((x - u) ** 2) - 1.0)
            sizes = np.linalg.norm(x) * np.linalg.norm(u)
            angles.append(z @ v / (np.linalg.norm(z) * np.linalg.norm(v)) - x @ u / sizes)
            products.append((z @ v - x @ u) / sizes)
    return {"distances": distances, "angles": angles, "inner products": products}
