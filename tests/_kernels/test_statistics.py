"""Statistics of columns along rows: chunks of rows that are put together, quickly where all is well, else carefully."""

import numpy as np
import pytest

from tests._kernels import flat


def statistics(x, missing=None, weights=None, threads=1):
    d = x.shape[1]
    got = [np.full(d, 77.0) for _ in range(3)] + [np.full(d, 77, np.int64) for _ in range(2)]
    flat.block_statistics(x, 0, missing, weights, *got, threads)
    return got


def expected(x, missing=None, weights=None):
    """Return the same in long doubles, and by how much float64 may miss the mean and the deviation."""
    wide = x.astype(np.longdouble)
    gone = np.isnan(wide) if missing is None else x == missing
    w = np.where(gone, 0, 1 if weights is None else weights[:, None]).astype(np.longdouble)
    wide = np.where(gone, 0, wide)
    weight = w.sum(axis=0)
    mean = (w * wide).sum(axis=0) / np.where(weight > 0, weight, 1)
    deviation = (w * np.where(gone, 0, wide - mean) ** 2).sum(axis=0)
    lost = 4 * len(x) * np.finfo(np.float64).eps
    of_mean = lost * (w * np.abs(wide)).sum(axis=0) / np.where(weight > 0, weight, 1)
    # the mean enters squared, times the weight
    of_deviation = lost * deviation + weight * of_mean * (
        of_mean + np.sqrt(deviation / np.where(weight > 0, weight, 1))
    )
    return (weight, mean, deviation, (wide != 0).sum(axis=0), gone.sum(axis=0)), (of_mean, of_deviation)


def compare(x, missing=None, weights=None, threads=1):
    got = statistics(x, missing, weights, threads)
    wanted, (of_mean, of_deviation) = expected(x, missing, weights)
    assert np.allclose(got[0], wanted[0].astype(np.float64), rtol=1e-12, atol=0)
    assert (np.abs(got[1] - wanted[1]) <= of_mean).all()
    assert (np.abs(got[2] - wanted[2]) <= of_deviation).all()
    assert np.array_equal(got[3], wanted[3])
    assert np.array_equal(got[4], wanted[4])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2"])
def test_any_number_of_rows_and_columns(dtype):
    rng = np.random.default_rng(0)
    for n, d in (
        (1, 1),
        (2, 9),
        (15, 33),
        (16, 1030),
        (17, 5),
        (255, 12),
        (256, 3),
        (257, 1024),
        (600, 2050),
        (1025, 17),
    ):
        x = (rng.standard_normal((n, d)) * 10 + 3 * (d % 2)).astype(dtype)
        x[rng.random((n, d)) < 0.2] = 0
        compare(x)
        compare(x, weights=rng.random(n))
        if dtype == "i2":
            compare(x, missing=3)
        elif n > 1:
            x[-1, d // 2] = np.nan  # in the last chunk alone, or
            compare(x)
            x[rng.random((n, d)) < 0.05] = np.nan
            x[:, 0] = np.nan
            compare(x)
            compare(x, weights=rng.integers(0, 3, n).astype(np.float64))


def test_first_rows_far_from_the_others():
    """Subtract what the first rows suggest: however bad it is, little may be lost."""
    rng = np.random.default_rng(1)
    for first in (1, 15, 16, 17, 256, 300):
        for far in (1e3, 1e8, -1e12):
            x = rng.standard_normal((700, 20)) + far
            x[:first] = 0
            compare(x)
            compare(x[::-1].copy())
    x = np.cumsum(rng.standard_normal((5000, 3)) ** 2, axis=0) * 1e6  # sorted
    compare(x)


def test_nothing_is_left_of_a_constant():
    constants = np.array([0.1, -1 / 3, 1e-300, 1e300, 5e-324, np.pi * 1e17, 0.0])
    for n in (1, 3, 16, 255, 257, 1000):
        for dtype in (np.float64, np.float32):
            with np.errstate(over="ignore"):
                x = np.tile(constants.astype(dtype), (n, 1))
            x[np.isinf(x)] = 7
            weight, mean, deviation, _, missing = statistics(x)
            assert np.array_equal(mean, x[0])
            assert not deviation.any()
            assert (weight == n).all()
            assert not missing.any()


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1.7e308])
def test_what_is_too_large_shows(value):
    """A value that is not finite, or whose square is not, shows in the statistics of its column alone."""
    x = np.ones((600, 40))
    x[300:, ::2] = 3.0
    sound = statistics(x)
    x[599, 7] = value
    got = statistics(x)
    others = np.arange(40) != 7
    assert not np.isfinite(got[2][7])
    for one, other in zip(got, sound, strict=True):
        assert np.array_equal(one[others], other[others])
    assert got[4][7] == 0


def test_threads_change_nothing():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((700, 9000), dtype=np.float32)
    for one, other in zip(statistics(x), statistics(x, threads=3), strict=True):
        assert np.array_equal(one, other)
