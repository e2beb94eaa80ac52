"""Shapes of a chart, as SVG in a square of 1,000 by 1,000 that is stretched to the room there is.

Strokes keep their width when they are stretched (the style sheet says so), and a dot is a stroke of no length with
round ends. Words are never in it: they stand around it, and keep their size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slimline.report.page.html import Content, Html, element

#: Width and height of the square.
SIDE = 1000.0
#: A point that moves a curve by less than this share of the chart is not drawn, nor more points than this.
_SEEN, _MOST = 0.0015, 240

Point = tuple[float, float]


def drawn(*shapes: Content, height: float = SIDE) -> Html:
    """Return shapes as one picture.

    Parameters
    ----------
    *shapes : content
        What is drawn, the first undermost.
    height : float
        Height of the picture in the coordinates of the shapes.

    Returns
    -------
    markup : Html
        An `svg` element, which screen readers pass over: what stands around it says what it shows.
    """
    box = f"0 0 {_spelled(SIDE)} {_spelled(height)}"
    return element("svg", shapes, viewBox=box, preserveAspectRatio="none", aria_hidden="true", focusable="false")


def path(points: Sequence[Point], class_: str, closed: bool = False, **attributes: str | int) -> Html:
    """Return a line through points.

    Parameters
    ----------
    points : sequence of (float, float)
        From left and top, at least one.
    class_ : str
        Its class in the style sheet.
    closed : bool
        Whether the end is joined to the beginning.
    **attributes : str or int
        Further attributes.

    Returns
    -------
    markup : Html
        A `path` element.
    """
    words = " ".join(f"{_spelled(x)} {_spelled(y)}" for x, y in points)
    return element("path", class_=class_, d=f"M{words}{'Z' if closed else ''}", **attributes)


def dot(x: float, y: float, class_: str) -> Html:
    """Return a dot.

    Parameters
    ----------
    x, y : float
        From left and top.
    class_ : str
        Its class in the style sheet.

    Returns
    -------
    markup : Html
        A `path` element.
    """
    return element("path", class_=f"dot {class_}", d=f"M{_spelled(x)} {_spelled(y)}h.01")


def box(left: float, top: float, right: float, bottom: float, class_: str) -> Html:
    """Return a rectangle.

    Parameters
    ----------
    left, top, right, bottom : float
        Its sides.
    class_ : str
        Its class in the style sheet.

    Returns
    -------
    markup : Html
        A `rect` element.
    """
    width, height = max(0.0, right - left), max(0.0, bottom - top)
    return element(
        "rect", class_=class_, x=_spelled(left), y=_spelled(top), width=_spelled(width), height=_spelled(height)
    )


def thinned(points: Sequence[Point]) -> list[Point]:
    """Return a line with fewer points that looks the same (Douglas and Peucker).

    Parameters
    ----------
    points : sequence of (float, float)
        In the coordinates of the square.

    Returns
    -------
    points : list of (float, float)
        Some of them, with the first and the last; every other is nearer to the line than can be seen, or there would
        be too many.
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
