"""Times, sizes and ratios in words."""

from __future__ import annotations


def format_seconds(seconds: float | None) -> str:
    """Return a time with three digits and a unit that suits it."""
    if seconds is None:
        return "–"
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 0.9995:
            return f"{three_digits(seconds * factor)} {unit}"
    return f"{three_digits(seconds * 1e6)} µs"


def format_bytes(size: float | None) -> str:
    """Return a size with three digits and a unit that suits it; less than a megabyte is not told apart."""
    if size is None:
        return "–"
    if size < 1e6:
        return "< 1 MB"
    return f"{three_digits(size / 1e9)} GB" if size >= 0.9995e9 else f"{three_digits(size / 1e6)} MB"


def format_ratio(value: float | None) -> str:
    """Return a ratio with two digits."""
    if value is None:
        return "–"
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def three_digits(value: float) -> str:
    """Return a number with three digits, or more before the point."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
