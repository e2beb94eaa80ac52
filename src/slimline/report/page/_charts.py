"""Charts of the page as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline.report.page._html import Content, Html, element
from slimline.report.page._words import NARROW, number, power_of_ten

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
#: Decades above which not each has its own tick.
_DECADES = 6
#: Shorter ranges are drawn as single values: their steps would be rounded to 0.
_LEAST = 1e-300


@dataclass(frozen=True)
class Axis:
    """A range of values."""

    #: What the values are.
    title: str
    #: Its ends.
    low: float
    high: float
    #: Values that are written beside it.
    ticks: tuple[tuple[float, str], ...]
    #: Whether equal ratios have equal lengths.
    log: bool = False

    def share(self, value: float) -> float:
        """Return where a value lies: 0 at the low end, 1 at the high one; what lies beyond is at the end."""
        value = min(max(value, self.low), self.high)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def along(self, value: float) -> float:
        """Return how far from the left a value is drawn."""
        return SIDE * self.share(value)

    def down(self, value: float) -> float:
        """Return how far from the top a value is drawn."""
        return SIDE * (1.0 - self.share(value))


def linear_axis(
    title: str, values: Iterable[float], most: int = 5, room: float = 0.0, within: tuple[float, float] | None = None
) -> Axis:
    """Return an axis on which all finite values have room."""
    low, high = _range(values)
    extra = room * (high - low)
    low, high = low - extra, high + extra
    if within is not None:
        low, high = max(low, within[0]), min(high, within[1])
    step = _step((high - low) / most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return Axis(title, low, high, tuple((k * step, number(k * step)) for k in range(first, last + 1)))


def whole_axis(title: str, high: int) -> Axis:
    """Return an axis of counts from 0."""
    high = max(high, 1)
    step = max(1, round(_step(high / 6)))
    return Axis(title, 0.0, float(high), tuple((float(k), f"{k:,}") for k in range(0, high + 1, step)))


def log_axis(title: str, values: Iterable[float], percents: bool = False) -> Axis:
    """Return a logarithmic axis from power of ten to power of ten."""
    kept = [value for value in values if 0.0 < value < math.inf] or [1.0]
    first, last = math.floor(math.log10(min(kept)) + 1e-9), math.ceil(math.log10(max(kept)) - 1e-9)
    last = max(last, first + 1)
    every = math.ceil((last - first) / _DECADES)
    powers = range(last - every * ((last - first) // every), last + 1, every)
    write = _percents if percents else _power
    return Axis(title, 10.0**first, 10.0**last, tuple((10.0**k, write(k)) for k in powers), log=True)


def share_axis(title: str) -> Axis:
    """Return an axis from 0 to 100 %."""
    return Axis(title, 0.0, 1.0, tuple((k / 4, f"{25 * k}{NARROW}%") for k in range(5)))


def _range(values: Iterable[float]) -> tuple[float, float]:
    kept = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(kept), max(kept)
    size = max(abs(low), abs(high))
    if high - low > max(1e-12 * size, _LEAST):
        return low, high
    half = 0.5 * size if size > _LEAST else 0.5
    return low - half, high + half


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - 1e-9))


def _power(power: int) -> str:
    return number(10.0**power) if -3 <= power <= 4 else power_of_ten(power)


def _percents(power: int) -> str:
    said = power + 2
    return f"{number(10.0**said) if -3 <= said <= 4 else power_of_ten(said)}{NARROW}%"


#: Width and height of the square.
SIDE = 1000.0
#: A point that moves a curve by less than this share of the chart is not drawn, nor more points than this.
_SEEN, _MOST = 0.0015, 240

Point = tuple[float, float]


def drawn(*shapes: Content, height: float = SIDE) -> Html:
    """Return shapes as one picture.

    An `svg` element, which screen readers pass over: what stands around it says what it shows.
    """
    box = f"0 0 {_spelled(SIDE)} {_spelled(height)}"
    return element("svg", shapes, viewBox=box, preserveAspectRatio="none", aria_hidden="true", focusable="false")


def path(points: Sequence[Point], class_: str, closed: bool = False, **attributes: str | int) -> Html:
    """Return a line through points."""
    words = " ".join(f"{_spelled(x)} {_spelled(y)}" for x, y in points)
    return element("path", class_=class_, d=f"M{words}{'Z' if closed else ''}", **attributes)


def dot(x: float, y: float, class_: str) -> Html:
    """Return a dot."""
    return element("path", class_=f"dot {class_}", d=f"M{_spelled(x)} {_spelled(y)}h.01")


def box(left: float, top: float, right: float, bottom: float, class_: str) -> Html:
    """Return a rectangle."""
    width, height = max(0.0, right - left), max(0.0, bottom - top)
    return element(
        "rect", class_=class_, x=_spelled(left), y=_spelled(top), width=_spelled(width), height=_spelled(height)
    )


def thinned(points: Sequence[Point]) -> list[Point]:
    """Return a line with fewer points that looks the same (Douglas and Peucker).

    Some of them, with the first and the last; every other is nearer to the line than can be seen, or there would be
    too many.
    """
    line = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    near = _SEEN * SIDE
    kept = _kept(line, near)
    while kept.sum() > _MOST:
        near *= 1.5
        kept = _kept(line, near)
    return [(float(x), float(y)) for x, y in line[kept]]


def _kept(line: NDArray[np.float64], near: float) -> NDArray[np.bool_]:
    kept = np.zeros(len(line), dtype=bool)
    kept[[0, -1]] = True
    open_parts = [(0, len(line) - 1)]
    while open_parts:
        first, last = open_parts.pop()
        if last - first < 2:
            continue
        between, start = line[first + 1 : last] - line[first], line[last] - line[first]
        length = float(np.hypot(*start))
        away = (
            np.hypot(between[:, 0], between[:, 1])
            if length == 0.0
            else np.abs(between[:, 0] * start[1] - between[:, 1] * start[0]) / length
        )
        farthest = int(away.argmax())
        if away[farthest] > near:
            middle = first + 1 + farthest
            kept[middle] = True
            open_parts += [(first, middle), (middle, last)]
    return kept


def _spelled(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


@dataclass(frozen=True)
class Mark:
    """Words at a place of a chart."""

    #: Where, as values of the axes.
    x: float
    y: float
    #: What is written.
    words: str
    #: Where the words stand: "right", "left", "above-left" or "below-left" of the place.
    side: str = "right"
    #: Class in the style sheet, which gives the colour.
    class_: str = ""


@dataclass(frozen=True)
class Key:
    """An entry of the key."""

    #: "line", "dot" or "area".
    kind: str
    #: Class in the style sheet.
    class_: str
    #: What it stands for.
    words: str


def chart(
    x: Axis,
    y: Axis,
    shapes: Sequence[Html],
    says: str,
    title: str,
    caption: Content = None,
    marks: Sequence[Mark] = (),
    key: Sequence[Key] = (),
    square: bool = False,
) -> Html:
    """Return a chart that takes the width there is, its words in the size of the page's."""
    grid = [path([(0.0, y.down(at)), (SIDE, y.down(at))], "grid") for at, _ in y.ticks]
    ticks_y = [element("span", said, style=f"top:{_part(1 - y.share(at))}") for at, said in y.ticks]
    ticks_x = [element("span", said, style=f"left:{_part(x.share(at))}") for at, said in x.ticks]
    words = [
        element(
            "span",
            mark.words,
            class_=f"mark {mark.side} {mark.class_}".strip(),
            style=f"left:{_part(x.share(mark.x))};top:{_part(1 - y.share(mark.y))}",
        )
        for mark in marks
    ]
    widest = max((len(said) for _, said in y.ticks), default=1)
    plot = element(
        "div",
        element("div", y.title, class_="y-title"),
        element("div", ticks_y, class_="y-ticks"),
        element("div", drawn(grid, shapes), words, class_="area square" if square else "area"),
        element("div", ticks_x, class_="x-ticks"),
        element("div", x.title, class_="x-title"),
        class_="plot",
        style=f"--letters:{widest}",
        role="img",
        aria_label=says,
    )
    return element(
        "figure",
        element("h3", title),
        key_of(key),
        plot,
        None if caption is None else element("figcaption", caption),
        class_="chart",
    )


def key_of(entries: Sequence[Key]) -> Html | None:
    """Return the key of a chart."""
    if not entries:
        return None
    items = [
        element("li", element("span", class_=f"swatch {entry.kind} {entry.class_}", aria_hidden="true"), entry.words)
        for entry in entries
    ]
    return element("ul", items, class_="key")


def _part(share: float) -> str:
    return f"{100 * share:.2f}%"
