"""Style of all figures of the replays: measured dots, laws as lines, bounds as dashes, printed diamonds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from slimline.report._figures import BLUE, GREEN, GREY, INK, ORANGE, PURPLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: The same thing has the same colour in every figure.
COLOURS = {
    "CW": BLUE, "CountSketch": "#56a3d9", "grouped": "#9dc9e8", "RS": ORANGE, "FHT": GREEN, "Gaussian": PURPLE,
    "full": INK,
    "Bernoulli": ORANGE, "naive": ORANGE, "dual": BLUE, "iterative": ORANGE, "certified": BLUE,
}  # fmt: skip
#: For what has no colour of its own, in order.
CYCLE = (BLUE, ORANGE, GREEN, PURPLE, INK, GREY)
#: Inches of a panel, and dots an inch: sharp on screens that have two dots for one.
_PANEL, DPI = (4.7, 3.7), 160
#: Height of a panel that begins at a given number, as a part of what its data take from there.
_ROOM = 1.06
#: A logarithmic axis up to this ratio has plain numbers.
_FEW_POWERS = 300


def canvas(
    columns: int = 1, rows: int = 1, width: float = _PANEL[0], height: float = _PANEL[1]
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure and its panels.

    Parameters
    ----------
    columns, rows : int
        Panels beside and below each other.
    width, height : float
        Inches of a panel.

    Returns
    -------
    figure : matplotlib.figure.Figure
        White, laid out by itself.
    panels : list of matplotlib.axes.Axes
        Row by row.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(columns * width, rows * height), dpi=DPI, facecolor="white", layout="constrained")
    panels = list(np.ravel(figure.subplots(rows, columns, squeeze=False)))
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(True, color="0.9", linewidth=0.6)
        panel.set_axisbelow(True)
    return figure, panels


def measured(
    panel: Axes,
    x: ArrayLike,
    y: ArrayLike,
    label: str,
    spread: ArrayLike | None = None,
    colour: str | None = None,
    *,
    hollow: bool = False,
) -> None:
    """Draw what was measured: dots, with bars of one standard deviation.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where.
    x, y : array-like
        Points.
    label : str
        What they are.
    spread : array-like, optional
        Standard deviations.
    colour : str, optional
        Else the one of the label in `COLOURS`, or the next.
    hollow : bool
        Whether the dots are rings: a second kind of the same thing.
    """
    colour = colour or _colour(panel, label)
    panel.errorbar(
        x, y, yerr=spread, fmt="o", markersize=4.5, capsize=2.5, linewidth=1.1, label=label, color=colour,
        markerfacecolor="white" if hollow else colour,
    )  # fmt: skip


def connected(
    panel: Axes, x: ArrayLike, y: ArrayLike, label: str, colour: str | None = None, *, hollow: bool = False
) -> None:
    """Draw what was measured where the points are steps of one course: dots on a thin line.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where.
    x, y : array-like
        Points.
    label : str
        What they are.
    colour : str, optional
        Else the one of the label in `COLOURS`, or the next.
    hollow : bool
        Whether the dots are rings, on a dotted line: a second kind of the same thing.
    """
    colour = colour or _colour(panel, label)
    panel.plot(
        x, y, "o:" if hollow else "o-", markersize=4.5, linewidth=1.1, label=label, color=colour,
        markerfacecolor="white" if hollow else colour,
    )  # fmt: skip


def band(panel: Axes, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str) -> None:
    """Draw how far runs are apart: a pale band from the smallest to the largest, behind what is measured.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where.
    x, low, high : array-like
        Points of its edges.
    colour : str
        That of what was measured.
    """
    panel.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0, zorder=1.2)


def law(panel: Axes, x: ArrayLike, y: ArrayLike, label: str, colour: str = INK) -> None:
    """Draw an exact law: a line.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where.
    x, y : array-like
        Points of the line.
    label : str
        What it is.
    colour : str
        Of the line.
    """
    panel.plot(x, y, "-", linewidth=1.6, label=label, color=colour, zorder=1.5)


def bound(panel: Axes, x: ArrayLike, y: ArrayLike, label: str, colour: str = GREY) -> None:
    """Draw what a theorem promises: dashes.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where.
    x, y : array-like
        Points of the line.
    label : str
        What it is.
    colour : str
        Of the line.
    """
    panel.plot(x, y, "--", linewidth=1.6, label=label, color=colour, zorder=1.5)


def as_printed(
    panel: Axes, x: ArrayLike, y: ArrayLike, label: str = "printed", spread: ArrayLike | None = None
) -> None:
    """Draw numbers that a document prints: hollow diamonds.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where.
    x, y : array-like
        Points.
    label : str
        What they are.
    spread : array-like, optional
        Standard deviations that are printed with them.
    """
    panel.errorbar(
        x, y, yerr=spread, fmt="D", markersize=6, markerfacecolor="white", capsize=4, linewidth=1.0, label=label,
        color=GREY, zorder=1.8,
    )  # fmt: skip


def finish(panel: Axes, title: str, x: str, y: str, **settings: Any) -> None:
    """Write on a panel what it shows.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Which.
    title, x, y : str
        Of the panel and its axes.
    **settings : object
        `xscale`, `ylim`, … as `Axes.set` takes them; `legend`: where it goes, False for none.
    """
    place = settings.pop("legend", "best")
    panel.set(xlabel=x, ylabel=y, **settings)
    low, high = settings.get("ylim", (None, None))
    if (
        low is not None and high is None and panel.get_yscale() == "linear"
    ):  # matplotlib's margin is one of the data alone
        panel.set_ylim(top=max(panel.get_ylim()[1], low + _ROOM * (panel.dataLim.y1 - low)))
    if "xticks" in settings:
        panel.xaxis.minorticks_off()
    else:
        _number(panel.xaxis)
    _number(panel.yaxis)
    panel.set_title(title, fontsize=11, loc="left", color=INK)
    if place is not False and panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize=8.5, frameon=False, loc=place)


def _number(axis: Axis) -> None:
    """Write 1, 2, 5, 10, … on a short logarithmic axis, which would have one power of ten on it, or 6 × 10⁻¹."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    if axis.get_scale() == "log" and high / low < _FEW_POWERS:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
        axis.set_minor_formatter(NullFormatter())


def _colour(panel: Axes, label: str) -> str:
    taken = len(panel.get_legend_handles_labels()[1])
    return COLOURS.get(label, CYCLE[taken % len(CYCLE)])
