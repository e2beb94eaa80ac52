"""Arrays, sparse matrices and .npy files in every shape they come in are the X they hold, by `check_matrix`."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.lib import format as npy_format

from slimline import SparseEmbedding, open_matrix
from slimline.data import BlockRequest
from slimline.data.formats import _dense as dense
from slimline.errors import DataError, InvalidParameterError
from slimline.testing import check_matrix

TYPES = ["f8", "f4", "f2", "i1", "u1", "i2", "?", "i4", "i8", "u2", "u4", ">f8", ">f4", ">i2", ">i4"]


def _numbers(shape, dtype, seed=0):
    """Whole numbers with a constant and an empty column; every type holds them."""
    rng = np.random.default_rng(seed)
    low, high = (0, 2) if dtype == "?" else (0, 10) if "u" in dtype else (-9, 10)
    X = rng.integers(low, high, shape)
    if shape[1] > 4:
        X[:, 1], X[:, 2], X[:, 3] = 1, 0, X[:, 0]
    return X.astype(dtype)


def _layouts(X):
    n, d = X.shape
    yield "C", np.ascontiguousarray(X)
    yield "F", np.asfortranarray(X)
    wide = np.zeros((2 * n, 3 * d), X.dtype)
    wide[::2, ::3] = X
    yield "strided", wide[::2, ::3]
    yield "backwards", X[::-1, ::-1].copy()[::-1, ::-1]
    panel = np.zeros((n, d + 5), X.dtype)
    panel[:, 2 : d + 2] = X
    yield "panel", panel[:, 2 : d + 2]
    memory = np.zeros(X.nbytes + 1, np.uint8)
    memory[1:] = np.frombuffer(np.ascontiguousarray(X).tobytes(), np.uint8)
    frozen = memory[1:].view(X.dtype).reshape(n, d)
    frozen.flags.writeable = False
    yield "unaligned", frozen


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_of_array(dtype):
    X = _numbers((9, 37), dtype)
    for layout, array in _layouts(X):
        if dtype in ("f4", ">f4") or layout in ("F", "unaligned"):
            brief = (dtype, layout) != ("f4", "F")
            check_matrix(lambda array=array: open_matrix(array), X.astype(np.float64), small_block=128, brief=brief)
    other = X.copy()
    other[4, 20] = not other[4, 20]
    assert open_matrix(other).fingerprint != open_matrix(X).fingerprint


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i1", "i2", "i4", ">i2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_missing_values_of_an_array(dtype, order):
    X = _numbers((12, 40), dtype).astype(np.float64)
    X[3, 5] = X[3, 6] = X[11, 39] = np.nan
    X[:, 8] = np.nan
    X[1:, 9] = np.nan
    stored, options = X, {}
    if "f" not in dtype:
        stored, options = np.nan_to_num(X, nan=-99), {"missing": -99}
    stored = np.array(stored, dtype, order=order)
    check_matrix(lambda: open_matrix(stored, **options), X, small_block=256, brief=dtype != "i1")


@pytest.mark.parametrize("dtype", ["f8", "f4", ">f4", "i4", "i8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_number_for_missing_values_among_floats_and_wide_integers(dtype, order, tmp_path):
    number = np.iinfo(np.int64).min if dtype == "i8" else -9
    X = _numbers((12, 40), dtype).astype(np.float64) + 20
    X[3, 5] = X[11, 39] = np.nan
    stored = np.array(np.where(np.isnan(X), 0, X), dtype, order=order)
    stored[np.isnan(X)] = number
    before = stored.copy()
    check_matrix(lambda: open_matrix(stored, missing=number), X, small_block=256, brief=True)
    assert np.array_equal(stored, before)
    np.save(tmp_path / "x.npy", stored)
    check_matrix(lambda: open_matrix(tmp_path / "x.npy", missing=number), X, small_block=256, brief=True)


@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1), (0, 7), (7, 0), (0, 0), (2, 2), (70, 3)])
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, sp.coo_array])
def test_thin_and_empty_shapes(shape, make):
    X = _numbers(shape, "f8")
    check_matrix(open_matrix(make(X)), X, small_block=64, brief=True)


def _sparse(X, kind):
    """The numbers of X, a third of them stored, in the ways that SciPy allows."""
    rng = np.random.default_rng(3)
    X = np.where(rng.random(X.shape) < 0.35, X, 0)
    X[4] = 0
    name, _, twist = kind.partition("-")
    made = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array, "matrix": sp.csr_matrix, "lil": sp.lil_array}
    S = made[name](X)
    if twist == "64":
        S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    if twist == "mixed":
        S.indptr = S.indptr.astype(np.int64)
    if twist == "unsorted":
        for a, b in zip(S.indptr[:-1], S.indptr[1:], strict=True):
            S.indices[a:b], S.data[a:b] = S.indices[a:b][::-1].copy(), S.data[a:b][::-1].copy()
        S.has_sorted_indices = S.has_canonical_format = False
    if twist == "twice":  # a + 2a - a, and zeros that are stored
        data = np.repeat(S.data, 4)
        data[1::4], data[2::4], data[3::4] = data[0::4] * 2, -data[0::4] * 2, 0
        parts = (data, np.repeat(S.indices, 4), S.indptr * 4)
        S = type(S)(S.shape, dtype=S.dtype)
        S.data, S.indices, S.indptr = parts
    if twist == "nan":
        S.data[:: max(1, S.nnz // 7)] = np.nan
        X = S.toarray()
    if twist == "padded":  # room behind the last value
        S.data, S.indices = np.append(S.data, [7, 7]), np.append(S.indices, [0, 1]).astype(S.indices.dtype)
        S.data, S.indices = S.data, S.indices
    return S, X


KINDS = [
    f"{name}-{twist}" for name in ("csr", "csc") for twist in ("", "64", "mixed", "unsorted", "twice", "nan", "padded")
]


FULL = [("f8", "csr-nan"), ("f4", "csc-nan"), ("f4", "csr-twice")]


CASES = [(dtype, f"{name}-") for dtype in ("f8", "f4", "i1", "i4", "?") for name in ("csr", "csc")]
CASES += [("f4", kind) for kind in [*KINDS, "coo-", "matrix-", "lil-"] if not kind.endswith("-")]
CASES += [(dtype, f"{name}-twice") for dtype in ("i1", "i4") for name in ("csr", "csc")]
CASES += [("f8", "csr-nan"), ("f4", "coo-"), ("f4", "matrix-"), ("f4", "lil-")]


@pytest.mark.parametrize("dtype, kind", CASES)
def test_sparse_matrices(kind, dtype):
    S, X = _sparse(_numbers((11, 33), dtype), kind)
    before = [part.copy() for part in (S.data, S.indices, S.indptr)] if kind.startswith("cs") else []
    check_matrix(lambda: open_matrix(S), X, small_block=200, brief=(dtype, kind) not in FULL)
    for part, was in zip([S.data, S.indices, S.indptr] if before else [], before, strict=True):
        assert np.array_equal(part, was, equal_nan=part.dtype.kind == "f")


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "?", "i4", "i8"])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_a_place_with_several_values_has_their_sum_whatever_the_type_holds(dtype, kind):
    most = 1 if dtype == "?" else np.iinfo(dtype).max
    rows, columns, values = [0, 0, 1], [2, 2, 0], np.array([most, most, 1]).astype(dtype)
    if kind == "csr":
        S = sp.csr_array((values, np.array(columns), np.array([0, 2, 3])), shape=(2, 4))
    elif kind == "csc":
        S = sp.csc_array((values[[2, 0, 1]], np.array([1, 0, 0]), np.array([0, 1, 1, 3, 3])), shape=(2, 4))
    else:
        S = sp.coo_array((values, (rows, columns)), shape=(2, 4))
    exact = np.zeros((2, 4))
    exact[0, 2], exact[1, 0] = 2.0 * float(values[0]), 1.0
    matrix = open_matrix(S)
    np.testing.assert_array_equal(matrix.dot(np.eye(4)), exact)
    np.testing.assert_array_equal(matrix.tdot(np.eye(2)), exact.T)
    np.testing.assert_array_equal(matrix.gram(), exact @ exact.T)
    projection = SparseEmbedding(2, random_state=0).projection_for((2, 4))
    np.testing.assert_allclose(matrix.sketch(projection), projection.apply(exact), rtol=1e-6)
    assert matrix.column_stats().nonzeros.tolist() == [1, 0, 1, 0]


def test_what_has_to_be_copied_is_copied_in_small_blocks(monkeypatch):
    monkeypatch.setattr(dense, "_COPY_BYTES", 4000)
    X = np.random.default_rng(0).standard_normal((20, 400))
    for view in (X[::-1], X[:, ::-1], X[:, ::2]):
        for whole_columns in (False, True):
            blocks = list(open_matrix(view).blocks(BlockRequest(whole_columns=whole_columns)))
            assert max(block.values.size for block in blocks) * 8 <= max(4000, 16 * 8 * max(view.shape))
            assert len(blocks) > 1
    assert len(list(open_matrix(X).blocks(BlockRequest(whole_columns=True)))) == 1


def test_wide_arrays_are_multiplied_by_panels_of_columns(monkeypatch):
    monkeypatch.setattr(dense, "_BLOCK_BYTES", 8000)
    monkeypatch.setattr(dense, "_LOW", 10)
    monkeypatch.setattr(dense, "_TALL", 30)
    for shape, order, by_column in (
        ((20, 101), "C", True),  # blocks of nine rows
        ((20, 100), "C", False),  # of ten
        ((9, 101), "C", False),  # one block
        ((31, 101), "C", False),  # panels would be too narrow
        ((20, 101), "F", False),
    ):
        assert open_matrix(np.ones(shape, order=order)).traits.products_by_column == by_column, (shape, order)


@pytest.mark.parametrize("not_one", [None, SparseEmbedding(2), "cw"])
def test_a_sketch_needs_a_projection_and_says_where_to_get_one(not_one):
    with pytest.raises(InvalidParameterError, match="projection_for"):
        open_matrix(np.ones((2, 3))).sketch(not_one)


@pytest.mark.parametrize("damage", ["index", "negative", "pointer", "short", "first", "long"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
def test_damaged_sparse_matrices_are_refused(make, damage):
    S = make(_numbers((6, 6), "f4"))
    if damage == "index":
        S.indices[3] = 6
    elif damage == "negative":
        S.indices[3] = -1
    elif damage == "pointer":
        S.indptr[2] = S.indptr[3] + 1
    elif damage == "short":
        S.data = S.data[:-1]
    elif damage == "first":
        S.indptr[0] = 1
    else:
        S.indptr[-1] += 1
    with pytest.raises(InvalidParameterError, match="damaged"):
        open_matrix(S)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("dtype", ["f4", ">f8", "i1", "i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_files(tmp_path, version, dtype, order):
    X = _numbers((13, 45), dtype)
    path = tmp_path / "x.npy"
    with path.open("wb") as file:
        npy_format.write_array(file, np.array(X, order=order), version=version)
    others = []
    if version == (1, 0):
        np.save(tmp_path / "y.npy", np.array(X + X.dtype.type(1), order=order))
        others = [open_matrix(tmp_path / "y.npy")]
        check_matrix(
            lambda: open_matrix(path), X.astype(np.float64), others=others, small_block=256, brief=dtype != "i1"
        )
    mapped = np.load(path, mmap_mode="r")
    assert np.array_equal(open_matrix(mapped).dot(np.ones(45)), X.astype(np.float64).sum(axis=1))
    assert type(open_matrix(mapped)) is type(open_matrix(path))


def test_a_part_of_a_map_and_a_private_map_are_what_they_show(tmp_path):
    X = _numbers((13, 45), "f4")
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    check_matrix(open_matrix(mapped[2:9, ::2]), X[2:9, ::2], brief=True)
    private = np.load(tmp_path / "x.npy", mmap_mode="c")
    private[0, 0] = 77
    assert open_matrix(private).dot(np.eye(45)[0])[0] == 77
    raw = tmp_path / "x.raw"
    raw.write_bytes(b"\0" * 3 + X.tobytes())
    check_matrix(open_matrix(np.memmap(raw, "f4", mode="r", offset=3, shape=X.shape)), X, brief=True)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_small_matrix(data):
    n, d = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 40))
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-20, 21, d)
    X = rng.standard_normal((n, d)) * scale + scale * rng.integers(0, 2, d) * 10.0 ** rng.integers(0, 6)
    X[rng.random((n, d)) < data.draw(st.sampled_from([0.0, 0.7]))] = 0.0
    X[rng.random((n, d)) < data.draw(st.sampled_from([0.0, 0.1]))] = np.nan
    make = data.draw(st.sampled_from([np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array]))
    check_matrix(open_matrix(make(X)), X, small_block=data.draw(st.sampled_from([8, 100, 1000])), seed=seed, brief=True)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_header_damaged_anywhere_never_crashes(tmp_path, order):
    stream = io.BytesIO()
    np.save(stream, np.array(_numbers((3, 5), "f4"), order=order))
    whole = stream.getvalue()
    path = tmp_path / "x.npy"
    for place in range(len(whole) - 60):
        for byte in (0, 0x31, 0xFF):
            path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
            try:
                open_matrix(path).dot(np.ones(5))
            except (DataError, InvalidParameterError):
                continue
