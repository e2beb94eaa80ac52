"""Records of what a model does on held-out samples: of classes, of probabilities, of targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slimline.estimators import ScoreInterval


@dataclass(frozen=True)
class Curve:
    """Precision and recall of one class on held-out samples."""

    #: The class.
    label: str
    #: Its share of these rows.
    share: float
    #: ROC curve, from (0, 0) to (1, 1); thinned out where it has many points.
    false_positive: tuple[float, ...]
    true_positive: tuple[float, ...]
    #: Under it.
    area: float
    #: Precision-recall curve, recall falling from 1 to 0.
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    #: Its mean precision.
    average_precision: float


@dataclass(frozen=True)
class CalibrationBin:
    """Held-out samples of similar predicted probability."""

    #: How many, and how many of them are of the class.
    n_rows: int
    n_of_it: int
    #: Mean of the predicted probabilities; at a prevalence, with each sample counting as often as there.
    predicted: float
    #: Share of the class, and Wilson's 95 % interval.
    observed: float
    low: float
    high: float


@dataclass(frozen=True)
class Calibration:
    """Predicted probabilities of a class against its shares."""

    #: The class.
    label: str
    #: In rising order of probability, of about equal counts; equal probabilities are in one bin.
    bins: tuple[CalibrationBin, ...]
    #: Mean of |observed - predicted| over the samples (the expected calibration error).
    error: float


@dataclass(frozen=True)
class HeldOut:
    """Accuracy on held-out samples."""

    #: Which rows these are, in words.
    source: str
    #: How many.
    n_rows: int
    #: Rows that the model was trained on which was tried on these. Where the final model was trained on these,
    #: too, it has more.
    trained_rows: int
    #: Share of right labels, and Clopper and Pearson's 95 % interval.
    accuracy: float
    low: float
    high: float
    #: Mean over the classes.
    balanced_accuracy: float
    #: The commonest class of training,
    majority_label: str
    #: and the share of these rows that always naming it would get right.
    majority_rate: float
    #: The score that is compared with that of naming one class: "accuracy" or "balanced_accuracy".
    scoring: str
    #: Whether this score is not above that of always naming the commonest class.
    worse_than_majority: bool
    #: Share of these rows whose label is proved equal to the exact model's.
    proved: float
    #: Rows by class (outer) and by label given (inner), in the order of the classes.
    confusion: tuple[tuple[int, ...], ...]
    #: One for two classes (of the second), else one a class that is there.
    curves: tuple[Curve, ...]
    #: The same for the logistic loss, whose scores are log-odds; empty for other losses.
    calibration: tuple[Calibration, ...] = ()


@dataclass(frozen=True)
class Coverage:
    """Samples at or below the predicted quantile."""

    #: The quantile that was fitted.
    quantile: float
    #: Share of the samples at or below it, and Clopper and Pearson's 95 % interval.
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class HeldOutTarget:
    """Predictions of a regression for one target on held-out samples."""

    #: Name of the target; empty: it has none.
    name: str
    #: Which rows these are, in words.
    source: str
    #: How many, and how many the model was trained on that was tried on them.
    n_rows: int
    trained_rows: int
    #: Coefficient of determination; None if the target is the same for all rows.
    r2: ScoreInterval | None
    #: Pearson's correlation of target and prediction; None where either is the same for all rows.
    correlation: ScoreInterval | None
    #: Mean absolute error and root of the mean squared error.
    mean_absolute_error: float
    root_mean_square_error: float
    #: Covariates (or the mean) without features: what they are, in words, and their R² and mean absolute error.
    baseline: str
    baseline_r2: float | None
    baseline_mean_absolute_error: float
    #: What is compared with the baseline: "squared error", "absolute error" or "quantile loss"; means of both.
    scoring: str
    loss: float
    baseline_loss: float
    #: Rows of the points, for charts: thinned out where there are many, the largest residuals kept.
    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    #: The exact model predicts no farther than this from each `predicted`,
    radius: tuple[float, ...]
    #: and no farther than these: median and largest over all rows.
    median_radius: float
    largest_radius: float
    #: Residuals, observed minus predicted: shares and quantiles.
    residual_shares: tuple[float, ...]
    residual_quantiles: tuple[float, ...]
    #: Histogram of all residuals: ends of its bars, and counts.
    residual_ends: tuple[float, ...]
    residual_counts: tuple[int, ...]
    #: For the quantile loss; None for others.
    coverage: Coverage | None = None

    @property
    def worse_than_baseline(self) -> bool:
        """Return whether the features do not lower the error that covariates or mean alone make."""
        return self.loss >= self.baseline_loss * (1.0 - 1e-12)
