"""Guarantees of theorems and predictions of exact laws for a draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

from slimline._base.text import counted
from slimline.auditing._measures import CRAMMER_SINGER, EMBEDDINGS, PLAIN, WITH_INTERCEPT, Before, Draw
from slimline.auditing._records import BracketCheck, Frequency, Promise
from slimline.bounds import Bound, get
from slimline.bounds._subgaussian import SUBGAUSSIAN_FAMILIES
from slimline.geometry._inputs import Bracketed

#: What float64 may do to a ratio and, beside the size of the points, to a margin: the sketch is rounded, and what is
#: within 1e-10 of the span of the other points is not seen by the embedding error.
_ROUNDING = 1e-9


def bracket_checks(before: Before, draws: Sequence[Draw]) -> tuple[BracketCheck, ...]:
    """Hold paul2013's statements against every draw.

    One a margin that is a distance of convex hulls, and one for the ball; none for what was 0 before.
    """
    checks = []
    size = float(np.sqrt(before.points.squares.max()))
    for name in (PLAIN, WITH_INTERCEPT, CRAMMER_SINGER):
        if name in before.margins and before.margins[name].lower > 0.0:
            after = [draw.margins[name] for draw in draws]
            checks.append(_check("paul2013.1", name, before.margins[name], after, draws, size))
    if before.ball.lower > 0.0:
        checks.append(_check("paul2013.2", "enclosing ball", before.ball, [draw.ball for draw in draws], draws, size))
    return tuple(checks)


def _check(
    bound: str, about: str, before: Bracketed, after: Sequence[Bracketed], draws: Sequence[Draw], size: float
) -> BracketCheck:
    held, used, nearest = 0, 0, 0.0
    for one, draw in zip(after, draws, strict=True):
        eps = draw.embedding.upper
        low, high = _sure_ratio(before, one, _ROUNDING * size)
        held += low**2 <= (1.0 + eps) * (1.0 + _ROUNDING) and high**2 >= (1.0 - eps) * (1.0 - _ROUNDING)
        used += eps < 1.0
        beyond = max(low**2 - 1.0, 1.0 - high**2, 0.0)  # so far the square is from 1 for sure
        nearest = max(nearest, beyond / (eps + _ROUNDING))
    return BracketCheck(bound, about, held, len(draws), used, nearest)


def _sure_ratio(before: Bracketed, after: Bracketed, rounding: float) -> tuple[float, float]:
    """Return what after / before is at least and at most, if both may be off by rounding beside their brackets."""
    low = max(after.lower - rounding, 0.0) / (before.upper + rounding)
    high = (after.upper + rounding) / (before.lower - rounding) if before.lower > rounding else np.inf
    return low, float(high)


#: Of the intervals.
CONFIDENCE = 0.95


def frequency(held: Iterable[bool]) -> Frequency:
    """Return how often something held, with Clopper and Pearson's interval."""
    outcomes = [bool(one) for one in held]
    k, n = sum(outcomes), len(outcomes)
    tail = 0.5 * (1.0 - CONFIDENCE)
    low = float(beta.ppf(tail, k, n - k + 1)) if k > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, k + 1, n - k)) if k < n else 1.0
    return Frequency(k, n, low, high)


#: Numbers of dimensions that are worth telling.
_MOST_DIMENSIONS = 1e15


#: Theorems for a Gaussian R, and those that hold for random signs and Achlioptas too.
_SUBGAUSSIAN = {
    "shi2012.5.sharp": "shi2012.5.subgaussian",
    "shi2012.6": "shi2012.6.subgaussian",
    "shi2012.6.sharp": "shi2012.6.subgaussian",
    "shi2012.8": "shi2012.8.subgaussian",
    "shi2012.9": "shi2012.9.subgaussian",
}
_FOR_THEM = {*_SUBGAUSSIAN.values(), "shi2012.8.unnormalised"}


