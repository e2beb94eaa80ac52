"""The figure of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from slimline.planning import Curve, Guarantee, Plan
from slimline.report._figures import BLUE, GREEN, GREY, INK, ORANGE, PURPLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

#: Curves that differ by less, wherever both speak, are one line to the eye.
_SAME = 0.02
_PRINTED = ", printed"


@dataclass(frozen=True)
class CurveLabel:
    """The label of one curve, or of several that run together."""

    #: All of one kind.
    curves: tuple[Curve, ...]
    #: Lines that say what is kept.
    keeps: tuple[str, ...]
    #: Lines that name the statements.
    names: tuple[str, ...]

    @property
    def lines(self) -> int:
        """Return how many lines it takes."""
        return len(self.keeps) + len(self.names)

    @property
    def end(self) -> tuple[float, float]:
        """Return the smallest eps of its curves, and the dimension there."""
        first = min(self.curves, key=lambda curve: curve.eps[0])
        return first.eps[0], first.dimension[0]


def curve_labels(plan: Plan, width: int) -> tuple[CurveLabel, ...]:
    """Return the labels of the curves of a plan."""
    return tuple(_label(plan, together, width) for together in run_together(plan.curves))


def run_together(curves: Sequence[Curve]) -> list[list[Curve]]:
    """Return the curves in groups that the eye cannot tell apart."""
    groups: list[list[Curve]] = []
    for curve in curves:
        own = next((group for group in groups if _runs_with(curve, group[0])), None)
        if own is None:
            groups.append([curve])
        else:
            own.append(curve)
    return groups


def spread_out(wanted: Floats, heights: Floats, low: float, high: float) -> Floats:
    """Return places as near as can be to those wanted, at which nothing overlaps.

    Middles: of all that keep this order, those with the least sum of squares of the ways moved.
    """
    order = np.argsort(wanted, kind="stable")
    total = float(heights.sum())
    size = heights[order] * min(1.0, (high - low) / total if total else 1.0)
    # With the room below each taken off, not to overlap is not to descend.
    below = np.cumsum(size) - size / 2.0
    freed = np.asarray(isotonic_regression(wanted[order] - below).x) if len(order) else np.empty(0)
    places = np.empty(len(order))
    places[order] = np.clip(freed, low, high - float(size.sum())) + below
    return places


def _runs_with(curve: Curve, other: Curve) -> bool:
    if curve.kind != other.kind:
        return False
    low, high = max(curve.eps[0], other.eps[0]), min(curve.eps[-1], other.eps[-1])
    if low >= high:
        return False
    at = np.linspace(np.log(low), np.log(high), 32)
    one, two = (np.interp(at, np.log(c.eps), np.log(c.dimension)) for c in (curve, other))
    return bool(np.abs(one - two).max() < _SAME)


def _label(plan: Plan, curves: Sequence[Curve], width: int) -> CurveLabel:
    keeps = "; ".join(_by_family([_kept(plan.guarantees, curve) for curve in curves]))
    kind = curves[0].kind
    if kind == "exact":
        return CurveLabel(tuple(curves), tuple(wrap(f"exact law: {keeps}", width)), ())
    said = {"printed": " (as printed: does not hold)", "order": " (as printed, constant 1)"}.get(kind, "")
    keeps += said
    names = _short([curve.name.removesuffix(_PRINTED) for curve in curves])
    if len(keeps) + len(names) + 3 <= width:
        return CurveLabel(tuple(curves), (f"{keeps} · {names}",), ())
    return CurveLabel(tuple(curves), tuple(wrap(keeps, width)), tuple(wrap(names, width)))


def _kept(guarantees: Sequence[Guarantee], curve: Curve) -> str:
    """Return what a curve's guarantee keeps."""
    if curve.kind == "exact":
        return curve.name.partition(": ")[2]
    if curve.name == f"paul2013.cw{_PRINTED}":  # printed of one family, true of nearly all
        return "the row space, CW"
    name, _, family = curve.name.removesuffix(_PRINTED).rstrip(")").partition(" (")
    told = [row.about for row in guarantees if row.name == name and row.about.endswith(family)]
    return told[0] if told else curve.name


def _by_family(kept: Sequence[str]) -> list[str]:
    """Return what is kept, the projection that several have in common named once, behind them."""
    families: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    for one in dict.fromkeys(kept):
        what, _, family = one.partition(", ")
        spelled.setdefault(family.lower(), family)
        whats = families.setdefault(family.lower(), [])
        if what not in whats:
            whats.append(what)
    return [", ".join([*whats, *([spelled[family]] if family else [])]) for family, whats in families.items()]


def _short(names: Sequence[str]) -> str:
    """Return names, a document once where it goes on: "paul2013.1, .2"."""
    shown: list[str] = []
    document = ""
    for name in dict.fromkeys(name.partition(" (")[0] for name in names):
        begins, _, rest = name.partition(".")
        shown.append(f".{rest}" if begins == document else name)
        document = begins
    return ", ".join(shown)


