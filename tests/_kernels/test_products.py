"""Products of the native objects against X @ R with R from the twin: every type, odd sizes, strides, alignments.

Data are small whole numbers and most families' unscaled entries are ±1, so that every order of summation gives the
same bits; only for normal entries is there a rounding bound.
"""

from functools import cache, lru_cache

import numpy as np
import pytest
import scipy.sparse as sp

from slimline._kernels import Hadamard, native_rows, native_scatter, reference

SEED = 77
TYPES = [np.float64, np.float32, np.float16, np.int8, np.uint8, np.int16, np.bool_]
FEATURES = 1024
DENSITY = {"achlioptas": 1 / 3, "very_sparse": 0.05}
PARTS = {32: (2, 1), 64: (2, 2), 128: (1, 2, 4), 256: (2, 2, 4)}  # columns: (buckets a feature, stacks, their width)
ODD = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 257, 513]


@cache
def _twin(family, n_components):
    """Unscaled rows of the first features, from NumPy."""
    if family in ("normal", "sign"):
        return (reference.normal_rows if family == "normal" else reference.sign_rows)(SEED, 0, FEATURES, n_components)
    if family in ("achlioptas", "very_sparse"):
        return reference.sparse_sign_rows(SEED, 0, FEATURES, n_components, DENSITY[family])
    if family in ("grouped", "independent"):
        twin = reference.grouped_rows if family == "grouped" else reference.independent_rows
        return twin(SEED, 0, FEATURES, n_components, *PARTS.get(n_components, (1, 1)))
    samples = reference.hadamard_samples(SEED, FEATURES, n_components, False)
    return reference.hadamard_rows(SEED, 0, FEATURES, samples)


def _kernel(family, n_components):
    """Return a native object and a function that gives its unscaled rows."""
    if family in ("normal", "sign"):
        native = native_rows(family, SEED, n_components)
    elif family == "achlioptas":
        native = native_rows("sparse_sign", SEED, n_components, DENSITY[family])
    elif family == "very_sparse":
        native = native_scatter("sparse_sign", SEED, n_components, density=DENSITY[family])
    elif family in ("grouped", "independent"):
        native = native_scatter(family, SEED, n_components, *PARTS.get(n_components, (1, 1)))
    else:
        native = Hadamard(SEED, FEATURES, n_components, False, 64)
    return native, lambda start, stop: _twin(family, n_components)[start:stop]


FAMILIES = ["normal", "sign", "achlioptas", "very_sparse", "grouped", "independent", "hadamard"]


def _data(shape, dtype, rng):
    low, high = (0, 2) if dtype == np.bool_ else (0, 10) if dtype == np.uint8 else (-9, 10)
    return rng.integers(low, high, size=shape).astype(dtype)


def _result(dtype):
    return np.float64 if dtype == np.float64 else np.float32


def _require(family, got, X, R, before=0.0):
    X, R = X.astype(np.float64), R.astype(np.float64)
    if family != "normal":
        np.testing.assert_array_equal(got, X @ R + before)
    else:
        _require_near(got, X @ R, np.abs(X) @ np.abs(R), len(R), before)


def _require_near(got, product, size, terms, before):
    # γ_k Σ|x||R|, k additions of the kernel (BLAS may fuse, which only rounds less)
    unit = np.finfo(got.dtype).eps / 2
    assert np.all(np.abs(got - (product + before)) <= (size + np.abs(before)) * (terms + 4) * unit * 1.01)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_dense_sizes(family, dtype):
    rng = np.random.default_rng(0)
    for d in ODD:
        native, rows = _kernel(family, 32)
        R = rows(0, d)
        for n in (1, 2, 5, 8, 17) if d < 64 else (3, 9):
            X = _data((n, d), dtype, rng)
            for x in (X, np.asfortranarray(X)):
                out = np.full((n, 32), np.nan, dtype=_result(dtype))
                native.apply(x, 0, 1.0, out, False, 1)
                _require(family, out, X, R)


