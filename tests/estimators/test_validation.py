"""Tests of the data and labels that classifiers accept and refuse."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

from slimline import open_matrix
from slimline.data import Matrix
from slimline.errors import DataError
from slimline.estimators._validation import NamedFeatures, as_matrix, class_labels

VALUES = np.array([[1, 0, 3], [0, 5, 6]])


class Learner(NamedFeatures, BaseEstimator):
    """An estimator that holds names and numbers only."""


def _dense(matrix: Matrix) -> np.ndarray:
    return matrix.dot(np.eye(matrix.shape[1]))


TYPES = ["f8", "f4", "i1", "u1", "i2", "i4", "i8", "u4", "?", "longdouble"]
DENSE_TYPES = [*TYPES, "f2", ">f8"]  # SciPy has no sparse matrices of the last two


@pytest.mark.parametrize(
    "container, dtype",
    [
        *product([np.array, np.asfortranarray], DENSE_TYPES),
        *product([sp.csr_array, sp.csc_matrix, sp.coo_array], TYPES),
    ],
)
def test_numbers_keep_their_type(container, dtype):
    learner, X = Learner(), container(VALUES.astype(dtype))
    matrix = as_matrix(learner, X, reset=True)
    np.testing.assert_array_equal(_dense(matrix), VALUES.astype(dtype).astype(float))
    assert learner.n_features_in_ == 3
    assert not hasattr(learner, "feature_names_in_")
    kept = np.dtype(dtype).newbyteorder("=")
    assert matrix.dtype == (kept if kept in map(np.dtype, ("f8", "f4", "f2", "i1", "u1", "i2", "?")) else np.float64)


@pytest.mark.parametrize("X", [VALUES.astype(object), VALUES.tolist(), pd.DataFrame(VALUES).astype("Int64")])
def test_objects_lists_and_extension_types_become_numbers(X):
    np.testing.assert_array_equal(_dense(as_matrix(Learner(), X, reset=True)), VALUES)


def test_an_array_is_not_copied():
    X = VALUES.astype(np.float32)
    matrix = as_matrix(Learner(), X, reset=True)
    X[0, 0] = 7
    assert _dense(matrix)[0, 0] == 7


def test_a_mapped_file_is_read_as_a_file(tmp_path):
    np.save(tmp_path / "X.npy", VALUES.astype(np.float32))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    matrix = as_matrix(Learner(), X, reset=True)
    assert "X.npy" in matrix.name
    np.testing.assert_array_equal(_dense(matrix), VALUES)


def test_a_matrix_is_taken_as_it_is_and_not_read():
    X = open_matrix(VALUES)
    assert as_matrix(Learner(), X, reset=True) is X
    assert X.passes == 0


@pytest.mark.parametrize(
    "frame",
    [
        lambda names: pd.DataFrame(VALUES, columns=names),
        lambda names: pl.DataFrame(VALUES, schema=names),
        lambda names: open_matrix(VALUES, feature_names=names),
    ],
)
def test_names_are_recorded_and_compared(frame):
    learner = Learner()
    X = as_matrix(learner, frame(["a", "b", "c"]), reset=True)
    assert list(learner.feature_names_in_) == ["a", "b", "c"] == list(X.feature_names)
    as_matrix(learner, frame(["a", "b", "c"]), reset=False)
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- d\n.*missing:\n- c"):
        as_matrix(learner, frame(["a", "b", "d"]), reset=False)
    with pytest.raises(ValueError, match="same order"):
        as_matrix(learner, frame(["b", "a", "c"]), reset=False)
    for nameless in (VALUES, open_matrix(VALUES)):
        with pytest.warns(UserWarning, match="does not have valid feature names, but Learner was fitted with"):
            as_matrix(learner, nameless, reset=False)
    as_matrix(learner, VALUES, reset=True)
    assert not hasattr(learner, "feature_names_in_")
    with pytest.warns(UserWarning, match="X has feature names, but Learner was fitted without"):
        as_matrix(learner, frame(["a", "b", "c"]), reset=False)


def test_names_of_a_frame_and_of_a_matrix_are_the_same_names():
    learner, names = Learner(), ["a", "b", "c"]
    as_matrix(learner, pd.DataFrame(VALUES, columns=names), reset=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_matrix(learner, open_matrix(VALUES, feature_names=names), reset=False)
        as_matrix(learner, pl.DataFrame(VALUES, schema=names), reset=False)


@pytest.mark.parametrize("container", [np.array, sp.csr_array, open_matrix])
def test_another_number_of_features_is_refused(container):
    learner = Learner()
    as_matrix(learner, container(VALUES), reset=True)
    with pytest.raises(ValueError, match="X has 2 features, but Learner is expecting 3 features as input"):
        as_matrix(learner, container(VALUES[:, :2]), reset=False)


@pytest.mark.parametrize("container", [np.array, sp.csr_array, sp.csc_array, pd.DataFrame])
@pytest.mark.parametrize("bad, word", [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_that_are_not_finite_are_refused(container, bad, word, dtype):
    X = VALUES.astype(dtype)
    X[1, 1] = bad
    with pytest.raises(ValueError, match=f"Input X contains {word}"):
        as_matrix(Learner(), container(X), reset=True)
    with sklearn.config_context(assume_finite=True):
        as_matrix(Learner(), container(X), reset=True)


def test_finite_values_whose_sum_overflows_are_taken():
    for dtype in (np.float64, np.float32):
        as_matrix(Learner(), np.full((2, 3), np.finfo(dtype).max), reset=True)


@pytest.mark.parametrize(
    "X, message",
    [
        (np.arange(3.0), "Reshape your data"),
        (np.zeros((0, 3)), "0 sample"),
        (np.zeros((3, 0)), "0 feature"),
        (VALUES + 1j, "Complex data not supported"),
        (sp.csr_array(VALUES + 1j), "Complex data not supported"),
        (np.zeros((2, 3, 4)), "dim 3"),
        (np.array([["a", "b"]]), "could not convert|not compatible"),
        (open_matrix(np.zeros((0, 3))), "0 sample"),
        (open_matrix(np.zeros((3, 0))), "0 feature"),
        (sp.csr_array((3, 0)), "0 feature"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        as_matrix(Learner(), X, reset=True)


@pytest.mark.parametrize(
    "y", [[3, 1, 3], ["b", "a", "b"], [True, False, True], np.array(["b", "a", "b"], dtype=object), [1.0, -1.0, 1.0]]
)
def test_classes_are_sorted_and_codes_point_to_them(y):
    classes, codes = class_labels(y, 3)
    assert list(classes) == sorted(set(y))
    assert list(classes[codes]) == list(y)


def test_labels_that_cannot_be_classes_are_refused():
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        class_labels(None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        class_labels([0, 1], 3)
    with pytest.raises(ValueError, match="Unknown label type"):
        class_labels([0.5, 1.25, 2.0])
    with pytest.raises(ValueError, match="NaN"):
        class_labels([0.0, np.nan])
    with pytest.raises(DataError, match="only one class, 'cat': a classifier needs"):
        class_labels(["cat", "cat"])
    with pytest.warns(DataConversionWarning):
        class_labels(np.array([[0], [1]]), warn=True)
