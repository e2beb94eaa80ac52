"""CSV, TSV and other text in columns: indexed once, then streamed as rows of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native
from slimline.data.block import Block
from slimline.data.block_memory import block_memory
from slimline.data.digest import digest
from slimline.data.formats.delimited_columns import Columns, Options, find_columns
from slimline.data.matrix import Matrix
from slimline.data.row_groups import GROUP_BYTES, RowGroup, group_blocks
from slimline.data.text_lines import TextFile, TextLines
from slimline.errors import FileFormatError, InvalidParameterError

#: What stands for a missing value, unless it is said otherwise.
MISSING_TEXT = ("", "NA", "nan", "NaN", ".")


class DelimitedMatrix(Matrix):
    """The numeric columns of a text file, as blocks of rows.

    Parameters
    ----------
    text : TextFile
        Where it is.
    columns : Columns
        What its columns are.
    index : DelimitedIndex
        What the pass that opened it found.
    dtype : data type
        float64 or float32.
    """

    def __init__(self, text: TextFile, columns: Columns, index: DelimitedIndex, dtype: Any) -> None:
        rows = index.groups[-1].first_row + index.groups[-1].rows
        super().__init__((rows, columns.n_features), dtype, text.file.path.name)
        self._text, self._columns, self._index = text, columns, index
        self._counter.count = 1  # finding the rows went through all of the text

    def blocks(self, whole_columns: bool = False) -> Iterator[Block]:
        """Yield groups of rows."""
        rooms: dict[int, NDArray[Any]] = {}
        rows = max(group.rows for group in self._index.groups)
        columns = self._columns.without_texts()

        def parse(group: RowGroup, lines: TextLines, slot: int) -> Block:
            if slot not in rooms:
                rooms[slot] = block_memory(rows * self.shape[1], self.dtype).reshape(rows, -1)
            values = rooms[slot][: group.rows]
            columns.skip_header(lines)
            done = 0
            while done < group.rows:
                if not lines.fill():
                    self._text.refuse_changed()
                done += columns.parse(lines, values[done:]).rows
            return Block(slice(group.first_row, group.first_row + group.rows), slice(0, self.shape[1]), values)

        return group_blocks(self._text, self._index.groups, parse)

    @property
    def feature_names(self) -> Sequence[str] | None:
        """Return the names of the columns, where the file has a header."""
        return self._columns.feature_names

    @property
    def sample_ids(self) -> Sequence[str] | None:
        """Return what stands in the id column, if one was named."""
        return self._index.ids

    @property
    def labels(self) -> NDArray[Any] | None:
        """Return what stands in the label column, if one was named: numbers if all of them are, else text."""
        return self._index.labels

    @property
    def fingerprint(self) -> str:
        """Return a digest of shape, roles of the columns and pieces of the file."""
        return digest("delimited", self.shape, self.dtype, self._columns.description, self._text.file.fingerprint())

    def require_unchanged(self) -> None:
        """Raise if the file changed or is gone."""
        self._text.file.require_unchanged()


def open_delimited(
    path: Any,
    *,
    delimiter: str | None = None,
    header: bool | Literal["auto"] = "auto",
    label: str | int | None = None,
    id: str | int | None = None,
    missing_text: Sequence[str] = MISSING_TEXT,
    dtype: Any = np.float64,
) -> DelimitedMatrix:
    """Return the matrix of a text file in columns, plain or compressed with gzip, bzip2 or xz.

    Parameters
    ----------
    path : str or path
        The file: one row a line, UTF-8. Cells may be quoted; a quoted cell ends on its line. Blank lines are passed
        over.
    delimiter : str, optional
        What stands between cells; " " means any run of spaces and tabs. Default: what the first line shows.
    header : bool or "auto"
        Whether the first line holds the names of the columns. "auto": it does if its cells (label and id left out)
        are neither numbers nor missing; one with both texts and numbers is an error.
    label : str or int, optional
        Name, or number from 0 (from the end: -1), of the column with the labels.
    id : str or int, optional
        The same for the column with the names of the rows.
    missing_text : sequence of str
        Cells that stand for a missing value, which becomes NaN.
    dtype : data type
        float64 or float32: what the numbers are rounded to.

    Returns
    -------
    matrix : DelimitedMatrix
        Opening goes through the file once, to find rows, labels and ids and to check every cell; that counts as the
        first pass.
    """
    try:
        dtype = np.dtype(dtype)
    except TypeError:
        raise InvalidParameterError(f"dtype must be float64 or float32; got {dtype!r}.") from None
    if dtype not in (np.float64, np.float32):
        raise InvalidParameterError(f"dtype must be float64 or float32; got {dtype}.")
    text = TextFile(path)
    columns = find_columns(text, Options(delimiter, header, label, id, missing_text))
    return DelimitedMatrix(text, columns, _index(text, columns, dtype), dtype)


@dataclass(frozen=True, slots=True)
class DelimitedIndex:
    """What the first pass finds.

    Parameters
    ----------
    groups : list of RowGroup
        Rows that are parsed together.
    ids : list of str, optional
        Names of the rows.
    labels : array, optional
        Label of each row.
    """

    groups: list[RowGroup]
    ids: list[str] | None
    labels: NDArray[Any] | None


def _index(text: TextFile, columns: Columns, dtype: np.dtype[Any]) -> DelimitedIndex:
    groups: list[RowGroup] = []
    texts: list[list[str]] = [[] for _ in columns.texts]
    most_rows = max(1, GROUP_BYTES // max(columns.n_features * dtype.itemsize, 256))
    values = block_memory(most_rows * columns.n_features, dtype).reshape(most_rows, -1)
    with text.lines() as lines:
        columns.skip_header(lines)
        more = lines.fill()
        while more:
            start, line, first_row = lines.offset, lines.line, groups[-1].first_row + groups[-1].rows if groups else 0
            rows = 0
            while more and rows < most_rows:
                rows += columns.parse(lines, values[rows:], texts).rows
                more = lines.fill()
            if rows:
                group = RowGroup(len(groups), start, lines.offset, line, first_row, rows, rows * columns.n_features)
                groups.append(group)
    if not groups:
        raise FileFormatError(f"{text} holds no rows of numbers.")
    ids = texts[columns.texts.index("id")] if "id" in columns.texts else None
    labels = _labels(texts[columns.texts.index("label")], columns) if "label" in columns.texts else None
    return DelimitedIndex(groups, ids, labels)


def _labels(texts: list[str], columns: Columns) -> NDArray[Any]:
    """Return numbers, a missing one as NaN, if the texts are numbers; else the texts."""
    numbers = np.empty(len(texts))
    for row, text in enumerate(texts):
        if text in columns.missing_text:
            numbers[row] = np.nan
            continue
        value = _native.parse_number(np.frombuffer(text.encode(), dtype=np.uint8))
        if value is None:
            return np.array(texts, dtype=str)
        numbers[row] = value
    return np.array(texts, dtype=str) if np.isnan(numbers).all() else numbers
