"""Weights and their intervals as text: the same unit and decimals in all rows, ends of intervals rounded outwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from slimline.report.fit_facts import Feature
from slimline.report.page.words import NARROW, power_of_ten

#: Fewest and most digits of the largest weight.
_DIGITS = (3, 6)


@dataclass(frozen=True)
class WeightText:
    """How weights are written.

    Parameters
    ----------
    power : int
        Power of ten that they are written in.
    decimals : int
        Digits behind the point.
    """

    power: int
    decimals: int

    @property
    def unit(self) -> str:
        """Return what a number is to be multiplied by, such as " × 10⁻⁵"; empty for 1."""
        return f"{NARROW}×{NARROW}{power_of_ten(self.power)}" if self.power else ""

    def weight(self, value: float) -> str:
        """Return a weight, rounded to the nearest.

        Parameters
        ----------
        value : float
            The weight.

        Returns
        -------
        text : str
            Without the unit.
        """
        return self._written(value, ROUND_HALF_EVEN)

    def lower(self, value: float) -> str:
        """Return the lower end of an interval, rounded down.

        Parameters
        ----------
        value : float
            The end.

        Returns
        -------
        text : str
            Without the unit.
        """
        return self._written(value, ROUND_FLOOR)

    def upper(self, value: float) -> str:
        """Return the upper end of an interval, rounded up.

        Parameters
        ----------
        value : float
            The end.

        Returns
        -------
        text : str
            Without the unit.
        """
        return self._written(value, ROUND_CEILING)

    def _written(self, value: float, rounding: str) -> str:
        if not math.isfinite(value):
            return "not known" if math.isnan(value) else "∞" if value > 0 else "−∞"
        exact = Decimal(value).scaleb(-self.power).quantize(Decimal(1).scaleb(-self.decimals), rounding)
        return f"{exact:,f}".replace("-", "−") if exact else f"{abs(exact):f}"


def weight_text(features: Sequence[Feature]) -> WeightText:
    """Return how the weights of some features are best written.

    Parameters
    ----------
    features : sequence of Feature
        Largest weights.

    Returns
    -------
    text : WeightText
        With digits enough to tell the ends of most intervals apart.
    """
    largest = max((abs(feature.weight) for feature in features if math.isfinite(feature.weight)), default=0.0)
    power = 0
    if largest > 0.0 and not 1e-3 <= largest < 1e5:
        power = math.floor(math.log10(largest))
    leading = math.floor(math.log10(largest)) - power if largest > 0.0 else 0
    fewest, most = (digits - 1 - leading for digits in _DIGITS)
    widths = sorted((f.upper - f.lower) / 2 for f in features if 0.0 < f.upper - f.lower < math.inf)
    wanted = fewest if not widths else math.ceil(-math.log10(widths[len(widths) // 2])) + power + 1
    return WeightText(power, max(0, min(max(wanted, fewest), most)))
