"""A chart: a drawing with its axes, its words and its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slimline.report.page.axis import Axis
from slimline.report.page.drawing import SIDE, drawn, path
from slimline.report.page.html import Content, Html, element


@dataclass(frozen=True)
class Mark:
    """Words at a place of a chart.

    Parameters
    ----------
    x, y : float
        Where, as values of the axes.
    words : str
        What is written.
    side : str
        Where the words stand: "right", "left", "above-left" or "below-left" of the place.
    class_ : str
        Class in the style sheet, which gives the colour.
    """

    x: float
    y: float
    words: str
    side: str = "right"
    class_: str = ""


@dataclass(frozen=True)
class Key:
    """An entry of the key.

    Parameters
    ----------
    kind : str
        "line", "dot" or "area".
    class_ : str
        Class in the style sheet.
    words : str
        What it stands for.
    """

    kind: str
    class_: str
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
    """Return a chart that takes the width there is, its words in the size of the page's.

    Parameters
    ----------
    x, y : Axis
        Its axes.
    shapes : sequence of Html
        What is drawn, in the coordinates of `slimline.report.page.drawing`.
    says : str
        What is to be seen, for those who do not.
    title : str
        Its heading.
    caption : content, optional
        What is to be known.
    marks : sequence of Mark
        Words in it.
    key : sequence of Key
        What lines and dots stand for.
    square : bool
        Whether it is as high as wide.

    Returns
    -------
    markup : Html
        A `figure` element.
    """
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
    """Return the key of a chart.

    Parameters
    ----------
    entries : sequence of Key
        What lines and dots stand for.

    Returns
    -------
    markup : Html or None
        A list; None where there is nothing to explain.
    """
    if not entries:
        return None
    items = [
        element("li", element("span", class_=f"swatch {entry.kind} {entry.class_}", aria_hidden="true"), entry.words)
        for entry in entries
    ]
    return element("ul", items, class_="key")


def _part(share: float) -> str:
    return f"{100 * share:.2f}%"
