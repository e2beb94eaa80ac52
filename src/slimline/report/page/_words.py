"""Numbers as people say them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal

from slimline._base.text import counted as counted
from slimline._base.text import duration, size
from slimline._base.text import power_of_ten as power_of_ten

#: A space at which no line is broken.
NARROW = "\u00a0"
#: A certified error below this is not told apart from it: at most a thousandth of a percent.
_LEAST_ERROR = 1e-5


def percent(share: float) -> str:
    """Return a share in percent; 0 and 100 only where it is nothing or all."""
    if not math.isfinite(share):
        return "not known"
    if share in (0.0, 1.0):
        return f"{100.0 * share:.0f}{NARROW}%"
    for decimals in (1, 2, 3):
        text = f"{100.0 * share:.{decimals}f}"
        if float(text) not in (0.0, 100.0):
            return f"{text}{NARROW}%"
    return f"less than 0.001{NARROW}%" if share < 0.5 else f"more than 99.999{NARROW}%"


def at_most(error: float, exactly: bool = False) -> str:
    """Return a certified error in percent, rounded up: what is said is proved as well."""
    if not math.isfinite(error):
        return "not bounded"
    if error == 0.0 and exactly:
        return f"0{NARROW}%"
    # 0.001 is a thousandth, not what its bits are
    share = rounded_up(100 * Decimal(repr(error if exactly else max(error, _LEAST_ERROR))))
    power = share.adjusted()
    if power < -3:
        return f"{share.scaleb(-power).normalize():f}{NARROW}×{NARROW}{power_of_ten(power)}{NARROW}%"
    return f"{share:,f}{NARROW}%"


def tidy(text: str) -> str:
    """Return sentences in which no line is broken between a number and its sign of percent."""
    first = text.split(" ", 1)[0]
    if not any(letter.isdigit() for letter in first):  # else it is the name of a theorem
        text = text[:1].upper() + text[1:]
    return re.sub(r"(?<=\d) %", f"{NARROW}%", text)


def rounded_up(value: Decimal) -> Decimal:
    """Return a positive number with two digits, not below what it was."""
    return value.quantize(Decimal(1).scaleb(value.adjusted() - 1), ROUND_CEILING).normalize()


def number(value: float, digits: int = 3) -> str:
    """Return a number with a few digits, very large and very small ones as powers of ten."""
    if math.isnan(value):
        return "not known"
    sign = "−" if value < 0 else ""
    size = abs(value)
    if math.isinf(size):
        return f"{sign}∞"
    if size == 0.0:
        return "0"
    mantissa, exponent = f"{size:.{digits - 1}e}".split("e")
    power = int(exponent)
    if -4 <= power < 6:
        decimals = max(0, digits - 1 - power)
        text = f"{size:,.{decimals}f}"
        return sign + (text.rstrip("0").rstrip(".") if "." in text else text)
    return f"{sign}{mantissa.rstrip('0').rstrip('.')}{NARROW}×{NARROW}{power_of_ten(power)}"


def time_taken(seconds: float) -> str:
    """Return a time as people say it."""
    return duration(seconds).replace(" ", NARROW)


def memory(nbytes: float) -> str:
    """Return a number of bytes as people say it."""
    return size(nbytes).replace(" ", NARROW)


def penalty(C: float) -> str:
    """Return a penalty with its name."""
    return f"C{NARROW}={NARROW}{number(C)}"


def largest(amount: int) -> str:
    """Return how many of the largest weights there are."""
    return "largest weight" if amount == 1 else counted(amount, "largest weight")


def ordinal(place: int) -> str:
    """Return a place: "1st", "22nd", "1,013th"."""
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place:,}{ending}"


def places(best: int, worst: int) -> str:
    """Return a range of places."""
    return ordinal(best) if best == worst else f"{ordinal(best)} to {ordinal(worst)}"


def spread(values: Sequence[float]) -> str:
    """Return the least and the most of some numbers, or the one that they are."""
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"
