"""Tables in which something else was measured."""

from collections.abc import Callable

from slimline_papers import Table, find_items
from slimline_papers.table import Value


def changed(table: Table, column: str, change: Callable[[dict[str, Value]], Value]) -> Table:
    """The same table with another column, made from each row."""
    place = table.columns.index(column)
    rows = ((*row[:place], change(dict(zip(table.columns, row, strict=True))), *row[place + 1 :]) for row in table.rows)
    return Table(table.columns, tuple(rows))


def verdicts(name: str, table: Table) -> list[bool | None]:
    """Findings of an item for a table."""
    (item,) = find_items([name])
    return [finding.holds for finding in item.judge(table)]
