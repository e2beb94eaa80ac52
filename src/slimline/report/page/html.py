"""Markup that is safe by construction: whatever is not markup already is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

#: What no page may hold: control characters other than tab and line feed, and halves of surrogate pairs.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
#: Elements without content.
_VOID = ("br", "col", "img", "input", "link", "meta")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Content = str | None | Iterable["Content"]


def escaped(text: str) -> Html:
    """Return a text as markup that shows it, in an element or in an attribute.

    Parameters
    ----------
    text : str
        Anything; markup is returned as it is.

    Returns
    -------
    markup : Html
        Without characters that a page cannot hold.
    """
    return text if isinstance(text, Html) else Html(html.escape(_FORBIDDEN.sub("\ufffd", text)))


def joined(*content: Content) -> Html:
    """Return texts and markup one after the other; None is left out.

    Parameters
    ----------
    *content : str, None, or iterables of such
        Texts are escaped.

    Returns
    -------
    markup : Html
        All of it.
    """
    return Html("".join(_pieces(content)))


def element(tag: str, *content: Content, **attributes: str | float | bool | None) -> Html:
    """Return an element.

    Parameters
    ----------
    tag : str
        Its name.
    *content : str, None, or iterables of such
        What is in it; texts are escaped.
    **attributes : str, number, bool or None
        `class_` is class and `aria_label` aria-label; None and False are left out, True has no value.

    Returns
    -------
    markup : Html
        The element.
    """
    parts = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        spelled = name.rstrip("_").replace("_", "-")
        parts.append(spelled if value is True else f'{spelled}="{escaped(str(value))}"')
    opened = f"<{' '.join(parts)}>"
    return Html(opened if tag in _VOID else f"{opened}{joined(*content)}</{tag}>")


def named(text: str) -> Html:
    """Return a name that comes from data: its direction of writing is kept from what stands around it.

    Parameters
    ----------
    text : str
        Any name.

    Returns
    -------
    markup : Html
        A `bdi` element.
    """
    return element("bdi", text)


def _pieces(content: Iterable[Content]) -> Iterable[str]:
    for piece in content:
        if piece is None:
            continue
        if isinstance(piece, str):
            yield escaped(piece)
        else:
            yield from _pieces(piece)
