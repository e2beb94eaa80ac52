"""Marks that several figures of this document share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from slimline.report._figures import GREY
from slimline_papers.drawing import band, connected
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


def course(panel: Axes, rows: Table, column: str, label: str, colour: str, *, spread: bool = True) -> None:
    """Draw the mean of all runs against the number of projections, and a band from the smallest to the largest of them.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where.
    rows : Table
        Runs, of both families of projections.
    column : str
        What is drawn.
    label : str
        What it is.
    colour : str
        Of line and band.
    spread : bool
        Whether there is a band.
    """
    at = projections(rows)
    groups = [rows.where(r=r)[column] for r in at]
    if spread:
        band(panel, at, [group.min() for group in groups], [group.max() for group in groups], colour)
    connected(panel, at, [group.mean() for group in groups], label, colour)


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
