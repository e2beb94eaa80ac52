"""Products of bytes by whole numbers: any size around vectors, the ends of the range, missing values, far numbers.

Sums are compared with γ · |x| @ |right-hand side|, which holds for any order of summation.
"""

import numpy as np
import pytest

from slimline.testing._moments import accumulation_error, require_close
from tests._kernels import flat

LENGTHS = [*range(1, 140, 3), 191, 192, 193, 255, 256, 257, 1023, 1025, 2047, 2048, 2049, 4096, 4099]


def _bytes(dtype, order, shape, seed):
    """Return bytes of all sizes, or of the largest alone."""
    rng = np.random.default_rng(seed)
    limits = np.iinfo(dtype)
    if seed % 3 == 0:
        values = rng.choice([limits.min, limits.max], shape)
    elif seed % 3 == 1:
        values = rng.integers(limits.min, limits.max + 1, shape)
    else:
        values = rng.integers(0, 3, shape)
    return np.asarray(values, dtype=dtype, order=order)


def _products(x, missing, fill, centre, way, V, begin, threads=1):
    """Return what the kernel makes of it, what it should be, and a bound on the difference."""
    wide = x.astype(np.float64)
    if missing is not None:
        wide = np.where(x == missing, np.nan if fill is None else fill, wide)
    wide = wide - (0 if centre is None else centre)
    size = np.abs(np.nan_to_num(wide)) + (0 if centre is None else 2 * np.abs(centre))
    wide, size = (wide, size) if way == "dot" else (wide.T, size.T)
    got = begin.copy()
    getattr(flat, f"block_{way}")(x, 0, missing, V, centre, fill, got, threads)
    with np.errstate(invalid="ignore"):
        expected = begin + wide @ V
    bound = 4 * accumulation_error(len(V) + 64, np.float64) * (size @ np.abs(V) + np.abs(begin))
    return got, expected, bound


def _same(got, expected, bound, what):
    absent = np.isnan(expected)
    assert np.array_equal(np.isnan(got), absent), f"{what}: NaN in other places"
    require_close(np.where(absent, 0, got), np.where(absent, 0, expected), np.where(absent, 0, bound), what)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("way", ["dot", "tdot"])
