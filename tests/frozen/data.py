"""Small data of whole numbers, made with integer arithmetic alone: the same on every platform, for ever."""

import numpy as np

N, D = 30, 96


def words(count: int, stream: int) -> np.ndarray:
    """Return 64-bit words of a counter (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        z = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(stream << 32)
        z *= np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def integers(shape: tuple[int, ...], low: int, high: int, stream: int) -> np.ndarray:
    """Return whole numbers from low to high, both included."""
    count = int(np.prod(shape))
    return (words(count, stream) >> np.uint64(33)).astype(np.int64).reshape(shape) % (high - low + 1) + low


def samples(classes: int, n: int = N, d: int = D, stream: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return values that are multiples of 1/16, and labels that some of the features tell."""
    X = integers((n, d), -32, 32, stream)
    y = np.arange(n) % classes
    for label in range(classes):
        X[y == label, label::11] += 16
    return X / 16.0, y


def genotypes(n: int = N, d: int = D, stream: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return genotype calls, some of them missing (-127), and labels of two classes."""
    y = np.arange(n) % 2
    X = integers((n, d), 0, 2, stream).astype(np.int8)
    X[y == 1, ::7] = np.maximum(X[y == 1, ::7], 1)
    X[integers((n, d), 0, 49, stream + 1) == 0] = -127
    X[0], X[1] = np.arange(d) % 3, (np.arange(d) + 1) % 3  # no feature is constant
    return X, y
