"""The figure of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.text import counted
from slimline.auditing import Audit
from slimline.auditing._records import Frequency, Promise
from slimline.laws import cosine, norm
from slimline.report._figures import BLUE, GREEN, GREY, INK, ORANGE, PURPLE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

#: Ratios further away are drawn as arrows at the edge.
_LEAST, _MOST = -0.25, 2.0
#: Letters of a line beside a strip.
_LETTERS = 14
#: Strips that there is room for at least: fewer would be too tall.
_FEWEST = 4


@dataclass(frozen=True)
class Strip:
    """One number over the draws."""

    #: What it is.
    name: str
    #: One dot each; of shape (repeats,).
    values: Floats
    #: What theorems promise, below and above; None on a side of which they say nothing.
    ends: tuple[float | None, float | None]
    #: How often it stayed within what was asked about.
    within: Frequency | None


def draw_ratios(axes: Axes, audit: Audit) -> None:
    """Draw what each draw left of the margins and of the ball, beside 1 ± ε and what theorems promise."""
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
    """Draw the largest change of a pair in each draw, and the embedding error, beside ε and what theorems promise."""
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
        said.append(("guaranteed by a theorem", GREEN))
    return said


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
    """Draw how the points lie about the separators of before, before and after the first draw."""
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
        predicted = np.asarray(cosine.cdf(np.clip(grid, -1.0, 1.0)[:, None], audit.n_components, some)).mean(axis=1)
        axes.plot(grid, predicted, zorder=6, gid="law", **_LAW)
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
    """Draw how squared distances changed in the first draw, with the exact law."""
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
    """Draw the cosine of each pair after the first draw against that before, with the exact law."""
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
    """Give a panel its title, a line beneath it, a line with what the colours mean, and its looks."""
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


#: Inches, and dots an inch: 1400 × 1120.
_SIZE, _DPI = (14.0, 11.2), 100
#: Left edges, bottom edges, width and height of the four panels.
_LEFT, _BOTTOM, _WIDTH, _HEIGHT = (0.105, 0.595), (0.52, 0.07), 0.335, 0.3
_FAMILIES = {
    "gaussian": "Gaussian",
    "very_sparse": "Very sparse",
    "srht": "SRHT",
    "srht_replaced": "SRHT (replaced)",
    "cw": "CW",
    "generalised_cw": "Generalised CW",
    "osnap": "OSNAP",
}
_OUTCOMES = {"kept": GREEN, "shrunk": PURPLE, "lost": ORANGE}
#: Letters of the data's name that are shown.
_NAME = 60


def audit_figure(audit: Audit) -> Figure:
    """Draw margins, ratios, distances and angles before and after the projection, beside what laws and theorems say.

    Parameters
    ----------
    audit : Audit
        From `slimline.audit`.

    Returns
    -------
    figure : matplotlib.figure.Figure
        1400 × 1120 dots, four axes: the margins of all points (without labels, or where nothing tells several classes
        apart, the largest changes of each draw), the ratios of margins and ball in each draw, squared distances, and
        cosines; `save_figure` writes it.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import audit
    >>> from slimline.report import audit_figure
    >>> X = np.random.default_rng(0).standard_normal((30, 2000))
    >>> figure = audit_figure(audit(X, n_components=300, repeats=3))
    >>> figure.axes[3].get_xlabel()
    'cosine before'
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, dpi=_DPI, facecolor="white")
    places = [(left, bottom, _WIDTH, _HEIGHT) for bottom in _BOTTOM for left in _LEFT]
    first, second, third, fourth = (figure.add_axes(place) for place in places)
    if audit.cosines_before.any():  # all 0: no vectors were found to look at the points with
        draw_margins(first, audit)
    else:
        draw_changes(first, audit)
    draw_ratios(second, audit)
    draw_distances(third, audit)
    draw_angles(fourth, audit)
    _write_title(figure, audit)
    return figure


def _write_title(figure: Figure, audit: Audit) -> None:
    left = 0.04
    family = _FAMILIES.get(audit.family, audit.family.capitalize())
    said = f"{family} projection to {counted(audit.n_components, 'component')}:"
    figure.text(left, 0.953, said, fontsize=20, weight="bold", color=INK, gid="title")
    figure.text(
        left + _width(said) + 0.014, 0.953, audit.outcome.upper(), fontsize=20, weight="bold",
        color=_OUTCOMES[audit.outcome], gid="outcome",
    )  # fmt: skip
    name = audit.data if len(audit.data) <= _NAME else f"{audit.data[: _NAME // 2]}…{audit.data[-_NAME // 2 :]}"
    rows = (f"{audit.n_rows:,} of " if audit.n_rows < audit.n_samples else "") + counted(audit.n_samples, "row")
    classes = f"{audit.n_classes} classes" if audit.n_classes else "no labels"
    sizes = f"{rows} × {counted(audit.n_features, 'feature')}, {classes}; {counted(audit.repeats, 'draw')}"
    sizes += f", asked about ε = {audit.eps:g}"
    figure.text(left, 0.918, f"{name}: {sizes}", fontsize=13, color=INK, gid="subtitle", parse_math=False)


def _width(words: str) -> float:
    """Return the width of the title's words as a part of the figure's."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    drawn = TextPath((0.0, 0.0), words, prop=FontProperties(size=20, weight="bold"))
    return float(drawn.get_extents().width) / (_SIZE[0] * 72.0)
