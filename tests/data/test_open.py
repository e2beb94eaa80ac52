import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline.errors import InvalidParameterError


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_names_ids_and_labels_fit(make):
    x = make(np.eye(3, 2))
    X = open_matrix(x, feature_names=np.array(["a", "b"]), sample_ids=("p", "q", "r"), labels=["u", "v", "u"])
    assert list(X.feature_names) == ["a", "b"] and list(X.sample_ids) == ["p", "q", "r"]
    assert isinstance(X.labels, np.ndarray) and X.rows([2, 1]).labels.tolist() == ["u", "v"]
    for options, said in (
        ({"feature_names": ["a"]}, "1 feature name, and its matrix is 3 × 2"),
        ({"sample_ids": ["p", "q"]}, "2 sample ids"),
        ({"labels": [1, 2, 3, 4]}, "4 labels"),
        ({"labels": [[1], [2], [3]]}, "vector"),
        ({"labels": 1}, "vector"),
        ({"labels": [[1], [2, 3], [4]]}, "vector"),
        ({"feature_names": "ab"}, "sequence of texts"),
        ({"sample_ids": 3}, "sequence of texts"),
    ):
        with pytest.raises(InvalidParameterError, match=said):
            open_matrix(x, **options)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_masked_values_of_floats_are_missing(dtype):
    array = np.ma.masked_array(np.arange(6, dtype=dtype).reshape(2, 3), mask=[[0, 1, 0], [0, 0, 0]])
    stats = open_matrix(array).column_stats()
    assert stats.missing.tolist() == [0, 1, 0] and stats.mean.tolist() == [1.5, 4.0, 3.5]
    assert array.data[0, 1] == 1  # the array itself is not touched


def test_masked_values_of_whole_numbers_have_to_be_filled():
    array = np.ma.masked_array(np.arange(6).reshape(2, 3), mask=[[0, 1, 0], [0, 0, 0]])
    with pytest.raises(InvalidParameterError, match=r"array\.filled\(number\) with missing=number"):
        open_matrix(array)
    assert open_matrix(array.filled(-1), missing=-1).column_stats().missing.tolist() == [0, 1, 0]
    assert open_matrix(np.ma.masked_array(np.eye(2, dtype=int))).dot([1, 2]).tolist() == [1, 2]


def test_a_format_is_for_files():
    for source in (np.eye(2), sp.eye_array(2, format="csr"), [[1.0]], open_matrix(np.eye(2))):
        with pytest.raises(InvalidParameterError, match="format='npy' is for files"):
            open_matrix(source, format="npy")


def test_lists():
    assert open_matrix([[1, 2], [3, 4]]).dot([1, 1]).tolist() == [3, 7]
    for wrong in ([[1, 2], [3]], [["a", "b"]], [[None, 1]]):
        with pytest.raises(InvalidParameterError, match="the matrix"):
            open_matrix(wrong)


def test_a_file_that_is_not_there_is_not_found_whatever_its_ending(tmp_path):
    for name in ("absent.npy", "absent.xyz", "absent"):
        with pytest.raises(FileNotFoundError, match=f"{name}: no such file"):
            open_matrix(tmp_path / name)
