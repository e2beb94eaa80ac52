"""Helpers that tests of the certified classifier share."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from slimline.learning import LOSSES
from tests.learning.direct import direct_optimum

NAMES = list(LOSSES)
ROUTES = [{"method": "gram"}, {"method": "sketch", "n_components": 128}]
ROUTE_NAMES = ["gram", "sketch"]


def wide(seed=0, n=40, d=600, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10)) @ rng.standard_normal((10, d)) + 0.5 * rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.argmax(X @ rng.standard_normal((d, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def usual_constant(X, s=None):
    """Return the root mean square norm of the rows, the default of `intercept_scaling`."""
    return np.sqrt(np.average(np.square(X.astype(np.float64)).sum(axis=1), weights=s))


def exact(X, y, loss, C, s=None, constant=None):
    """Return the weights of [X, c] and a bound of their error; y of 0 and 1."""
    s = np.ones(len(y)) if s is None else s
    constant = usual_constant(X, s) if constant is None else constant
    whole = np.column_stack([X, np.full(len(y), constant)])
    return direct_optimum(loss, whole, np.where(y == 1, 1.0, -1.0), s, 1.0 / C)


def quiet(model, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*arguments, **options)
