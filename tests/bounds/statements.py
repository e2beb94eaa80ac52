"""Every bound of the catalogue and every printed version, by one name each, with arguments inside its domain."""

import itertools
from inspect import signature

import numpy as np

from slimline.bounds import BOUNDS
from slimline.bounds._embeddings import FAMILIES

#: "shi2012.5" is the bound, "shi2012.5, printed" the statement in the document.
STATEMENTS = {
    **BOUNDS,
    **{f"{name}, printed": bound.printed for name, bound in BOUNDS.items() if bound.printed is not None},
}

EPS = [1e-6, 1e-3, 1.99e-3, 2.01e-3, 0.01, 0.045, 0.1, 0.3, 0.333, 0.499, 0.5, 0.787, 0.9, 0.999]
EPS += [1 - 2**-40, 1.0, 2.5, 20.0]
DELTAS = [1e-300, 1e-30, 1e-3, 0.05, 0.5, 0.99]
SIZES = {
    "vectors": [1, 45, 10**6, 10**18],
    "points": [1, 2, 10_000, 10**15],
    "classes": [2, 3, 10**5],
    "sparsity": [1, 10, 10**6],
    "features": [1, 7, 1024, 1025, 2**50 + 1],
    "rank": [1, 2, 100, 10**6],
    "effective_dimension": [1e-3, 1.0, 7.5, 1e6],
    "n_components": [1, 100, 10**6],
    "margin": [1e-6, 0.1, 0.5, 1.0],
    "multiclass_margin": [1e-6, 0.3, 1.0, 2.0],
    "crammer_singer_margin": [1e-3, 0.3, 5.0],
    "radius": [0.1, 1.0, 20.0],
    "cosine": [-1.0, -0.827, 0.0, 1e-7, 0.3, 0.999, 1.0],
    "constant": [0.5, 8.0],
    "family": list(FAMILIES),
}


def names_of(function):
    """Return the sizes that a function takes, the optional ones too."""
    return [name for name in signature(function).parameters if name not in ("eps", "delta")]


def distortions(bound):
    """Return eps all over the domain, its end too."""
    end = min(bound.eps_below, 50.0)
    inside = [eps for eps in EPS if eps < end]
    return [*inside, end if bound.eps_closed else float(np.nextafter(end, 0.0))]


def combinations(names):
    """Return settings of sizes."""
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*(SIZES[name] for name in names))]


def some_sizes(names):
    """Return one ordinary setting of sizes."""
    ordinary = {"vectors": 45, "points": 500, "classes": 3, "sparsity": 4, "features": 2000, "rank": 20}
    ordinary |= {"effective_dimension": 9.5}
    ordinary |= {"n_components": 300, "margin": 0.3, "multiclass_margin": 0.4, "cosine": 0.3, "family": "gaussian"}
    ordinary |= {"crammer_singer_margin": 0.5, "radius": 1.5}
    return {name: ordinary[name] for name in names}


def middle_of(bound):
    """Return an eps in the middle of the domain."""
    return 0.4 * min(bound.eps_below, 1.0)