#: Inches, and dots an inch: 1600 × 1100.
_SIZE, _DPI = (16.0, 11.0), 100
#: Left, bottom, width and height of the plot in the figure; the labels stand to its right.
_PLOT = (0.078, 0.07, 0.49, 0.8)
_FONT, _SMALL, _LINE = 11.0, 9.5, 1.25  # the last: height of a line beside that of its letters
#: Letters of a label's line.
_LETTERS = 78
_INK, _GREY, _CHOSEN = INK, GREY, PURPLE
#: Colours, and dashes for those who see none.
_STYLES: dict[str, dict[str, Any]] = {
    "theorem": {"color": BLUE, "linestyle": "-", "linewidth": 1.3, "zorder": 3},
    "printed": {"color": ORANGE, "linestyle": (0, (6, 3)), "linewidth": 1.9, "zorder": 4},
    "order": {"color": GREEN, "linestyle": (0, (1, 1.6)), "linewidth": 1.8, "zorder": 2},
    "limit": {"color": GREEN, "linestyle": (0, (1, 1.6)), "linewidth": 1.8, "zorder": 2},
    "exact": {"color": _INK, "linestyle": "-", "linewidth": 3.2, "zorder": 5},
}
_KEY = (
    (("exact",), "exact laws"),
    (("theorem",), "theorems"),
    (("printed",), "printed statements that do not hold"),
    (("order", "limit"), "O(·) and limits"),
)


