"""Marks that several figures of this document share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from slimline.report._figures import GREY
from slimline_papers.drawing import measured
from slimline_papers.table import Table
from slimline_papers.vaswani2013.recovered_table import projections
from slimline_papers.vaswani2013.recovered_weights import FAMILIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plain_ticks(panel: Axes, values: Sequence[float]) -> None:
    """Label a logarithmic horizontal axis at these values only: other labels run into each other within a decade.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where.
    values : sequence of float
        Where; of two that are closer than a factor of 1.6 the second is left out.
    """
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value >= 1.6 * kept[-1]:
            kept.append(value)
    panel.set_xticks(kept, [f"{value:,}" for value in kept], fontsize=9)
    panel.set_xticks([], minor=True)


def by_family(panel: Axes, rows: Table, column: str, label: str, colour: str, shift: float = 1.0) -> None:
    """Draw means and spreads of the runs: Gaussian projections as dots, Bernoulli ones as rings beside them.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where.
    rows : Table
        Runs of both families.
    column : str
        What is drawn, against the number of projections.
    label : str
        What it is.
    colour : str
        Of both.
    shift : float
        Factor to the side, so that other dots at the same numbers can be seen.
    """
    for family, side in zip(FAMILIES, (0.965, 1.035), strict=True):
        runs = rows.where(family=family)
        at = projections(runs)
        groups = [runs.where(r=r) for r in at]
        means, spreads = [group.mean(column) for group in groups], [group.spread(column) for group in groups]
        second = is_second(family)
        x = shift * side * np.array(at, dtype=float)
        measured(panel, x, means, f"_{label}" if second else label, spreads, colour, hollow=second)


def is_second(family: str) -> bool:
    """Return whether a family is drawn with rings, without a line in the legend of its own.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.

    Returns
    -------
    answer : bool
        False for the first of them.
    """
    return family != next(iter(FAMILIES))


def family_key(panel: Axes) -> None:
    """Explain the rings in the legend.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Which has the legend.
    """
    first, second = FAMILIES
    panel.plot(
        [], [], "o", markersize=4.5, color=GREY, markerfacecolor="white", label=f"rings: {second}, dots: {first}"
    )


def certified_points(panel: Axes, x: ArrayLike, y: ArrayLike, what: str, colour: str) -> None:
    """Draw what certificates prove of what is measured: triangles that point down to it.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where.
    x, y : array-like
        Points.
    what : str
        What is certified.
    colour : str
        That of what was measured.
    """
    panel.plot(x, y, "v", markersize=4.5, color=colour, alpha=0.6, label=f"{what}: certificate")
