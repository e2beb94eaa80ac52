"""Numbers that are proved, rounded so that they stay true."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context


def rounded_up(value: float, digits: int) -> str:
    """Return a number with a few digits that is not below the given one.

    Parameters
    ----------
    value : float
        Any.
    digits : int
        How many.

    Returns
    -------
    text : str
        The least such number.
    """
    return _rounded(value, digits, ROUND_CEILING)


def rounded_down(value: float, digits: int) -> str:
    """Return a number with a few digits that is not above the given one.

    Parameters
    ----------
    value : float
        Any.
    digits : int
        How many.

    Returns
    -------
    text : str
        The largest such number.
    """
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    # by its shortest digits: 0.01 is a hundredth, not what its bits are
    return f"{float(Context(prec=digits, rounding=rounding).create_decimal(repr(float(value)))):.{digits}g}"