def plan_figure(plan: Plan) -> Figure:
    """Draw the dimension that each guarantee asks for against ε, stricter to the right.

    Parameters
    ----------
    plan : Plan
        From `slimline.plan`.

    Returns
    -------
    figure : matplotlib.figure.Figure
        1600 × 1100 dots, one axes with one line a curve; `save_figure` writes it.

    Examples
    --------
    >>> from slimline import plan
    >>> from slimline.report import plan_figure
    >>> figure = plan_figure(plan(n_samples=2000, n_features=500_000, margin=0.3))
    >>> figure.axes[0].get_ylabel()
    'dimensions asked for'
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, dpi=_DPI, facecolor="white")
    axes = figure.add_axes(_PLOT)
    _set_limits(axes, plan)
    for curve in plan.curves:
        axes.plot(curve.eps, curve.dimension, label=curve.name, solid_capstyle="round", **_STYLES[curve.kind])
    words = _words_of_curves(plan)
    words.append(_mark_features(axes, plan))
    if plan.choice.n_components:
        words.append(_mark_choice(axes, plan))
    _mark_eps(axes, plan)
    _write_beside(axes, words)
    _write_title(figure, plan)
    _dress(axes)
    return figure


@dataclass(frozen=True)
class _Words:
    """A label beside the plot: the end of the line that it belongs to, and its look."""

    eps: float
    dimension: float
    large: Sequence[str]
    small: Sequence[str]
    colour: str
    weight: str = "normal"


def _words_of_curves(plan: Plan) -> list[_Words]:
    words = []
    for label in curve_labels(plan, _LETTERS):
        kind = label.curves[0].kind
        weight = "bold" if kind == "exact" else "normal"
        words.append(_Words(*label.end, label.keeps, label.names, _STYLES[kind]["color"], weight))
    return words


def _set_limits(axes: Axes, plan: Plan) -> None:
    eps = [plan.eps, *(end for curve in plan.curves for end in (curve.eps[0], curve.eps[-1]))]
    dimensions = [float(plan.n_features), *(value for curve in plan.curves for value in curve.dimension)]
    if plan.choice.n_components:
        dimensions.append(float(plan.choice.n_components))
    axes.set_xscale("log")
    axes.set_yscale("log")
    low, high = min(eps), max(eps)
    axes.set_xlim(high * 1.04, low if high > low else low / 2.0)
    axes.set_ylim(min(dimensions) / 1.5, max(dimensions) * 2.0)


def _mark_features(axes: Axes, plan: Plan) -> _Words:
    d = plan.n_features
    axes.axhspan(d, axes.get_ylim()[1], color="0.5", alpha=0.1, zorder=0, linewidth=0)
    axes.axhline(d, color=_INK, linewidth=1.1, zorder=1, gid="features")
    text = f"d = {d:,} features: above it a guarantee saves nothing"
    return _Words(axes.get_xlim()[1], d, [text], [], _INK)


def _mark_choice(axes: Axes, plan: Plan) -> _Words:
    r = plan.choice.n_components
    axes.axhline(r, color=_CHOSEN, linewidth=1.1, zorder=1, gid="components")
    marker: dict[str, Any] = {
        "marker": "D",
        "markersize": 10,
        "color": _CHOSEN,
        "markeredgecolor": "white",
        "zorder": 6,
    }
    axes.plot([plan.eps], [r], clip_on=False, gid="choice", **marker)  # eps may lie at the edge
    text = f"◆ advised: {r:,} components, {plan.choice.projection}"
    return _Words(axes.get_xlim()[1], r, [text], [], _CHOSEN, "bold")


def _mark_eps(axes: Axes, plan: Plan) -> None:
    axes.axvline(plan.eps, color=_GREY, linewidth=1.0, linestyle=(0, (3, 3)), zorder=1, gid="eps")
    axes.annotate(
        f"ε = {plan.eps:g}",
        (plan.eps, 1.0),
        xycoords=axes.get_xaxis_transform(),
        xytext=(0, 5),
        textcoords="offset points",
        ha="center",
        fontsize=_FONT,
        color=_GREY,
    )


def _write_beside(axes: Axes, words: Sequence[_Words]) -> None:
    """Write to the right of the plot, a thin line leading to what is spoken of; nothing overlaps."""
    points = _SIZE[1] * 72.0 * _PLOT[3]  # height of the plot
    heights = np.array([(len(one.large) * _FONT + len(one.small) * _SMALL) * _LINE + 3.0 for one in words]) / points
    ends = axes.transData.transform([(one.eps, one.dimension) for one in words])
    ends = axes.transAxes.inverted().transform(ends)
    for one, end, height, place in zip(words, ends, heights, spread_out(ends[:, 1], heights, 0.0, 1.0), strict=True):
        axes.plot(
            [end[0], 1.006, 1.03, 1.036],
            [end[1], end[1], place, place],
            color=one.colour,
            linewidth=0.7,
            alpha=0.7,
            transform=axes.transAxes,
            clip_on=False,
            gid="leader",
        )
        top = place + height / 2.0 - 1.5 / points
        under = top - len(one.large) * _FONT * _LINE / points
        for y, lines, size, colour, weight in (
            (top, one.large, _FONT, one.colour, one.weight),
            (under, one.small, _SMALL, _GREY, "normal"),
        ):
            if lines:
                axes.text(
                    1.042,
                    y,
                    "\n".join(lines),
                    fontsize=size,
                    color=colour,
                    weight=weight,
                    transform=axes.transAxes,
                    va="top",
                    linespacing=_LINE,
                    gid="label",
                )


def _write_title(figure: Figure, plan: Plan) -> None:
    left = _PLOT[0]
    figure.text(left, 0.957, "How many dimensions each guarantee asks for", fontsize=19, weight="bold", color=_INK)
    sizes = (
        f"{plan.n_samples:,} samples × {plan.n_features:,} features, {plan.n_classes} classes; "
        f"each guarantee may fail with probability δ = {plan.delta:g}"
    )
    if not plan.choice.n_components:
        sizes += f"; advised: no projection, method {plan.choice.method}"
    figure.text(left, 0.93, sizes, fontsize=13, color=_INK)
    kinds = {curve.kind for curve in plan.curves}
    _write_key(figure, [(of[0], words) for of, words in _KEY if kinds & set(of)])


def _write_key(figure: Figure, key: Sequence[tuple[str, str]]) -> None:
    """Write what the lines mean, each in its own colour behind a piece of the line."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.lines import Line2D
    from matplotlib.textpath import TextPath

    x, y, size = _PLOT[0], 0.906, 12.0
    for kind, words in key:
        style = {name: value for name, value in _STYLES[kind].items() if name != "zorder"}
        figure.add_artist(Line2D([x, x + 0.03], [y, y], gid="key", **style))
        figure.text(x + 0.036, y, words, fontsize=size, color=style["color"], va="center")
        width = TextPath((0.0, 0.0), words, prop=FontProperties(size=size)).get_extents().width
        x += 0.036 + width / (_SIZE[0] * 72.0) + 0.022


def _dress(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_xlabel("distortion ε, stricter to the right", fontsize=13, color=_INK)
    axes.set_ylabel("dimensions asked for", fontsize=13, color=_INK)
    low, high = sorted(axes.get_xlim())
    steps = (1.0, 2.0, 5.0) if high < 1e3 * low else (1.0,)
    ticks = [step * 10.0**k for k in range(int(np.floor(np.log10(low))), 1) for step in steps]
    ticks = [tick for tick in ticks if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(10.0, numticks=20))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _spoken(value)))
    axes.tick_params(labelsize=_FONT, colors=_INK)
    axes.grid(True, which="major", color="0.86", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _spoken(value: float) -> str:
    """Return a power of ten as people say it: 1, 10, …, 100,000, 1 million, …; from 10¹⁵ on, as a power."""
    if value >= 1e15:
        return f"$10^{{{round(np.log10(value))}}}$"
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{value / size:,.0f} {word}"
    return f"{value:,.0f}" if value >= 1.0 else f"{value:g}"
