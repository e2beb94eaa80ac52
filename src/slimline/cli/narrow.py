"""Tables in narrow terminals."""

from __future__ import annotations

from copy import copy

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table

#: Where every table has room.
_ANY_WIDTH = 1000


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
