"""Errors, R² and residuals of a regression on held-out samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slimline._base.text import counted
from slimline.errors import DataError
from slimline.estimators import CertifiedPredictions
from slimline.estimators._predictions import correlation_interval, r2_interval
from slimline.report._held_out import clopper_pearson
from slimline.report._held_out_records import Coverage, HeldOutTarget

Floats = NDArray[np.float64]

#: Points of all targets that are kept for charts, and how many of these are the largest residuals.
_MOST_POINTS, _LARGEST = 1000, 50
#: Orders of the quantiles of the residuals that are recorded.
_SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
#: Fewest and most bars of a histogram.
_BARS = (5, 40)
#: Error that models of each loss are compared by.
_SCORING = {
    "squared": "squared error",
    "squared_epsilon_insensitive": "squared error",
    "huber": "absolute error",
    "epsilon_insensitive": "absolute error",
    "quantile": "quantile loss",
}
#: Baseline without covariates, by that error.
_WITHOUT = {"squared error": "the mean", "absolute error": "the median", "quantile loss": "the quantile"}
#: Advice where features lower no error.
WHAT_MAY_HELP = "What may help: standardised features, a smaller C, other features, more samples."


def no_better_target_words(worse: Sequence[HeldOutTarget]) -> str:
    """Return the sentences about targets for which a regression is no better than its baseline."""
    held = worse[0]
    of = f" of {held.name!r}" if held.name else ""
    more = f" The same holds for {counted(len(worse) - 1, 'other target')}." if len(worse) > 1 else ""
    return (
        f"On {held.n_rows:,} samples that it did not see, the mean {held.scoring}{of} is {held.loss:.4g}, and that of "
        f"{held.baseline} {held.baseline_loss:.4g}: the features do not help there.{more}"
    )


def null_predictions(
    y: Floats,
    covariates: Floats | None,
    covariates_test: Floats | None,
    n_test: int,
    *,
    loss: str,
    quantile: float = 0.5,
) -> Floats:
    """Return what covariates alone, or the mean alone, predict for held-out samples.

    This is least squares on the covariates. For losses that do not aim at the mean it is moved to the median, or to
    the quantile, of the residuals.
    """
    targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    columns, new = np.ones((len(targets), 1)), np.ones((n_test, 1))
    if covariates is not None and covariates_test is not None and covariates.shape[1]:
        centre, scale = covariates.mean(axis=0), covariates.std(axis=0)
        scale = np.where(scale > 0.0, scale, 1.0)
        columns = np.hstack([columns, (covariates - centre) / scale])
        new = np.hstack([new, (covariates_test - centre) / scale])
    middle = targets.mean(axis=0)
    effects = np.linalg.lstsq(columns, targets - middle, rcond=1e-9)[0]
    rest = targets - middle - columns @ effects
    at = 0.5 if _SCORING[loss] == "absolute error" else quantile
    moved = np.zeros_like(middle) if _SCORING[loss] == "squared error" else np.quantile(rest, at, axis=0)
    found: Floats = new @ effects + middle + moved
    return found.reshape((n_test, *np.shape(y)[1:]))


def held_out_targets(
    found: CertifiedPredictions,
    y: NDArray[np.float64],
    baseline: Floats,
    *,
    names: Sequence[str],
    with_covariates: bool,
    loss: str,
    quantile: float,
    source: str,
    trained_rows: int,
) -> tuple[HeldOutTarget, ...]:
    """Compare the predictions of a regression with the targets of some rows."""
    if y.shape != found.value.shape or baseline.shape != y.shape:
        raise DataError(f"y_test has the shape {y.shape}, and the predictions have {found.value.shape}.")
    n = len(y)
    parts = (part.reshape(n, -1).T for part in (found.value, found.error, y, baseline))
    beside = "the covariates alone" if with_covariates else _WITHOUT[_SCORING[loss]]
    most = max(_MOST_POINTS // len(names), 2 * _LARGEST)
    return tuple(
        _held_out_target(
            value, radius, target, null, name=name, beside=beside, loss=loss, quantile=quantile, source=source,
            trained_rows=trained_rows, most=most,
        )
        for name, value, radius, target, null in zip(names, *parts, strict=True)
    )  # fmt: skip


def _held_out_target(
    value: Floats,
    radius: Floats,
    target: Floats,
    null: Floats,
    *,
    name: str,
    beside: str,
    loss: str,
    quantile: float,
    source: str,
    trained_rows: int,
    most: int,
) -> HeldOutTarget:
    rest, rest_of_null = target - value, target - null
    shown = _thinned(value, rest, most)
    counts, ends = np.histogram(rest, _bars(rest))
    score, correlation = r2_interval(null, np.zeros_like(null), target), correlation_interval(value, radius, target)
    return HeldOutTarget(
        name=name,
        source=source,
        n_rows=len(target),
        trained_rows=trained_rows,
        r2=r2_interval(value, radius, target),
        correlation=None if correlation is None or np.isnan(correlation.value) else correlation,
        mean_absolute_error=float(np.abs(rest).mean()),
        root_mean_square_error=float(np.sqrt(np.square(rest).mean())),
        baseline=beside,
        baseline_r2=None if score is None else score.value,
        baseline_mean_absolute_error=float(np.abs(rest_of_null).mean()),
        scoring=_SCORING[loss],
        loss=_mean_loss(rest, _SCORING[loss], quantile),
        baseline_loss=_mean_loss(rest_of_null, _SCORING[loss], quantile),
        predicted=tuple(value[shown].tolist()),
        observed=tuple(target[shown].tolist()),
        radius=tuple(radius[shown].tolist()),
        median_radius=float(np.median(radius)),
        largest_radius=float(radius.max()),
        residual_shares=_SHARES,
        residual_quantiles=tuple(np.quantile(rest, _SHARES).tolist()),
        residual_ends=tuple(ends.tolist()),
        residual_counts=tuple(counts.tolist()),
        coverage=_coverage(target, value, quantile) if loss == "quantile" else None,
    )


def _mean_loss(rest: Floats, scoring: str, quantile: float) -> float:
    if scoring == "squared error":
        return float(np.square(rest).mean())
    if scoring == "absolute error":
        return float(np.abs(rest).mean())
    return float(np.maximum(quantile * rest, (quantile - 1.0) * rest).mean())


def _coverage(target: Floats, value: Floats, quantile: float) -> Coverage:
    below = int(np.sum(target <= value))
    return Coverage(quantile, below / len(target), *clopper_pearson(below, len(target)))


def _thinned(value: Floats, rest: Floats, most: int) -> NDArray[np.intp]:
    """Return rows to draw: evenly spaced in the order of the predictions, and the largest residuals."""
    n = len(value)
    if n <= most:
        return np.arange(n)
    order = np.argsort(value, kind="stable")
    even = order[np.linspace(0, n - 1, most - _LARGEST).round().astype(np.intp)]
    largest = np.argsort(-np.abs(rest), kind="stable")[:_LARGEST]
    return np.union1d(even, largest)


def _bars(rest: Floats) -> Floats:
    bars = int(np.clip(np.ceil(np.sqrt(len(rest))), *_BARS))
    low, high = float(rest.min()), float(rest.max())
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        half = 0.5 * max(abs(low), abs(high)) or 0.5
        low, high = low - half, high + half
    return np.linspace(low, high, bars + 1)
