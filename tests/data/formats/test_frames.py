import numpy as np
import pytest

from slimline import open_matrix
from slimline.errors import InvalidParameterError


def test_an_index_of_pandas_names_the_rows():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], 7: [4.0, 5.0, 6.0]})
    assert open_matrix(frame).sample_ids is None
    assert open_matrix(frame).feature_names == ["a", "7"]
    assert open_matrix(frame[frame["a"] > 1]).sample_ids == ["1", "2"]
    named = frame.set_axis(["x", "y", "z"], axis=0)
    assert open_matrix(named).sample_ids == ["x", "y", "z"]
    assert open_matrix(named, sample_ids=["p", "q", "r"]).sample_ids == ["p", "q", "r"]


def test_numbers_of_several_types_with_nulls():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2], "b": pd.array([3, None], dtype="Int64"), "c": [True, False]})
    stats = open_matrix(frame).column_stats()
    assert stats.missing.tolist() == [0, 1, 0] and stats.sum.tolist() == [3, 3, 1]
    pl = pytest.importorskip("polars")
    stats = open_matrix(pl.DataFrame({"a": [1, 2], "b": [3, None], "c": [True, False]})).column_stats()
    assert stats.missing.tolist() == [0, 1, 0] and stats.sum.tolist() == [3, 3, 1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_first_column_without_numbers_is_named(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"a": np.ones(2), "city": ["Rome", "1"], "street": ["x", "y"]})
    with pytest.raises(InvalidParameterError, match="column 'city' does not hold numbers"):
        open_matrix(frame)
