"""Numbers as text: counts, shares, bounds rounded outward, times and sizes."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: Stands where there is no number.
NONE = "–"


def counted(amount: int, noun: str, several: str | None = None) -> str:
    """Return a count with its noun: "1 row", "2,000 rows"."""
    return f"{amount:,} {noun if amount == 1 else several or f'{noun}s'}"


def percent(share: float) -> str:
    """Return a share in percent with three digits; 0 and 100 only if it is nothing or all."""
    if 0.0 < share < 0.0001:
        return f"{100.0 * share:.1g} %"
    if 0.9999 < share < 1.0:
        return "more than 99.99 %"
    return f"{100.0 * share:.3g} %"


def short_percent(share: float) -> str:
    """Return a share in percent for a narrow column; 0 and 100 only if it is nothing or all."""
    if 0.9995 < share < 1.0:
        return ">99.9%"
    if 0.0 < share < 0.0005:
        return "<0.1%"
    return f"{100.0 * share:.3g}%"


def rounded_up(value: float, digits: int) -> str:
    """Return a number with a few digits that is not below the given one."""
    return _rounded(value, digits, ROUND_CEILING)


def rounded_down(value: float, digits: int) -> str:
    """Return a number with a few digits that is not above the given one."""
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    # by its shortest digits: 0.01 is a hundredth, not what its bits are
    return f"{float(Context(prec=digits, rounding=rounding).create_decimal(repr(float(value)))):.{digits}g}"


def power_of_ten(power: int) -> str:
    """Return a power of ten, such as "10⁻⁴"."""
    return f"10{str(power).translate(_SUPERSCRIPTS)}"


def scientific(value: float) -> str:
    """Return a whole number in full below ten million, else with a power of ten."""
    if value < 1e7:
        return f"{value:,.0f}"
    mantissa, _, exponent = f"{value:.1e}".partition("e+")
    return f"{mantissa}·{power_of_ten(int(exponent))}"


def three_digits(value: float) -> str:
    """Return a number with three digits, or more before the point."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def amount(value: float) -> str:
    """Return a number with three significant digits, whole from 1,000 on."""
    if 1_000 <= abs(value) < 1e6:
        return f"{value:,.0f}"
    shown = f"{value:.3g}"
    return "0" if shown in ("0", "-0") else shown


def duration(seconds: float) -> str:
    """Return a time in words, from milliseconds to hours."""
    if seconds < 1.0:
        return f"{1e3 * seconds:.0f} ms" if seconds >= 1e-3 else "less than 1 ms"
    if seconds < 120.0:
        return f"{seconds:.1f} s" if seconds < 10.0 else f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} minutes" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} hours"


def clock(seconds: float) -> str:
    """Return a time as a clock shows it, below a minute in seconds."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}" if whole >= 60 else f"{whole} s"


def size(nbytes: float) -> str:
    """Return a number of bytes with three digits."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if nbytes >= step:
            return f"{nbytes / step:.3g} {unit}"
    return f"{nbytes:.0f} bytes"


def format_seconds(seconds: float | None) -> str:
    """Return a measured time with three digits, for a table."""
    if seconds is None:
        return NONE
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 0.9995:
            return f"{three_digits(seconds * factor)} {unit}"
    return f"{three_digits(seconds * 1e6)} µs"


def format_bytes(nbytes: float | None) -> str:
    """Return a measured size with three digits, for a table; less than a megabyte is "< 1 MB"."""
    if nbytes is None:
        return NONE
    if nbytes < 1e6:
        return "< 1 MB"
    return f"{three_digits(nbytes / 1e9)} GB" if nbytes >= 0.9995e9 else f"{three_digits(nbytes / 1e6)} MB"


def format_ratio(value: float | None) -> str:
    """Return a ratio with two digits, for a table."""
    if value is None:
        return NONE
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"
