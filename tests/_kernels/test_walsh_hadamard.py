"""The Walsh-Hadamard transform against SciPy's matrix and the twin."""

from functools import lru_cache

import numpy as np
import pytest
from scipy.linalg import hadamard

from slimline._kernels import _native, reference
from slimline.errors import InvalidParameterError
from slimline.projections import walsh_hadamard


@lru_cache(maxsize=1)  # for all instruction sets
def _matrix(size):
    return hadamard(size, dtype=np.float64)


@pytest.mark.parametrize("size", [2**k for k in range(13)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_against_the_matrix(size, dtype):
    rng = np.random.default_rng(size)
    for n in (1, 2, 3, 9):
        X = rng.integers(-9, 10, size=(n, size)).astype(dtype)  # whole numbers: every sum is exact
        Y = X.copy()
        _native.walsh_hadamard(Y, 2)
        np.testing.assert_array_equal(Y, X @ _matrix(size))
        np.testing.assert_array_equal(Y, reference.walsh_hadamard(X.astype(np.float64)))


@pytest.mark.parametrize("size", [2**14, 2**17, 2**20])
def test_large(size):
    X = np.random.default_rng(0).integers(-9, 10, size=(3, size)).astype(np.float64)
    Y = X.copy()
    _native.walsh_hadamard(Y, 2)
    np.testing.assert_array_equal(Y, reference.walsh_hadamard(X))


@pytest.mark.parametrize("offset", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_apart_and_at_any_alignment(offset, dtype):
    memory = np.zeros((4, 64 + 11), dtype=dtype)
    X = memory[:, offset : offset + 64]
    X[...] = np.random.default_rng(0).integers(-9, 10, size=X.shape)
    expected = X @ hadamard(64)
    untouched = np.delete(memory, range(offset, offset + 64), axis=1).copy()
    _native.walsh_hadamard(X, 1)
    np.testing.assert_array_equal(X, expected)
    np.testing.assert_array_equal(np.delete(memory, range(offset, offset + 64), axis=1), untouched)


def test_rounding():
    X = np.random.default_rng(0).standard_normal((4, 4096))
    exact = X @ _matrix(4096)
    for dtype in (np.float32, np.float64):
        x = X.astype(dtype)
        # twelve stages, each with one rounding, on sums of at most Σ|x|
        stages = 13 * np.finfo(dtype).eps / 2
        bound = np.abs(X).sum(axis=1)[:, None] * (stages + 4096 * np.finfo(float).eps)
        assert np.all(np.abs(walsh_hadamard(x) - exact) <= bound)


def test_public_function():
    X = np.arange(8)
    np.testing.assert_array_equal(walsh_hadamard(X), X @ hadamard(8))
    assert walsh_hadamard(X).dtype == np.float64
    assert walsh_hadamard(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(X, np.arange(8))
    F = np.asfortranarray(np.random.default_rng(0).integers(0, 9, (4, 8)).astype(float))
    np.testing.assert_array_equal(walsh_hadamard(F), F @ hadamard(8))
    for bad in (np.ones(3), np.ones((2, 6)), np.ones((2, 2, 2)), np.ones((3, 0))):
        with pytest.raises(InvalidParameterError, match="power of two"):
            walsh_hadamard(bad)
