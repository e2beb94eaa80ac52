"""Products of packed genotypes with one vector: people around vectors and runs of digits, from no missing call to many.

Sums are compared with γ · |x| @ |right-hand side|, which holds for any order of summation.
"""

import numpy as np
import pytest

from slimline.data._blocks import MISSING_CALL, PackedGenotypes
from slimline.testing._moments import accumulation_error, require_close
from tests._kernels import flat

#: People and variants.
SHAPES = [(n, 9) for n in (1, 2, 3, 4, 5, 15, 16, 17, 61, 62, 63, 64, 65, 66, 127, 128, 129, 255, 257, 1000)]
SHAPES += [(n, 21) for n in (2047, 2048, 2049, 2111, 4096, 4099)] + [(200, v) for v in (1, 7, 8, 33, 700)]


def _cases():
    for number, (n, d) in enumerate(SHAPES):
        rng = np.random.default_rng(number)
        codes = rng.choice(np.array([0, 2, 3]), (d, 4 * ((n + 3) // 4)))
        share = (0.0, 0.01, 0.4)[number % 3]
        codes[rng.random(codes.shape) < share] = 1
        if share and d > 20:
            codes[-1] = 1  # nobody was called: not one of the lines that are looked at to tell whether many are missing
        elif share and n >= 1000:
            codes[-1, 3:50] = 1
        codes[:, n:] = 1  # behind the last person: of no meaning
        packed = (codes.reshape(d, -1, 4) << np.array([0, 2, 4, 6])).sum(axis=2).astype(np.uint8)
        yield number, n, d, packed, rng


def _products(packed, n, centre, fill, A, threads):
    d = len(packed)
    values = PackedGenotypes(packed, n).unpack().astype(np.float64)
    values[values == MISSING_CALL] = np.nan
    filled = values if fill is None else np.where(np.isnan(values), fill, values)
    wide = filled - (0 if centre is None else centre)
    size = (
        np.nan_to_num(np.abs(filled))
        + 2 * (0 if centre is None else np.abs(centre))
        + (0 if fill is None else np.abs(fill))
    )
    with np.errstate(invalid="ignore"):
        expected = wide.T @ A
    got = np.zeros((d, 1))
    flat.block_tdot(packed, n, None, A, centre, fill, got, threads)
    return got, expected, 8 * accumulation_error(n + 64, np.float64) * size.T @ np.abs(A)


def _same(got, expected, bound, what):
    absent = np.isnan(expected)
    assert np.array_equal(np.isnan(got), absent), f"{what}: NaN in other places"
    require_close(np.where(absent, 0, got), np.where(absent, 0, expected), np.where(absent, 0, bound), what)


def test_any_number_of_people():
    for number, n, d, packed, rng in _cases():
        A = rng.standard_normal((n, 1))
        if number % 4 == 3:
            A *= 10.0 ** rng.uniform(-90, 90, A.shape)  # several sets of digits
        centre, fill = rng.random(d), (None, 2 * rng.random(d), np.zeros(d))[number % 3 if number % 2 else 1]
        for threads in (1, 3):
            _same(*_products(packed, n, centre if number % 5 else None, fill, A, threads), f"{n} × {d}")


def test_numbers_that_digits_cannot_hold():
    for _, n, d, packed, rng in _cases():
        for size in (1e-120, 1e120, np.nan, np.inf):
            A = rng.standard_normal((n, 1))
            A[n // 2] *= size
            fill, got = rng.random(d), np.zeros((d, 1))
            flat.block_tdot(packed, n, None, A, None, fill, got, 1)
            if not np.isfinite(size):
                assert not np.isfinite(got[PackedGenotypes(packed, n).unpack()[n // 2] != 0]).any()
            else:
                _same(*_products(packed, n, None, fill, A, 1), f"{n} × {d}, {size}")


def test_a_missing_call_that_nothing_fills_shows_whatever_it_is_multiplied_with():
    for _, n, d, packed, _ in _cases():
        absent = (PackedGenotypes(packed, n).unpack() == MISSING_CALL).any(axis=0)
        for A in (np.zeros((n, 1)), np.tile([[1.0], [-1.0]], (n // 2 + 1, 1))[:n]):
            got, W, out = np.zeros((d, 1)), np.zeros((d, 1)), np.zeros((n, 1))
            flat.block_tdot(packed, n, None, A, None, None, got, 1)
            assert np.array_equal(np.isnan(got[:, 0]), absent), (n, d)
            flat.block_normal(packed, n, None, A, None, None, None, W, out, 1)
            assert np.array_equal(np.isnan(W[:, 0]), absent), (n, d)


def test_both_products_at_once():
    for _, n, d, packed, rng in _cases():
        A, centre, factor, fill = rng.standard_normal((n, 1)), rng.random(d), 0.5 + rng.random(d), 2 * rng.random(d)
        values = PackedGenotypes(packed, n).unpack().astype(np.float64)
        wide = (np.where(values == MISSING_CALL, fill, values) - centre) * factor
        W, out = np.zeros((d, 1)), np.zeros((n, 1))
        flat.block_normal(packed, n, None, A, centre, factor, fill, W, out, 2)
        size = np.abs(wide) + 2 * centre * factor + 2 * factor
        require_close(W, wide.T @ A, 1e-12 * size.T @ np.abs(A), f"{n} × {d}, first part")
        require_close(out, wide @ (wide.T @ A), 1e-12 * size @ (size.T @ np.abs(A)), f"{n} × {d}, second part")


@pytest.mark.parametrize("weight", [1.0, -1.0, 1 - 2.0**-53])
def test_the_largest_sums_do_not_overflow(weight):
    packed = np.zeros((10, 1100), dtype=np.uint8)  # two copies each
    got = np.zeros((10, 1))
    flat.block_tdot(packed, 4400, None, np.full((4400, 1), weight), None, None, got, 1)
    assert np.abs(got - 8800 * weight).max() <= accumulation_error(4400, np.float64) * 8800
