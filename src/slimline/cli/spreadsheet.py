"""Texts that a spreadsheet would run, made harmless, and back."""

from __future__ import annotations

import re

#: What a spreadsheet takes for the beginning of a formula, perhaps behind our own mark.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
#: What begins in the same way, and is a number.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MARK = "'"


def harmless(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs.

    Parameters
    ----------
    text : str
        A name or a label, from anybody's file.

    Returns
    -------
    cell : str
        With an apostrophe before what begins with =, +, -, @, a tab or an end of line and is no number; and before
        what begins with apostrophes and one of these, so that different texts stay different.
    """
    return _MARK + text if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def as_given(cell: str) -> str:
    """Return the text that `harmless` made a cell of.

    Parameters
    ----------
    cell : str
        Of a table that slimline wrote, or of any other.

    Returns
    -------
    text : str
        The same, unless it is what `harmless` gives for another.
    """
    return cell[1:] if cell.startswith(_MARK) and harmless(cell[1:]) == cell else cell
