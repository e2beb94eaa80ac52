"""Views of Figs. 1 to 3 on the table of experiment 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from slimline_papers.table import Table, Value

#: From so many times the rank on the sketch is an embedding, and errors have mild tails.
RANKS = 2


def as_they_come(table: Table) -> Table:
    """Return the rows of features that were not scaled.

    Parameters
    ----------
    table : Table
        Of experiment 1.

    Returns
    -------
    rows : Table
        Without those of rows of norm 1.
    """
    return table.where(scaling="raw")


def sketches(table: Table) -> Table:
    """Return the rows of recovered weights, without those of the exact ones.

    Parameters
    ----------
    table : Table
        Of experiment 1.

    Returns
    -------
    rows : Table
        Naive and dual.
    """
    return _chosen(table, "recovery", lambda recovery: recovery != "exact")


def wide(table: Table) -> Table:
    """Return the rows of sketches with at least `RANKS` times as many projections as the rank.

    Parameters
    ----------
    table : Table
        Of experiment 1.

    Returns
    -------
    rows : Table
        Of recovered weights.
    """
    rows = sketches(table)
    enough = rows["r"] >= RANKS * rows["rank"]
    return Table(rows.columns, tuple(row for row, kept in zip(rows.rows, enough, strict=True) if kept))


def projections(table: Table) -> list[int]:
    """Return the different numbers of projections, in order.

    Parameters
    ----------
    table : Table
        Of recovered weights.

    Returns
    -------
    r : list of int
        Ascending.
    """
    return [int(r) for r in np.unique(table["r"])]


def by_set_and_projections(table: Table) -> list[tuple[str, int, Table]]:
    """Return the runs of each set and number of projections.

    Parameters
    ----------
    table : Table
        Of recovered weights.

    Returns
    -------
    groups : list of (str, int, Table)
        Set, r, and its rows.
    """
    return [
        (str(name), r, table.where(set=name, r=r))
        for name in table.distinct("set")
        for r in projections(table.where(set=name))
    ]


def by_set_and_family(table: Table) -> list[tuple[str, str, Table]]:
    """Return the runs of each set and family of projections.

    Parameters
    ----------
    table : Table
        With sets, and families of projections.

    Returns
    -------
    groups : list of (str, str, Table)
        Set, family, and its rows.
    """
    return [
        (str(name), str(family), table.where(set=name, family=family))
        for name in table.distinct("set")
        for family in table.where(set=name).distinct("family")
    ]


def _chosen(table: Table, column: str, wanted: Callable[[Value], bool]) -> Table:
    place = table.columns.index(column)
    return Table(table.columns, tuple(row for row in table.rows if wanted(row[place])))
