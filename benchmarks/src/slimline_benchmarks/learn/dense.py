"""Dense data with a realistic spectrum, made by blocks of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

Floats = NDArray[np.float64]

#: Directions that all columns share, and how their sizes fall: σ_k ~ k^-0.75.
_DIRECTIONS, _FALL = 1024, 0.75
#: Part of the variance that is noise, and the correlation of the noise of neighbouring columns.
_NOISE, _NEIGHBOURS = 0.2, 0.9
#: Columns that the labels depend on, and noise in their rule beside its own spread.
_RELEVANT, _RULE_NOISE = 200, 0.5
#: Bytes of a block of columns.
_BLOCK_BYTES = 1 << 26


def realistic_data(n_samples: int, n_features: int, seed: int = 0) -> tuple[NDArray[np.float32], Floats]:
    """Return correlated columns with a few strong directions and a slowly falling tail, and labels.

    X = L diag(k^-0.75) B + E: up to 1,024 shared directions, and noise whose neighbouring columns are correlated.
    Columns have sizes of their own (log-normal), rows are scaled to norm 1. Labels follow a sparse linear rule with
    noise.

    Parameters
    ----------
    n_samples, n_features : int
        Size of X.
    seed : int
        Of all that is random.

    Returns
    -------
    X : array of shape (n_samples, n_features), float32
        By rows; nothing of its size is made beside it.
    labels : array of shape (n_samples,)
        -1 or +1, half of each.
    """
    rng = np.random.default_rng(seed)
    k = min(_DIRECTIONS, n_samples, n_features)
    sizes = np.arange(1.0, k + 1.0) ** -_FALL
    sizes *= np.sqrt((1.0 - _NOISE) / np.sum(np.square(sizes)))
    left = rng.standard_normal((n_samples, k), dtype=np.float32) * sizes.astype(np.float32)
    X = np.empty((n_samples, n_features), dtype=np.float32)
    innovation = np.float32(np.sqrt(_NOISE * (1.0 - _NEIGHBOURS**2)))
    state = rng.standard_normal((n_samples, 1), dtype=np.float32) * np.float32(_NEIGHBOURS * np.sqrt(_NOISE))
    step = max(1, _BLOCK_BYTES // (4 * n_samples))
    for start in range(0, n_features, step):
        block = X[:, start : start + step]
        width = block.shape[1]
        noise = rng.standard_normal((n_samples, width), dtype=np.float32) * innovation
        noise, state = _autoregression(noise, state)
        np.matmul(left, rng.standard_normal((k, width), dtype=np.float32), out=block)
        block += noise
        block *= np.exp(0.5 * rng.standard_normal(width)).astype(np.float32)
    _scale_rows(X)
    return X, _labels(X, rng)


def _autoregression(noise: Any, state: Any) -> Any:
    """Return noise whose neighbouring columns are correlated, and the state that the next block goes on from."""
    one, factor = np.ones(1, dtype=np.float32), np.array([1.0, -_NEIGHBOURS], dtype=np.float32)  # float32 stays float32
    return lfilter(one, factor, noise, axis=1, zi=state)


def _scale_rows(X: NDArray[np.float32]) -> None:
    for row in X:
        row /= np.float32(np.sqrt(np.dot(row, row)))


def _labels(X: NDArray[np.float32], rng: np.random.Generator) -> Floats:
    relevant = rng.choice(X.shape[1], size=min(_RELEVANT, X.shape[1]), replace=False)
    rule = X[:, relevant].astype(np.float64) @ rng.standard_normal(len(relevant))
    rule += _RULE_NOISE * rule.std() * rng.standard_normal(len(rule))
    return np.where(rule > np.median(rule), 1.0, -1.0)
