"""Panels of an audit's picture with one strip a number, one dot a draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slimline.auditing import Audit
from slimline.auditing.records import Frequency, Promise
from slimline.report.audit_panels import FONT, SMALL, dress
from slimline.report.colours import BLUE, GREEN, GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

#: Ratios further away are drawn as arrows at the edge.
_LEAST, _MOST = -0.25, 2.0
#: Letters of a line beside a strip.
_LETTERS = 14
#: Strips that there is room for at least: fewer would be too tall.
_FEWEST = 4


@dataclass(frozen=True)
class Strip:
    """One number over the draws.

    Parameters
    ----------
    name : str
        What it is.
    values : array of shape (repeats,)
        One dot each.
    ends : tuple of (float or None, float or None)
        What theorems promise, below and above; None on a side of which they say nothing.
    within : Frequency or None
        How often it stayed within what was asked about.
    """

    name: str
    values: Floats
    ends: tuple[float | None, float | None]
    within: Frequency | None


def draw_ratios(axes: Axes, audit: Audit) -> None:
    """Draw what each draw left of the margins and of the ball, beside 1 ± ε and what theorems promise.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        To be drawn on.
    audit : Audit
        Of any data.
    """
    strips = [
        Strip(kept.name, kept.ratios, _ends(kept.promises, kept.before), kept.within)
        for kept in (*audit.margins, audit.ball)
        if kept.before > 0.0
    ]
    eps = audit.eps
    axes.axvspan(1.0 - eps, 1.0 + eps, color="0.5", alpha=0.12, linewidth=0, zorder=0, gid="band")
    axes.axvline(1.0, color=GREY, linewidth=1.0, zorder=1)
    _draw_strips(axes, strips, _limits(strips, eps))
    if axes.get_xlim()[0] < 0.0:
        axes.axvline(0.0, color=INK, linewidth=1.2, zorder=1)
    what = "Margins and ball, after / before" if len(strips) > 1 else "Smallest ball, after / before"
    said = f"at the right: draws within 1 ± {eps:g}" if strips else "there is nothing above 0 to compare with"
    if audit.margins and len(strips) == 1:
        said = f"not separable, so no margins; right: draws within 1 ± {eps:g}"
    dress(axes, what, said, _words(strips, f"1 ± {eps:g}"))
    axes.set_xlabel("after / before, one dot a draw", fontsize=FONT)


def draw_changes(axes: Axes, audit: Audit) -> None:
    """Draw the largest change of a pair in each draw, and the embedding error, beside ε and what theorems promise.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        To be drawn on.
    audit : Audit
        Of any data.
    """
    strips = [
        Strip(pairs.name, np.asarray(pairs.largest), _ends(pairs.promises, 1.0), pairs.all_within)
        for pairs in audit.pairs
        if pairs.n_pairs
    ]
    error = audit.embedding
    strips.append(Strip(error.name, np.asarray(error.after), _ends(error.promises, 1.0), error.within))
    axes.axvspan(0.0, audit.eps, color="0.5", alpha=0.12, linewidth=0, zorder=0, gid="band")
    most = max(audit.eps, *(float(strip.values.max()) for strip in strips))
    _draw_strips(axes, strips, (0.0, 1.08 * most))
    said = f"at the right: draws with at most {audit.eps:g}"
    dress(axes, "Largest change of a pair, embedding error", said, _words(strips, f"at most {audit.eps:g}"))
    axes.set_xlabel("largest change, one dot a draw", fontsize=FONT)


def _ends(promises: Sequence[Promise], unit: float) -> tuple[float | None, float | None]:
    """Return the tightest ends of the theorems; a margin of 0 or less is no promise."""
    theorems = [promise for promise in promises if promise.kind == "theorem"]
    low = [one.low / unit for one in theorems if one.low is not None and one.low > 0.0]
    high = [one.high / unit for one in theorems if one.high is not None]
    return max(low, default=None), min(high, default=None)


def _limits(strips: Sequence[Strip], eps: float) -> tuple[float, float]:
    values = np.concatenate([[1.0 - 1.3 * eps, 1.0 + 1.3 * eps], *(strip.values for strip in strips)])
    for strip in strips:
        values = np.append(values, [end for end in strip.ends if end is not None])
    low, high = max(float(values.min()), _LEAST), min(float(values.max()), _MOST)
    return low - 0.04 * (high - low), high + 0.04 * (high - low)


def _draw_strips(axes: Axes, strips: Sequence[Strip], limits: tuple[float, float]) -> None:
    axes.set_xlim(*limits)
    middle, half = 0.5 * (len(strips) - 1), 0.5 * max(len(strips), _FEWEST) + 0.1
    axes.set_ylim(middle + half, middle - half)
    for place, strip in enumerate(strips):
        _draw_strip(axes, place, strip, limits)
    axes.set_yticks(range(len(strips)), [fill(strip.name, _LETTERS) for strip in strips])
    axes.tick_params(axis="y", length=0)


def _draw_strip(axes: Axes, place: int, strip: Strip, limits: tuple[float, float]) -> None:
    low, high = limits
    # spread evenly by the order of the draws: the same audit, the same picture
    heights = place + (np.linspace(-0.2, 0.2, len(strip.values)) if len(strip.values) > 1 else np.zeros(1))
    inside = (strip.values >= low) & (strip.values <= high)
    dots: dict[str, Any] = {"linestyle": "none", "color": BLUE, "alpha": 0.65, "zorder": 3, "clip_on": False}
    dots |= {"markeredgewidth": 0, "markersize": 6.5}
    axes.plot(strip.values[inside], heights[inside], marker="o", gid="draws", **dots)
    for outside, edge, marker in ((strip.values < low, low, "<"), (strip.values > high, high, ">")):
        if outside.any():
            _draw_beyond(axes, place, strip.values[outside], edge, heights[outside], marker, dots)
    middle = float(np.median(strip.values))
    if low <= middle <= high:
        axes.plot([middle, middle], [place - 0.3, place + 0.3], color=INK, linewidth=2.2, zorder=4, gid="median")
    for end, turned in ((strip.ends[0], 1.0), (strip.ends[1], -1.0)):
        if end is not None and low <= end <= high:
            foot = end + turned * 0.012 * (high - low)
            x, y = [foot, end, end, foot], place + np.array([-0.33, -0.33, 0.33, 0.33])
            axes.plot(x, y, color=GREEN, linewidth=1.8, zorder=2, gid="promise")
    if strip.within is not None:
        axes.text(
            1.015, place, f"{strip.within.held}/{strip.within.draws}", transform=axes.get_yaxis_transform(),
            fontsize=SMALL, color=INK, va="center", gid="within",
        )  # fmt: skip


def _draw_beyond(
    axes: Axes, place: int, values: Floats, edge: float, heights: Floats, marker: str, dots: dict[str, Any]
) -> None:
    """Draw values that have no room as arrows at the edge, and write between what they lie."""
    low, high = axes.get_xlim()
    inward = 0.012 * (high - low) * (1.0 if marker == "<" else -1.0)
    axes.plot(np.full(len(values), edge + inward), heights, marker=marker, gid="beyond", **dots)
    ends = sorted({f"{values.min():.2g}", f"{values.max():.2g}"}, key=float)
    axes.annotate(
        " to ".join(ends), (edge, place + 0.45), xytext=(10 if marker == "<" else -10, 0),
        textcoords="offset points", fontsize=10, color=BLUE, va="center", ha="left" if marker == "<" else "right",
        zorder=5, bbox={"facecolor": "white", "alpha": 0.85, "linewidth": 0, "pad": 0.5}, gid="beyond",
    )  # fmt: skip


def _words(strips: Sequence[Strip], band: str) -> list[tuple[str, str]]:
    said = [("one draw", BLUE), ("median", INK), (band, GREY)]
    if any(end is not None for strip in strips for end in strip.ends):
        said.append(("promised by a theorem", GREEN))
    return said
