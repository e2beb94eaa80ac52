"""Rows of R, native against the NumPy twin, bit for bit."""

import numpy as np
import pytest

from slimline._kernels import Hadamard, native_rows, native_scatter, reference
from tests._kernels.native import scattered_rows, written_rows

COMPONENTS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 1000]
# Counters are features, fours or sixteens of them: they carry into their second word at 2^32, 2^34 or 2^36.
STARTS = [0, 1, 13, 2**32 - 9, 2**32 + 5, 2**34 - 8, 2**36 - 8, 2**45 + 3]
SEED = 0x9E3779B97F4A7C15


@pytest.mark.parametrize("n_components", COMPONENTS)
@pytest.mark.parametrize("entries", ["normal", "sign", "sparse_sign"])
def test_written_rows(entries, n_components):
    density = 0.3 if entries == "sparse_sign" else None
    native = native_rows(entries, SEED, n_components, density)
    for start in STARTS:
        if entries == "sparse_sign":
            expected = reference.sparse_sign_rows(SEED, start, start + 19, n_components, density)
        else:
            twin = reference.normal_rows if entries == "normal" else reference.sign_rows
            expected = twin(SEED, start, start + 19, n_components)
        for dtype in (np.float32, np.float64):
            got = written_rows(native, start, 19, n_components, dtype)
            assert got.tobytes() == expected.astype(dtype).tobytes(), (start, dtype)


@pytest.mark.parametrize("density", [1.0, 0.9, 0.5, 1 / 3, 0.12, 0.1, 0.01, 1e-4, 1e-12])
@pytest.mark.parametrize("n_components", [1, 3, 16, 129, 1000])
def test_sparse_sign_rows(density, n_components):
    scatter = native_scatter("sparse_sign", SEED, n_components, density=density)
    rows = native_rows("sparse_sign", SEED, n_components, density)
    for start in STARTS:
        expected = reference.sparse_sign_rows(SEED, start, start + 50, n_components, density)
        np.testing.assert_array_equal(scattered_rows(scatter, start, 50, n_components), expected)
        np.testing.assert_array_equal(written_rows(rows, start, 50, n_components), expected)


@pytest.mark.parametrize(
    "nonzeros, stacks, width",
    [
        (1, 1, 1), (1, 2, 1), (1, 3, 1), (1, 5, 1), (1, 13, 1), (1, 40, 1), (2, 1, 1), (4, 1, 1), (7, 1, 1), (3, 6, 1),
        (1, 1, 2), (1, 2, 3), (1, 4, 4), (1, 5, 7), (1, 40, 2), (2, 3, 5), (3, 9, 2), (1, 1, 64),
    ],
)  # fmt: skip
@pytest.mark.parametrize("buckets", [1, 2, 3, 16, 17, 48, 64, 1000, 1024])
def test_hashed_rows(nonzeros, stacks, width, buckets):
    n_components = buckets * nonzeros * stacks * width
    twins = {"independent": reference.independent_rows}
    if buckets % 16 == 0:
        twins["grouped"] = reference.grouped_rows
    for name, twin in twins.items():
        native = native_scatter(name, SEED, n_components, nonzeros, stacks, width)
        for start in STARTS:
            expected = twin(SEED, start, start + 37, n_components, nonzeros, stacks, width)
            np.testing.assert_array_equal(
                scattered_rows(native, start, 37, n_components), expected, err_msg=f"{name} {start}"
            )


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("size", [1, 2, 4, 64, 1024, 2**20, 2**32])
def test_hadamard_samples(size, replace):
    for n_components in (1, 2, 3, 17, 1000):
        if not replace and n_components > size:
            continue
        samples = Hadamard(SEED, size, n_components, replace, 1).samples()
        np.testing.assert_array_equal(samples, reference.hadamard_samples(SEED, size, n_components, replace))
        assert samples.max() < size
        if not replace:
            assert len(np.unique(samples)) == n_components


def test_all_columns_sampled_without_replacement_are_a_permutation():
    np.testing.assert_array_equal(np.sort(Hadamard(SEED, 256, 256, False, 1).samples()), np.arange(256))


@pytest.mark.parametrize("start", [0, 128, 2**32 - 128, 2**32])
def test_hadamard_signs(start):
    expected = reference.hadamard_signs(SEED, start, start + 32 * 100)
    for words in (1, 2, 3, 4, 5, 15, 16, 17, 33, 100):
        out = np.empty(words, dtype=np.uint32)
        Hadamard(SEED, 2**32, 1, False, 1).signs(start, out)
        negative = np.unpackbits(out.astype("<u4").view(np.uint8), bitorder="little")
        np.testing.assert_array_equal(np.where(negative, -1, 1), expected[: 32 * words])


def test_normals_are_finite_at_the_ends_of_the_draws():
    ends = np.array([0, 1, 2, 3, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1], dtype=np.uint32)
    u, v = (grid.ravel() for grid in np.meshgrid(ends, ends))
    with np.errstate(all="raise"):
        for normal in reference.box_muller(u, v):
            assert np.all(np.isfinite(normal)) and np.max(np.abs(normal)) < 6.7


def test_normals_are_the_box_muller_transform():
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 2**32, size=(2, 100_000), dtype=np.uint32)
    first, second = reference.box_muller(u, v)
    uniform = ((u >> np.uint32(1)) + 0.5) / 2.0**31
    angle = (v << np.uint32(2)).view(np.int32) / 2.0**32 * (np.pi / 2)  # within a quarter turn, from -π/4 to π/4
    radius = np.sqrt(-2 * np.log(uniform))
    sine, cosine = np.sin(angle), np.cos(angle)
    swap, sign = (v >> np.uint32(30)) & 1 == 1, np.where(v >> np.uint32(31), -1, 1)
    # A few ulps of float32 in each of the three factors. Where u is close to 1 the logarithm loses more: relative
    # to its value, the rounding of 1 - u is 2^-24 / (1 - u).
    tolerance = 1e-6 * radius + 2.0**-24 / radius
    assert np.all(np.abs(first - radius * np.where(swap, sine, cosine) * sign) <= tolerance)
    assert np.all(np.abs(second - radius * np.where(swap, cosine, sine) * sign) <= tolerance)
