"""The same numbers in every storage and type, and R written out."""

import numpy as np
import scipy.sparse as sp

from slimline import open_matrix
from tests.tiers import each_once, rest_nightly

TYPES = [np.float64, np.float32, np.float16, np.int8, np.uint8, np.int16, np.bool_]
STORAGES = ["array", "columns", "csr", "csc", "memory map", "standardised", "some rows"]


def cases():
    """Return (type, storage), less what SciPy does not have: all of them at night, each once in the full tier."""
    there = [(t, s) for t in TYPES for s in STORAGES if t != np.float16 or s not in ("csr", "csc")]
    return rest_nightly([case for case in each_once(TYPES, STORAGES[1:] + STORAGES[:1]) if case in there], there)


def few_values(dtype, shape, seed=0):
    """Return whole numbers from 0 to 2 (float types: times a random number), two thirds of them zero."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, shape) * (rng.random(shape) < 0.5)
    return (X * (1.0 + rng.random(shape))).astype(dtype) if np.dtype(dtype).kind == "f" else X.astype(dtype)


def stored(X, storage, folder):
    """Return X in a storage, and the float64 values that are then to be measured."""
    values = X.astype(np.float64)
    if storage == "memory map":
        np.save(folder / "x.npy", X)
        return open_matrix(folder / "x.npy"), values
    if storage == "standardised":
        deviation = values.std(axis=0)
        return open_matrix(X).standardised(), (values - values.mean(axis=0)) / np.where(deviation == 0, 1.0, deviation)
    if storage == "some rows":
        return open_matrix(X).rows(np.arange(len(X))[::-2]), values[::-2]
    return {"array": np.array, "columns": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}[storage](
        X
    ), values


def written_out(projection):
    """Return R as an array."""
    R = projection.rows()
    return R.toarray() if sp.issparse(R) else R
