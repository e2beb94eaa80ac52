"""Rows as they are stored: the right values in one pass, memory shared where it can be, and what cannot be had."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline import CertifiedClassifier, open_matrix
from slimline.data import ALL_BLOCKS, Block, Matrix
from slimline.data._arrays import stored_rows, supports_row_access
from slimline.data._files import digest
from slimline.data.formats import _sparse as sparse_format
from slimline.errors import DataError, NonFiniteError
from tests.pairwise import pairwise

ORDERS = {
    "some": [1, 4, 5],
    "reversed": slice(None, None, -1),
    "shuffled": [7, 0, 3, 9, 2],
    "repeated": [2, 2, 8, 0, 2, 8],
    "one": [6],
    "all": slice(None),
}


def counts(n=12, d=9, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)) * (rng.random((n, d)) < 0.4)
    X[3], X[:, 5] = 0, 0
    return X.astype(dtype)


def check_rows(matrix, X):
    """Hold the rows of a matrix against an array; return them."""
    assert supports_row_access(matrix)
    before = matrix.passes
    rows = stored_rows(matrix)
    assert matrix.passes == before + 1
    assert rows.dtype in (np.float32, np.float64)
    assert rows.shape == X.shape
    if sp.issparse(rows):
        assert rows.format == "csr"
        for i in range(len(X)):  # no place twice
            places = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
            assert len(np.unique(places)) == len(places)
        rows.check_format(full_check=True)
        np.testing.assert_array_equal(rows.toarray(), X)
    else:
        assert rows.shape[1] == 1 or rows.strides[1] == rows.itemsize
        np.testing.assert_array_equal(rows, X)
    return rows


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_sparse_rows_of_scaled_columns(format):
    X, scale = counts(), np.array([1.0, 2.0, 4.0, np.inf, 0.5, 1.0, 8.0, 1.0, 0.25])
    check_rows(open_matrix(sp.csr_array(X).asformat(format)).standardised(None, scale), X / scale)
    assert not supports_row_access(open_matrix(sp.csr_array(X)).standardised("mean", scale))
    assert not supports_row_access(open_matrix(X).standardised(None, scale))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(sparse_format, "_BLOCK_VALUES", 7)


@pytest.mark.usefixtures("small_blocks")
class TestSparse:
    @pytest.mark.parametrize("format", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
    @pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
    def test_formats(self, format, make):
        X = counts()
        matrix = open_matrix(make(X).asformat(format))
        rows = check_rows(matrix, X)
        assert rows.dtype == np.float64
        if format in ("csr", "csc", "coo"):
            assert matrix.density == np.count_nonzero(X) / X.size

    @pytest.mark.parametrize("format", ["csr", "csc"])
    @pytest.mark.parametrize("dtype", ["i1", "u1", "?", "i2", "u2", "i4", "i8", "u8", "f4", "f8", ">f4", ">f8", "g"])
    def test_types(self, format, dtype):
        X = np.abs(counts()).astype(np.dtype(dtype).newbyteorder("="))
        stored = sp.csr_array(X).asformat(format)
        stored.data = stored.data.astype(dtype)
        rows = check_rows(open_matrix(stored), X.astype(np.float64))
        if np.dtype(dtype).itemsize == 8 or dtype == "i4":  # float32 would round
            assert rows.dtype == np.float64
        if dtype in ("i1", "f4"):
            assert rows.dtype == np.float32

    def test_large_whole_numbers_are_not_rounded(self):
        X = np.array([[2**24 + 1, 0], [0, -(2**31) + 1]], dtype=np.int32)
        check_rows(open_matrix(sp.csr_array(X)), X.astype(np.float64))
        X = np.array([[32767, 0], [0, -32768]], dtype=np.int16)
        assert check_rows(open_matrix(sp.csr_array(X)), X.astype(np.float64)).dtype == np.float32

    @pytest.mark.parametrize("format", [sp.csr_array, sp.csc_array])
    def test_values_stored_for_one_place_are_one_value(self, format):
        lines, places, values = (
            np.array([0, 0, 0, 1, 2, 2]),
            np.array([1, 1, 0, 2, 0, 0]),
            np.array([1.0, 2, 3, 4, 5, -5]),
        )
        pointer = np.searchsorted(lines, np.arange(4))
        stored = format((values, places, pointer), shape=(3, 3))
        expected = stored.toarray()
        for order in (slice(None), [2, 0, 0]):
            check_rows(open_matrix(stored).rows(order), expected[order])
        assert stored.nnz == 6  # the caller's matrix is left as it was

    def test_places_out_of_order(self):
        stored = sp.csr_array((np.arange(1.0, 6), [4, 0, 2, 3, 1], [0, 3, 3, 5]), shape=(3, 5))
        check_rows(open_matrix(stored), stored.toarray())

    @pytest.mark.parametrize("order", list(ORDERS))
    @pytest.mark.parametrize("format", ["csr", "csc"])
    def test_rows_in_any_order(self, format, order):
        X = counts()
        view = open_matrix(sp.csr_array(X).asformat(format)).rows(ORDERS[order])
        check_rows(view, X[ORDERS[order]])
        again = view.rows(slice(None, None, -1))
        check_rows(again, X[ORDERS[order]][::-1])

    @pytest.mark.parametrize(
        "bad, format, dtype", pairwise([np.nan, np.inf, -np.inf], ["csr", "csc"], [np.float32, np.float64])
    )
    def test_what_is_not_finite_is_refused(self, format, bad, dtype):
        X = counts(dtype=dtype)
        X[7, 4] = bad
        matrix = open_matrix(sp.csr_array(X).asformat(format))
        for view in (matrix, matrix.rows([0, 7]), matrix.rows([7, 7, 1])):
            with pytest.raises(NonFiniteError, match="row 7, column 4"):
                stored_rows(view)
        rest = [i for i in range(12) if i != 7]
        check_rows(matrix.rows(rest), X[rest])
        assert issubclass(NonFiniteError, DataError)

    def test_nothing_stored_at_all(self):
        for shape in ((3, 4), (1, 1), (5, 1)):
            check_rows(open_matrix(sp.csr_array(shape)), np.zeros(shape))


def test_csr_of_floats_is_not_copied():
    for dtype in (np.float32, np.float64):
        stored = sp.csr_array(counts(dtype=dtype))
        rows = stored_rows(open_matrix(stored))
        assert np.shares_memory(rows.data, stored.data)
        assert np.shares_memory(rows.indices, stored.indices)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_indices_keep_their_type(index):
    stored = sp.csr_array(counts())
    stored.indices, stored.indptr = stored.indices.astype(index), stored.indptr.astype(index)
    rows = check_rows(open_matrix(stored), counts())
    assert rows.indices.dtype == rows.indptr.dtype == index


class TestFiles:
    @pytest.mark.parametrize("order", list(ORDERS))
    def test_svmlight(self, tmp_path, order):
        X = counts()
        path = tmp_path / "x.svmlight"
        lines = ["1 " + " ".join(f"{j + 1}:{row[j]:g}" for j in np.flatnonzero(row)) for row in X]
        path.write_text("\n".join(lines) + "\n")
        matrix = open_matrix(path, n_features=9)
        assert matrix.density == pytest.approx(np.count_nonzero(X) / X.size, rel=1e-15)
        check_rows(matrix.rows(ORDERS[order]), X[ORDERS[order]])
        check_rows(matrix, X)

    @pytest.mark.parametrize(
        "order, format, compressed, dtype",
        pairwise(ORDERS, ["csr", "csc"], [False, True], [np.float32, np.int8, np.float64]),
    )
    def test_npz(self, tmp_path, format, compressed, dtype, order):
        X = counts(dtype=dtype)
        sp.save_npz(tmp_path / "x.npz", sp.csr_array(X).asformat(format), compressed=compressed)
        matrix = open_matrix(tmp_path / "x.npz")
        assert matrix.density == np.count_nonzero(X) / X.size
        check_rows(matrix, X)
        check_rows(matrix.rows(ORDERS[order]), X[ORDERS[order]])

    @pytest.mark.parametrize("format", ["csr", "csc"])
    def test_files_of_many_blocks(self, tmp_path, format):
        """A reader that reads ahead writes over its buffers: what is kept must be a copy."""
        X = sp.random_array((3000, 2000), density=0.2, rng=np.random.default_rng(0), dtype=np.float32)
        sp.save_npz(tmp_path / "x.npz", X.asformat(format), compressed=False)
        matrix = open_matrix(tmp_path / "x.npz")
        assert sum(1 for _ in matrix.blocks()) > 1
        rows = stored_rows(matrix)
        assert (rows != X.tocsr()).nnz == 0

    @pytest.mark.slow
    def test_svmlight_of_many_blocks(self, tmp_path):
        X = sp.random_array((30000, 300), density=0.1, rng=np.random.default_rng(0), dtype=np.float64).tocsr()
        X.data = np.round(X.data, 3) + 0.5
        with (tmp_path / "x.svmlight").open("w") as file:
            for i in range(X.shape[0]):
                part = slice(X.indptr[i], X.indptr[i + 1])
                places = zip(X.indices[part], X.data[part], strict=True)
                file.write("1 " + " ".join(f"{j + 1}:{v:.4g}" for j, v in sorted(places)) + "\n")
        matrix = open_matrix(tmp_path / "x.svmlight", n_features=300)
        assert sum(1 for _ in matrix.blocks()) > 1
        rows = stored_rows(matrix)
        assert np.abs(rows - X).max() <= 1e-12

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    @pytest.mark.parametrize("format", ["csr", "csc"])
    def test_what_is_not_finite_is_refused(self, tmp_path, format, bad):
        X = counts()
        X[7, 4] = bad
        sp.save_npz(tmp_path / "x.npz", sp.csr_array(X).asformat(format))
        with pytest.raises(NonFiniteError, match="row 7, column 4"):
            stored_rows(open_matrix(tmp_path / "x.npz"))

    @pytest.mark.parametrize("ending", [".h5ad", ".zarr"])
    @pytest.mark.parametrize("format", ["csr", "csc"])
    @pytest.mark.filterwarnings("ignore")  # anndata warns of its own plans
    def test_anndata(self, tmp_path, ending, format):
        anndata = pytest.importorskip("anndata", reason="anndata writes these files")
        pytest.importorskip("zarr" if ending == ".zarr" else "h5py", reason="reads these files")
        X = counts(dtype=np.float32)
        path = tmp_path / f"x{ending}"
        data = anndata.AnnData(sp.csr_matrix(X).asformat(format))
        data.write_zarr(path) if ending == ".zarr" else data.write_h5ad(path)
        matrix = open_matrix(path)
        assert matrix.density == np.count_nonzero(X) / X.size
        for order in ORDERS.values():
            check_rows(matrix.rows(order), X[order])
        check_rows(matrix, X)

    def test_dense_files_have_none(self, tmp_path):
        X = counts(dtype=np.float32)
        np.save(tmp_path / "x.npy", X)
        np.savetxt(tmp_path / "x.csv", X, delimiter=",", header=",".join("abcdefghi"), comments="")
        for name in ("x.npy", "x.csv"):
            matrix = open_matrix(tmp_path / name)
            assert matrix.density is None
            assert not supports_row_access(matrix) and not supports_row_access(matrix.rows([1, 2]))


class TestArrays:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_rows_in_memory_are_shared(self, dtype):
        X = counts(dtype=dtype)
        assert np.shares_memory(check_rows(open_matrix(X), X), X)
        wide = np.ascontiguousarray(np.hstack([X, X]))
        assert np.shares_memory(check_rows(open_matrix(wide[:, 2:7]), wide[:, 2:7]), wide)
        assert np.shares_memory(check_rows(open_matrix(wide[2::3, 2:7]), wide[2::3, 2:7]), wide)

    @pytest.mark.parametrize("order", list(ORDERS))
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_rows_in_any_order(self, dtype, order):
        X = counts(dtype=dtype)
        view = open_matrix(X).rows(ORDERS[order])
        check_rows(view, X[ORDERS[order]])
        check_rows(view.rows([0, 0]), X[ORDERS[order]][[0, 0]])

    @pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1)])
    def test_one_row_or_one_column(self, shape):
        X = np.random.default_rng(0).standard_normal(shape)
        check_rows(open_matrix(X), X)

    @pytest.mark.parametrize("change", [
        np.asfortranarray,
        lambda X: X.astype(np.int8),
        lambda X: X.astype(np.int64),
        lambda X: X > 0,
        lambda X: X.astype(np.float16),
        lambda X: X.astype(X.dtype.newbyteorder(">")),
        lambda X: X[:, ::2],
        lambda X: X[:, ::-1],
        lambda X: X[::-1],
        lambda X: np.broadcast_to(X[0], (4, 9)),
        lambda X: np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(X.dtype).reshape(X.shape),
        lambda X: np.lib.stride_tricks.sliding_window_view(X.ravel(), 9),
    ], ids=["Fortran", "int8", "int64", "bool", "float16", "byte order", "every other column", "columns turned",
            "rows turned", "broadcast", "unaligned", "overlapping"])  # fmt: skip
    def test_others_have_none(self, change):
        matrix = open_matrix(change(counts()))
        assert not supports_row_access(matrix)
        assert not supports_row_access(matrix.rows([1, 0]))

    def test_mapped_files_have_none(self, tmp_path):
        X = counts()
        X.tofile(tmp_path / "x")
        mapped = np.memmap(tmp_path / "x", dtype=np.float64, mode="r", shape=X.shape)
        for array in (mapped, np.asarray(mapped), mapped[2:5], np.asarray(mapped)[:, 1:4]):
            assert not supports_row_access(open_matrix(array))
            assert not supports_row_access(open_matrix(array).rows([0]))

    def test_frames(self):
        pd = pytest.importorskip("pandas", reason="frames are pandas' own")
        check_rows(open_matrix(pd.DataFrame(counts())), counts())
        assert not supports_row_access(
            open_matrix(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}))
        )  # columns lie together

    def test_a_number_for_missing_values_leaves_none(self):
        matrix = open_matrix(counts(), missing=-3)
        assert not supports_row_access(matrix) and not supports_row_access(matrix.rows([1]))

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_what_is_not_finite_is_refused(self, bad, dtype):
        X = counts(dtype=dtype)
        X[7, 4] = bad
        matrix = open_matrix(X)
        for view in (matrix, matrix.rows([0, 7]), matrix.rows([7, 7, 1])):
            with pytest.raises(NonFiniteError, match="row 7, column 4"):
                stored_rows(view)
        rest = [i for i in range(12) if i != 7]
        check_rows(matrix.rows(rest), X[rest])


@pytest.mark.parametrize("X", [counts(), sp.csr_array(counts()), sp.csc_array(counts())])
def test_standardised_rows_are_not_those_that_are_stored(X):
    matrix = open_matrix(X)
    for view in (
        matrix.standardised(),
        matrix.standardised(centre=None),
        matrix.standardised(None, None, "mean"),
        matrix.standardised().rows([2, 1]),
        matrix.rows([2, 1]).standardised(),
    ):
        assert not supports_row_access(view)


class _Users(Matrix):
    """A storage format of a user, in memory."""

    def __init__(self, values):
        super().__init__(values.shape, values.dtype, "users")
        self._values = values

    def blocks(self, request=ALL_BLOCKS):
        for row in range(request.start, self.shape[0]):
            yield Block(slice(row, row + 1), slice(0, self.shape[1]), self._values[row : row + 1])

    @property
    def array(self):
        return self._values

    @property
    def fingerprint(self):
        return digest("users", self._values.tobytes())


def test_rows_of_a_users_own_format_take_the_direct_route():
    X = np.random.default_rng(0).standard_normal((30, 8))
    y = X[:, 0] > 0
    assert check_rows(_Users(X), X) is X
    check_rows(_Users(X).rows([4, 2]), X[[4, 2]])
    model = CertifiedClassifier(method="direct", random_state=0).fit(_Users(X), y)
    expected = CertifiedClassifier(method="direct", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert not supports_row_access(_Users(np.asfortranarray(X)))
