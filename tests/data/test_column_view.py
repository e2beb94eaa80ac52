"""Views of columns are the columns written out, for every storage; what the others hold is never looked at."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from slimline import open_matrix
from slimline.errors import InvalidParameterError, NonFiniteError
from slimline.model_files import PassFiles
from slimline.testing import block_bytes, check_matrix
from tests.data.plink_files import random_genotypes, write_plink

X = np.random.default_rng(0).standard_normal((9, 7))
NAMES = list("abcdefg")


@pytest.mark.parametrize(
    "part",
    [slice(None), slice(2, 6), slice(-3, None), slice(1, None, 2), slice(5, 2), [0, 3, 6], [-7, -1], X[0] > 0, []],
    ids=str,
)
def test_choices_of_columns(part):
    matrix = open_matrix(X, feature_names=NAMES)
    view = matrix.columns(part)
    np.testing.assert_allclose(view.dot(np.ones(view.shape[1])), X[:, part].sum(axis=1), rtol=1e-13, atol=1e-14)
    assert view.feature_names == np.array(NAMES)[part].tolist()
    again = matrix.columns(slice(1, 6)).columns(slice(0, 5, 2))
    assert again.feature_names == ["b", "d", "f"]
    np.testing.assert_allclose(again.tdot(np.ones(9)), X[:, [1, 3, 5]].sum(axis=0), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    "wrong", [slice(0.5, 2), slice(0, 3, 0), slice(None, None, -1), [[0], [1, 2]], "a", 1.5, [3, 1], [2, 2], [7], [-8]]
)
def test_what_chooses_no_columns(wrong):
    with pytest.raises(InvalidParameterError):
        open_matrix(X).columns(wrong)
    with pytest.raises(InvalidParameterError, match="one entry for each of 7 columns"):
        open_matrix(X).columns(np.ones(6, dtype=bool))


def _opened(kind, folder, values):
    """Return values in a storage whose blocks are rows, columns or rectangles."""
    d = values.shape[1]
    if kind == "npy":
        np.save(folder / "x.npy", values)
        return open_matrix(folder / "x.npy")
    if kind == "csv":
        np.savetxt(folder / "x.csv", values, delimiter=",", header=",".join(f"f{j}" for j in range(d)), comments="")
        return open_matrix(folder / "x.csv")
    if kind == "svm":
        rows = [" ".join(["1", *(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)]) for row in values.tolist()]
        (folder / "x.svm").write_text("\n".join(rows) + "\n")
        return open_matrix(folder / "x.svm", n_features=d)
    kinds = {"C": np.ascontiguousarray, "F": np.asfortranarray, "CSR": sp.csr_array, "CSC": sp.csc_array}
    return open_matrix(kinds[kind](values))


@pytest.mark.parametrize("kind", ["C", "F", "CSR", "CSC", "npy", "csv", "svm"])
def test_every_storage_is_its_columns(tmp_path, kind):
    rng = np.random.default_rng(1)
    values = np.where(rng.random((11, 60)) < 0.4, rng.integers(-9, 10, (11, 60)), 0).astype(float)
    index = np.flatnonzero(rng.random(60) < 0.6)
    matrix = _opened(kind, tmp_path, values)
    check_matrix(lambda: matrix.columns(index), values[:, index], small_block=256, brief=True)


def test_genotypes_stay_packed(tmp_path):
    genotypes = random_genotypes(13, 90)
    path = write_plink(tmp_path / "a", genotypes)
    index = np.flatnonzero(np.random.default_rng(0).random(90) < 0.4)
    values = np.where(genotypes < 0, np.nan, genotypes)[:, index]
    names = [f"rs{j}" for j in index]
    check_matrix(lambda: open_matrix(path).columns(index), values, feature_names=names, small_block=64, brief=True)
    view = open_matrix(path).columns(index)
    assert type(next(view.blocks()).values).__name__ == "PackedGenotypes"
    assert view.variants.position.tolist() == (100 + index).tolist()


@pytest.mark.parametrize("kind", [np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_what_is_not_seen_is_not_looked_at(kind):
    spoilt = X.copy()
    spoilt[2, 1], spoilt[6, 4] = np.nan, np.inf
    matrix = open_matrix(kind(spoilt), feature_names=NAMES)
    view = matrix.columns([0, 2, 3, 5, 6])
    np.testing.assert_allclose(view.row_norms(), np.linalg.norm(X[:, [0, 2, 3, 5, 6]], axis=1), rtol=1e-13)
    views = [matrix.columns([0, 4]), matrix.columns(slice(3, None)), matrix.rows([8, 6]).columns([2, 4]).columns([1])]
    views += [view.standardised(None, np.ones(view.shape[1])) for view in views]
    views += [matrix.standardised(None, np.ones(7)).columns([4, 5])]
    for view in views:  # row and column are those of the data
        with pytest.raises(NonFiniteError, match=r"row 6, column 4 \(e\)"):
            view.dot(np.ones(view.shape[1]))


def test_views_have_their_own_fingerprints():
    matrix = open_matrix(X)
    prints = [
        view.fingerprint for view in (matrix, matrix.columns([0, 1]), matrix.columns([0, 2]), matrix.rows([0, 1]))
    ]
    assert len(set(prints)) == 4 and matrix.columns([0, 2]).fingerprint == prints[2]


def test_a_pass_over_columns_is_counted_told_of_and_kept(tmp_path):
    values = np.random.default_rng(2).standard_normal((40, 64))
    with block_bytes(2048):
        matrix = open_matrix(np.asfortranarray(values))
        told = []
        matrix.listen(told.append)
        view = matrix.columns(slice(40, None))
        expected = view.dot(np.ones(24))
        assert matrix.passes == view.passes == 1
        assert told[-1].fraction == 1.0 and 0.0 < told[-2].fraction < 1.0
        for _ in range(2):  # what was kept is taken, not computed again
            again = open_matrix(np.asfortranarray(values)).columns(slice(40, None))
            again.keep(PassFiles(tmp_path / "kept", again.fingerprint))
            np.testing.assert_array_equal(again.dot(np.ones(24)), expected)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_any_columns_of_any_cut(data):
    n, d = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 40))
    values = np.random.default_rng(data.draw(st.integers(0, 99))).integers(-3, 4, (n, d)).astype(np.int8)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    order = data.draw(st.sampled_from("CF"))
    W = np.arange(float(2 * mask.sum())).reshape(-1, 2)
    with block_bytes(data.draw(st.integers(1, 200))):
        view = open_matrix(np.array(values, order=order)).columns(mask)
        np.testing.assert_array_equal(view.dot(W), values[:, mask].astype(float) @ W)
        np.testing.assert_array_equal(view.tdot(np.ones(n)), values[:, mask].sum(axis=0))
