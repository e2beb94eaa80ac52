"""Axes: where a value lies, and what is written along them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from slimline.report.page.drawing import SIDE
from slimline.report.page.words import NARROW, number, power_of_ten

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
#: Decades above which not each has its own tick.
_DECADES = 6
#: Shorter ranges are drawn as single values: their steps would be rounded to 0.
_LEAST = 1e-300


@dataclass(frozen=True)
class Axis:
    """A range of values.

    Parameters
    ----------
    title : str
        What the values are.
    low, high : float
        Its ends.
    ticks : tuple of (float, str)
        Values that are written beside it.
    log : bool
        Whether equal ratios have equal lengths.
    """

    title: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False

    def share(self, value: float) -> float:
        """Return where a value lies: 0 at the low end, 1 at the high one; what lies beyond is at the end.

        Parameters
        ----------
        value : float
            Any number; on a logarithmic axis above 0.

        Returns
        -------
        share : float
            From 0 to 1.
        """
        value = min(max(value, self.low), self.high)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def along(self, value: float) -> float:
        """Return how far from the left a value is drawn.

        Parameters
        ----------
        value : float
            Any number.

        Returns
        -------
        place : float
            In the coordinates of drawings.
        """
        return SIDE * self.share(value)

    def down(self, value: float) -> float:
        """Return how far from the top a value is drawn.

        Parameters
        ----------
        value : float
            Any number.

        Returns
        -------
        place : float
            In the coordinates of drawings.
        """
        return SIDE * (1.0 - self.share(value))


def linear_axis(
    title: str, values: Iterable[float], most: int = 5, room: float = 0.0, within: tuple[float, float] | None = None
) -> Axis:
    """Return an axis on which all finite values have room.

    Parameters
    ----------
    title : str
        What they are.
    values : iterable of float
        What is to be shown.
    most : int
        About how many values are written.
    room : float
        Share of the range that is left free at either end.
    within : (float, float), optional
        What the values cannot leave, and the axis does not either.

    Returns
    -------
    axis : Axis
        Linear.
    """
    low, high = _range(values)
    extra = room * (high - low)
    low, high = low - extra, high + extra
    if within is not None:
        low, high = max(low, within[0]), min(high, within[1])
    step = _step((high - low) / most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return Axis(title, low, high, tuple((k * step, number(k * step)) for k in range(first, last + 1)))


def whole_axis(title: str, high: int) -> Axis:
    """Return an axis of counts from 0.

    Parameters
    ----------
    title : str
        What is counted.
    high : int
        The last.

    Returns
    -------
    axis : Axis
        Linear, with whole numbers.
    """
    high = max(high, 1)
    step = max(1, round(_step(high / 6)))
    return Axis(title, 0.0, float(high), tuple((float(k), f"{k:,}") for k in range(0, high + 1, step)))


def log_axis(title: str, values: Iterable[float], percents: bool = False) -> Axis:
    """Return a logarithmic axis from power of ten to power of ten.

    Parameters
    ----------
    title : str
        What is shown.
    values : iterable of float
        Above 0.
    percents : bool
        Whether they are written in percent.

    Returns
    -------
    axis : Axis
        Logarithmic.
    """
    kept = [value for value in values if 0.0 < value < math.inf] or [1.0]
    first, last = math.floor(math.log10(min(kept)) + 1e-9), math.ceil(math.log10(max(kept)) - 1e-9)
    last = max(last, first + 1)
    every = math.ceil((last - first) / _DECADES)
    powers = range(last - every * ((last - first) // every), last + 1, every)
    write = _percents if percents else _power
    return Axis(title, 10.0**first, 10.0**last, tuple((10.0**k, write(k)) for k in powers), log=True)


def share_axis(title: str) -> Axis:
    """Return an axis from 0 to 100 %.

    Parameters
    ----------
    title : str
        Of what it is a share.

    Returns
    -------
    axis : Axis
        Linear.
    """
    return Axis(title, 0.0, 1.0, tuple((k / 4, f"{25 * k}{NARROW}%") for k in range(5)))


def _range(values: Iterable[float]) -> tuple[float, float]:
    kept = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(kept), max(kept)
    size = max(abs(low), abs(high))
    if high - low > max(1e-12 * size, _LEAST):
        return low, high
    half = 0.5 * size if size > _LEAST else 0.5
    return low - half, high + half


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - 1e-9))


def _power(power: int) -> str:
    return number(10.0**power) if -3 <= power <= 4 else power_of_ten(power)


def _percents(power: int) -> str:
    said = power + 2
    return f"{number(10.0**said) if -3 <= said <= 4 else power_of_ten(said)}{NARROW}%"
