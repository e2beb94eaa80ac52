"""Table of an experiment: rows under named columns, stored as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline.errors import FileFormatError, InvalidParameterError

#: What a cell may hold.
Value = str | bool | int | float


@dataclass(frozen=True)
class Table:
    """Rows under named columns; the same after it has been written as CSV and read again.

    Parameters
    ----------
    columns : tuple of str
        Names.
    rows : tuple of tuples
        Cells: text, numbers, true and false.

    Examples
    --------
    >>> table = Table(("family", "r", "error"), (("CW", 256, 0.2), ("CW", 512, 0.1), ("RS", 256, 0.3)))
    >>> table.where(family="CW")["error"]
    array([0.2, 0.1])
    >>> table.distinct("family")
    ['CW', 'RS']
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InvalidParameterError(f"a row of {len(row)} cells under {len(self.columns)} columns: {row}")

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        """Return a column of numbers."""
        return np.array([float(value) for value in self.values(column)])

    def values(self, column: str) -> list[Value]:
        """Return the cells of a column.

        Parameters
        ----------
        column : str
            Its name.

        Returns
        -------
        cells : list
            In order.
        """
        place = self._place(column)
        return [row[place] for row in self.rows]

    def where(self, **wanted: Value) -> Table:
        """Return the rows that have these values.

        Parameters
        ----------
        **wanted : text, number or bool
            Value by column.

        Returns
        -------
        table : Table
            The rows, in order.
        """
        places = {self._place(column): value for column, value in wanted.items()}
        kept = tuple(row for row in self.rows if all(row[place] == value for place, value in places.items()))
        return Table(self.columns, kept)

    def distinct(self, column: str) -> list[Value]:
        """Return the different values of a column.

        Parameters
        ----------
        column : str
            Its name.

        Returns
        -------
        values : list
            In the order in which they come first.
        """
        return list(dict.fromkeys(self.values(column)))

    def mean(self, column: str) -> float:
        """Return the mean of a column.

        Parameters
        ----------
        column : str
            Its name.

        Returns
        -------
        mean : float
            NaN where there are no rows.
        """
        return float(self[column].mean()) if self.rows else math.nan

    def spread(self, column: str) -> float:
        """Return the standard deviation of a column.

        Parameters
        ----------
        column : str
            Its name.

        Returns
        -------
        deviation : float
            Of a sample; NaN for fewer than two rows.
        """
        return float(self[column].std(ddof=1)) if len(self.rows) > 1 else math.nan

    def standard_error(self, column: str) -> float:
        """Return the standard error of a column's mean, the rows being independent.

        Parameters
        ----------
        column : str
            Its name.

        Returns
        -------
        error : float
            NaN for fewer than two rows.
        """
        return self.spread(column) / math.sqrt(len(self.rows)) if self.rows else math.nan

    def to_csv(self) -> str:
        """Return the table as CSV: numbers with all their digits.

        Returns
        -------
        text : str
            A line for the names and one for each row.
        """
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_written(value) for value in row] for row in self.rows)
        return file.getvalue()

    @staticmethod
    def from_csv(text: str, name: str = "CSV") -> Table:
        """Read what `to_csv` wrote.

        Parameters
        ----------
        text : str
            CSV.
        name : str
            What messages call it.

        Returns
        -------
        table : Table
            Whole numbers, numbers, true and false are told by their looks.
        """
        lines = list(csv.reader(io.StringIO(text)))
        if not lines:
            raise FileFormatError(f"{name}: there is nothing in it. Delete it, and it is measured again.")
        for number, line in enumerate(lines, 1):
            if len(line) != len(lines[0]):
                raise FileFormatError(f"{name}, line {number}: {len(line)} cells in place of {len(lines[0])}.")
        return Table(tuple(lines[0]), tuple(tuple(_read(cell) for cell in line) for line in lines[1:]))

    def _place(self, column: str) -> int:
        try:
            return self.columns.index(column)
        except ValueError:
            known = ", ".join(self.columns)
            raise InvalidParameterError(f"there is no column {column!r}; there are {known}.") from None


def table_of(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a table of what arrays and loops give: NumPy's scalars become plain ones.

    Parameters
    ----------
    columns : sequence of str
        Names.
    rows : iterable of sequences
        Cells.

    Returns
    -------
    table : Table
        Of plain values.
    """
    return Table(tuple(columns), tuple(tuple(_plain(value) for value in row) for row in rows))


def _plain(value: object) -> Value:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)  # as it will be read again
    if isinstance(value, str | bool | int | float):
        return value
    raise InvalidParameterError(f"a cell holds text, a number, true or false, not {value!r}")


def _written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(cell: str) -> Value:
    if cell in ("true", "false"):
        return cell == "true"
    try:
        return int(cell)
    except ValueError:
        pass
    try:
        return float(cell)
    except ValueError:
        return cell
