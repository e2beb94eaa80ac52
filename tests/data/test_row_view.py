import numpy as np
import pytest

from slimline import open_matrix
from slimline.errors import InvalidParameterError, NonFiniteError

X = np.random.default_rng(0).standard_normal((9, 4))


@pytest.mark.parametrize("part", [slice(None), slice(2, 6), slice(-3, None), slice(None, None, -2), slice(5, 2)])
def test_slices_of_rows(part):
    matrix = open_matrix(X, sample_ids=list("abcdefghi"))
    assert np.allclose(matrix.rows(part).dot(np.ones(4)), X[part].sum(axis=1), rtol=1e-14, atol=0)
    assert matrix.rows(part).sample_ids == list("abcdefghi")[part]
    again = matrix.rows(slice(1, 8)).rows(part)
    assert np.allclose(again.dot(np.ones(4)), X[1:8][part].sum(axis=1), rtol=1e-14, atol=0)


@pytest.mark.parametrize("wrong", [slice(0.5, 2), slice("a"), slice(0, 3, 0), [[0], [1, 2]], "a", 1.5])
def test_what_chooses_no_rows(wrong):
    with pytest.raises(InvalidParameterError):
        open_matrix(X).rows(wrong)


def test_an_error_names_the_row_of_the_data():
    spoilt = X.copy()
    spoilt[6, 2] = np.inf
    matrix = open_matrix(spoilt, sample_ids=list("abcdefghi"))
    views = [matrix, matrix.rows([8, 6]), matrix.rows(slice(3, 9)).rows([0, 3]), matrix.rows([6, 6])]
    views += [view.standardised(scale=np.ones(4), centre=None) for view in views]
    views += [matrix.standardised(scale=None, centre=np.ones(4)).rows([1, 6])]
    for view in views:
        with pytest.raises(NonFiniteError, match=r"row 6 \(g\), column 2"):
            view.dot(np.ones(4))


def test_one_is_not_many():
    assert repr(open_matrix(X[:1, :1])) == "<DenseMatrix array: 1 sample × 1 feature, float64>"
    assert repr(open_matrix(X).rows([0])) == "<RowView array: 1 sample × 4 features, float64>"
    assert repr(open_matrix(X[:0, :1])) == "<DenseMatrix array: 0 samples × 1 feature, float64>"
