"""Output: tables in the terminal, JSON and table files."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.rule import Rule
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from rich.progress import Progress


#: `--json -` writes to standard output.
STANDARD_OUTPUT = Path("-")


def tables(json: Path | None) -> Console:
    """Return the console for tables: standard output, or standard error if the JSON goes there."""
    return WholeConsole(stderr=json == STANDARD_OUTPUT, highlight=False)


def progress() -> Progress:
    """Return a progress display on standard error, gone when the work is done; none where nobody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def check_json_path(json: Path | None) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    if json is None or json == STANDARD_OUTPUT:
        return
    require_file("--json", json)


def require_file(option: str, path: Path) -> None:
    """Refuse a path that no file can have."""
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir():
        raise InvalidParameterError(f"{path}: give a file in a folder that exists.", option, path)
    if folder == Path("/dev") or (path.exists() and not path.is_file()):
        raise InvalidParameterError(f"{path}: give a file, not a device or a pipe.", option, path)


def require_not_read(outputs: dict[str, Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuse to write over a file that is read, whatever else may be replaced."""
    read = [path for path in inputs if path is not None]
    read += [path.with_suffix(ending) for path in read if path.suffix == ".bed" for ending in (".bim", ".fam")]
    for option, path in outputs.items():
        if path is not None and path.exists() and any(other.exists() and path.samefile(other) for other in read):
            raise InvalidParameterError(f"{path}: that file is read, and would be lost. Name another.", option, path)


def require_different(outputs: dict[str, Path | None]) -> None:
    """Refuse one file for two results: the later one would replace the other."""
    options: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None or path == STANDARD_OUTPUT:
            continue
        if (other := options.setdefault(os.path.realpath(path), option)) != option:
            raise InvalidParameterError(f"{path}: {other} names the same file. Name another.", option, path)


def write_json(json: Path | None, text: str) -> None:
    """Write JSON to the file, or to standard output for "-"; nothing for None."""
    from slimline._base.files import write_text_whole

    if json == STANDARD_OUTPUT:
        sys.stdout.write(text + "\n")
    elif json is not None:
        write_text_whole(json, text)


#: Where every table has room.
_ANY_WIDTH = 100_000
#: Lines of text in a pipe; a table is as wide as it needs.
_PIPE_WIDTH = 120
#: What a rule needs beside its title.
_RULE = 4
#: A column that breaks its lines has room for so many letters.
_LEAST = 7
#: Names of so many letters, such as those of variants, are never broken.
UNBROKEN = 20


class WholeConsole(Console):
    """A console that never cuts what a table holds: the terminal goes on in the next line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._pipe = not self.is_terminal and "COLUMNS" not in os.environ
        if self._pipe:
            self.width = _PIPE_WIDTH

    def print(self, *objects: Any, crop: bool = False, **options: Any) -> None:
        """Print, and leave lines that are too long to the terminal."""
        super().print(*objects, crop=crop, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render, tables with all that is in them."""
        options = options or self.options
        if isinstance(renderable, Table):
            wide = options.update(max_width=_ANY_WIDTH)
            renderable = copy(renderable)
            renderable.columns = [self._whole(column, wide) for column in renderable.columns]
            if self._pipe and renderable.show_header:
                options = options.update(max_width=max(Measurement.get(self, wide, renderable).maximum, self.width))
        elif isinstance(renderable, Rule) and cell_len(plain := str(renderable.title)) > options.max_width - _RULE:
            renderable = Text(plain, renderable.title.style if isinstance(renderable.title, Text) else "")
        return super().render(renderable, options)

    def _whole(self, column: Column, wide: ConsoleOptions) -> Column:
        """Return a column that gives way by breaking lines only, or not at all."""
        column = copy(column)
        column.overflow = "fold"
        needed = max(Measurement.get(self, wide, cell).maximum for cell in (column.header, *column.cells))
        column.min_width = max(needed if column.no_wrap else min(needed, _LEAST), column.min_width or 0)
        return column


class FittedTable(Table):
    """A table that leaves out its last columns where there is no room for all, and never the names in the first one."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table, with as many columns as there is room for."""
        shown, numbers = copy(self), copy(self)
        numbers.columns = self.columns[1:]
        names = (self.columns[0].min_width or 0) + 2  # and the space between columns
        wide = options.update(max_width=_ANY_WIDTH)
        while len(numbers.columns) > 1 and names + Measurement.get(console, wide, numbers).maximum > options.max_width:
            numbers.columns.pop()
        shown.columns = [self.columns[0], *numbers.columns]
        yield from Table.__rich_console__(shown, console, options)


#: What a spreadsheet takes for the beginning of a formula, perhaps behind our own mark.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
#: What begins in the same way, and is a number.
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MARK = "'"


def harmless(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs.

    With an apostrophe before what begins with =, +, -, @, a tab or an end of line and is no number; and before what
    begins with apostrophes and one of these, so that different texts stay different.
    """
    return _MARK + text if _FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def as_given(cell: str) -> str:
    """Return the text that `harmless` made a cell of."""
    return cell[1:] if cell.startswith(_MARK) and harmless(cell[1:]) == cell else cell


_MARKS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
#: Lines that are made into text at a time.
_AT_A_TIME = 8192


def check_table_path(option: str, path: Path | None, force: bool) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    if path is None or path == STANDARD_OUTPUT:
        return
    if path.suffix.lower() not in _MARKS:
        raise InvalidParameterError(f"{path}: the name of a table must end in {', '.join(_MARKS)}.", option, path)
    require_file(option, path)
    if path.exists() and not force:
        raise InvalidParameterError(f"{path} exists: choose another name, or replace it with --force.", option, path)


def write_table(path: Path | None, head: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """Write a table; a file appears when it is complete."""
    if path is None or path == STANDARD_OUTPUT:
        for text in _texts(head, lines, ","):
            sys.stdout.write(text)
        sys.stdout.flush()
        return
    from slimline.data._write import NewFiles

    with NewFiles([path], overwrite=True) as files:
        file = files.create(path)
        for text in _texts(head, lines, _MARKS[path.suffix.lower()]):
            file.write(text.encode())


def _texts(head: Sequence[str], lines: Iterable[Sequence[Any]], mark: str) -> Iterator[str]:
    """Yield the text of some lines at a time, the names of the columns first."""
    rows = iter(lines)
    # Python's csv writer leaves a carriage return without quotes, and readers begin a new line there
    needs_quotes = re.compile(f'[{mark}"\\r\\n]').search
    some: list[Sequence[Any]] = [head]
    while some:
        yield "".join(mark.join(_cell(value, needs_quotes) for value in row) + "\n" for row in some)
        some = list(islice(rows, _AT_A_TIME))


def _cell(value: Any, needs_quotes: Callable[[str], Any]) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return str(value)
    text = harmless(value)
    return '"' + text.replace('"', '""') + '"' if needs_quotes(text) else text
