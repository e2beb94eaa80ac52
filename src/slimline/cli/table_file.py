"""Tables of results as text that other programs read: CSV, or TSV where the name ends in that."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from slimline.cli.output import STANDARD_OUTPUT, require_file
from slimline.cli.spreadsheet import harmless
from slimline.errors import InvalidParameterError

_MARKS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
#: Lines that are made into text at a time.
_AT_A_TIME = 8192


def check_table_path(option: str, path: Path | None, force: bool) -> None:
    """Refuse a path that cannot be written, before any work is done.

    Parameters
    ----------
    option : str
        What it was given as.
    path : Path or None
        Where to; None or "-" for standard output.
    force : bool
        Whether a file that exists may be replaced.
    """
    if path is None or path == STANDARD_OUTPUT:
        return
    if path.suffix.lower() not in _MARKS:
        raise InvalidParameterError(f"{option} {path}: the name of a table must end in {', '.join(_MARKS)}.")
    require_file(option, path)
    if path.exists() and not force:
        raise InvalidParameterError(f"{option} {path} exists: choose another name, or replace it with --force.")


def write_table(path: Path | None, head: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """Write a table; a file appears when it is complete.

    Parameters
    ----------
    path : Path or None
        Where to, as `check_table_path` let it through; None or "-" for standard output.
    head : sequence of str
        Names of the columns.
    lines : iterable of sequences
        Cells: texts (made harmless to spreadsheets), whole numbers, floats (written so that nothing is lost) and truth
        values.
    """
    if path is None or path == STANDARD_OUTPUT:
        for text in _texts(head, lines, ","):
            sys.stdout.write(text)
        sys.stdout.flush()
        return
    from slimline.data.write.new_files import NewFiles

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
