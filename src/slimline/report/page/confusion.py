"""Which classes were taken for which: a table whose cells are shaded by their share of the row."""

from __future__ import annotations

from collections.abc import Sequence

from slimline.report.page.html import Html, element, joined, named
from slimline.report.page.section import Column, scrolling, table
from slimline.report.page.words import counted, percent

#: Up to so many classes the whole table is shown, else the mistakes that were made most.
_WHOLE = 30
#: Mistakes that are listed.
_LISTED = 20
_HOW = (
    "One line a class, one column a label that the model gave; on the diagonal are the right ones, and · is none. The "
    "darker, the larger the share of the line."
)


def confusion_part(labels: Sequence[str], confusion: Sequence[Sequence[int]]) -> Html:
    """Return which classes were taken for which.

    Parameters
    ----------
    labels : sequence of str
        The classes.
    confusion : sequence of sequences of int
        Rows by class and by label given.

    Returns
    -------
    markup : Html
        A table with a sentence.
    """
    title = element("h3", "What was taken for what")
    mistakes = _mistakes(labels, confusion)
    words = element("p", _sentence(mistakes))
    how = element("p", _HOW, class_="aside small")
    if len(labels) <= _WHOLE:
        return element("div", title, words, how, _matrix(labels, confusion), class_="confusion-part")
    columns = [
        Column("class"),
        Column("taken for"),
        Column("rows", numeric=True),
        Column("share of the class", numeric=True),
    ]
    rows = [[named(a), named(b), f"{count:,}", percent(share)] for count, a, b, share in mistakes[:_LISTED]]
    if not rows:
        return element("div", title, words)
    said = f"The most common mistakes among {len(labels)} classes"
    return element("div", title, words, table(said, columns, rows))


Mistake = tuple[int, str, str, float]


def _mistakes(labels: Sequence[str], confusion: Sequence[Sequence[int]]) -> list[Mistake]:
    found = [
        (count, labels[i], labels[j], count / sum(row))
        for i, row in enumerate(confusion)
        for j, count in enumerate(row)
        if i != j and count
    ]
    return sorted(found, key=lambda mistake: -mistake[0])


def _sentence(mistakes: Sequence[Mistake]) -> Html:
    if not mistakes:
        return joined("No mistake was made.")
    count, was, called, _ = mistakes[0]
    total = sum(mistake[0] for mistake in mistakes)
    if count == 1 < total:
        return joined(f"{total} mistakes in all, none of them twice.")
    return joined(
        f"{counted(total, 'mistake')} in all; most often, {counted(count, 'time')}, ‘",
        named(was),
        "’ was called ‘",
        named(called),
        "’.",
    )


def _matrix(labels: Sequence[str], confusion: Sequence[Sequence[int]]) -> Html:
    heads = [element("th", element("span", named(label), title=label), scope="col") for label in labels]
    lines = []
    for place, (label, row) in enumerate(zip(labels, confusion, strict=True)):
        total = sum(row)
        cells = [_cell(count, total, other == place) for other, count in enumerate(row)]
        right = percent(row[place] / total) if total else "no rows"
        lines.append(
            element(
                "tr",
                element("th", named(label), scope="row", title=label),
                cells,
                element("td", right, class_="number"),
            )
        )
    size = "many" if len(labels) > 8 else "few"
    inner = element(
        "table",
        element("caption", "Rows by class and by the label they were given", class_="visually-hidden"),
        element(
            "thead",
            element(
                "tr",
                element("th", "class", scope="col", class_="corner"),
                heads,
                element("th", "right", scope="col", class_="number"),
            ),
        ),
        element("tbody", lines),
        class_=f"confusion {size}",
    )
    return scrolling(inner, "What was taken for what")


def _cell(count: int, total: int, right: bool) -> Html:
    if not count:
        return element("td", "·", class_="none")
    return element("td", f"{count:,}", class_="right" if right else "wrong", style=f"--s:{count / total:.3f}")