@pytest.mark.parametrize("n_components", [1, 3, 15, 16, 17, 33, 64, 65, 128, 129, 256, 1000])
@pytest.mark.parametrize("family", FAMILIES)
def test_components(family, n_components):
    if family == "grouped" and n_components % 16:
        n_components = 16 * n_components
    native, rows = _kernel(family, n_components)
    rng = np.random.default_rng(n_components)
    for dtype in (np.float64, np.float32, np.int8):
        X = _data((5, 200), dtype, rng)
        out = np.full((5, n_components), np.nan, dtype=_result(dtype))
        native.apply(X, 0, 1.0, out, False, 2)
        _require(family, out, X, rows(0, 200))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_strides_alignments_and_panels(family, dtype):
    native, rows = _kernel(family, 64)
    rng = np.random.default_rng(1)
    for first in (0, 1, 5, 16, 100, 300):
        for offset in (0, 1, 2, 3):
            d, n = 141 + offset, 6
            wide = _data((n, d + 9), dtype, rng)
            by_row = wide[:, offset : offset + d]
            short_panels = np.asfortranarray(_data((n + 7, d), dtype, rng))
            by_column = short_panels[offset : offset + n]
            for X in (by_row, by_column):
                start = _data((n, 64), np.float64, rng).astype(_result(dtype))
                frame = np.full((n, 64 + 5), 99, dtype=_result(dtype))  # out may be a panel of a wider array
                out = frame[:, 2:66]
                out[...] = start
                native.apply(X, first, 1.0, out, True, 1)
                _require(family, out, X, rows(first, first + d), start)
                assert np.all(frame[:, :2] == 99) and np.all(frame[:, 66:] == 99)


@pytest.mark.parametrize("family", FAMILIES)
def test_scale_and_single_rows(family):
    native, rows = _kernel(family, 32)
    X = _data((1, 100), np.float64, np.random.default_rng(2))
    for x in (X, np.repeat(X, 3, axis=1)[:, ::3], np.repeat(X, 4, axis=0)[::4]):
        out = np.empty((1, 32))
        native.apply(x, 0, 0.5, out, False, 1)
        _require(family, 2 * out, X, rows(0, 100))
    column = _data((7, 3), np.float64, np.random.default_rng(3))[:, 1:2]
    out = np.empty((7, 32))
    native.apply(column, 9, 1.0, out, False, 1)
    _require(family, out, column, rows(9, 10))


def _times_normals(n_components, dtype):
    X = _data((70, 1000), dtype, np.random.default_rng(n_components))
    x, R = X.astype(np.float64), _twin("normal", n_components)[24:].astype(np.float64)
    return X, x @ R, np.abs(x) @ np.abs(R)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
@pytest.mark.parametrize("n_components, threads", [(256, 1), (513, 2), (600, 2), (1000, 3), (1025, 4), (2100, 2)])
def test_columns_of_normals_shared_out(n_components, threads, dtype):
    native, _ = _kernel("normal", n_components)
    X, product, size = _times_normals(n_components, dtype)
    rng = np.random.default_rng(n_components + 1)
    for x in (X, np.asfortranarray(X)):
        for accumulate in (False, True):
            start = _data((70, n_components), np.float64, rng).astype(_result(dtype))
            out = start.copy()
            native.apply(x, 24, 1.0, out, accumulate, threads)
            _require_near(out, product, size, 1000, start * accumulate)


_sign_rows = lru_cache(maxsize=1)(reference.sign_rows)  # for both types


def _sums_of_far_values(shape, dtype):
    n, d, r = shape
    rng = np.random.default_rng(d)
    X = (rng.standard_normal((n, d)) * 10.0 ** rng.integers(-6, 7, (n, d))).astype(dtype)
    expected = X.astype(np.float64) @ _sign_rows(SEED, 11, 11 + d, r)
    bound = np.abs(X).astype(np.float64).sum(axis=1, keepdims=True) * (d + 4) * np.finfo(dtype).eps / 2 * 1.01
    return X, expected, bound


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(1, 1, 5), (3, 130, 70_001), (40, 700, 130), (600, 130, 1700), (33, 6400, 3), (5, 16_500, 1024)]
)
def test_sums_by_look_up_round_as_sums_do(shape, dtype):
    # values of very different size; more workers than columns in the last but one, two stretches of signs in the last;
    # rows shared out in the fourth, columns elsewhere
    n, _, r = shape
    X, expected, bound = _sums_of_far_values(shape, dtype)
    native = native_rows("sign", SEED, r)
    for x in (X, np.asfortranarray(X)):
        for threads in (1, 8):
            out = np.empty((n, r), dtype=dtype)
            native.apply(x, 11, 1.0, out, False, threads)
            assert np.all(np.abs(out - expected) <= bound)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("family", FAMILIES)
def test_compressed(family, dtype, index_type):
    native, rows = _kernel(family, 64)
    rng = np.random.default_rng(4)
    for n, d, first, density in [(1, 1, 0, 1), (3, 17, 5, 0.5), (9, 500, 300, 0.2), (40, 700, 3, 0.02), (5, 64, 0, 0)]:
        X = (_data((n, d), dtype, rng) * (rng.random((n, d)) < density)).astype(dtype)
        by_column = hasattr(native, "apply_columns")
        S = sp.csc_array(X) if by_column else sp.csr_array(X)
        parts = (S.indptr.astype(index_type), S.indices.astype(index_type), S.data)
        for accumulate in (False, True):
            start = _data((n, 64), np.float64, rng).astype(dtype)
            out = start.copy()
            if by_column:
                native.apply_columns(*parts, first, 1.0, out, accumulate, 2)
            else:
                native.apply_rows(*parts, d, first, 1.0, out, accumulate, 2)
            _require(family, out, X, rows(first, first + d), start * accumulate)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("family", FAMILIES)