def test_any_size_and_value(dtype, order, way):
    for number, length in enumerate(LENGTHS):
        lines = (24, 25, 33, 67)[number % 4]
        shape = (lines, length) if order == "C" else (length, lines)
        x = _bytes(dtype, order, shape, number)
        rng = np.random.default_rng(number)
        missing = (None, int(x.flat[0]), 0)[number // 3 % 3]
        fill = rng.standard_normal(shape[1]) if number % 5 else None
        centre = rng.standard_normal(shape[1]) if number % 2 else None
        k = 1 + number % 3
        V = rng.standard_normal((shape[1] if way == "dot" else shape[0], k))
        begin = rng.standard_normal((shape[0] if way == "dot" else shape[1], k))
        _same(*_products(x, missing, fill, centre, way, V, begin), f"{way} of {shape} {order}, missing {missing}")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("way", ["dot", "tdot"])
def test_few_missing_values(dtype, order, way):
    """Here and there, in whole stretches of a line, on whole lines: few of all, so that they may be listed."""
    for number, (lines, length) in enumerate([(24, 2049), (129, 130), (131, 4099), (515, 64), (300, 191), (26, 6200)]):
        shape = (lines, length) if order == "C" else (length, lines)
        rng = np.random.default_rng(number)
        for missing in (0, 77):  # what lies behind the end of a line is read as 0 in places
            x = rng.integers(1, 3, (lines, length)).astype(dtype)
            x[rng.random((lines, length)) < 0.01] = missing
            x[5, 3:50] = x[6, -40:] = x[lines - 1, :80] = missing
            if lines > 100:
                x[lines - 2] = missing
            x = np.asarray(x if order == "C" else x.T, order=order)
            assert 0 < np.mean(x == missing) < 0.03
            fill = rng.standard_normal(shape[1]) if number % 3 else None
            centre = rng.standard_normal(shape[1]) if number % 2 else None
            k = 1 + number % 2
            V = rng.standard_normal((shape[1] if way == "dot" else shape[0], k))
            begin = rng.standard_normal((shape[0] if way == "dot" else shape[1], k))
            for threads in (1, 3):
                _same(*_products(x, missing, fill, centre, way, V, begin, threads), f"{way} of {shape} {order}")
            V *= 10.0 ** rng.uniform(-80, 80, V.shape)  # several sets of digits
            _same(*_products(x, missing, fill, centre, way, V, begin), f"far numbers, {way} of {shape} {order}")
            V[: len(V) // 2] = 0.0  # runs without any
            _same(*_products(x, missing, fill, centre, way, V, begin), f"zeros, {way} of {shape} {order}")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_largest_sums_do_not_overflow(dtype, order):
    limits = np.iinfo(dtype)
    for value in {int(limits.min), int(limits.max)} - {0}:
        x = np.full((1100, 4200), value, dtype=dtype, order=order)
        for weight in (1.0, -1.0, 1 - 2.0**-53, 0.5 + 2.0**-50):  # digits of all sizes
            for way, length, rows in (("dot", 4200, 1100), ("tdot", 1100, 4200)):
                got = np.zeros((rows, 1))
                getattr(flat, f"block_{way}")(x, 0, None, np.full((length, 1), weight), None, None, got, 1)
                exact = length * value * weight
                assert np.abs(got - exact).max() <= 2 * accumulation_error(length, np.float64) * abs(exact)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("way", ["dot", "tdot", "normal"])
def test_a_missing_value_that_nothing_fills_shows_whatever_it_is_multiplied_with(order, way):
    x = np.ones((70, 90), dtype=np.int8, order=order)
    x[3, 5] = x[4, 5] = x[9, 6] = x[9, 7] = -127
    for kind in ("zeros", "cancelling", "some zeros"):
        size = 90 if way == "dot" else 70
        V = np.zeros((size, 2)) if kind == "zeros" else np.tile([[1.0, 0.5], [-1.0, -0.5]], (size // 2, 1))
        if kind == "some zeros":
            V[3:10] = 0.0
        if way == "normal":
            got, out = np.zeros((90, 2)), np.zeros((70, 2))
            flat.block_normal(x, 0, -127, V, None, None, None, got, out, 1)
        else:
            got = np.zeros((70 if way == "dot" else 90, 2))
            getattr(flat, f"block_{way}")(x, 0, -127, V, None, None, got, 1)
        expected = (x == -127).any(axis=1 if way == "dot" else 0)
        assert np.array_equal(np.isnan(got), np.stack([expected] * 2, axis=1)), kind


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("way", ["dot", "tdot"])
def test_numbers_far_from_each_other_keep_their_digits(order, way):
    rng = np.random.default_rng(0)
    x = _bytes(np.int8, order, (200, 300), 1)
    x[:, ::7] = 0
    V = rng.standard_normal((300 if way == "dot" else 200, 1)) * 10.0 ** rng.uniform(
        -95, 95, (300 if way == "dot" else 200, 1)
    )
    begin = np.zeros((200 if way == "dot" else 300, 1))
    _same(*_products(x, None, None, None, way, V, begin), way)
    if way == "dot":  # small numbers alone, beside zeros for the large ones
        x[:, np.abs(V[:, 0]) > 1e-60] = 0
        _same(*_products(x, None, None, None, way, V, begin), "what is small")


def test_a_normal_product_of_tiny_factors():
    rng = np.random.default_rng(0)
    x = _bytes(np.int8, "C", (60, 200), 1)
    for size, scale in ((1e-90, 1e-49), (1e90, 1e49), (1e-90, 1e-120), (1.0, 1e-140)):
        A, factor = size * rng.standard_normal((60, 1)), scale * (1 + rng.random(200))
        W, out = np.zeros((200, 1)), np.zeros((60, 1))
        flat.block_normal(x, 0, None, A, None, factor, None, W, out, 1)
        scaled = x * factor
        require_close(W, scaled.T @ A, 1e-12 * np.abs(scaled).T @ np.abs(A), "first part")
        require_close(
            out, scaled @ (scaled.T @ A), 1e-12 * np.abs(scaled) @ np.abs(scaled).T @ np.abs(A), "second part"
        )
