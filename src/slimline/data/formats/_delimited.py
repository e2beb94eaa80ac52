"""Delimited text: CSV and TSV."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native
from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest
from slimline.data._files import digest
from slimline.data._matrix import Matrix
from slimline.data._names import Names
from slimline.data._passes import block_memory
from slimline.data._text import GROUP_BYTES, RowGroup, TextFile, TextLines, group_blocks
from slimline.errors import FileFormatError, InvalidParameterError

#: Roles of a column, as the native parser counts them.
_FEATURE, _TEXT, _SKIPPED = 0, 1, 2
#: The native parser counts cells without looking at the number.
#: What to do about a column of texts.
_NAME_COLUMN = "If the column names the rows, pass id=; if it holds the labels, label=."
_ONE_CELL = re.compile(r"^(the row has (?:more than )?1) cells")


@dataclass(frozen=True, slots=True)
class Options:
    """Arguments of `open_delimited`."""

    #: See there.
    delimiter: str | None
    header: Any
    label: str | int | None
    id: str | int | None
    missing_text: Sequence[str]

    def __post_init__(self) -> None:
        if self.header not in (True, False, "auto"):
            raise InvalidParameterError(f"must be True, False or 'auto'; got {self.header!r}.", "header", self.header)
        if self.delimiter is not None and (
            not isinstance(self.delimiter, str)
            or len(self.delimiter.encode("utf-8", "replace")) != 1
            or self.delimiter in '"\r\n+-.'
            or self.delimiter.isalnum()
        ):
            raise InvalidParameterError(
                f"must be one character such as ',', ';', '|', a tab or a space; got {self.delimiter!r}.",
                "delimiter",
                self.delimiter,
            )
        if isinstance(self.missing_text, str) or not all(isinstance(text, str) for text in self.missing_text):
            raise InvalidParameterError("must be a sequence of texts.", "missing_text")
        for name, column in (("label", self.label), ("id", self.id)):
            if column is not None and (isinstance(column, bool) or not isinstance(column, (str, int, np.integer))):
                raise InvalidParameterError(f"must be the name or the number of a column; got {column!r}.", name)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a file."""

    #: Delimiter of the cells.
    delimiter: str
    #: For each column, whether it is a feature, a text that is stored, or ignored.
    roles: NDArray[np.uint8]
    #: "label" and "id" in the order of their columns.
    texts: list[str]
    #: Names of all columns.
    names: list[str] | None
    #: Cells that mean a missing value.
    missing_text: list[str]

    @property
    def n_features(self) -> int:
        """Return how many columns are features."""
        return int((self.roles == _FEATURE).sum())

    @property
    def feature_names(self) -> list[str] | None:
        """Return the names of the features, where there is a header."""
        if self.names is None:
            return None
        return [name for name, role in zip(self.names, self.roles, strict=True) if role == _FEATURE]

    @property
    def description(self) -> str:
        """Return what the columns are, for a digest."""
        return repr((self.delimiter, self.texts, sorted(self.missing_text), self.names is None, self.roles.tobytes()))

    def without_texts(self) -> Columns:
        """Return the same columns with label and id passed over."""
        return replace(self, roles=np.where(self.roles == _TEXT, _SKIPPED, self.roles).astype(np.uint8), texts=[])

    def skip_header(self, lines: TextLines) -> None:
        """Go on behind the header, if there is one and the text stands at its beginning."""
        if self.names is not None and lines.line == 1:
            _first_line(lines, self.delimiter)

    def parse(self, lines: TextLines, values: NDArray[Any], texts: list[list[str]] | None = None) -> _native.ParsedText:
        """Parse rows of the text, as many as are in memory or fit the arrays."""
        places = np.empty((values.shape[0], len(self.texts), 2), dtype=np.int64)
        begin, text = lines.begin, lines.text
        parsed = _native.parse_cells(
            text, begin, lines.end, self.delimiter, self.roles, self.missing_text, values, places
        )
        if parsed.problem:
            problem = _ONE_CELL.sub(r"\1 cell", parsed.problem)
            text_cell = problem.startswith("not a number")
            remedy = (_NAME_COLUMN, "id") if text_cell else ()
            lines.refuse(f"{self._which(parsed.cell)}{problem}", parsed.lines, parsed.place, *remedy)
        if texts:
            raw = text[begin : begin + parsed.consumed].tobytes()
            for k, column in enumerate(texts):
                for start, stop in places[: parsed.rows, k].tolist():
                    column.append(_decoded(raw, start, stop, lines))
        lines.take(parsed)
        return parsed

    def _which(self, cell: int) -> str:
        if self.names is not None and 0 <= cell < len(self.names):
            return f"column {cell} ({self.names[cell]}), counted from 0: "
        return f"column {cell}, counted from 0: "


