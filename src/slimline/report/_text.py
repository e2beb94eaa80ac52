"""Numbers of the page in words; certified numbers are rounded outwards."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext

from slimline._base.text import duration, power_of_ten, rounded_down, rounded_up, size
from slimline.report._records import Feature

#: A space at which no line is broken.
NARROW = "\u00a0"
#: Certified errors below this, a thousandth of a percent, are shown as this.
_LEAST_ERROR = 1e-5


def percent(share: float) -> str:
    """Return a share in percent; 0 and 100 only if it is nothing or all."""
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
    """Return a certified error in percent, rounded up, so that what is shown is proved as well."""
    if not math.isfinite(error):
        return "not bounded"
    if error == 0.0 and exactly:
        return f"0{NARROW}%"
    # by its decimal digits: 0.001 is a thousandth, not the slightly larger number that is stored
    value = 100 * Decimal(repr(error if exactly else max(error, _LEAST_ERROR)))
    share = value.quantize(Decimal(1).scaleb(value.adjusted() - 1), ROUND_CEILING).normalize()
    power = share.adjusted()
    if power < -3:
        return f"{share.scaleb(-power).normalize():f}{NARROW}×{NARROW}{power_of_ten(power)}{NARROW}%"
    return f"{share:,f}{NARROW}%"


def number(value: float, digits: int = 3) -> str:
    """Return a number with a few digits, very large and very small ones as powers of ten."""
    if math.isnan(value):
        return "not known"
    sign = "−" if value < 0 else ""
    if math.isinf(value):
        return f"{sign}∞"
    if value == 0.0:
        return "0"
    mantissa, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    power = int(exponent)
    if -4 <= power < 6:
        text = f"{abs(value):,.{max(0, digits - 1 - power)}f}"
        return sign + (text.rstrip("0").rstrip(".") if "." in text else text)
    return f"{sign}{mantissa.rstrip('0').rstrip('.')}{NARROW}×{NARROW}{power_of_ten(power)}"


def number_up(value: float, digits: int = 2) -> str:
    """Return a bound with a few digits, rounded up."""
    return number(float(rounded_up(value, digits)), digits) if math.isfinite(value) else "∞"


def area(value: float) -> str:
    """Return the area under a curve with three digits; 1 only if it is."""
    if math.isnan(value):
        return "not known"
    return "1" if value == 1.0 else "0.999…" if value > 0.9995 else f"{value:.3f}"


def correlation(value: float) -> str:
    """Return a correlation with three digits; 1 only if it is."""
    text = f"{value:.3f}"
    if abs(value) < 1.0 and text.endswith("1.000"):
        text = "0.999…" if value > 0 else "-0.999…"
    return text.replace("-", "−")


def score(value: float) -> str:
    """Return R² or another score of at most 1; 1 only if it is."""
    return correlation(value) if abs(value) <= 1.0 else number(value)


def time_taken(seconds: float) -> str:
    """Return a time with its unit."""
    return duration(seconds).replace(" ", NARROW)


def memory(nbytes: float) -> str:
    """Return a number of bytes with its unit."""
    return size(nbytes).replace(" ", NARROW)


def places(best: int, worst: int) -> str:
    """Return a range of ranks: "1st", "2nd to 11th"."""
    return _ordinal(best) if best == worst else f"{_ordinal(best)} to {_ordinal(worst)}"


def _ordinal(place: int) -> str:
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place:,}{ending}"


def spread(values: Sequence[float]) -> str:
    """Return the least and the largest of some numbers, or the one that they are."""
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def tidy(text: str) -> str:
    """Return sentences that begin with a capital, without a line break between a number and its percent sign."""
    first = text.split(" ", 1)[0]
    if not any(letter.isdigit() for letter in first):  # else it is the name of a theorem
        text = text[:1].upper() + text[1:]
    return re.sub(r"(?<=\d) %", f"{NARROW}%", text)


#: More digits than any float64 has before and after the point.
_ALL_DIGITS = 1200
#: Ends of an interval that are so many times larger than the effect have a power of ten of their own.
_FARTHER = 1e6
#: Fewest and most digits of the largest weight.
_DIGITS = (3, 6)


@dataclass(frozen=True)
class WeightText:
    """Weights as text: a common power of ten, and decimals."""

    power: int
    decimals: int

    @property
    def unit(self) -> str:
        """Return the factor of all numbers, such as " × 10⁻⁵"; empty for 1."""
        return f"{NARROW}×{NARROW}{power_of_ten(self.power)}" if self.power else ""

    def weight(self, value: float) -> str:
        """Return a weight, rounded to the nearest."""
        return self._written(value, ROUND_HALF_EVEN)

    def lower(self, value: float) -> str:
        """Return the lower end of an interval, rounded down."""
        return self._written(value, ROUND_FLOOR)

    def upper(self, value: float) -> str:
        """Return the upper end of an interval, rounded up."""
        return self._written(value, ROUND_CEILING)

    def _written(self, value: float, rounding: str) -> str:
        if not math.isfinite(value):
            return "not known" if math.isnan(value) else "∞" if value > 0 else "−∞"
        with localcontext(prec=_ALL_DIGITS):
            exact = Decimal(value).scaleb(-self.power).quantize(Decimal(1).scaleb(-self.decimals), rounding)
        return f"{exact:,f}".replace("-", "−") if exact else f"{abs(exact):f}"


def weight_text(features: Sequence[Feature]) -> WeightText:
    """Return the text format that suits the weights of some features and the widths of their intervals."""
    largest = max((abs(feature.weight) for feature in features if math.isfinite(feature.weight)), default=0.0)
    return _format(largest, [(feature.upper - feature.lower) / 2 for feature in features])


def interval_text(value: float, lower: float, upper: float) -> tuple[str, str, str]:
    """Return a number, and the ends of its interval rounded outwards."""
    text = _format(abs(value) if math.isfinite(value) else 0.0, [(upper - lower) / 2])
    unit = [text.unit if math.isfinite(end) else "" for end in (value, lower, upper)]
    far = _FARTHER * max(abs(value), 10.0**text.power)
    low = _directed(lower, rounded_down) if far < abs(lower) < math.inf else text.lower(lower) + unit[1]
    high = _directed(upper, rounded_up) if far < abs(upper) < math.inf else text.upper(upper) + unit[2]
    return text.weight(value) + unit[0], low, high


def _directed(value: float, rounded: Callable[[float, int], str]) -> str:
    return number(float(rounded(value, 3)), 3)


def _format(largest: float, halves: Sequence[float]) -> WeightText:
    power = 0
    if largest > 0.0 and not 1e-3 <= largest < 1e5:
        power = math.floor(math.log10(largest))
    leading = math.floor(math.log10(largest)) - power if largest > 0.0 else 0
    fewest, most = (digits - 1 - leading for digits in _DIGITS)
    widths = sorted(half for half in halves if 0.0 < half < math.inf)
    wanted = fewest if not widths else math.ceil(-math.log10(widths[len(widths) // 2])) + power + 1
    return WeightText(power, max(0, min(max(wanted, fewest), most)))


def variant(feature: Feature) -> str:
    """Return the position of a variant and its alleles; empty for other features."""
    place = [] if feature.chromosome is None else [f"chr{NARROW}{feature.chromosome}"]
    place += [] if feature.position is None else [f"{feature.position:,}"]
    words = [" : ".join(place)] if place else []
    if feature.allele1 is not None or feature.allele2 is not None:
        words.append(f"{feature.allele1 or '?'}/{feature.allele2 or '?'}")
    return " · ".join(words)


def state_of(feature: Feature, k: int) -> str:
    """Return whether a feature is proved to be among the k largest weights of the exact model."""
    return "proved" if feature.worst_rank <= k else "possible" if feature.best_rank <= k else "out"


def count_sentence(features: Sequence[Feature], k: int) -> str:
    """Return how many of the k largest are proved; page.js writes the same sentence."""
    states = [state_of(feature, k) for feature in features]
    sure, maybe = states.count("proved"), states.count("possible")
    said = f"{sure} of the top {k} {'is' if sure == 1 else 'are'} proved"
    if not maybe:
        return f"{said}."
    return f"{said}; {maybe} more of the features shown {'is' if maybe == 1 else 'are'} possible."
