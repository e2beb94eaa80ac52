"""Panels of an audit's picture that show points and pairs: margins, distances, angles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slimline.auditing import Audit
from slimline.laws import cosine, norm
from slimline.report.colours import BLUE, GREY, INK, ORANGE, PURPLE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

FONT, SMALL = 12.0, 11.0
#: Places where the law of the margins is asked for, and points that it is taken over at most.
_GRID, _LAW_POINTS = 121, 200
#: More pairs than this are counted in cells; fewer are dots.
_DOTS = 3000
#: Share of the law that is shown as a band.
_BAND = 0.95
_ALMOST_ONE = 1.0 - 1e-12
#: How the curve of a law looks.
_LAW: dict[str, Any] = {"color": PURPLE, "linewidth": 2.0, "linestyle": (0, (4, 2))}


def draw_margins(axes: Axes, audit: Audit) -> None:
    """Draw how the points lie about the separators of before, before and after the first draw.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        To be drawn on.
    audit : Audit
        Of data with labels.
    """
    before, after = np.sort(audit.cosines_before), np.sort(audit.cosines_after)
    low, high = min(float(before[0]), float(after[0]), 0.0), max(float(before[-1]), float(after[-1]), 0.0)
    room = 0.04 * (high - low) or 1.0
    low, high = low - room, high + room
    axes.axvspan(low, 0.0, color=ORANGE, alpha=0.07, linewidth=0, zorder=0)
    axes.axvline(0.0, color=INK, linewidth=1.2, zorder=2)
    words = [("before", INK), ("after, first draw", BLUE)]
    _rise(axes, before, (low, high), color=INK, linewidth=2.2, zorder=5, gid="before")
    _rise(axes, after, (low, high), color=BLUE, linewidth=2.2, zorder=4, gid="after")
    lost = after[after <= 0.0]
    if lost.size:
        x, y = [low, *np.repeat(lost, 2), 0.0], np.repeat(np.arange(lost.size + 1), 2) / len(after)
        axes.fill_between(x, 0.0, y, color=ORANGE, alpha=0.6, linewidth=0, zorder=3, gid="wrong side")
        words.append(("wrong side", ORANGE))
    if audit.n_classes == 2:
        grid = np.linspace(low, high, _GRID)
        some = before[np.linspace(0, len(before) - 1, min(len(before), _LAW_POINTS)).round().astype(int)]
        foretold = np.asarray(cosine.cdf(np.clip(grid, -1.0, 1.0)[:, None], audit.n_components, some)).mean(axis=1)
        axes.plot(grid, foretold, zorder=6, gid="law", **_LAW)
        words.append((f"{_law(audit)}, all draws", PURPLE))
    axes.set_xlim(low, high)
    axes.set_ylim(0.0, 1.02)
    axes.locator_params(axis="x", nbins=5)  # small cosines have many digits
    caption = f"on the wrong side: {np.sum(before <= 0.0):,} of {len(before):,} before, {lost.size:,} after"
    if audit.wrong_side is not None:
        caption += f", {audit.wrong_side.predicted:.3g} by the law"
    dress(axes, "Margins of the points, same separator", caption, words)
    name = "cosine with the separator" if audit.n_classes == 2 else "least lead in cosines"
    axes.set_xlabel(f"{name}; left of 0: wrong side", fontsize=FONT)
    axes.set_ylabel("share of the points", fontsize=FONT)


def draw_distances(axes: Axes, audit: Audit) -> None:
    """Draw how squared distances changed in the first draw, with the exact law.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        To be drawn on.
    audit : Audit
        Of any data.
    """
    pairs = audit.pairs[0]
    there = pairs.sample_before > 0.0
    ratios = (pairs.sample_after[there] / pairs.sample_before[there]) ** 2
    r, eps = audit.n_components, audit.eps
    spread = 4.0 * np.sqrt(2.0 / r)
    low, high = max(0.0, 1.0 - max(1.1 * eps, spread)), 1.0 + max(1.1 * eps, spread)
    if ratios.size:
        low, high = min(low, float(ratios.min())), max(high, float(ratios.max()))
    axes.axvspan(1.0 - eps, 1.0 + eps, color="0.5", alpha=0.12, linewidth=0, zorder=0, gid="band")
    axes.axvline(1.0, color=GREY, linewidth=1.0, zorder=1)
    if ratios.size:
        filled: dict[str, Any] = {"histtype": "stepfilled", "color": BLUE, "alpha": 0.35, "linewidth": 0}
        axes.hist(ratios, np.linspace(low, high, 61).tolist(), density=True, zorder=2, gid="after", **filled)
    grid = np.linspace(low, high, 401)
    density = np.diff(np.asarray(norm.cdf(grid, r))) / np.diff(grid)
    axes.plot(0.5 * (grid[1:] + grid[:-1]), density, zorder=3, gid="law", **_LAW)
    axes.set_xlim(low, high)
    said = f"within 1 ± {eps:g}: {_percent(float(np.mean(pairs.share_within)))} on average"
    if pairs.predicted is not None:
        said += f", {_percent(pairs.predicted)} by the law"
    words = [("after, first draw", BLUE), (f"{_law(audit)}, each pair", PURPLE), (f"1 ± {eps:g}", GREY)]
    caption = said if pairs.n_pairs else "there is no pair of different points"
    dress(axes, "Squared distances of all pairs", caption, words)
    axes.set_xlabel("squared distance after / before", fontsize=FONT)
    axes.set_ylabel("density", fontsize=FONT)


def draw_angles(axes: Axes, audit: Audit) -> None:
    """Draw the cosine of each pair after the first draw against that before, with the exact law.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        To be drawn on.
    audit : Audit
        Of any data.
    """
    pairs = audit.pairs[1]
    before, after = pairs.sample_before, pairs.sample_after
    low, high = _span(before) if before.size else (-1.0, 1.0)
    grid = np.linspace(low, high, 41)
    bottom, top = _law_band(grid, audit.n_components)
    axes.fill_between(grid, bottom, top, color=PURPLE, alpha=0.16, linewidth=0, zorder=1, gid="law")
    changes = float(np.abs(after - before).max()) if after.size else 0.0
    most = 1.2 * max(changes, float(np.maximum(top - grid, grid - bottom).max()), 1e-6)
    room = 0.02 * (high - low + 2.0 * most)
    limits = (low, high, max(-1.0 - room, low - most), min(1.0 + room, high + most))
    axes.set_xlim(*limits[:2])
    axes.set_ylim(*limits[2:])
    if len(before) > _DOTS:
        cells: dict[str, Any] = {"gridsize": (70, 36), "mincnt": 1, "bins": "log", "linewidths": 0.1}
        axes.hexbin(before, after, extent=limits, cmap=_blues(), zorder=2, gid="after", **cells)
    else:
        axes.scatter(before, after, s=12, color=BLUE, alpha=0.4, linewidths=0, zorder=2, gid="after")
    axes.plot([low, high], [low, high], color=INK, linewidth=1.2, zorder=4, gid="same")
    words = [("first draw", BLUE), ("no change", INK), (f"{100 * _BAND:g} %, {_law(audit)}", PURPLE)]
    if most > audit.eps:
        words.append((f"± {audit.eps:g}", ORANGE))
        for sign in (-1.0, 1.0):
            shifted = [low + sign * audit.eps, high + sign * audit.eps]
            axes.plot([low, high], shifted, color=ORANGE, linewidth=1.2, linestyle=(0, (5, 3)), zorder=3, gid="eps")
    least, greatest = f"{min(pairs.largest):.3g}", f"{max(pairs.largest):.3g}"
    said = f"largest change: {greatest if least == greatest else f'{least} to {greatest}'} over the draws"
    caption = said if pairs.n_pairs else "there is no pair of points with an angle"
    dress(axes, "Angles of all pairs", caption, words)
    axes.locator_params(axis="x", nbins=6)  # close together they have many digits
    axes.ticklabel_format(useOffset=False)
    axes.set_xlabel("cosine before", fontsize=FONT)
    axes.set_ylabel("cosine after", fontsize=FONT)


def dress(axes: Axes, title: str, caption: str, words: Sequence[tuple[str, str]]) -> None:
    """Give a panel its title, a line beneath it, a line with what the colours mean, and its looks.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        The panel.
    title, caption : str
        What it shows, and what was found.
    words : sequence of (str, str)
        What each colour means, and the colour.
    """
    axes.text(0.0, 1.175, title, transform=axes.transAxes, fontsize=14, weight="bold", color=INK, gid="panel title")
    axes.text(0.0, 1.105, caption, transform=axes.transAxes, fontsize=SMALL, color=INK, gid="caption")
    _write_key(axes, words)
    axes.tick_params(labelsize=SMALL, colors=INK)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _write_key(axes: Axes, words: Sequence[tuple[str, str]]) -> None:
    """Write what the colours mean in one line above the panel."""
    from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea

    parts: list[Artist] = [
        TextArea(f"■ {text}", textprops={"color": colour, "fontsize": SMALL}) for text, colour in words
    ]
    box = AnchoredOffsetbox(
        "lower left", child=HPacker(children=parts, sep=14), pad=0.0, borderpad=0.0, frameon=False,
        bbox_to_anchor=(0.0, 1.03), bbox_transform=axes.transAxes,
    )  # fmt: skip
    box.set_gid("key")
    axes.add_artist(box)


def _percent(share: float) -> str:
    return "> 99.9 %" if 0.9995 < share < 1.0 else f"{100.0 * share:.3g} %"


def _law(audit: Audit) -> str:
    return "exact law" if audit.family == "gaussian" else "Gaussian law"


def _rise(axes: Axes, ordered: Floats, ends: tuple[float, float], **look: Any) -> None:
    """Draw the share of numbers that are at most x, for every x."""
    x = np.concatenate([[ends[0]], ordered, [ends[1]]])
    y = np.concatenate([[0.0], np.arange(1, len(ordered) + 1) / len(ordered), [1.0]])
    axes.plot(x, y, drawstyle="steps-post", solid_joinstyle="miter", **look)


def _span(values: Floats) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.03 * (high - low) if high - low > 1e-9 else 0.05
    return max(-1.0, low - room), min(1.0, high + room)


def _law_band(cosines: Floats, r: int) -> tuple[Floats, Floats]:
    """Return what the law leaves as much below as above.

    In Fisher's ζ = artanh cos' it has nearly the same shape about every cosine, 1/√r wide.
    """
    c = np.clip(cosines, -_ALMOST_ONE, _ALMOST_ONE)[:, None]
    grid = np.tanh(np.arctanh(c) + np.linspace(-6.0, 6.0, 241) / np.sqrt(r))
    rising = np.asarray(cosine.cdf(grid, r, c))
    tail = 0.5 * (1.0 - _BAND)
    low, high = (
        np.array([np.interp(level, row, places) for row, places in zip(rising, grid, strict=True)])
        for level in (tail, 1.0 - tail)
    )
    return low, high


def _blues() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("slimline", ["#cfe3f1", BLUE, "#00314d"])
