"""Cells of Tables 1 and 2: the printed numbers, and the cross-validations that belong to each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline_papers.finding import Cell
from slimline_papers.paul2013.contenders import printed_name
from slimline_papers.paul2013.synthetic import DIMENSIONS, FULL, METHODS, MINORITY
from slimline_papers.printed import printed
from slimline_papers.table import Table

#: Data sets of a family in the paper.
THEIR_DATASETS = 10
#: Standard errors that a mean may be off, or a step go the wrong way. Ten data sets of three families leave 27 degrees
#: of freedom: chance takes a mean further less than once in a million times.
LIMIT = 6.5
#: Columns of the tables.
STEPS: tuple[int | str, ...] = (*DIMENSIONS, FULL)
SHARE = f"with {100 * MINORITY:g} % of the labels in the minority"


@dataclass(frozen=True)
class Quantity:
    """Cells of a table.

    Parameters
    ----------
    column : str
        Of our table.
    key : str
        Of the printed numbers.
    unit, symbol : str
        For words.
    direction : {-1, 1}
        Where it goes as r grows.
    """

    column: str
    key: str
    unit: str
    symbol: str
    direction: int


ERROR = Quantity("eps_out", "table1_eps_out_percent", " %", "ε_out", -1)
MARGIN = Quantity("margin", "table2_margin", "", "γ", +1)


def rows_of(table: Table, way: str, family: str, method: str, step: int | str) -> Table:
    """Return the cross-validations that belong to a cell.

    Parameters
    ----------
    table : Table
        Of the experiment.
    way, family, method : str
        Labels, family and projection.
    step : int or "full"
        r; on the full data the projection does not matter.

    Returns
    -------
    rows : Table
        Data sets × projections × cross-validations.
    """
    if step == FULL:
        return table.where(labels=way, family=family, method=FULL)
    return table.where(labels=way, family=family, method=method, r=step)


def families_of(table: Table) -> list[str]:
    """Return the families that were measured.

    Parameters
    ----------
    table : Table
        Of the experiment.

    Returns
    -------
    families : list of str
        In order.
    """
    return [str(family) for family in table.distinct("family")]


def cells_of(table: Table, way: str, quantity: Quantity) -> list[Cell]:
    """Return the printed numbers of a table, each beside ours.

    Parameters
    ----------
    table : Table
        Of the experiment.
    way : str
        How labels were made.
    quantity : Quantity
        Which table.

    Returns
    -------
    cells : list of Cell
        The full data once for each family.
    """
    numbers = printed("paul2013", quantity.key)
    cells = []
    for family in families_of(table):
        for method in METHODS:
            name = printed_name(method)
            theirs = zip(STEPS, numbers[family][name], numbers[family][f"{name}_std"], strict=True)
            for step, number, spread in theirs:
                if step == FULL and method != METHODS[0]:
                    continue  # the same number, printed thrice
                ours = rows_of(table, way, family, method, step)
                where = f"{family}, full" if step == FULL else f"{family}, {method}, r = {step}"
                values = by_dataset(ours, quantity.column)
                # data sets differ most, and both take ten of them
                error = math.hypot(spread / math.sqrt(THEIR_DATASETS), values.std(ddof=1) / math.sqrt(len(values)))
                mean, our_spread = ours.mean(quantity.column), ours.spread(quantity.column)
                cells.append(Cell(where, number, spread, mean, our_spread, error))
    return cells


def by_dataset(rows: Table, column: str) -> NDArray[np.float64]:
    """Return means over the cross-validations and projections of each data set, which are independent.

    Parameters
    ----------
    rows : Table
        Cross-validations.
    column : str
        What is averaged.

    Returns
    -------
    means : array
        One a data set.
    """
    return np.array([rows.where(dataset=k).mean(column) for k in rows.distinct("dataset")])


def listed(numbers: Sequence[float], digits: int = 1) -> str:
    """Return numbers as text.

    Parameters
    ----------
    numbers : sequence of float
        Any.
    digits : int
        After the point.

    Returns
    -------
    text : str
        With commas.
    """
    return ", ".join(f"{number:.{digits}f}" for number in numbers)
