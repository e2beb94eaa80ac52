"""What several figures of this document have on top of the shared drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

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
