"""Tests of training and held-out samples."""

import numpy as np
import pytest

from slimline import open_matrix
from slimline.cli._fit_samples import LabelSource, held_out_rows, samples_of
from slimline.cli._options import DataFileOptions
from slimline.data.formats._dense import DenseMatrix
from slimline.errors import DataError, InvalidParameterError

FROM_DATA = LabelSource(None, None, None)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_every_class_gives_its_share_and_keeps_a_row(share):
    y = np.repeat(["a", "b", "c"], [100, 10, 1])
    kept, aside = held_out_rows(y, share, seed=3)
    assert sorted([*kept, *aside]) == list(range(len(y)))
    assert (np.diff(kept) > 0).all() and (np.diff(aside) > 0).all()
    for label, count in (("a", 100), ("b", 10), ("c", 1)):
        assert (y[aside] == label).sum() == min(round(share * count), count - 1)


def test_the_seed_decides_which():
    y = np.arange(200) % 2
    first, second, again = (held_out_rows(y, 0.2, seed)[1].tolist() for seed in (0, 1, 0))
    assert first == again != second


@pytest.mark.parametrize("share", [-0.1, 1.0, 2.0, float("nan")])
def test_a_share_that_is_none(share):
    with pytest.raises(InvalidParameterError, match="holdout must be a share"):
        held_out_rows(np.array([0, 1]), share, 0)


def test_rows_without_a_label_are_in_neither_part():
    X = np.random.default_rng(0).standard_normal((40, 5))
    y = np.where(np.arange(40) % 4 == 0, np.nan, np.arange(40) % 2)
    samples = samples_of(DenseMatrix(X, labels=y), FROM_DATA, 0.25, 0)
    assert samples.left_out == 10 and samples.smallest_class == 8
    both = np.vstack([samples.train.dot(np.eye(5)), samples.test.dot(np.eye(5))])
    assert both.shape == (30, 5)
    assert np.array_equal(both[np.lexsort(both.T)], (labelled := X[~np.isnan(y)])[np.lexsort(labelled.T)])
    for part, labels in ((samples.train, samples.y), (samples.test, samples.y_test)):
        rows = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in part.dot(np.eye(5))]
        assert np.array_equal(y[rows], labels)


def test_nothing_held_out_trains_on_the_data_themselves():
    data = DenseMatrix(np.eye(6), labels=np.arange(6) % 2)
    samples = samples_of(data, FROM_DATA, 0.0, 0)
    assert samples.train is data and samples.test is None and samples.held_out == ""


def test_a_file_of_its_own(tmp_path):
    path = tmp_path / "later.csv"
    path.write_text("who,a,b,kind\nx,1,2,p\ny,3,4,NA\nz,5,6,q\n")
    data = DenseMatrix(np.eye(4)[:, :2], labels=np.array(list("pqpq")))
    samples = samples_of(data, FROM_DATA, 0.0, 0, DataFileOptions(path, None, "kind", "who").open())
    assert samples.train is data
    assert samples.test.dot(np.eye(2)).tolist() == [[1, 2], [5, 6]] and samples.y_test.tolist() == ["p", "q"]
    assert samples.held_out == "all of later.csv"


def test_data_without_labels():
    with pytest.raises(DataError, match="--labels FILE --target COLUMN"):
        samples_of(open_matrix(np.eye(4)), FROM_DATA, 0.2, 0)
