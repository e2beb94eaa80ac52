"""Tables in which something else was measured: a finding that does not notice is no finding."""

from collections.abc import Callable

from slimline_papers import Finding, Table, find_items
from slimline_papers.table import Value

Row = dict[str, Value]


def doctored(table: Table, **columns: Callable[[Row], Value]) -> Table:
    """The table with other cells: each is a function of its row."""
    rows = []
    for row in table.rows:
        cells = dict(zip(table.columns, row, strict=True))
        rows.append(tuple((cells | {name: change(cells) for name, change in columns.items()}).values()))
    return Table(table.columns, tuple(rows))


def with_column(table: Table, column: str, change: Callable[[Row], Value]) -> Table:
    """The table with another content of a column."""
    return doctored(table, **{column: change})


def where_changed(table: Table, column: str, change: Callable[[float], float], **where: Value) -> Table:
    """The table with another number in a column, in the rows that have these values."""

    def changed(row: Row) -> Value:
        meant = all(row[name] == value for name, value in where.items())
        return change(float(row[column])) if meant else row[column]

    return doctored(table, **{column: changed})


def judged(name: str, table: Table) -> list[Finding]:
    """The findings of an item about a table."""
    (item,) = find_items([name])
    return list(item.judge(table))


def finding(name: str, table: Table, words: str) -> Finding:
    """The only finding of an item whose claim has these words."""
    (found,) = [one for one in judged(name, table) if words in one.claim]
    return found
