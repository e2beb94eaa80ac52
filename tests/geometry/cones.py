"""Margins of several classes by Clarabel, an interior-point solver that shares nothing with the library."""

import clarabel
import numpy as np
import scipy.sparse as sp


def in_own_coordinates(X):
    """Return points of as few coordinates as their span needs, with the same inner products."""
    X = np.asarray(X, dtype=np.float64)
    if X.shape[1] <= X.shape[0]:
        return X
    return np.linalg.qr(X.T, mode="r").T


def unit_rows(X):
    """Return rows of norm 1."""
    X = np.asarray(X, dtype=np.float64)
    return X / np.linalg.norm(X, axis=1)[:, None]


def all_pairs(codes, n_classes):
    """Return (point, own class, rival class) for every pair, by loops."""
    return [(i, int(own), rival) for i, own in enumerate(codes) for rival in range(n_classes) if rival != own]


def lead_rows(X, codes, n_classes):
    """Return A such that A W.ravel() is ⟨w_own - w_rival, x⟩ for every pair."""
    n, d = X.shape
    places, columns, values = [], [], []
    for place, (i, own, rival) in enumerate(all_pairs(codes, n_classes)):
        for y, sign in ((own, 1.0), (rival, -1.0)):
            places.append(np.full(d, place))
            columns.append(y * d + np.arange(d))
            values.append(sign * X[i])
    shape = (n * (n_classes - 1), n_classes * d)
    return sp.csc_array((np.concatenate(values), (np.concatenate(places), np.concatenate(columns))), shape=shape)


def solved(P, q, A, b, cones):
    """Return the solution of Clarabel at its tightest settings."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solution = clarabel.DefaultSolver(
        sp.csc_matrix(sp.triu(P)), np.asarray(q, float), sp.csc_matrix(A), np.asarray(b, float), cones, settings
    ).solve()
    assert str(solution.status) in ("Solved", "AlmostSolved"), solution.status
    return solution


def least_norm_margin(Z):
    """Return max over unit v of the least ⟨v, z⟩ over the rows of Z: 1 over the least norm with ⟨v, z⟩ ≥ 1."""
    m, d = Z.shape
    found = solved(sp.eye_array(d), np.zeros(d), -Z, -np.ones(m), [clarabel.NonnegativeConeT(m)])
    return 1.0 / float(np.linalg.norm(found.x))


def crammer_singer(X, codes, n_classes):
    """Return 1/‖W‖ of the hard-margin machine of several classes."""
    X = in_own_coordinates(X)
    scale = float(np.linalg.norm(X, axis=1).max())
    return scale * least_norm_margin(lead_rows(X / scale, codes, n_classes))


def relaxed_margin(X, codes, n_classes):
    """Return max t such that all leads of the points scaled to norm 1 are at least t, with ‖u_y‖ ≤ 1."""
    X = in_own_coordinates(unit_rows(X))
    d = X.shape[1]
    leads = lead_rows(X, codes, n_classes)
    size = n_classes * d
    rows = [sp.hstack([-leads, np.ones((leads.shape[0], 1))])]  # t - lead ≤ 0
    b = [np.zeros(leads.shape[0])]
    cones = [clarabel.NonnegativeConeT(leads.shape[0])]
    for y in range(n_classes):
        own = sp.csr_array((-np.ones(d), (np.arange(1, d + 1), y * d + np.arange(d))), shape=(d + 1, size + 1))
        rows.append(own)
        b.append(np.eye(d + 1)[0])
        cones.append(clarabel.SecondOrderConeT(d + 1))
    q = np.append(np.zeros(size), -1.0)
    found = solved(sp.csc_array((size + 1, size + 1)), q, sp.vstack(rows), np.concatenate(b), cones)
    return float(found.x[-1])


def least_lead(X, codes, U):
    """Return the least score of the own class less the highest of the others, in long doubles."""
    scores = np.asarray(X, dtype=np.longdouble) @ np.asarray(U, dtype=np.longdouble).T
    every = np.arange(len(codes))
    own = scores[every, codes]
    scores[every, codes] = -np.inf
    return float((own - scores.max(axis=1)).min())