def find_columns(text: TextFile, options: Options) -> Columns:
    """Return the columns, from the first line that is not blank."""
    with text.lines() as lines:
        delimiter = options.delimiter or _delimiter(lines, text)
        cells = _first_line(lines, delimiter)
    if cells is None:
        raise FileFormatError(f"{text} is empty.")
    missing = list(options.missing_text)
    named = isinstance(options.label, str) or isinstance(options.id, str)
    header = True if options.header == "auto" and named else options.header
    if header == "auto":
        named_apart = (("label", options.label), ("id", options.id))
        apart = {_number(role, column, cells, text) for role, column in named_apart if column is not None}
        header = _names_columns({k: cell for k, cell in enumerate(cells) if k not in apart}, missing, text)
    elif named and not header:
        raise InvalidParameterError("label and id must be numbers of columns if there is no header.")
    roles = np.zeros(len(cells), dtype=np.uint8)
    special: dict[int, str] = {}
    for role, column in (("label", options.label), ("id", options.id)):
        if column is not None:
            number = _number(role, column, cells, text)
            if number in special:
                raise InvalidParameterError(f"must not be the column of the labels, {number}.", role, column)
            special[number] = role
            roles[number] = _TEXT
    if not (roles == _FEATURE).any():
        raise FileFormatError(f"{text} has no column of numbers beside label and id.")
    return Columns(delimiter, roles, [special[k] for k in sorted(special)], cells if header else None, missing)


def _first_line(lines: TextLines, delimiter: str) -> list[str] | None:
    """Return the cells of the first line that is not blank, or None at the end of the text."""
    while lines.fill():
        parsed, places = _native.line_cells(lines.text, lines.begin, lines.end, delimiter)
        if parsed.problem:
            lines.refuse(f"column {parsed.cell}, counted from 0: {parsed.problem}", parsed.lines, parsed.place)
        raw = lines.text[lines.begin : lines.begin + parsed.consumed].tobytes()
        if places:
            pairs = zip(places[::2], places[1::2], strict=True)
            cells = [_decoded(raw, start, stop, lines) for start, stop in pairs]
            lines.take(parsed)
            return cells
        lines.take(parsed)
    return None


def _delimiter(lines: TextLines, text: TextFile) -> str:
    """Return the delimiter in the first line that is not blank, without parsing it."""
    while lines.fill():
        raw = lines.text[lines.begin : lines.end].tobytes()
        line = next((line for line in raw.split(b"\n") if line.strip()), None)
        if line is None:
            lines.line += raw.count(b"\n")
            lines.begin = lines.end  # all blank
            continue
        plain = b"_".join(line.strip(b"\r\n").split(b'"')[::2])  # without what is quoted
        names = [ending.lower() for ending in text.file.path.suffixes]
        if b"\t" in plain or ".tsv" in names:
            return "\t"
        most = max((",", ";", "|"), key=lambda mark: plain.count(mark.encode()))
        return most if most.encode() in plain else (" " if b" " in plain.strip() else ",")
    return ","


def _number(name: str, column: str | int, cells: list[str], text: TextFile) -> int:
    """Return the number of a column that was named or counted, or raise."""
    if isinstance(column, str):
        if cells.count(column) != 1:
            found = "no column" if column not in cells else f"{cells.count(column)} columns"
            shown = ", ".join(cells[:8]) + (", …" if len(cells) > 8 else "")
            raise InvalidParameterError(
                f"{column!r}: {text} has {found} with that name; its first line is {shown}.", name, column
            )
        return cells.index(column)
    number = int(column) + len(cells) if column < 0 else int(column)
    if not 0 <= number < len(cells):
        raise InvalidParameterError(f"must be one of the {len(cells)} columns of {text}; got {column}.", name, column)
    return number