@dataclass(frozen=True)
class AuditSettings:
    """Sizes and settings that theorems are evaluated with."""

    #: Dimensions after the projection.
    r: int
    #: Distortion asked about, and failure probability.
    eps: float
    delta: float
    #: Share of the points that may fall short of a margin.
    errors: float
    #: Of the projection, by a name of `make_projection`; "" where no theorem knows it.
    family: str
    #: Dimensions of the span of the points, or the most that there can be.
    rank: int
    #: Whether that is their number.
    complete: bool
    #: Sizes of the data.
    features: int
    points: int
    classes: int

    @property
    def note(self) -> str:
        """Return what is to be said of statements about a Gaussian R."""
        return "" if self.family == "gaussian" else "for a Gaussian R; shown for comparison"

    @property
    def is_subgaussian(self) -> bool:
        """Return whether the theorems for sub-Gaussian columns hold for the family."""
        return self.family in SUBGAUSSIAN_FAMILIES

    def theorem(self, name: str) -> str:
        """Return the theorem that takes the place of one for a Gaussian R, if it holds for the family."""
        return _SUBGAUSSIAN.get(name, name) if self.is_subgaussian and self.family != "gaussian" else name

    def note_on(self, bound: Bound) -> str:
        """Return what is to be said of a theorem: nothing if it holds for the family."""
        return "" if self.is_subgaussian and bound.name in _FOR_THEM else self.note

    @property
    def allowed(self) -> int:
        """Return the number of points that may fall short, as `error_allowed_margin` counts them."""
        return min(int(np.floor(self.errors * self.points * (1.0 + 1e-12))), self.points - 1)


def margin_theorem(
    name: str,
    asked: AuditSettings,
    values: Sequence[float],
    before: dict[str, Any],
    law: Callable[[float], float] | None,
    *,
    least: float,
    most: float = np.inf,
    **sizes: Any,
) -> Promise:
    """Return what a theorem on a margin promises at this dimension, and how often that came true."""
    bound = get(asked.theorem(name))
    eps = _eps(bound, asked, 1.0, sizes)
    low = None if eps is None else float(bound.guarantee(eps, **before).lower)
    needed = None
    if low is None or low <= 0.0:
        needed = _needed(bound, float(bound.eps_keeping(0.0, **before)), asked, 1.0, sizes)
    if low is None or low <= least:
        takes = "" if needed is None else f"; a margin above 0 takes {needed:,}"
        return _silent(bound, asked, f"guarantees nothing with {counted(asked.r, 'component')}{takes}", eps, needed)
    predicted = law(low) if law is not None and low < most else None
    held = _held(values, low, None)
    note = asked.note_on(bound)
    return Promise(bound.name, "theorem", bound.statement, eps, asked.delta, low, None, predicted, held, note, needed)


def squared_theorem(
    name: str,
    asked: AuditSettings,
    values: Sequence[float],
    before: float,
    *,
    failure: Callable[[float], float] | None = None,
    through: str = "",
    **sizes: Any,
) -> Promise:
    """Return what a theorem promises of a length whose square stays within 1 ± ε of what it was."""
    bound = get(name)
    eps = _eps(bound, asked, 1.0, sizes)
    if eps is None:
        return _nothing(bound, asked, 1.0, sizes)
    ends = bound.guarantee(eps)
    low, high = (before * float(np.sqrt(max(float(end), 0.0))) for end in ends)
    predicted = None if failure is None else failure(eps)
    note = f"by way of {through}" if through else asked.note
    held = _held(values, low, high)
    return Promise(name, "theorem", bound.statement, eps, asked.delta, low, high, predicted, held, note)


def largest_theorem(
    name: str,
    asked: AuditSettings,
    largest: Sequence[float],
    end: Callable[[float], float],
    *,
    share: float,
    most: float = np.inf,
    failure: Callable[[float], float] | None = None,
    **sizes: Any,
) -> Promise:
    """Return what a theorem promises of the largest distortion of all pairs."""
    bound = get(asked.theorem(name))
    eps = _eps(bound, asked, share, sizes)
    high = None if eps is None else end(eps)
    if eps is None or high is None or high >= most:
        return _nothing(bound, asked, share, sizes)
    predicted = None if failure is None else failure(eps)
    held = _held(largest, None, high)
    note = asked.note_on(bound)
    return Promise(bound.name, "theorem", bound.statement, eps, asked.delta, None, high, predicted, held, note)


