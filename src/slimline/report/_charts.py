"""Axes and lines of the charts on the page, in units of a square of 1,000 by 1,000."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from slimline._base.text import power_of_ten
from slimline.report._records import EffectFacts, Feature
from slimline.report._text import NARROW, WeightText, number

#: Width and height of the square; an SVG stretches it.
SIDE = 1000.0
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
#: Decades above which not each has its own tick.
_DECADES = 6
#: Shorter ranges are drawn as single values: their steps would be rounded to 0.
_LEAST = 1e-300
#: Share of an axis that a dot covers.
_DOT = 0.015
#: Intervals are drawn up to so many times the largest weight, and cut off there.
_FARTHEST = 2.5


@dataclass(frozen=True)
class Axis:
    """A range of values with its ticks."""

    title: str
    low: float
    high: float
    #: Values, and what is written beside them.
    ticks: tuple[tuple[float, str], ...]
    log: bool = False
    #: Factor of the numbers at the ticks, which the title has as well; empty for 1.
    unit: str = ""

    def share(self, value: float) -> float:
        """Return the position of a value: 0 at the low end, 1 at the high one; values beyond are at the end."""
        value = min(max(value, self.low), self.high)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def along(self, value: float) -> float:
        """Return the distance of a value from the left."""
        return round(SIDE * self.share(value), 1)

    def down(self, value: float) -> float:
        """Return the distance of a value from the top."""
        return round(SIDE - SIDE * self.share(value), 1)


def linear_axis(
    title: str, values: Iterable[float], most: int = 5, room: float = 0.0, within: tuple[float, float] | None = None
) -> Axis:
    """Return an axis that holds all finite values."""
    low, high = _range(values)
    extra = room * (high - low)
    low, high = low - extra, high + extra
    if within is not None:
        low, high = max(low, within[0]), min(high, within[1])
    step = _step((high - low) / most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    size = max(abs(low), abs(high))
    power = 0 if 1e-3 <= size < 1e6 or size < _LEAST else math.floor(math.log10(size))
    unit = f"×{NARROW}{power_of_ten(power)}" if power else ""
    ticks = tuple((k * step, number(k * (step / 10.0**power))) for k in range(first, last + 1))
    return Axis(f"{title}, {unit}" if unit else title, low, high, ticks, unit=unit)


def count_axis(title: str, high: int, room: float = 0.0) -> Axis:
    """Return an axis of counts from 0, with room for words on the right."""
    high = max(high, 1)
    step = max(1, round(_step(high / 6)))
    return Axis(title, 0.0, high * (1.0 + room), tuple((float(k), f"{k:,}") for k in range(0, high + 1, step)))


def log_axis(title: str, values: Iterable[float], percents: bool = False) -> Axis:
    """Return a logarithmic axis from power of ten to power of ten."""
    kept = [value for value in values if 0.0 < value < math.inf] or [1.0]
    first, last = math.floor(math.log10(min(kept)) + 1e-9), math.ceil(math.log10(max(kept)) - 1e-9)
    last = max(last, first + 1)
    every = math.ceil((last - first) / _DECADES)
    powers = range(last - every * ((last - first) // every), last + 1, every)
    return Axis(title, 10.0**first, 10.0**last, tuple((10.0**k, _power(k, percents)) for k in powers), log=True)


def share_axis(title: str) -> Axis:
    """Return an axis from 0 to 100 %."""
    return Axis(title, 0.0, 1.0, tuple((k / 4, f"{25 * k}{NARROW}%") for k in range(5)))


def small_share_axis(title: str, most: float) -> Axis:
    """Return an axis from 0 to a share, in percent."""
    high = min(1.0, 1.04 * most) if most > 0.0 else 1.0
    step = _step(high / 5)
    ticks = (k * step for k in range(math.floor(high / step + 1e-9) + 1))
    return Axis(title, 0.0, high, tuple((at, f"{number(100.0 * at)}{NARROW}%") for at in ticks))


def weight_axis(features: Sequence[Feature], text: WeightText) -> Axis:
    """Return an axis of weights, in the unit in which they are written."""
    largest = max((abs(feature.weight) for feature in features if math.isfinite(feature.weight)), default=0.0)
    limit = _FARTHEST * largest if largest > 0.0 else 1.0
    ends = [end for feature in features for end in (feature.lower, feature.upper, feature.weight)]
    shown = [min(max(end, -limit), limit) / 10.0**text.power for end in ends if not math.isnan(end)]
    return linear_axis("weight", [0.0, *shown], most=4, room=0.03)


def effect_axis(effects: Sequence[EffectFacts]) -> Axis:
    """Return an axis of effects, 0 among them; intervals far beyond all effects are cut off."""
    limit = _FARTHEST * max(abs(effect.effect) for effect in effects) or 1.0
    ends = [end for effect in effects for end in (effect.lower, effect.upper, effect.effect)]
    return linear_axis("effect", [0.0, *(min(max(end, -limit), limit) for end in ends)], most=4, room=0.03)


def line(x: Axis, y: Axis, along: Iterable[float], up: Iterable[float]) -> str:
    """Return the path through points; those that cannot be told from the one before are left out."""
    points = ((round(SIDE * x.share(a)), round(SIDE - SIDE * y.share(b))) for a, b in zip(along, up, strict=True))
    return "M" + " ".join(f"{a} {b}" for a, b in dict.fromkeys(points))


def points(x: Axis, y: Axis, along: Iterable[float], up: Iterable[float]) -> str:
    """Return the path of dots; those that would lie on one another are drawn once."""
    places = ((round(SIDE * x.share(a)), round(SIDE - SIDE * y.share(b))) for a, b in zip(along, up, strict=True))
    return "".join(f"M{a} {b}h.01" for a, b in dict.fromkeys(places))


def spans(x: Axis, y: Axis, middles: Iterable[float], radii: Iterable[float], up: Iterable[float]) -> str:
    """Return the path of horizontal intervals; empty if all are narrower than a dot."""
    if not any(2.0 * radius > _DOT * (x.high - x.low) for radius in radii):
        return ""
    parts = zip(middles, radii, up, strict=True)
    return "".join(f"M{x.along(a - r)} {y.down(b)}H{x.along(a + r)}" for a, r, b in parts)


def rise(x: Axis, values: ArrayLike) -> str:
    """Return the path of the share of values that are at most as large, from 0 to 1."""
    sizes = np.sort(np.asarray(values, dtype=np.float64)).tolist()
    steps = {round(SIDE * x.share(value)): round(SIDE - SIDE * (k + 1) / len(sizes)) for k, value in enumerate(sizes)}
    return f"M0 {SIDE:.0f}" + "".join(f"H{across}V{height}" for across, height in steps.items()) + f"H{SIDE:.0f}"


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


def _power(power: int, percents: bool) -> str:
    power += 2 if percents else 0
    text = number(10.0**power) if -3 <= power <= 4 else power_of_ten(power)
    return f"{text}{NARROW}%" if percents else text