def test_lift(family, dtype):
    native, rows = _kernel(family, 64)
    rng = np.random.default_rng(5)
    for first, d in [(0, 1), (3, 2), (15, 17), (100, 129), (0, 1000)]:
        for k in (1, 2, 5):
            V = _data((k, 64), dtype, rng)
            frame = np.full((k, d + 4), 99, dtype=dtype)
            out = frame[:, 1 : d + 1]
            native.lift(V, first, 1.0, out, 2)
            _require(family, out, V, rows(first, first + d).T)
            assert np.all(frame[:, 0] == 99) and np.all(frame[:, d + 1 :] == 99)


@pytest.mark.parametrize(
    "hash, n_components", [("grouped", 16), ("grouped", 64), ("independent", 3), ("independent", 16)]
)
@pytest.mark.parametrize("value, dtype", [(255, np.uint8), (-128, np.int8), (127, np.int8), (-800, np.int16)])
def test_bytes_never_overflow(hash, n_components, value, dtype):
    # Kernels may add bytes up in 16 bits; with the largest bytes and few buckets that would overflow first.
    # Every sum stays below 2^24, so that float32 has it exactly.
    d = 20_011
    native = native_scatter(hash, SEED, n_components)
    twin = reference.grouped_rows if hash == "grouped" else reference.independent_rows
    R = twin(SEED, 0, d, n_components, 1, 1)
    signs = R.sum(axis=1)
    # with each value's sign that of R's entry nothing cancels, so that sums grow as large as they can
    X = np.full((5, d), value, dtype=dtype)
    X[1:] = np.where(signs > 0, X[1:], 0)
    X[3:] = np.where(signs > 0, X[3:], 127 if value < 0 else 0)
    out = np.empty((5, n_components), dtype=np.float32)
    native.apply(X, 0, 1.0, out, False, 1)
    _require(hash, out, X, R)


