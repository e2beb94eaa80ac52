"""Elements, sections and shell of the HTML page."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

#: What no page may hold: control characters other than tab and line feed, and halves of surrogate pairs.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
#: Elements without content.
_VOID = ("br", "col", "img", "input", "link", "meta")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Content = str | None | Iterable["Content"]


def escaped(text: str) -> Html:
    """Return a text as markup that shows it, in an element or in an attribute."""
    return text if isinstance(text, Html) else Html(html.escape(_FORBIDDEN.sub("\ufffd", text)))


def joined(*content: Content) -> Html:
    """Return texts and markup one after the other; None is left out."""
    return Html("".join(_pieces(content)))


def element(tag: str, *content: Content, **attributes: str | float | bool | None) -> Html:
    """Return an element."""
    parts = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        spelled = name.rstrip("_").replace("_", "-")
        parts.append(spelled if value is True else f'{spelled}="{escaped(str(value))}"')
    opened = f"<{' '.join(parts)}>"
    return Html(opened if tag in _VOID else f"{opened}{joined(*content)}</{tag}>")


def named(text: str) -> Html:
    """Return a name that comes from data: its direction of writing is kept from what stands around it."""
    return element("bdi", text)


def _pieces(content: Iterable[Content]) -> Iterable[str]:
    for piece in content:
        if piece is None:
            continue
        if isinstance(piece, str):
            yield escaped(piece)
        else:
            yield from _pieces(piece)


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading of its own."""

    #: What links call it.
    name: str
    #: Its heading.
    title: str
    #: Its name in the list of contents.
    short: str
    #: What is in it.
    body: Html

    def render(self) -> Html:
        """Return the section as markup."""
        heading = element("h2", self.title, id=f"{self.name}-title")
        return element("section", heading, self.body, id=self.name, aria_labelledby=f"{self.name}-title")


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    #: Its head.
    title: str
    #: Whether it holds numbers: these stand to the right.
    numeric: bool = False
    #: Whether it holds sentences, which need room.
    wide: bool = False


def table(caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Content]], total: bool = False) -> Html:
    """Return a table that scrolls by itself where it has no room."""
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
    """Return something wide in a box that scrolls sideways, by keyboard too."""
    return element("div", inner, class_="scroll", tabindex=0, role="region", aria_label=label)


def unfolding(summary: str, *content: Content) -> Html:
    """Return what is shown on request; in print it is shown always."""
    return element("details", element("summary", summary), content)


def facts(pairs: Sequence[tuple[str, Content]]) -> Html:
    """Return names and what they stand for."""
    return element(
        "dl", [element("div", element("dt", name), element("dd", said)) for name, said in pairs], class_="facts"
    )


def paragraph(*content: Content) -> Html:
    """Return a paragraph."""
    return element("p", content)


def _class(column: Column) -> str | None:
    return "number" if column.numeric else "wide" if column.wide else None


def whole_page(title: str, body: Html, style: str = "", script: str = "") -> str:
    """Return a page that loads nothing; its security policy lets no script run but its own."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        element("style", Html(page_part("page.css") + style)),
    )
    if script:
        body = Html(body.removesuffix("</body>") + element("script", Html(script)) + "</body>")
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en") + "\n"


@cache
def page_part(name: str, package: str = "slimline.report.page") -> str:
    """Return a file that comes with the package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


MEANING = (
    "Proved equal to the exact model's, the one that training on all of the data to the end would give. "
    "Not a cause, and not true of the world."
)
#: Where the page says more.
ANCHOR = "what-proved-means"


def proved(words: str = "proved") -> Html:
    """Return words that claim a proof, with what that means as a link and for whoever points at them."""
    return element("a", words, class_="proved", href=f"#{ANCHOR}", title=MEANING)


def standing_note() -> Html:
    """Return the line that stands below the first lines."""
    return element(
        "p",
        element("strong", "“Proved”"),
        " on this page means: proved equal to the exact model’s, the one that training on all of the data to the end "
        "would give. It does not mean that a column causes anything, nor that the exact model is right about the "
        "world. ",
        element("a", "More on this", href=f"#{ANCHOR}"),
        class_="standing",
    )


def explanation() -> Html:
    """Return what "proved" means, in full."""
    said = (
        "A linear classifier is the answer to a minimisation over all rows and columns that were given. Solved to the "
        "end, that problem has one answer: the exact model. The model of this page was found by a shorter way, and "
        "with it came a certificate, a calculation that bounds how far the two can be apart. No probability is "
        "attached to that bound, and rounding is accounted for.",
        "So where a weight, a place among the largest weights or a label is called proved, the exact model has it too. "
        "What is not proved may still be the same: the bound was not tight enough to tell.",
        "A proof is not about causes. A column of noise, or one that merely travels with another, can be proved to be "
        "among the largest weights of the exact model. Whether the exact model is right about the world is what the "
        "held-out rows and further studies are for.",
    )
    return element("div", [element("p", words) for words in said], class_="prose")
