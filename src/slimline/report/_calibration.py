"""Calibration of predicted probabilities, also at the prevalence of a population."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from slimline.errors import InvalidParameterError
from slimline.estimators import CertifiedClassifier, CertifiedRegressor
from slimline.estimators._validation import probabilities
from slimline.report._held_out_records import Calibration, CalibrationBin
from slimline.report._records import PrevalenceFacts

Floats = NDArray[np.float64]

#: Most bins, and fewest samples of one.
_BINS, _FEWEST = 10, 10
#: 97.5 % quantile of the normal distribution.
_NORMAL = 1.959963984540054


def prevalence_facts(
    model: CertifiedClassifier | CertifiedRegressor, prevalence: float | None
) -> PrevalenceFacts | None:
    """Return the shift of the log-odds to a population; refuse models that have no such constant."""
    if prevalence is None:
        return None
    if not isinstance(model, CertifiedClassifier):
        raise InvalidParameterError("needs two classes; this model is a regression.", "prevalence", prevalence)
    shift = model.prevalence_shift(prevalence)
    return PrevalenceFacts(float(prevalence), float(np.asarray(model.class_prior_)[1]), shift)


def calibration_of(
    classes: NDArray[Any], scores: Floats, y: NDArray[Any], prevalence: PrevalenceFacts | None = None
) -> tuple[Calibration, ...]:
    """Return the calibration of the second of two classes, or of each of several that has a curve."""
    if scores.ndim == 1:
        shift = 0.0 if prevalence is None else prevalence.shift
        return (_calibration(classes[1], expit(scores + shift), y == classes[1], prevalence),)
    predicted = probabilities(scores)
    there = [k for k, label in enumerate(classes) if 0 < (y == label).sum() < len(y)]  # those of curves, too
    return tuple(_calibration(classes[k], predicted[:, k], y == classes[k], None) for k in there)


def _calibration(
    label: Any, predicted: Floats, of_it: NDArray[np.bool_], prevalence: PrevalenceFacts | None
) -> Calibration:
    """Return the bins of a class.

    At a prevalence π each case counts π/p times, and each other sample (1 - π)/(1 - p) times: this moves the odds of
    the observed share by the same factor as those of the predictions.
    """
    weight, shift = np.ones(len(predicted)), 0.0
    if prevalence is not None:
        pi, p = prevalence.prevalence, prevalence.training_share
        weight, shift = np.where(of_it, pi / p, (1.0 - pi) / (1.0 - p)), prevalence.shift
    bins, error = [], 0.0
    for rows in _bins(predicted):
        n, cases = len(rows), int(of_it[rows].sum())
        low, high = wilson(cases, n)
        mean = float(np.average(predicted[rows], weights=weight[rows]))
        observed = _moved(cases / n, shift)
        bins.append(CalibrationBin(n, cases, mean, observed, _moved(low, shift), _moved(high, shift)))
        error += float(weight[rows].sum()) * abs(observed - mean)
    return Calibration(str(label), tuple(bins), error / float(weight.sum()))


def _bins(predicted: Floats) -> Iterator[NDArray[np.intp]]:
    """Yield the rows of each bin, of about equal counts; equal predictions stay together."""
    order = np.argsort(predicted, kind="stable")
    count = min(_BINS, max(1, len(order) // _FEWEST))
    ends = predicted[order[np.arange(1, count) * len(order) // count]]
    starts = np.unique(np.searchsorted(predicted[order], ends, side="left"))
    yield from (rows for rows in np.split(order, starts) if len(rows))


def _moved(share: float, shift: float) -> float:
    return float(expit(logit(share) + shift)) if 0.0 < share < 1.0 else share


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    share, z = successes / n, _NORMAL**2 / n
    middle = (share + 0.5 * z) / (1.0 + z)
    half = _NORMAL * np.sqrt(share * (1.0 - share) / n + 0.25 * z / n) / (1.0 + z)
    low = 0.0 if successes == 0 else float(middle - half)
    return low, 1.0 if successes == n else float(middle + half)