def _names_columns(cells: dict[int, str], missing: list[str], text: TextFile) -> bool:
    """Return whether the first line holds names, or raise if it might hold numbers as well."""
    given = {k: cell for k, cell in cells.items() if cell not in missing}  # no name and no number: a corner left empty
    numbers = [
        k for k, cell in given.items() if _native.parse_number(np.frombuffer(cell.encode(), dtype=np.uint8)) is not None
    ]
    names = sorted(set(given) - set(numbers))
    if numbers and names:
        raise FileFormatError(
            f"{text}: its first line has a number ({given[numbers[0]]!r:.40} in column {numbers[0]}, counted from 0) "
            f"and a text ({given[names[0]]!r:.40} in column {names[0]}): is it the header, or are these data?",
            "Pass header=True if it holds the names of the columns. If it is data, pass header=False, and name the "
            "column of the text with label= or id=, or the text with missing_text=.",
            "id",
        )
    return bool(names)


def _decoded(raw: bytes, start: int, stop: int, lines: TextLines) -> str:
    """Return the content of a cell: without quotes around it, and with a doubled one in it made one."""
    cell = raw[start:stop]
    if cell.startswith(b'"'):
        cell = cell[1:-1].replace(b'""', b'"')
    try:
        return cell.decode()
    except UnicodeDecodeError:
        lines.refuse(f"{cell[:40]!r} is not UTF-8: save the file as UTF-8", raw.count(b"\n", 0, start), start)


#: Cells that mean a missing value, by default.
MISSING_TEXT = ("", "NA", "nan", "NaN", ".")


class DelimitedMatrix(Matrix):
    """The numeric columns of a text file, as blocks of rows."""

    def __init__(self, text: TextFile, columns: Columns, index: DelimitedIndex, dtype: Any) -> None:
        rows = index.groups[-1].first_row + index.groups[-1].rows
        super().__init__((rows, columns.n_features), dtype, text.file.path.name)
        self._text, self._columns, self._index = text, columns, index
        self.names = Names(columns.feature_names, index.ids, index.labels)
        self._counter.add()  # finding the rows went through all of the text

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield groups of rows."""
        buffers: dict[int, NDArray[Any]] = {}
        rows = max(group.rows for group in self._index.groups)
        columns = self._columns.without_texts()

        def parse(group: RowGroup, lines: TextLines, slot: int) -> Block:
            if slot not in buffers:
                buffers[slot] = block_memory(rows * self.shape[1], self.dtype).reshape(rows, -1)
            values = buffers[slot][: group.rows]
            columns.skip_header(lines)
            done = 0
            while done < group.rows:
                if not lines.fill():
                    self._text.refuse_changed()
                done += columns.parse(lines, values[done:]).rows
            return Block(slice(group.first_row, group.first_row + group.rows), slice(0, self.shape[1]), values)

        return group_blocks(self._text, self._index.groups, parse, request.start)

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

    Opening goes through the file once, to find rows, labels and ids and to check every cell; that counts as the first
    pass.
    """
    try:
        dtype = np.dtype(dtype)
    except TypeError:
        raise InvalidParameterError(f"must be float64 or float32; got {dtype!r}.", "dtype", dtype) from None
    if dtype not in (np.float64, np.float32):
        raise InvalidParameterError(f"must be float64 or float32; got {dtype}.", "dtype", dtype)
    text = TextFile(path)
    columns = find_columns(text, Options(delimiter, header, label, id, missing_text))
    return DelimitedMatrix(text, columns, _index(text, columns, dtype), dtype)


@dataclass(frozen=True, slots=True)
class DelimitedIndex:
    """Result of the first pass: positions and names."""

    #: Rows that are parsed together.
    groups: list[RowGroup]
    #: Names of the rows.
    ids: list[str] | None
    #: Label of each row.
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
