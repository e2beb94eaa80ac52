"""Tables: rows under names, and CSV."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slimline.errors import FileFormatError, InvalidParameterError
from slimline_papers import Table
from slimline_papers.table import table_of

TABLE = Table(("family", "r", "error"), (("CW", 256, 0.2), ("CW", 512, 0.1), ("RS", 256, 0.4)))


def test_columns_and_rows():
    assert len(TABLE) == 3
    assert TABLE["r"].tolist() == [256, 512, 256] and TABLE["r"].dtype == np.float64
    assert TABLE.values("family") == ["CW", "CW", "RS"]
    assert TABLE.distinct("r") == [256, 512]


def test_rows_are_picked_by_value():
    assert TABLE.where(family="CW", r=512).rows == (("CW", 512, 0.1),)
    assert TABLE.where(r=256.0)["error"].tolist() == [0.2, 0.4]
    assert len(TABLE.where(family="FHT")) == 0


def test_statistics():
    rows = TABLE.where(r=256)
    assert rows.mean("error") == pytest.approx(0.3)
    assert rows.spread("error") == pytest.approx(np.std([0.2, 0.4], ddof=1))
    assert rows.standard_error("error") == pytest.approx(0.1)
    none, one = TABLE.where(r=1), TABLE.where(r=512)
    assert all(math.isnan(x) for x in (none.mean("error"), none.spread("error"), none.standard_error("error")))
    assert one.mean("error") == 0.1 and math.isnan(one.spread("error")) and math.isnan(one.standard_error("error"))


@pytest.mark.parametrize(
    "ask", [lambda t: t["x"], lambda t: t.values("x"), lambda t: t.where(x=1), lambda t: t.distinct("x")]
)
def test_a_column_that_is_none(ask):
    with pytest.raises(InvalidParameterError, match="no column 'x'; there are family, r, error"):
        ask(TABLE)


def test_rows_must_fit_the_columns():
    with pytest.raises(InvalidParameterError, match="a row of 1 cells under 2 columns"):
        Table(("a", "b"), ((1,),))


def test_numpy_becomes_plain():
    table = table_of(["a", "b", "c", "d"], [[np.int64(3), np.float32(0.5), np.bool_(True), np.str_("x")]])
    assert table.rows == ((3, 0.5, True, "x"),)
    assert [type(cell) for cell in table.rows[0]] == [int, float, bool, str]


@pytest.mark.parametrize("cell", [None, [1, 2], np.zeros(2), {}, 1j])
def test_other_cells_are_refused(cell):
    with pytest.raises(InvalidParameterError):
        table_of(["a"], [[cell]])


# what looks like a number or a truth value is read as one
_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1).map("text {}".format)
_NUMBERS = st.integers() | st.floats(allow_nan=False)


@given(st.lists(st.tuples(_TEXTS | st.booleans() | _NUMBERS, _NUMBERS)))
def test_csv_gives_back_what_was_written(rows):
    table = table_of(["a, “b”", "c"], rows)
    again = Table.from_csv(table.to_csv())
    assert again == table
    assert [[type(cell) for cell in row] for row in again.rows] == [[type(cell) for cell in row] for row in table.rows]


def test_csv_of_what_is_no_number():
    again = Table.from_csv(table_of(["a"], [[math.nan], [-math.inf]]).to_csv())
    assert math.isnan(again["a"][0]) and again["a"][1] == -math.inf


def test_csv_of_another_kind():
    with pytest.raises(FileFormatError, match=r"norms\.csv: there is nothing in it"):
        Table.from_csv("", "norms.csv")
    with pytest.raises(FileFormatError, match=r"norms\.csv, line 3: 1 cells in place of 2"):
        Table.from_csv("a,b\n1,2\n3\n", "norms.csv")
