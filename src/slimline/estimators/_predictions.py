"""Predictions of a regression, and its scores on known targets, with bounds of those of the exact model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import bound, overflow_allowed, sum_error
from slimline.estimators._decisions import ScoredRows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CertifiedPredictions:
    """Predictions of a regression, and bounds of those of the exact model.

    Parameters
    ----------
    value, lower, upper : arrays of shape (n_samples,) or (n_samples, n_targets)
        The exact model predicts between the last two.
    """

    value: Floats
    lower: Floats
    upper: Floats

    @property
    def error(self) -> Floats:
        """Return how far each prediction can be from that of the exact model."""
        return np.asarray(np.maximum(self.upper - self.value, self.value - self.lower))


@dataclass(frozen=True)
class ScoreInterval:
    """A score of predictions on known targets, and bounds of that of the exact model.

    Parameters
    ----------
    value, lower, upper : float
        The exact model has one between the last two.
    """

    value: float
    lower: float
    upper: float


def predictions_of(rows: ScoredRows, *, flat: bool) -> CertifiedPredictions:
    """Return the predictions of a regression; flat: of one target, as a vector."""
    parts = rows.scores, rows.lower - rows.slack, rows.upper + rows.slack
    return CertifiedPredictions(*(part[:, 0] if flat else part for part in parts))


@overflow_allowed()
def r2_interval(value: Floats, error: Floats, target: Floats, weight: Floats | None = None) -> ScoreInterval | None:
    """Return the coefficient of determination of predictions that can be off by `error` each.

    The residual sum of squares of the exact model is within (√RSS ± E)², E² = Σ s error². None for a constant target.
    """
    s = np.ones(len(target)) if weight is None else weight
    deviations, lost = _norm(target - np.average(target, weights=s), s), _lost(target) * _norm(target, s)
    if deviations <= lost:
        return None
    root, size, rounding = _norm(target - value, s), bound(_norm(error, s)), sum_error(len(target))
    farthest, nearest = (1.0 + rounding) * (root + size), (1.0 - rounding) * root - (1.0 + rounding) * size
    most, least = (farthest / (deviations - lost)) ** 2, (max(0.0, nearest) / (deviations + lost)) ** 2
    return ScoreInterval(1.0 - (root / deviations) ** 2, 1.0 - bound(most) - rounding, min(1.0, 1.0 - least + rounding))


@overflow_allowed()
def correlation_interval(
    value: Floats, error: Floats, target: Floats, weight: Floats | None = None
) -> ScoreInterval | None:
    """Return the correlation with the target of predictions that can be off by `error` each.

    The correlation is the cosine of the angle between both, centred. The exact predictions are within E of the
    reported ones, E² = Σ s error², and centring makes no distance larger: the angle between the two is at most
    arcsin(E/‖centred predictions‖). None for a constant target; the value is NaN if all predictions are the same.
    """
    s, lost, rounding = np.ones(len(target)) if weight is None else weight, _lost(target), sum_error(len(target))
    one, other = (part - np.average(part, weights=s) for part in (value, target))
    spread, deviations = _norm(one, s), _norm(other, s)
    lost_value, lost_target = lost * _norm(value, s), lost * _norm(target, s)
    if deviations <= lost_target:
        return None
    if not lost_value < spread < np.inf:
        return ScoreInterval(float("nan"), -1.0, 1.0)
    size = _norm(error, s) + lost_value
    turned = np.arcsin(size / spread) if size < spread else np.pi
    turned += lost + np.arcsin(lost_target / deviations)
    one, other = one / spread, other / deviations
    # the arc cosine of their product would lose half of the digits where they are nearly parallel
    angle = 2.0 * np.arctan2(_norm(one - other, s), _norm(one + other, s))
    lower, upper = np.cos(min(np.pi, angle + turned)) - rounding, np.cos(max(0.0, angle - turned)) + rounding
    return ScoreInterval(float(np.cos(angle)), max(-1.0, float(lower)), min(1.0, float(upper)))


def _lost(target: Floats) -> float:
    """Return the part of their norm that the deviations from a mean lose to rounding."""
    return 4.0 * sum_error(len(target))


def _norm(part: Floats, weight: Floats) -> float:
    """Return √(Σ s part²); where s is 0, a bound may be infinite."""
    used = weight > 0.0
    return float(np.sqrt(weight[used] @ np.square(part[used])))
