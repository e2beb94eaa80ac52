"""Tests of the arguments of an audit, its progress and its interruption."""

import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from slimline import audit, open_matrix
from slimline.errors import DataError, FileFormatError, InvalidParameterError, NonFiniteError
from slimline.projections import Gaussian, Projection
from tests.auditing.clouds import clouds, several
from tests.refusals import refuses

N, D = 14, 40


def whole_numbers():
    """Return numbers that every type holds exactly."""
    X, y = clouds(N, D, 6.0, seed=0)
    return np.clip(np.round(2.0 * X), -100, 100), y


def audited(X, y=None, **settings):
    return audit(X, y, **{"n_components": 12, "repeats": 2, "projection": "sign", **settings})


def assert_same(found, expected):
    """Both measured the same values; int8 and float64 are summed in another order."""
    assert (found.n_classes, found.rank, found.outcome) == (expected.n_classes, expected.rank, expected.outcome)
    assert found.projections == expected.projections
    for one, other in zip((*found.margins, found.ball), (*expected.margins, expected.ball), strict=True):
        assert one.name == other.name
        np.testing.assert_allclose([one.before, *one.after], [other.before, *other.after], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.embedding.after, expected.embedding.after, rtol=1e-9)
    for one, other in zip(found.pairs, expected.pairs, strict=True):
        np.testing.assert_allclose(one.largest, other.largest, rtol=1e-9)
        assert one.share_within == other.share_within


@pytest.fixture(scope="module")
def expected():
    return audited(*whole_numbers())


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "int16", "int32"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays(expected, dtype, order):
    X, y = whole_numbers()
    assert_same(audited(np.asarray(X, dtype=dtype, order=order), y), expected)


