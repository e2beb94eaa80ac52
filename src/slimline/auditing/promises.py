"""Theorems and laws about what was measured, beside what happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.auditing.chances import frequency
from slimline.auditing.records import Promise
from slimline.auditing.text import counted
from slimline.bounds import Bound, get

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """What theorems are asked with.

    Parameters
    ----------
    r : int
        Dimensions after the projection.
    eps, delta : float
        Distortion asked about, and failure probability.
    family : str
        Of the projection, by a name of `make_projection`; "" where no theorem knows it.
    rank, features, points, classes : int
        Sizes of the data.
    """

    r: int
    eps: float
    delta: float
    family: str
    rank: int
    features: int
    points: int
    classes: int

    @property
    def note(self) -> str:
        """Return what is to be said of statements about a Gaussian R."""
        return "" if self.family == "gaussian" else "for a Gaussian R; shown for comparison"


def theorem(
    name: str,
    asked: Asked,
    values: Sequence[float],
    *,
    before: dict[str, Any] | None = None,
    share: float = 1.0,
    unit: Callable[[float], float] = float,
    law: Callable[[float], float] | None = None,
    gaussian: bool = True,
    **sizes: Any,
) -> Promise:
    """Return what a theorem promises of a number at this dimension, and how often that came true.

    Parameters
    ----------
    name : str
        Of the bound.
    asked : Asked
        Dimension, probability and sizes.
    values : sequence of float
        The number after each draw.
    before : dict, optional
        What the guarantee needs of the data.
    share : float
        Part of the failure probability that one use of the theorem has, in a union.
    unit : callable
        Makes an end of the guarantee an end of the number.
    law : callable, optional
        Chance that the number falls below a value.
    gaussian : bool
        Whether the statement is about a Gaussian R only.
    **sizes : int
        What the bound asks for.

    Returns
    -------
    promise : Promise
        With eps None where the theorem promises nothing.
    """
    bound = get(name)
    eps = _eps(bound, asked, share, sizes)
    if eps is None:
        return _nothing(bound, asked, share, sizes)
    ends = bound.guarantee(eps, **(before or {}))
    low, high = (unit(end) if np.isfinite(end) else None for end in (float(ends.lower), float(ends.upper)))
    predicted = None if law is None or low is None or not -1.0 <= low < 1.0 else law(low)
    note = asked.note if gaussian else ""
    held = _held(values, low, high)
    return Promise(name, "theorem", bound.statement, eps, asked.delta, low, high, predicted, held, note)


def largest_theorem(
    name: str, asked: Asked, largest: Sequence[float], end: Callable[[float], float], *, share: float, **sizes: Any
) -> Promise:
    """Return what a theorem promises of the largest distortion of all pairs.

    Parameters
    ----------
    name : str
        Of the bound.
    asked : Asked
        Dimension, probability and sizes.
    largest : sequence of float
        Largest distortion of each draw.
    end : callable
        What the distortion is at most, from eps.
    share : float
        Part of the failure probability that one use of the theorem has, in a union.
    **sizes : int
        What the bound asks for.

    Returns
    -------
    promise : Promise
        With eps None where the theorem promises nothing.
    """
    bound = get(name)
    eps = _eps(bound, asked, share, sizes)
    if eps is None:
        return _nothing(bound, asked, share, sizes)
    high = end(eps)
    held = _held(largest, None, high)
    return Promise(name, "theorem", bound.statement, eps, asked.delta, None, high, None, held, asked.note)


def law_promise(
    name: str, statement: str, asked: Asked, values: Sequence[float], low: float, chance: Callable[[float], float]
) -> Promise:
    """Return what an exact law foretells: the chance that a number falls below a value, or is no more than 0.

    Parameters
    ----------
    name, statement : str
        What it is called, and what it says.
    asked : Asked
        Dimension and probability.
    values : sequence of float
        The number after each draw.
    low : float
        The value.
    chance : callable
        The chance, from the value.

    Returns
    -------
    promise : Promise
        Of the kind "law".
    """
    # a margin of 0 is none; to be just there has no chance under the law, but other families come to it
    least = low if low != 0.0 else float(np.nextafter(0.0, 1.0))
    held = _held(values, least, None)
    return Promise(name, "law", statement, None, asked.delta, low, None, chance(low), held, asked.note)


def _eps(bound: Bound, asked: Asked, share: float, sizes: dict[str, Any]) -> float | None:
    eps = float(bound.eps(asked.r, asked.delta * share, **sizes))
    return eps if np.isfinite(eps) else None


def _nothing(bound: Bound, asked: Asked, share: float, sizes: dict[str, Any]) -> Promise:
    note = f"promises nothing with {counted(asked.r, 'dimension')}"
    if asked.eps < bound.eps_below:
        needed = float(bound.required(asked.eps, asked.delta * share, **sizes))
        note += f"; ε = {asked.eps:g} takes {np.ceil(needed):,.0f}"
    return Promise(bound.name, "theorem", bound.statement, None, asked.delta, None, None, None, None, note)


def _held(values: Sequence[float], low: float | None, high: float | None) -> Any:
    least, most = -np.inf if low is None else low, np.inf if high is None else high
    return frequency(least <= value <= most for value in values)
