"""Data with a margin, and checks of what a record claims, from the data alone."""

import itertools

import numpy as np

MARGINS = list(itertools.product([False, True], [False, True]))


def separable_data(n, d, thin, seed):
    """Return points of two classes, at least so far from a plane through the origin."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[0], y[1] = 1.0, -1.0
    normal = rng.standard_normal(d)
    normal /= np.linalg.norm(normal)
    X = rng.standard_normal((n, d))
    away = thin * (1.0 + rng.random(n) * (rng.random(n) < 0.5))
    return X - np.outer(X @ normal, normal) + np.outer(y * away, normal), y


def scaled(X, found):
    """Return the points that the margin is of, in the widest floats."""
    X = np.asarray(X, dtype=np.longdouble)
    return X / np.sqrt(np.sum(X * X, axis=1))[:, None] if found.normalised else X


def assert_multipliers(y, found):
    """Weights of the proof: above 0, 1 in sum, with an intercept over each class; return them as ±."""
    signs = np.where(np.asarray(y) == found.classes[1], 1.0, -1.0)[found.support]
    assert found.multipliers.min() > 0.0
    if found.with_intercept:
        assert abs(found.multipliers[signs > 0].sum() - 1.0) <= 1e-12
        assert abs(found.multipliers[signs < 0].sum() - 1.0) <= 1e-12
    else:
        assert abs(found.multipliers.sum() - 1.0) <= 1e-12
    return signs * found.multipliers


def residual_of(X, y, found):
    """Return the norm of the combination of points that the multipliers stand for."""
    return float(np.linalg.norm((assert_multipliers(y, found) @ scaled(X, found)[found.support]).astype(float)))


def assert_witness(X, y, found):
    """The plane has the margin that is claimed, and the multipliers prove the upper end."""
    Z = scaled(X, found)
    signs = np.where(np.asarray(y) == found.classes[1], 1.0, -1.0)
    assert abs(np.linalg.norm(found.separator) - 1.0) <= 1e-12
    assert found.with_intercept or found.intercept == 0.0
    attained = float((signs * (Z @ found.separator + np.longdouble(found.intercept))).min())
    size = float(np.sqrt(np.max(np.sum(Z * Z, axis=1))))
    assert attained >= found.value - 1e-15 * (size + abs(found.intercept)) - 1e-12 * found.value
    assert found.value == found.lower <= found.upper
    assert found.violators.size == 0
    residual = residual_of(X, y, found)
    assert residual <= found.residual * (1.0 + 1e-12)
    assert found.residual <= residual * (1.0 + 1e-9) + 1e-11 * size


def assert_proof(X, y, found):
    """A combination vanishes, to the residual that is stated; the violators are those of the plane shown."""
    assert found.separable is False and found.lower == 0.0
    Z = scaled(X, found)
    size = float(np.sqrt(np.max(np.sum(np.square(np.asarray(X, dtype=np.longdouble)), axis=1))))
    residual = residual_of(X, y, found)
    assert residual <= found.residual * (1.0 + 1e-12) + 1e-300
    signs = np.where(np.asarray(y) == found.classes[1], 1.0, -1.0)
    values = (signs * (Z @ found.separator + np.longdouble(found.intercept))).astype(float)
    # points on the plane itself are on either side by rounding
    near = 1e-12 * (size * np.linalg.norm(found.separator) + abs(found.intercept)) + 1e-300
    wrong = np.zeros(len(Z), dtype=bool)
    wrong[found.violators] = True
    assert not (values[wrong] > near).any() and not (values[~wrong] <= -near).any()
