"""Held-out rows, leading features and near-duplicate features of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.auditing._guarantees import frequency
from slimline.data import Matrix
from slimline.data._standardised import Standardised
from slimline.estimators import CertifiedClassifier
from slimline.estimators._decisions import Decisions, ranking_of
from slimline.report._records import Curve, Feature, HeldOut, Neighbour

Floats = NDArray[np.float64]

#: Correlation from which on a column counts as nearly the same.
NEARLY_THE_SAME = 0.9
#: Columns that are named.
_MOST_NAMED = 5
#: Bytes that the correlations may take.
_BYTES = 200_000_000


def columns_looked_at(n_features: int, wanted: int) -> int:
    """Return for how many columns neighbours can be looked for at once."""
    return max(1, min(wanted, _BYTES // (8 * n_features)))


def near_duplicates(
    matrix: Matrix, columns: NDArray[np.intp], names: Sequence[str] | None, deviation: Floats | None
) -> list[tuple[int, tuple[Neighbour, ...]]]:
    """Look for columns that are nearly the same as some, in two passes."""
    order = np.argsort(columns)
    values = matrix.columns(columns[order]).dot(np.eye(len(columns)))[:, np.argsort(order)]
    values -= values.mean(axis=0)
    norms = np.linalg.norm(values, axis=0)
    values /= np.where(norms > 0.0, norms, 1.0)
    near = _Near(columns)
    for some, correlations in matrix.tdot_parts(values):
        if deviation is not None and not isinstance(matrix, Standardised):
            size = deviation[some, None]
            np.divide(correlations, size, out=correlations, where=size > 0.0)
            correlations[size[:, 0] == 0.0] = 0.0
        correlations /= np.sqrt(matrix.shape[0])
        near.add(some.start, correlations)
    return [near.of(k, names) for k in range(len(columns))]


class _Near:
    """The columns that are nearly the same as some, counted, and the nearest of them."""

    def __init__(self, columns: NDArray[np.intp]) -> None:
        self._columns = columns
        self._counts = np.zeros(len(columns), dtype=np.int64)
        self._nearest: list[list[tuple[float, int, float]]] = [[] for _ in columns]

    def add(self, first: int, correlations: Floats) -> None:
        """Look through the correlations of further columns, the first of which has a number."""
        rows, which = np.nonzero((correlations >= NEARLY_THE_SAME) | (correlations <= -NEARLY_THE_SAME))
        for row, k in zip(rows.tolist(), which.tolist(), strict=True):
            if first + row != self._columns[k]:
                self._counts[k] += 1
                correlation = float(correlations[row, k])
                self._nearest[k].append((-abs(correlation), first + row, correlation))
        self._nearest = [sorted(found)[:_MOST_NAMED] for found in self._nearest]

    def of(self, k: int, names: Sequence[str] | None) -> tuple[int, tuple[Neighbour, ...]]:
        """Return how many there are for one of the columns, and the nearest; of equals the first."""
        named = (
            Neighbour(f"x{j}" if names is None else str(names[j]), float(np.clip(correlation, -1.0, 1.0)))
            for _, j, correlation in self._nearest[k]
        )
        return int(self._counts[k]), tuple(named)


def leading_features(model: CertifiedClassifier, top: int, matrix: Matrix | None = None) -> tuple[Feature, ...]:
    """Return the features of the largest absolute weights."""
    first = ranking_of(model.certificate_, model.classes_, k=min(top, model.n_features_in_))
    names, places = model._feature_names, getattr(matrix, "variants", None)
    several = len(model.certificate_.weights) > 1
    return tuple(
        Feature(
            index=j,
            name=f"x{j}" if names is None else str(names[j]),
            label=str(model.classes_[first.task[place] if several else 1]),
            weight=float(first.weight[place]),
            lower=float(first.lower[place]),
            upper=float(first.upper[place]),
            best_rank=int(first.best[place]),
            worst_rank=int(first.worst[place]),
            **_place(places, j),
        )
        for place, j in enumerate(first.index.tolist())
    )


def _place(variants: Any, j: int) -> dict[str, Any]:
    if variants is None:
        return {}
    return {
        "chromosome": variants.packed["chromosome"][j],
        "position": int(variants.position[j]),
        "allele1": variants.packed["allele1"][j],
        "allele2": variants.packed["allele2"][j],
    }


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
) -> HeldOut:
    """Compare what a model says of some rows with their labels."""
    from sklearn.metrics import confusion_matrix

    right = frequency(decisions.labels == y)
    confusion = confusion_matrix(y, decisions.labels, labels=classes)
    there = confusion.sum(axis=1)
    recalls = np.diagonal(confusion)[there > 0] / there[there > 0]
    accuracy, recall, majority_rate = right.held / right.draws, float(recalls.mean()), float((y == majority).mean())
    naming_one = 1.0 / len(recalls) if balanced else majority_rate
    return HeldOut(
        source=source,
        n_rows=len(y),
        trained_rows=trained_rows,
        accuracy=accuracy,
        low=right.low,
        high=right.high,
        balanced_accuracy=recall,
        majority_label=str(majority),
        majority_rate=majority_rate,
        scoring="balanced_accuracy" if balanced else "accuracy",
        worse_than_majority=(recall if balanced else accuracy) <= naming_one + _ROUNDING,
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