@pytest.mark.parametrize("size", [2, 64, 1024, 8192])
@pytest.mark.parametrize("block", [1, 2, 16, 64, 1024])
def test_hadamard_blocks(size, block):
    if block > size:
        return
    samples = reference.hadamard_samples(SEED, size, min(size, 48), False)
    native = Hadamard(SEED, size, len(samples), False, block)
    rng = np.random.default_rng(6)
    for first, d in [(0, size), (0, size - 1), (size // 2, size - size // 2), (size // 3, 1)]:
        for dtype in (np.float64, np.uint8):
            X = _data((10, d), dtype, rng)
            out = np.empty((10, len(samples)), dtype=_result(dtype))
            native.apply(X, first, 1.0, out, False, 1)
            _require("hadamard", out, X, reference.hadamard_rows(SEED, first, first + d, samples))


def test_float16_subnormals_and_extremes():
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    every = every[np.isfinite(every)]
    X = every.reshape(1, -1)
    native, rows = _kernel("independent", 1)
    # one column, so the sketch of a unit row is one value with a sign: each float16 must come through unchanged
    diagonal = np.zeros((64, 64), dtype=np.float16)
    for start in range(0, X.shape[1], 64):
        part = X[0, start : start + 64]
        block = diagonal[: len(part), : len(part)].copy()
        np.fill_diagonal(block, part)
        out = np.empty((len(part), 1), dtype=np.float32)
        native.apply(block, 0, 1.0, out, False, 1)
        np.testing.assert_array_equal(out[:, 0], part.astype(np.float32) * rows(0, len(part))[:, 0])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_instruction_set_gives_the_same_sketch(family):
    from slimline import _kernels

    native, _ = _kernel(family, 64)
    rng = np.random.default_rng(7)
    X, V = rng.standard_normal((5, 1000)), rng.standard_normal((2, 64))
    before, results = _kernels.instruction_set(), []
    try:
        for name in _kernels.instruction_sets():
            _kernels.select_instruction_set(name)
            assert _kernels.instruction_set() == name
            out, lifted = np.empty((5, 64)), np.empty((2, 1000))
            native.apply(X, 0, 1.0, out, False, 1)
            native.lift(V, 0, 1.0, lifted, 1)
            results.append((out, lifted))
    finally:
        _kernels.select_instruction_set(before)
    for out, lifted in results[1:]:
        bound = np.abs(X).sum(axis=1)[:, None] * 7 * 1004 * 2.0**-53  # |R| < 6.7 for normals, 1 for the others
        assert np.all(np.abs(out - results[0][0]) <= 2 * bound)
        bound = np.abs(V).sum(axis=1)[:, None] * 7 * 68 * 2.0**-53
        assert np.all(np.abs(lifted - results[0][1]) <= 2 * bound)


# Byte sums: the features of a chunk share one bound on how far a sum can grow, which decides whether they are added
# as bytes, as int16 or as floats. Sizes of the entries, chunk by chunk (256 stands for the largest there is):
CHUNK, BYTES = 8192, 100_000
CHUNK_OF = np.arange(BYTES) // CHUNK
BYTE_SIZES = [[1], [2, 0, 2], [1, 2, 100, 1, 127], [1, 60, 256], [256], [0, 3, 256, 1]]
BYTE_PARTS = [(16, 1), (64, 1), (64, 4), (256, 1), (2048, 4)]


@cache
def _many_rows(n_components, nonzeros):
    """Unscaled rows of many features, compressed, and how often each chunk hits each column."""
    blocks = []
    for start in range(0, BYTES, CHUNK):
        rows = reference.grouped_rows(SEED, start, min(start + CHUNK, BYTES), n_components, nonzeros, 1)
        blocks.append(sp.csc_array(rows))
    return sp.vstack(blocks, format="csc").astype(np.float64), np.array([np.diff(block.indptr) for block in blocks])


def _driven(signs, sizes, dtype):
    """Two rows of entries no larger than their chunk's size that drive a sum up, and down, as far as they can."""
    high = np.minimum(sizes, np.iinfo(dtype).max)[CHUNK_OF]
    low = np.maximum(-sizes, np.iinfo(dtype).min)[CHUNK_OF]
    return np.stack([high * (signs > 0) + low * (signs < 0), high * (signs < 0) + low * (signs > 0)]).astype(dtype)


def _byte_cases(n_components, nonzeros, dtype, column=5):
    R, _ = _many_rows(n_components, nonzeros)
    signs = R[:, [column]].toarray()[:, 0]
    for sizes in BYTE_SIZES:
        yield _driven(signs, np.resize(sizes, CHUNK_OF[-1] + 1), dtype), signs


def _require_bytes(X, n_components, nonzeros):
    native, (R, _) = native_scatter("grouped", SEED, n_components, nonzeros), _many_rows(n_components, nonzeros)
    expected = X.astype(np.float64) @ R
    for n in (1, 2, 7, 8, 9):
        out = np.full((n, n_components), np.nan, dtype=np.float32)
        native.apply(np.resize(X, (n, BYTES)), 0, 1.0, out, False, 1)
        np.testing.assert_array_equal(out, np.resize(expected, out.shape))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("n_components, nonzeros", BYTE_PARTS)
def test_byte_sums_do_not_overflow(n_components, nonzeros, dtype):
    for X, _ in _byte_cases(n_components, nonzeros, dtype):
        _require_bytes(X, n_components, nonzeros)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_byte_sums_would_overflow(dtype):
    # else the test above could not fail: sums that are never widened leave their type, and rows mix the three ways
    bytes_overflow, shorts_overflow, mixtures = set(), set(), set()
    for parts in BYTE_PARTS:
        hits = _many_rows(*parts)[1].max(axis=1)
        for X, signs in _byte_cases(*parts, dtype):
            growth = hits * [np.abs(X[:, c == CHUNK_OF].astype(int)).max() for c in range(len(hits))]
            way = np.digitize(growth, [127.5, 32767.5])
            sums = [np.cumsum(X[0] * signs * (way == k)[CHUNK_OF]).max() for k in (0, 1)]
            bytes_overflow |= {parts} if sums[0] > 127 else set()
            shorts_overflow |= {parts} if sums[1] > 32767 else set()
            mixtures.add(frozenset(way[growth > 0].tolist()))
    assert bytes_overflow == {(256, 1), (2048, 4)}
    assert shorts_overflow >= {(16, 1), (64, 4), (256, 1)}
    assert {frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 1, 2})} <= mixtures


def test_bytes_are_widened_into_nearly_full_sums():
    # The sums in int16 are all but full when the last chunk's bytes come on top. Only chunks where no sum is hit more
    # often than this one have entries, so that the sum is as large as its bound.
    R, hits = _many_rows(32, 1)
    column = int(hits[-1].argmax())
    last = hits[-1, column]
    full = np.where(hits[:-1, column] == hits[:-1].max(axis=1), hits[:-1, column], 0)
    tried = np.random.default_rng(0).integers(1, 60, size=(100_000, len(full)))
    reached = tried @ full
    sizes = tried[np.flatnonzero((reached <= 32767) & (reached + last > 32767))[0]]
    signs = R[:, [column]].toarray()[:, 0]
    X = _driven(signs, np.append(np.where(full > 0, sizes, 0), 1), np.int8)
    assert last <= 127 and X[0] @ signs > 32767
    _require_bytes(X, 32, 1)
