"""Points of classes that are apart."""

import numpy as np


def clouds(n, d, distance, seed):
    """Return two Gaussian clouds, so far from the origin on either side, and their classes 0 and 1."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    towards = rng.standard_normal(d)
    return rng.standard_normal((n, d)) + distance * np.outer(2.0 * y - 1.0, towards / np.linalg.norm(towards)), y


def several(n, n_classes, d, seed, apart=3.0):
    """Return Gaussian clouds about centres in random directions, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.standard_normal((n, d)) + apart * rng.standard_normal((n_classes, d))[y], y
