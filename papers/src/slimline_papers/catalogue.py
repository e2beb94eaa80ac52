"""All that is replayed, document by document."""

from __future__ import annotations

from collections.abc import Sequence

from slimline.bounds._bound import FULL_NAMES
from slimline.errors import InvalidParameterError
from slimline_papers import fard2012, paul2013, shi2012, uml2014, vaswani2013
from slimline_papers.item import Item

#: Every figure, table and theorem.
ITEMS: tuple[Item, ...] = (*shi2012.ITEMS, *uml2014.ITEMS, *fard2012.ITEMS, *paul2013.ITEMS, *vaswani2013.ITEMS)


def find_items(names: Sequence[str] = ("all",)) -> tuple[Item, ...]:
    """Return what names stand for.

    Parameters
    ----------
    names : sequence of str
        "all", a document ("shi2012"), an item ("shi2012.fig2").

    Returns
    -------
    items : tuple of Item
        Each once, in the order of the documents.

    Examples
    --------
    >>> from slimline_papers import find_items
    >>> [item.name for item in find_items(["shi2012.fig1"])]
    ['shi2012.fig1']
    """
    wanted: set[str] = set()
    for name in names:
        found = [item.name for item in ITEMS if name in ("all", item.document, item.name)]
        if not found:
            document = name.partition(".")[0]
            known = [item.name for item in ITEMS if item.document == document] or ["all", *FULL_NAMES]
            raise InvalidParameterError(f"there is nothing called {name!r} to reproduce; there are {', '.join(known)}.")
        wanted.update(found)
    return tuple(item for item in ITEMS if item.name in wanted)
