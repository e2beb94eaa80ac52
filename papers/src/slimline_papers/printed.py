"""Numbers that the documents print: facts, in tables of ours."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _all() -> dict[str, Any]:
    return dict(json.loads(files("slimline_papers").joinpath("printed.json").read_text(encoding="utf-8")))


def printed(document: str, item: str) -> Any:
    """Return the numbers that a document prints.

    Parameters
    ----------
    document : str
        Its short name.
    item : str
        The table or figure, as `printed.json` calls it.

    Returns
    -------
    numbers : object
        Plain values.

    Examples
    --------
    >>> from slimline_papers.printed import printed
    >>> printed("paul2013", "section4_1_speedup_at_r1024_over_full")
    {'D1': 6, 'D2': 9, 'D3': 25}
    """
    return all_printed(document)[item]


def all_printed(document: str) -> dict[str, Any]:
    """Return all numbers that a document prints.

    Parameters
    ----------
    document : str
        Its short name.

    Returns
    -------
    numbers : dict
        Plain values by table or figure; none where no number is compared.
    """
    return dict(_all().get(document, {}))
