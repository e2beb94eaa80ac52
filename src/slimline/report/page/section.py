"""Parts that sections are made of: headings, tables, what unfolds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slimline.report.page.html import Content, Html, element


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading of its own.

    Parameters
    ----------
    name : str
        What links call it.
    title : str
        Its heading.
    short : str
        Its name in the list of contents.
    body : Html
        What is in it.
    """

    name: str
    title: str
    short: str
    body: Html

    def render(self) -> Html:
        """Return the section as markup.

        Returns
        -------
        markup : Html
            A `section` element.
        """
        heading = element("h2", self.title, id=f"{self.name}-title")
        return element("section", heading, self.body, id=self.name, aria_labelledby=f"{self.name}-title")


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    title : str
        Its head.
    numeric : bool
        Whether it holds numbers: these stand to the right.
    wide : bool
        Whether it holds sentences, which need room.
    """

    title: str
    numeric: bool = False
    wide: bool = False


def table(caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Content]], total: bool = False) -> Html:
    """Return a table that scrolls by itself where it has no room.

    Parameters
    ----------
    caption : str
        What it shows.
    columns : sequence of Column
        Heads; the first column names its row.
    rows : sequence of sequences of content
        Cells.
    total : bool
        Whether the last row sums up the others.

    Returns
    -------
    markup : Html
        A region with a table.
    """
    head = [element("th", column.title, scope="col", class_=_class(column)) for column in columns]
    lines = [
        element(
            "tr",
            [
                element("td" if place else "th", cell, class_=_class(column), scope=None if place else "row")
                for place, (column, cell) in enumerate(zip(columns, row, strict=True))
            ],
        )
        for row in rows
    ]
    foot = element("tfoot", lines.pop()) if total else None
    inner = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", head)),
        element("tbody", lines),
        foot,
    )
    return scrolling(inner, caption)


def scrolling(inner: Html, label: str) -> Html:
    """Return something wide in a box that scrolls sideways, by keyboard too.

    Parameters
    ----------
    inner : Html
        What is wide.
    label : str
        What it is called.

    Returns
    -------
    markup : Html
        A region.
    """
    return element("div", inner, class_="scroll", tabindex=0, role="region", aria_label=label)


def unfolding(summary: str, *content: Content) -> Html:
    """Return what is shown on request; in print it is shown always.

    Parameters
    ----------
    summary : str
        What there is to see.
    *content : content
        It.

    Returns
    -------
    markup : Html
        A `details` element.
    """
    return element("details", element("summary", summary), content)


def facts(pairs: Sequence[tuple[str, Content]]) -> Html:
    """Return names and what they stand for.

    Parameters
    ----------
    pairs : sequence of (str, content)
        One a line.

    Returns
    -------
    markup : Html
        A `dl` element.
    """
    return element(
        "dl", [element("div", element("dt", name), element("dd", said)) for name, said in pairs], class_="facts"
    )


def paragraph(*content: Content) -> Html:
    """Return a paragraph.

    Parameters
    ----------
    *content : content
        What it says.

    Returns
    -------
    markup : Html
        A `p` element.
    """
    return element("p", content)


def _class(column: Column) -> str | None:
    return "number" if column.numeric else "wide" if column.wide else None
