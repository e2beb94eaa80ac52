"""paul2013's statements, which are certain once the embedding error is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slimline.auditing.draws import Before, Draw
from slimline.auditing.measures import CRAMMER_SINGER, PLAIN, WITH_INTERCEPT
from slimline.auditing.records import BracketCheck
from slimline.geometry.records import Bracketed

#: What float64 may do to a ratio and, beside the size of the points, to a margin: the sketch is rounded, and what is
#: within 1e-10 of the span of the other points is not seen by the embedding error.
_ROUNDING = 1e-9


def bracket_checks(before: Before, draws: Sequence[Draw]) -> tuple[BracketCheck, ...]:
    """Hold paul2013's statements against every draw.

    Parameters
    ----------
    before : Before
        The data.
    draws : sequence of Draw
        After each draw, with its embedding error.

    Returns
    -------
    checks : tuple of BracketCheck
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
