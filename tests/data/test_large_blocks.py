"""Arrays in memory come in larger blocks where nothing of them is copied; and what finds a bad value in one of them."""

import numpy as np
import pytest

from slimline import open_matrix
from slimline._kernels import _native
from slimline.data import ALL_BLOCKS, BlockRequest, CheckpointStore, Squares
from slimline.data._statistics import _PIECE, all_finite
from slimline.data.formats import _dense as dense
from slimline.errors import NonFiniteError
from slimline.projections import Gaussian, HashEmbedding
from tests._kernels import flat
from tests.pairwise import pairwise


def _counted(matrix, monkeypatch):
    """Return a list that fills with the sizes of the blocks that a pass goes through."""
    sizes = []
    blocks = matrix.blocks

    def counting(request=ALL_BLOCKS):
        for block in blocks(request):
            sizes.append(block.values.size)
            yield block

    monkeypatch.setattr(matrix, "blocks", counting)
    return sizes


@pytest.mark.parametrize("shape", [(30, 4000), (5000, 64)])
def test_only_what_copies_nothing_has_large_blocks(shape, monkeypatch):
    monkeypatch.setattr(dense, "_BLOCK_BYTES", 8 * 20_000)
    monkeypatch.setattr(dense, "_COPY_BYTES", 8 * 20_000)
    n, d = shape
    X = np.random.default_rng(0).standard_normal(shape)
    matrix = open_matrix(X)
    sizes = _counted(matrix, monkeypatch)
    passes = {
        "dot": lambda m: m.dot(np.ones(d)),
        "tdot": lambda m: m.tdot(np.ones(n)),
        "squares": lambda m: m.dot(np.ones(d), Squares(n, d)),
        "column_stats": lambda m: m.column_stats(),
        "row_norms": lambda m: m.row_norms(),
        "cw": lambda m: m.sketch(HashEmbedding(d, 16, 0)),
        "gram": lambda m: m.rows(slice(0, 30)).gram(),
        "gaussian": lambda m: m.sketch(Gaussian(d, 4, 0)),
        "some rows": lambda m: m.rows(slice(0, n, 2)).dot(np.ones(d)),
        "some columns": lambda m: m.columns(slice(0, d, 2)).dot(np.ones(d // 2)),
    }
    for name, run in passes.items():
        sizes.clear()
        run(matrix)
        large = list(passes).index(name) < 6
        assert (sizes == [n * d]) == large, name
        assert large or max(sizes) <= max(20_000, 16 * n), name
    sizes.clear()
    matrix.standardised(np.zeros(d), np.ones(d)).dot(np.ones(d))
    assert sizes == [n * d]


def test_a_pass_that_is_kept_counts_small_blocks(monkeypatch):
    """Its count of blocks is written to a file, and has to mean the same to a later version of the fit."""

    class Counting(CheckpointStore):
        blocks = 0

        def begin(self, operation, inputs, sums):
            return 0

        def after_block(self, blocks, sums, at_once=False):
            self.blocks = blocks

        def end(self, sums):
            pass

    monkeypatch.setattr(dense, "_BLOCK_BYTES", 8 * 20_000)
    matrix, keeper = open_matrix(np.ones((30, 4000))), Counting()
    matrix.set_checkpoint(keeper)
    matrix.tdot(np.ones(30))
    assert keeper.blocks == len(list(matrix.blocks(BlockRequest(whole_columns=matrix.traits.products_by_column)))) > 1


def test_rows_of_a_large_block_are_few_enough_to_be_written_out(monkeypatch):
    monkeypatch.setattr(dense, "_BLOCK_BYTES", 8 * 100)
    monkeypatch.setattr(dense, "_LARGE_ROWS", 50)
    blocks = list(open_matrix(np.ones((1000, 4))).blocks(BlockRequest(size="large")))
    assert {block.values.shape[0] for block in blocks} == {50}
    assert sum(block.values.shape[0] for block in blocks) == 1000


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int16])
def test_the_first_bad_value_is_named(order, dtype):
    """In pieces: the place is counted right in each of them, and an infinite value comes before a missing one."""
    n, d = (3, _PIECE // 2 + 7) if order == "C" else (_PIECE // 2 + 7, 3)
    X = np.zeros((n, d), dtype, order=order)
    row, column = n - 1, d - 2
    missing = None if dtype == np.float32 else 9
    X[row, column] = np.nan if missing is None else missing
    with pytest.raises(NonFiniteError, match=f"row {row:,}, column {column:,}.*missing"):
        open_matrix(X, missing=missing).dot(np.ones(d))
    if missing is None:
        X[0, 0], X[row, column] = np.nan, -np.inf
        with pytest.raises(NonFiniteError, match=f"row {row:,}, column {column:,}.*infinite"):
            open_matrix(X).dot(np.ones(d))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_all_finite(dtype, bad):
    largest = np.finfo(dtype).max
    for size in range(70):
        x = np.full(size, largest, dtype)
        x[::2] *= -1
        assert all_finite(x)
        for place in range(size):
            x[place], before = bad, x[place]
            assert not all_finite(x)
            x[place] = before
    x = np.zeros((1000, 700), dtype)
    for view in (x, x.T, x[:, ::2], x[:0]):
        assert all_finite(view)
    x[-1, -2] = bad
    for view in (x, x.T, x[:, ::2]):
        assert not all_finite(view)
    for threads in (1, 2, 5):
        assert not _native.all_finite(x.ravel(), threads)


@pytest.mark.parametrize(
    "dtype, shape",
    pairwise(
        ["f8", "f4", "f2", "i2", "i1", "u1"], [(70, 40_000), (3, 150_000), (1, 200_001), (40_000, 70), (9000, 300)]
    ),
)
def test_sums_do_not_depend_on_who_is_first(dtype, shape):
    """Threads take pieces in turns: all runs agree to the last bit."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, shape).astype(dtype)
    W, A = rng.standard_normal((shape[1], 1)), rng.standard_normal((shape[0], 1))
    for multiply, right, lines in ((flat.block_dot, W, shape[0]), (flat.block_tdot, A, shape[1])):
        results = []
        for threads in (2, 2, 2, 3, 3, 3):
            out = np.zeros((lines, 1))
            multiply(X, 0, None, right, None, None, out, threads)
            results.append(out)
        for start in (0, 3):
            np.testing.assert_array_equal(results[start], results[start + 1])
            np.testing.assert_array_equal(results[start], results[start + 2])
        wide = X.astype(np.float64) if multiply is flat.block_dot else X.astype(np.float64).T
        assert np.all(np.abs(results[0] - wide @ right) <= 1e-12 * np.abs(wide) @ np.abs(right))
