"""Accuracy and curves on held-out samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from slimline.estimators._decisions import Decisions
from slimline.report._calibration import calibration_of
from slimline.report._held_out_records import Curve, HeldOut
from slimline.report._records import PrevalenceFacts

Floats = NDArray[np.float64]

#: Points of a curve that are kept.
_MOST_POINTS = 200
#: Scores that differ by less differ by rounding.
_ROUNDING = 1e-12
#: Advice where features tell no more than naming one class.
WHAT_MAY_HELP = (
    'What may help: standardised features, class_weight="balanced" for rare classes, other features, more samples.'
)


def no_better_words(held: HeldOut) -> str:
    """Return the sentence about a model that is no better than always naming the commonest class."""
    if held.scoring == "balanced_accuracy":
        return (
            f"On {held.n_rows:,} samples that it did not see, the model has a balanced accuracy of "
            f"{held.balanced_accuracy:.1%}: no better than always naming one class."
        )
    return (
        f"On {held.n_rows:,} samples that it did not see, the model is right for {held.accuracy:.1%}, and always "
        f"naming {held.majority_label!r} for {held.majority_rate:.1%}: it is no better than that."
    )


def held_out(
    classes: NDArray[Any],
    decisions: Decisions,
    y: NDArray[Any],
    majority: Any,
    *,
    source: str,
    trained_rows: int,
    balanced: bool = False,
    logistic: bool = False,
    prevalence: PrevalenceFacts | None = None,
) -> HeldOut:
    """Compare what a model says of some rows with their labels; scores of the logistic loss are log-odds."""
    from sklearn.metrics import confusion_matrix

    right = int(np.sum(decisions.labels == y))
    low, high = clopper_pearson(right, len(y))
    confusion = confusion_matrix(y, decisions.labels, labels=classes)
    there = confusion.sum(axis=1)
    recalls = np.diagonal(confusion)[there > 0] / there[there > 0]
    accuracy, recall, majority_rate = right / len(y), float(recalls.mean()), float((y == majority).mean())
    naming_one = 1.0 / len(recalls) if balanced else majority_rate
    return HeldOut(
        source=source,
        n_rows=len(y),
        trained_rows=trained_rows,
        accuracy=accuracy,
        low=low,
        high=high,
        balanced_accuracy=recall,
        majority_label=str(majority),
        majority_rate=majority_rate,
        scoring="balanced_accuracy" if balanced else "accuracy",
        worse_than_majority=(recall if balanced else accuracy) <= naming_one + _ROUNDING,
        proved=float(decisions.proved.mean()),
        confusion=tuple(tuple(int(count) for count in row) for row in confusion),
        curves=_curves(classes, decisions.scores, y),
        calibration=calibration_of(classes, decisions.scores, y, prevalence) if logistic else (),
    )


def clopper_pearson(right: int, n: int) -> tuple[float, float]:
    """Return Clopper and Pearson's 95 % interval of a share."""
    low = float(betaincinv(right, n - right + 1, 0.025)) if right else 0.0
    return low, float(betaincinv(right + 1, n - right, 0.975)) if right < n else 1.0


def _curves(classes: NDArray[Any], scores: Floats, y: NDArray[Any]) -> tuple[Curve, ...]:
    if scores.ndim == 1:
        found = [_curve(classes[1], scores, y)]
    else:
        found = [_curve(label, scores[:, k], y) for k, label in enumerate(classes)]
    return tuple(curve for curve in found if curve is not None)


def _curve(label: Any, scores: Floats, y: NDArray[Any]) -> Curve | None:
    """Return the curve of a class; None where all rows are of it, or none is."""
    from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

    of_it = y == label
    if of_it.all() or not of_it.any():
        return None
    false_positive, true_positive, _ = roc_curve(of_it, scores)
    precision, recall, _ = precision_recall_curve(of_it, scores)
    kept, also = _thinned(len(false_positive)), _thinned(len(recall))
    return Curve(
        label=str(label),
        share=float(of_it.mean()),
        false_positive=tuple(false_positive[kept].tolist()),
        true_positive=tuple(true_positive[kept].tolist()),
        area=float(roc_auc_score(of_it, scores)),
        recall=tuple(recall[also].tolist()),
        precision=tuple(precision[also].tolist()),
        average_precision=float(average_precision_score(of_it, scores)),
    )


def _thinned(count: int) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, count - 1, min(count, _MOST_POINTS)).round().astype(np.intp))
