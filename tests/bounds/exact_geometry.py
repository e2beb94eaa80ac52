"""Margins, balls and dual solutions of small problems by methods of their own: exact up to rounding."""

from itertools import combinations

import numpy as np
from scipy.optimize import nnls


def hard_margin_squared(X, y):
    """Return γ² of the hard-margin machine with intercept: a quarter of the squared distance of the convex hulls.

    min ‖Mᵀa‖² over the simplex, M all differences, has the direction of the solution of min ‖Mᵀa‖² + (Σa - 1)², a ≥ 0.
    """
    M = (X[y > 0][:, None, :] - X[y < 0][None, :, :]).reshape(-1, X.shape[1])
    scale = np.abs(M).max()
    weights, _ = nnls(np.vstack([M.T / scale, np.ones(len(M))]), np.append(np.zeros(X.shape[1]), 1.0), maxiter=10_000)
    nearest = weights @ M / weights.sum()
    return nearest @ nearest / 4


def ball_radius_squared(X):
    """Return B² of the smallest enclosing ball: the smallest circumscribed ball of a subset that holds all points."""
    best = np.inf
    for size in range(1, len(X) + 1):
        for chosen in combinations(range(len(X)), size):
            P = X[list(chosen)]
            sides = P[1:] - P[0]
            centre = P[0] + sides.T @ np.linalg.lstsq(sides @ sides.T, 0.5 * (sides**2).sum(axis=1), rcond=None)[0]
            distances = ((X - centre) ** 2).sum(axis=1)
            if distances.max() <= (1 + 1e-9) * max(distances[list(chosen)].min(), 1e-300):
                best = min(best, distances.max())
    return best


def box_dual(K, C, sweeps=200_000):
    """Return α that maximises Σα - ½αᵀKα over [0, C]ⁿ, by coordinate ascent to rounding."""
    alpha, gradient = np.zeros(len(K)), np.ones(len(K))
    for _ in range(sweeps):
        moved = 0.0
        for i in range(len(K)):
            new = min(max(alpha[i] + gradient[i] / K[i, i], 0.0), C)
            step = new - alpha[i]
            if step:
                alpha[i], gradient = new, gradient - step * K[i]
                moved = max(moved, abs(step))
        if moved <= 1e-14 * alpha.max():
            break
    return alpha


def box_dual_balanced(K, y, C, sweeps=100_000):
    """Return α that maximises Σα - ½αᵀKα over [0, C]ⁿ with Σyα = 0, K = (yᵢyⱼxᵢᵀxⱼ), by the most violating pairs."""
    alpha, gradient = np.zeros(len(K)), np.ones(len(K))
    for _ in range(sweeps):
        up = ((y > 0) & (alpha < C)) | ((y < 0) & (alpha > 0))
        down = ((y > 0) & (alpha > 0)) | ((y < 0) & (alpha < C))
        i = np.flatnonzero(up)[np.argmax((y * gradient)[up])]
        j = np.flatnonzero(down)[np.argmin((y * gradient)[down])]
        violation = y[i] * gradient[i] - y[j] * gradient[j]
        if violation <= 1e-13 * max(1.0, np.abs(gradient).max()):
            break
        curvature = K[i, i] + K[j, j] - 2 * y[i] * y[j] * K[i, j]
        step = violation / max(curvature, 1e-300)
        step = min(step, C - alpha[i] if y[i] > 0 else alpha[i], alpha[j] if y[j] > 0 else C - alpha[j])
        alpha[i] = C if y[i] > 0 and step == C - alpha[i] else alpha[i] + y[i] * step
        alpha[j] = 0.0 if y[j] > 0 and step == alpha[j] else alpha[j] - y[j] * step
        gradient = gradient - step * (y[i] * K[i] - y[j] * K[j])
    return alpha