def embedding_theorem(asked: AuditSettings, lower_ends: Sequence[float]) -> Promise | None:
    """Return what is promised of the embedding error, by the theorem of the family that promises most."""
    if not asked.family or not asked.rank:
        return None
    known = {"rank": asked.rank, "features": asked.features}
    found: list[tuple[float, Bound, dict[str, Any]]] = []
    for bound in map(get, EMBEDDINGS[asked.family]):
        sizes = {name: known[name] for name in bound.needs}
        found.append((float(bound.required(asked.eps, asked.delta, **sizes)), bound, sizes))
    # of two that promise something the one with the smaller ε, of two that do not the one that asks for less
    ranked = [(_eps(bound, asked, 1.0, sizes), needed, bound, sizes) for needed, bound, sizes in found]
    eps, _, bound, sizes = min(ranked, key=lambda one: (np.inf if one[0] is None else one[0], one[1]))
    if eps is None:
        return _nothing(bound, asked, 1.0, sizes)
    held = _held(lower_ends, None, eps)
    return Promise(bound.name, "theorem", bound.statement, eps, asked.delta, None, eps, None, held)


def law_promise(
    name: str,
    statement: str,
    asked: AuditSettings,
    values: Sequence[float],
    chance: float,
    *,
    low: float | None = None,
    high: float | None = None,
) -> Promise:
    """Return what an exact law foretells: a bound of the chance that a number is not between two ends."""
    # a margin of 0 is none; to be just there has no chance under the law, but other families come to it
    least = float(np.nextafter(0.0, 1.0)) if low == 0.0 else low
    held = _held(values, least, high)
    return Promise(name, "law", statement, None, asked.delta, low, high, chance, held, asked.note)


def share_theorem(
    asked: AuditSettings, values: Sequence[float], margin: float, law: Callable[[float], float]
) -> Promise:
    """Return what balcan2006 promises of the margin that all but a share of the points have."""
    bound = get("balcan2006")
    share = _eps(bound, asked, 1.0, {"margin": margin})
    if share is None or share * asked.points >= asked.allowed + 1:  # a share below 1/m is no point
        of_points = "guarantees nothing" if share is None else f"speaks of all but {100.0 * share:.3g} % of the points"
        return _silent(bound, asked, f"{of_points} with {counted(asked.r, 'component')}", share)
    low = float(bound.guarantee(share, margin=margin).lower)
    note = "with a constant, 8, that is compared with the exact law, not proved"
    note += f"; {asked.note}" if asked.note else ""
    held = _held(values, low, None)
    return Promise(bound.name, "theorem", bound.statement, share, asked.delta, low, None, law(low), held, note)


def _eps(bound: Bound, asked: AuditSettings, share: float, sizes: dict[str, Any]) -> float | None:
    eps = float(bound.eps(asked.r, asked.delta * share, **sizes))
    return eps if np.isfinite(eps) else None


def _nothing(bound: Bound, asked: AuditSettings, share: float, sizes: dict[str, Any]) -> Promise:
    needed = _needed(bound, asked.eps, asked, share, sizes)
    takes = "" if needed is None else f"; ε = {asked.eps:g} takes {needed:,}"
    return _silent(bound, asked, f"guarantees nothing with {counted(asked.r, 'component')}{takes}", None, needed)


def _needed(bound: Bound, eps: float, asked: AuditSettings, share: float, sizes: dict[str, Any]) -> int | None:
    """Return the dimensions for a distortion; None where it is not in the domain, or asks for too many to count."""
    if not 0.0 < eps < bound.eps_below:
        return None
    needed = float(bound.required(eps, asked.delta * share, **sizes))
    return int(np.ceil(needed)) if needed < _MOST_DIMENSIONS else None


def _silent(
    bound: Bound, asked: AuditSettings, note: str, eps: float | None = None, needed: int | None = None
) -> Promise:
    return Promise(bound.name, "theorem", bound.statement, eps, asked.delta, None, None, None, None, note, needed)


def _held(values: Sequence[float], low: float | None, high: float | None) -> Frequency:
    least = -np.inf if low is None else low - _ROUNDING * abs(low)
    most = np.inf if high is None else high + _ROUNDING * abs(high)
    return frequency(least <= value <= most for value in values)
