"""Checks of options, and messages that speak of options, not of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from slimline.errors import FileFormatError, InvalidParameterError, NonFiniteError

#: What a table says of a cell that holds text.
_TEXT_CELL = re.compile(r"column .*: not a number: ")


def require_number(option: str, value: float | None, most: float | None, below: bool = False) -> None:
    """Refuse a number that is not above 0, or is above what is allowed; None is let through.

    Parameters
    ----------
    option : str
        What it was given as.
    value : float or None
        To be looked at.
    most : float or None
        Largest that is allowed.
    below : bool
        Whether `most` itself is not.
    """
    if value is None or (0 < value < float("inf") and (most is None or value < most or (value == most and not below))):
        return
    range_ = "above 0" if most is None else f"in (0, {most:g}{')' if below else ']'}"
    raise InvalidParameterError(f"{option} {value:g}: it must be a number {range_}.")


@contextmanager
def in_options(names: Mapping[str, str], standardize: bool) -> Iterator[None]:
    """Have messages speak of options, not of parameters.

    Parameters
    ----------
    names : mapping of str to str
        Options, by parameter.
    standardize : bool
        Whether missing values are filled; else a message about one says how.

    Yields
    ------
    None
        Work that takes the parameters.
    """
    try:
        yield
    except NonFiniteError as error:
        if standardize or "missing" not in str(error):
            raise
        said = str(error).split(": fill it")[0].rstrip(".")
        raise NonFiniteError(f"{said}. Here: --standardize fills it with the mean.") from None
    except FileFormatError as error:
        raise FileFormatError(said_of_file(str(error))) from None
    except InvalidParameterError as error:
        raise InvalidParameterError(said_in_options(str(error), names)) from None


def said_of_file(text: str) -> str:
    """Return a message about a file that speaks of options, not of parameters.

    Parameters
    ----------
    text : str
        The message.

    Returns
    -------
    text : str
        The same, with what would help where a cell of a table is no number.
    """
    text = text.replace("open_matrix(path, format=...)", "--format NAME")
    if _TEXT_CELL.search(text):
        text += " If the column holds the names of the rows, give it with --id COLUMN; if labels, with --target COLUMN."
    return text


def said_in_options(text: str, names: Mapping[str, str]) -> str:
    """Return a message that speaks of options, not of parameters.

    Parameters
    ----------
    text : str
        The message.
    names : mapping of str to str
        Options, by parameter.

    Returns
    -------
    text : str
        The same in other words.
    """
    text = re.sub(r'\bmethod="(\w+)"', r"--method \1", text)
    for name, option in names.items():
        text = re.sub(rf"\b{name}\b", option, text)
    return text
