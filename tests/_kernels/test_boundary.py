"""The Python boundary of the native module under wrong and odd arguments: an exception or the right answer.

A crash would end the test run, and an answer that is neither is found by comparing with NumPy.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline._kernels import EMPTY, Hadamard, Rows, Scatter, _native, gap_table, native_rows, native_scatter, reference
from slimline._kernels.blas import exported
from tests.pairwise import pairwise

SEED, R = 5, 32
REFUSED = (ValueError, TypeError)
DTYPES = ["f8", "f4", "f2", "i1", "u1", "i2", "?", "i4", "i8", "u4", "c8", "c16", ">f8", ">f4"]
_fuzz = settings(max_examples=150, deadline=None, derandomize=True)

SAMPLES = reference.hadamard_samples(SEED, 64, R, False)
NATIVE = {
    "normal": (native_rows("normal", SEED, R), reference.normal_rows(SEED, 0, 64, R)),
    "sign": (native_rows("sign", SEED, R), reference.sign_rows(SEED, 0, 64, R)),
    "achlioptas": (native_rows("sparse_sign", SEED, R, 1 / 3), reference.sparse_sign_rows(SEED, 0, 64, R, 1 / 3)),
    "very_sparse": (
        native_scatter("sparse_sign", SEED, R, density=0.1),
        reference.sparse_sign_rows(SEED, 0, 64, R, 0.1),
    ),
    "grouped": (native_scatter("grouped", SEED, R), reference.grouped_rows(SEED, 0, 64, R, 1, 1)),
    "independent": (native_scatter("independent", SEED, R, 2), reference.independent_rows(SEED, 0, 64, R, 2, 1)),
    "hadamard": (Hadamard(SEED, 64, R, False, 16), reference.hadamard_rows(SEED, 0, 64, SAMPLES)),
}
families = st.sampled_from(sorted(NATIVE))


@st.composite
def arrays(draw, shape=None, dtypes=DTYPES, ndim=None, likely=None):
    """Draw an array of small whole numbers: any type, shape, strides, alignment, perhaps read-only."""
    dtype = np.dtype(draw(st.sampled_from([likely, *dtypes] if likely else dtypes)))
    if shape is None or draw(st.integers(0, 9)) == 0:
        ndim = draw(st.sampled_from([2, 2, 2, 1, 0, 3])) if ndim is None else ndim
        shape = tuple(draw(st.integers(0, 20)) for _ in range(ndim))
    if shape == ():
        return np.zeros((), dtype=dtype)
    steps = [draw(st.sampled_from([1, 1, 1, 1, 2, -1])) for _ in shape]
    values = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 2 if dtype.kind == "b" else 7, size=shape)
    memory = np.zeros([abs(step) * size for step, size in zip(steps, shape, strict=True)], dtype=dtype)
    if draw(st.integers(0, 3)) == 0:
        memory = np.asfortranarray(memory)
    if draw(st.integers(0, 9)) == 0 and memory.size:  # not aligned to its own items
        memory = np.ndarray(memory.shape, dtype, np.zeros(memory.nbytes + 1, dtype=np.uint8), offset=1)
    x = memory[tuple(slice(None, None, step) for step in steps)]
    x = x[tuple(slice(0, size) for size in shape)]
    x[...] = values
    if draw(st.integers(0, 9)) == 0:
        x.flags.writeable = False
    return x


def _same(got, expected):
    expected = np.asarray(expected, dtype=np.float64)
    # normals are below 6.7 and numbers below 7; at most 64 terms
    np.testing.assert_allclose(got, expected, rtol=0, atol=64 * 64 * 7 * 7 * np.finfo(got.dtype).eps)


@_fuzz
@given(st.data(), families, st.sampled_from([0, 1, 5, 44, 63, 64, 100]), st.booleans(), st.integers(-3, 5))
def test_apply(data, family, feature, accumulate, threads):
    native, rows = NATIVE[family]
    n = data.draw(st.integers(0, 9))
    x = data.draw(arrays((n, data.draw(st.integers(0, 20))), likely="f4"))
    out = data.draw(arrays((n, R), likely="f4"))
    before = out.copy()
    try:
        native.apply(x, feature, 1.0, out, accumulate, threads)
    except REFUSED:
        np.testing.assert_array_equal(out, before)
        return
    assert out.flags.writeable, "a read-only array was written to, or a copy of it"
    if feature + x.shape[1] <= 64:
        _same(out, x.astype(np.float64) @ rows[feature : feature + x.shape[1]] + (before if accumulate else 0))


@_fuzz
@given(st.data(), families, st.sampled_from([0, 1, 5, 44, 63, 64, 100]), st.integers(-3, 5))
def test_lift(data, family, feature, threads):
    native, rows = NATIVE[family]
    k = data.draw(st.integers(0, 4))
    v = data.draw(arrays((k, R), likely="f8"))
    out = data.draw(arrays((k, data.draw(st.integers(0, 20))), likely="f8"))
    before = out.copy()
    try:
        native.lift(v, feature, 1.0, out, threads)
    except REFUSED:
        np.testing.assert_array_equal(out, before)
        return
    assert out.flags.writeable
    if feature + out.shape[1] <= 64:
        _same(out, v.astype(np.float64) @ rows[feature : feature + out.shape[1]].T)


@_fuzz
@given(st.data(), st.sampled_from(["normal", "sign", "achlioptas"]), st.sampled_from([0, 1, 40, 63]))
def test_rows(data, family, feature):
    native, rows = NATIVE[family]
    out = data.draw(arrays((data.draw(st.integers(0, 20)), R), likely="f4"))
    try:
        native.rows(feature, out)
    except REFUSED:
        return
    assert out.flags.writeable
    np.testing.assert_array_equal(out[: 64 - feature], rows[feature : feature + len(out)])


@_fuzz
@given(st.data(), st.sampled_from(["very_sparse", "grouped", "independent"]), st.sampled_from([0, 1, 40]))
def test_scatter_rows(data, family, feature):
    native, rows = NATIVE[family]
    count = data.draw(st.integers(0, 20))
    total = native.count(feature, count)
    assert total == np.count_nonzero(rows[feature : feature + count])
    pointer = data.draw(arrays((count + 1,), dtypes=["u4", "i4", "i8", "f4"], likely="u4", ndim=1))
    entries = data.draw(arrays((total,), dtypes=["u4", "i4", "i8", "f4"], likely="u4", ndim=1))
    try:
        native.rows(feature, pointer, entries)
    except REFUSED:
        return
    assert pointer.flags.writeable and entries.flags.writeable
    np.testing.assert_array_equal(
        np.diff(pointer.astype(int)), np.count_nonzero(rows[feature : feature + count], axis=1)
    )
    dense = np.zeros((count, R))
    dense[np.repeat(np.arange(count), np.diff(pointer.astype(int))), entries >> 1] = np.where(entries & 1, -1, 1)
    np.testing.assert_array_equal(dense, rows[feature : feature + count])


@_fuzz
@given(st.data(), families, st.sampled_from([0, 5, 50, 70]), st.booleans(), st.integers(-1, 3))
def test_compressed(data, family, feature, accumulate, threads):
    native, rows = NATIVE[family]
    n, d = data.draw(st.integers(0, 8)), data.draw(st.integers(0, 14))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    X = (rng.integers(0, 7, size=(n, d)) * (rng.random((n, d)) < 0.4)).astype(dtype)
    by_column = hasattr(native, "apply_columns")
    S = sp.csc_array(X) if by_column else sp.csr_array(X)
    index_type = data.draw(st.sampled_from([np.int32, np.int64]))
    parts = [S.indptr.astype(index_type), S.indices.astype(index_type), S.data.astype(dtype)]
    damage = data.draw(st.sampled_from(["none", "none", "indptr", "indices", "length", "type", "strides", "ndim"]))
    which = data.draw(st.integers(0, 2))
    wrong = data.draw(st.sampled_from([-1, -(2**31), 2**31 - 1, d, n, max(n, d) + 1, 10**6, S.nnz + 1, 3]))
    whole = True  # what the parts mean is still X
    if damage == "indptr" or (damage == "indices" and S.nnz):
        part = parts[0 if damage == "indptr" else 1]
        place = data.draw(st.integers(0, len(part) - 1))
        whole = bool(part[place] == wrong)
        part[place] = wrong
    elif damage == "length":
        parts[which] = parts[which][:-1] if data.draw(st.booleans()) else np.append(parts[which], parts[which][:1])
        whole = False
    elif damage == "type":
        parts[which] = parts[which].astype(
            data.draw(st.sampled_from(["f4", "f8", "i4", "i8", "u4", "u8", "c16", "i2"]))
        )
    elif damage == "strides":
        parts[which] = np.repeat(parts[which], 2)[::2]
    elif damage == "ndim":
        parts[which] = parts[which].reshape(1, -1)
    out = np.zeros((n, R), dtype=dtype)
    try:
        if by_column:
            native.apply_columns(*parts, feature, 1.0, out, accumulate, threads)
        else:
            native.apply_rows(*parts, d, feature, 1.0, out, accumulate, threads)
    except REFUSED:
        return
    if whole and feature + d <= 64:
        _same(out, X.astype(np.float64) @ rows[feature : feature + d])
    elif damage in ("indptr", "indices") and feature + d <= 64:
        # What was accepted must describe a matrix, line by line; SciPy is no judge, as it also wants indptr[0] = 0.
        pointer, index, value = parts
        dense = np.zeros((d, n) if by_column else (n, d))
        for line, (begin, end) in enumerate(zip(pointer[:-1].tolist(), pointer[1:].tolist(), strict=True)):
            assert 0 <= begin <= end <= len(value), "an indptr that falls, or leaves the stored values, was accepted"
            assert np.all((index[begin:end] >= 0) & (index[begin:end] < dense.shape[1])), (
                "an index outside was accepted"
            )
            np.add.at(dense[line], index[begin:end], value[begin:end])
        _same(out, (dense.T if by_column else dense) @ rows[feature : feature + d])


DAMAGES = [
    ([0, 2, 1, 3], [0, 1, 2]),  # decreasing
    ([0, 1, 2, 4], [0, 1, 2]),  # beyond the values
    ([-1, 1, 2, 3], [0, 1, 2]),  # negative
    ([0, 1, 2, 3], [0, 3, 2]),  # index outside
    ([0, 1, 2, 3], [0, -1, 2]),  # negative index
    ([0, 1, 2, 3], [0, 2**31 - 1, 2]),
    ([0, 10**9, 2, 3], [0, 1, 2]),
]


@pytest.mark.parametrize("family, index_type, damage", pairwise(sorted(NATIVE), [np.int32, np.int64], DAMAGES))
def test_damaged_matrices_are_refused(family, index_type, damage):
    indptr, indices = damage
    native, _ = NATIVE[family]
    parts = (np.array(indptr, dtype=index_type), np.array(indices, dtype=index_type), np.ones(3))
    by_column = hasattr(native, "apply_columns")
    apply = native.apply_columns if by_column else native.apply_rows
    features = () if by_column else (3,)
    with pytest.raises(ValueError, match="damaged"):
        apply(*parts, *features, 0, 1.0, np.zeros((3, R)), False, 1)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_index_outside_is_found_wherever_it_stands(index_type, dtype):
    """Indices are looked at a vector at a time, and those behind the last whole vector one by one."""
    native = native_scatter("grouped", 1, 32)
    for count in (15, 16, 17, 40):
        indptr, value, out = np.array([0, count], index_type), np.ones(count, dtype), np.zeros((1, 32), dtype)
        for place in range(count):
            for wrong in (60, -1, 2**31 - 1, -(2**31)):
                index = np.arange(count).astype(index_type)
                index[place] = wrong
                with pytest.raises(ValueError, match="damaged"):
                    native.apply_rows(indptr, index, value, 60, 0, 1.0, out, True, 1)
        with pytest.raises(ValueError, match="damaged"):  # no features at all
            native.apply_rows(indptr, np.zeros(count, index_type), value, 0, 0, 1.0, out, True, 1)


@_fuzz
@given(st.data(), st.integers(-2, 4))
def test_walsh_hadamard(data, threads):
    from scipy.linalg import hadamard

    x = data.draw(arrays((data.draw(st.integers(0, 5)), data.draw(st.sampled_from([1, 2, 4, 8, 16, 3]))), likely="f8"))
    before = x.copy()
    try:
        _native.walsh_hadamard(x, threads)
    except REFUSED:
        np.testing.assert_array_equal(x, before)
        return
    assert x.flags.writeable
    np.testing.assert_array_equal(x, before @ hadamard(x.shape[1]))


@_fuzz
@given(arrays((8,), likely="u4", ndim=1), arrays((8,), likely="u4", ndim=1), st.integers(-1, 2**64))
def test_philox(counters, words, seed):
    try:
        _native.philox(counters, seed, words)
    except REFUSED:
        return
    assert words.flags.writeable
    numbers = counters.reshape(-1, 4)
    for counter, word in zip(numbers, words.reshape(-1, 4), strict=True):
        np.testing.assert_array_equal(word, reference.philox(*map(int, counter), seed))


@_fuzz
@given(arrays((4,), likely="u4", ndim=1), st.sampled_from([0, 1, 32, 64, 128, 256]))
def test_signs(words, feature):
    try:
        NATIVE["hadamard"][0].signs(feature, words)
    except REFUSED:
        return
    assert words.flags.writeable
    negative = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
    expected = reference.hadamard_signs(SEED, feature, feature + 32 * len(words))
    np.testing.assert_array_equal(np.where(negative, -1, 1), expected)


@_fuzz
@given(
    st.sampled_from(["normal", "sign", "sparse_sign", "grouped", "independent", "", "nothing"]),
    st.integers(-1, 2**64),
    st.sampled_from([0, 1, 3, 16, 48, 2**30 + 1, 2**40, -1]),
    st.sampled_from([0, 1, 2, 3, 16, 65535, 65536, 2**32, -1]),
    st.sampled_from([0, 1, 2, 3, 65535, 65536, 2**31]),
    st.sampled_from(["none", "right", "short", "large guide"]),
)
def test_constructors(name, seed, columns, nonzeros, width, table):
    threshold, guide = EMPTY, EMPTY
    if table != "none":
        threshold, guide = gap_table(0.2, 48)
        guide = guide[:-1] if table == "short" else guide + np.uint32(1000) if table == "large guide" else guide
    for make in (
        lambda: Rows(name, seed, columns, threshold, guide, exported("sgemm"), exported("dgemm")),
        lambda: Scatter(name, seed, columns, nonzeros, width, threshold, guide),
        lambda: Hadamard(seed, columns, min(nonzeros, 65536), bool(width % 2), width),
    ):
        try:
            native = make()
        except REFUSED:
            continue
        r = nonzeros if isinstance(native, Hadamard) else columns
        if r > 100:
            continue
        size = columns if isinstance(native, Hadamard) else 20
        out = np.zeros((2, r))
        native.apply(np.ones((2, size)), 0, 1.0, out, False, 1)
        assert np.all(np.isfinite(out))


def test_sizes_are_checked_before_memory_is_taken():
    with pytest.raises(ValueError, match="n_components"):
        Hadamard(0, 64, 2**45, True, 1)
    with pytest.raises(ValueError, match="n_components"):
        Hadamard(0, 64, 65, False, 1)


@pytest.mark.parametrize("bad", [None, "text", 3, [[1.0]], object()])
def test_no_arrays_at_all(bad):
    native, _ = NATIVE["sign"]
    for call in (
        lambda: native.apply(bad, 0, 1.0, np.zeros((1, R)), False, 1),
        lambda: native.apply(np.ones((1, 1)), 0, 1.0, bad, False, 1),
        lambda: native.apply(np.ones((1, 1)), bad if bad != 3 else -1, 1.0, np.zeros((1, R)), False, 1),
        lambda: native.lift(bad, 0, 1.0, np.zeros((1, 1)), 1),
        lambda: native.rows(0, bad),
    ):
        with pytest.raises(REFUSED):
            call()


def test_features_beyond_64_bits_are_refused():
    native, _ = NATIVE["sign"]
    with pytest.raises(TypeError):
        native.apply(np.ones((1, 1)), 2**64, 1.0, np.zeros((1, R)), False, 1)
