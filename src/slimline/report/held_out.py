"""How a model does on rows that it did not see."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.auditing.chances import frequency
from slimline.estimators.certified_model import CertifiedModel
from slimline.estimators.decisions import Decisions
from slimline.report.fit_facts import Curve, HeldOut

Floats = NDArray[np.float64]

#: Points of a curve that are kept.
_MOST_POINTS = 200


def held_out(model: CertifiedModel, decisions: Decisions, y: NDArray[Any], majority: Any, source: str) -> HeldOut:
    """Compare what a model says of some rows with their labels.

    Parameters
    ----------
    model : CertifiedModel
        Fitted.
    decisions : Decisions
        What it says of the rows.
    y : array of shape (n_samples,)
        Their labels, all of them classes of the model.
    majority : object
        The commonest class of training.
    source : str
        Which rows these are, in words.

    Returns
    -------
    held_out : HeldOut
        Shares, confusions and curves.
    """
    from sklearn.metrics import confusion_matrix

    classes = model.classes_
    right = frequency(decisions.labels == y)
    confusion = confusion_matrix(y, decisions.labels, labels=classes)
    there = confusion.sum(axis=1)
    recalls = np.diagonal(confusion)[there > 0] / there[there > 0]
    return HeldOut(
        source=source,
        n_rows=len(y),
        accuracy=right.held / right.draws,
        low=right.low,
        high=right.high,
        balanced_accuracy=float(recalls.mean()),
        majority_label=str(majority),
        majority_rate=float((y == majority).mean()),
        proved=float(decisions.proved.mean()),
        confusion=tuple(tuple(int(count) for count in row) for row in confusion),
        curves=_curves(classes, decisions.scores, y),
    )


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
