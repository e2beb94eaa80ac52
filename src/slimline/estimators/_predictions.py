"""Predictions of a regression, and its scores on known targets, with bounds of those of the exact model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline._base.rounding import overflow_allowed, sum_error
from slimline.errors import DataError
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
def r2_interval(value: Floats, error: Floats, target: Floats, weight: Floats) -> ScoreInterval:
    """Return the coefficient of determination of predictions that can be off by `error` each.

    The residual sum of squares of the exact model is within (√RSS ± E)², E² = Σ s error².
    """
    deviations, root, size = _deviations(target, weight), _norm(target - value, weight), _norm(error, weight)
    ends = (root, root + size, max(0.0, root - size))
    return ScoreInterval(*(1.0 - (end / deviations) ** 2 for end in ends))


@overflow_allowed()
def correlation_interval(value: Floats, error: Floats, target: Floats, weight: Floats) -> ScoreInterval:
    """Return the correlation with the target of predictions that can be off by `error` each.

    The correlation is the cosine of the angle between both, centred. The exact predictions are within E of the
    reported ones, E² = Σ s error², and centring makes no distance larger: the angle between the two is at most
    arcsin(E/‖centred predictions‖). The value is NaN where all predictions are the same.
    """
    deviations, lost = _deviations(target, weight), _lost(target)
    one, other = (part - np.average(part, weights=weight) for part in (value, target))
    spread, rounding = _norm(one, weight), lost * _norm(value, weight)
    if not rounding < spread < np.inf:
        return ScoreInterval(float("nan"), -1.0, 1.0)
    size = _norm(error, weight) + rounding
    turned = np.arcsin(size / spread) if size < spread else np.pi
    turned += lost + np.arcsin(lost * _norm(target, weight) / deviations)
    one, other = one / spread, other / deviations
    # the arc cosine of their product would lose half of the digits where they are nearly parallel
    angle = 2.0 * np.arctan2(_norm(one - other, weight), _norm(one + other, weight))
    ends = (angle, min(np.pi, angle + turned), max(0.0, angle - turned))
    return ScoreInterval(*(float(np.cos(end)) for end in ends))


def _deviations(target: Floats, weight: Floats) -> float:
    """Return the norm of the deviations of a target from its mean."""
    found = _norm(target - np.average(target, weights=weight), weight)
    if found <= _lost(target) * _norm(target, weight):
        raise DataError("a target that is the same for all samples has no coefficient of determination or correlation.")
    return found


def _lost(target: Floats) -> float:
    """Return the part of their norm that the deviations from a mean lose to rounding."""
    return 4.0 * sum_error(len(target))


def _norm(part: Floats, weight: Floats) -> float:
    """Return √(Σ s part²); where s is 0, a bound may be infinite."""
    used = weight > 0.0
    return float(np.sqrt(weight[used] @ np.square(part[used])))
