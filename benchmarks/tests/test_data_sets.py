"""Data sets that suites share."""

import numpy as np
import pytest
import scipy.sparse as sp

from slimline_benchmarks import LeftOut
from slimline_benchmarks.data_sets import DataSet, Shelf, newsgroup_pair, public_set, tf_idf


def test_tf_idf_leaves_out_empty_columns_and_rows_have_norm_one():
    counts = np.array([[1, 0, 3], [0, 0, 0], [2, 0, 0]])
    X = tf_idf(counts)
    assert X.shape == (3, 2) and X.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(X.toarray(), axis=1), [1.0, 0.0, 1.0], atol=1e-6)
    rare, common = X.toarray()[0, 1] / np.log1p(3), X.toarray()[0, 0] / np.log1p(1)
    assert rare / common == pytest.approx((1 + np.log(4 / 2)) / (1 + np.log(4 / 3)), rel=1e-5)


def test_the_shelf_holds_one_set_at_a_time():
    made = []
    one, other = (DataSet(name, "", lambda name=name: made.append(name) or name, None) for name in ("one", "other"))
    shelf = Shelf()
    assert [shelf.take(s) for s in (one, one, other, one)] == ["one", "one", "other", "one"]
    assert made == ["one", "other", "one"]


def test_sizes():
    def sized(*more):
        data_set = DataSet("x", "", lambda: None, *more)
        return data_set.values, data_set.input_bytes

    assert sized((20, 300)) == (6000, 24_000)
    assert sized((20, 300), "int8") == (6000, 6000)
    assert sized((20, 300), "sparse", 10) == (200, 1600)
    assert sized(None, "sparse") == (0, 0)


def test_public_sets(monkeypatch, tmp_path):
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)
    with pytest.raises(LeftOut, match="SLIMLINE_DATA"):
        public_set(newsgroup_pair, None)
    monkeypatch.setenv("SLIMLINE_DATA", str(tmp_path))
    with pytest.raises(LeftOut, match="is not there"):
        public_set(newsgroup_pair, None)
    folder = tmp_path / "newsgroups20"
    folder.mkdir()
    counts = np.arange(40).reshape(10, 4)
    sp.save_npz(folder / "counts_train.npz", sp.csr_array(counts))
    np.save(folder / "labels_train.npy", np.array([3, 4, 5, 3, 0, 4, 4, 3, 1, 2]))
    X, labels = public_set(newsgroup_pair, None)
    np.testing.assert_array_equal(X.toarray(), counts[[0, 1, 3, 5, 6, 7]])
    np.testing.assert_array_equal(labels, [1.0, -1.0, 1.0, -1.0, -1.0, 1.0])
    fewer, some = public_set(newsgroup_pair, 4)
    assert fewer.shape == (4, 4) and len(some) == 4
    assert {tuple(row) for row in fewer.toarray()} < {tuple(row) for row in X.toarray()}
