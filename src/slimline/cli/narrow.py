"""Tables in narrow terminals, and in pipes, which have no width at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from copy import copy
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.rule import Rule
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

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
    """A console that never cuts what a table holds: the terminal goes on in the next line.

    Parameters
    ----------
    **options : dict
        As for `Console`.
    """

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