@pytest.mark.parametrize("storage", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_sparse_matrices(expected, storage):
    X, y = whole_numbers()
    assert_same(audited(storage(X), y), expected)


def test_frames_lists_and_views(expected):
    X, y = whole_numbers()
    assert_same(audited(pd.DataFrame(X), pd.Series(np.where(y == 1, "case", "a control"))), expected)
    assert_same(audited(X.tolist(), y.tolist()), expected)
    assert_same(audited(np.repeat(X, 2, axis=0)[::2], y.astype(float)), expected)
    order = np.random.default_rng(0).permutation(N)
    assert_same(audited(open_matrix(X[order]).rows(np.argsort(order)), y), expected)
    assert_same(audited(open_matrix(sp.csr_array(X + 3.0)).standardised(np.full(D, 3.0), None), y), expected)


def test_files(expected, tmp_path):
    X, y = whole_numbers()
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    assert_same(audited(tmp_path / "x.npy", y), expected)
    assert_same(audited(str(tmp_path / "x.npy"), y), expected)
    sp.save_npz(tmp_path / "x.npz", sp.csr_matrix(X))
    assert_same(audited(tmp_path / "x.npz", y), expected)
    assert audited(tmp_path / "x.npy").data == "x.npy"


def test_labels_that_the_data_carry(expected, tmp_path):
    X, y = whole_numbers()

    def written(labels):
        lines = (
            f"{label} " + " ".join(f"{j + 1}:{value:g}" for j, value in enumerate(row) if value)
            for label, row in zip(labels, X, strict=True)
        )
        (tmp_path / "x.svm").write_text("\n".join(lines) + "\n")
        return tmp_path / "x.svm"

    assert_same(audited(written(y)), expected)
    assert audited(written(y), 1 - y).n_classes == 2  # those that are given count
    assert audited(written(np.zeros(N, dtype=int))).n_classes == 0  # such files are common, and mean nothing by it
    assert audited(written(np.linspace(0.5, 1.3, N))).n_classes == 0


def test_what_data_cannot_be(tmp_path):
    X, y = clouds(N, D, 3.0, seed=1)
    bad = X.copy()
    bad[3, 7] = np.nan
    with pytest.raises(NonFiniteError, match="row 3, column 7"):
        audited(bad, y)
    bad[3, 7] = np.inf
    with pytest.raises(NonFiniteError, match="row 3, column 7"):
        audited(sp.csr_array(bad), y)
    zero = X.copy()
    zero[[2, 9]] = 0.0
    with pytest.raises(DataError, match="rows 2, 9 of array, counted from 0: nothing but zeros"):
        audited(zero, y)
    for empty in (np.zeros((0, 5)), np.zeros((5, 0))):
        with pytest.raises(DataError, match="shape"):
            audited(empty)
    with pytest.raises((DataError, InvalidParameterError)):
        audited(np.array([["a", "b"], ["c", "d"]]))
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(FileFormatError):
        audited(tmp_path / "x.npy")


def test_what_labels_cannot_be():
    X, y = clouds(N, D, 3.0, seed=1)
    with pytest.raises(DataError):
        audited(X, np.ones(N))
    with refuses("y"):
        audited(X, y[1:])
    with pytest.raises(DataError):
        audited(X, [None, *y[1:]])
    with pytest.raises(DataError):
        audited(X, [np.nan, *y[1:]])
    with refuses("y"):
        audited(X, np.linspace(0.1, 0.9, N))
    with refuses("y"):
        audited(X, y.reshape(7, 2))
    with refuses("projection"):
        audited(X, y, projection=np.eye(D), n_components=None)
    assert audited(X, y[:, None]).n_classes == 2


def test_equal_points_with_different_labels_are_named():
    X, y = whole_numbers()
    found = audited(np.vstack([X, X[3:4], X[5:6] + 1e-9]), np.append(y, 1 - y[[3, 5]]))
    assert found.margins[2].before == 0.0
    assert [note for note in found.notes if "labels" in note] == [
        "Equal rows with different labels, counted from 0, such as 3 and 14: nothing tells them apart."
    ]
    again = np.tile(X, (3, 1)), np.tile(np.arange(N) % 3, 3) // np.repeat([1, 2, 1], N)
    for storage in (
        np.asarray,
        sp.csr_array,
        lambda rows: open_matrix(rows).standardised(),
        lambda rows: rows[:, ::-1],
    ):
        note = next(note for note in audited(storage(again[0]), again[1]).notes if "labels" in note)
        assert note.count(" and ") == 5
    sample = open_matrix(np.vstack([X[:2], X])).rows([0, 1, 2, 4, 6])
    assert "such as 0 and 2:" in audited(sample, [0, 0, 1, 1, 0]).notes[0]


@pytest.mark.parametrize(
    "settings",
    [
        *({"repeats": repeats} for repeats in (0, 2.5)),
        *({"eps": eps} for eps in (0.0, 1.0, np.nan, "small")),
        *({"delta": delta} for delta in (0.0, 1)),
        *({"errors": errors} for errors in (1.0, -0.1, True)),
        {"n_components": 0},
        *({"random_state": state} for state in (-1, "seed")),
        {"n_components": 4, "projection": Gaussian(D, 4, 0)},
    ],
    ids=str,
)
def test_settings_are_checked_before_anything_is_read(settings):
    X, y = clouds(N, D, 3.0, seed=1)
    matrix = open_matrix(X)
    with refuses(next(iter(settings))):
        audited(matrix, y, **settings)
    assert matrix.passes == 0


def test_rows_of_zeros_are_found_before_anything_is_measured():
    X, y = clouds(N, D, 3.0, seed=1)
    X[4] = 0.0
    matrix = open_matrix(X)
    with pytest.raises(DataError, match="row 4 of array"):
        audited(matrix, y)
    assert matrix.passes == 2  # the Gram matrix, and a look at whether it is zeros or numbers whose squares are


def test_every_kind_of_random_state():
    X, y = clouds(N, D, 3.0, seed=1)
    one, two = (audited(X, y, random_state=np.random.RandomState(5)).projections for _ in range(2))
    assert one == two != audited(X, y, random_state=5).projections
    assert audited(X, y, random_state=None).projections != audited(X, y, random_state=None).projections
    large = audited(X, y, random_state=2**64 - 1)
    assert Projection.from_json(large.projections[0]).seed == 2**64 - 1


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_passes_are_few_and_counted(storage):
    X, y = clouds(N, D, 3.0, seed=1)
    matrix = open_matrix(storage(X))
    found = audited(matrix, y, repeats=2)
    more = audited(matrix, y, repeats=7)
    assert matrix.passes == found.passes + more.passes
    assert more.passes - found.passes == 5  # one a draw
    three = open_matrix(storage(X))
    codes = np.arange(N) % 3
    assert audited(three, codes, repeats=4).passes - audited(three, codes, repeats=1).passes == 3 * (1 + 3)


def test_progress_is_told_after_every_draw():
    X, y = clouds(N, D, 3.0, seed=1)
    told = []
    audited(X, y, repeats=3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_audit_can_be_stopped_and_made_again(tmp_path):
    X, y = several(N, 3, D, seed=2)
    np.save(tmp_path / "x.npy", X)
    matrix = open_matrix(tmp_path / "x.npy")
    threads = threading.active_count()

    def stop(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audited(matrix, y, repeats=5, progress=stop)
    assert threading.active_count() == threads
    again, fresh = audited(matrix, y, repeats=2), audited(X, y, repeats=2)
    assert again.margins == fresh.margins and again.pairs == fresh.pairs


def test_nothing_that_is_given_is_changed():
    X, y = clouds(N, D, 3.0, seed=1)
    values, labels = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    audited(X, y)
    np.testing.assert_array_equal(X, values)
    np.testing.assert_array_equal(y, labels)
