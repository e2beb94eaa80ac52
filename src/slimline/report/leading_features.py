"""The columns with the largest weights, and what is proved of their places."""

from __future__ import annotations

from typing import Any

from slimline.data import Matrix
from slimline.estimators import CertifiedClassifier
from slimline.estimators.ranking import ranking_of
from slimline.report.fit_facts import Feature


def leading_features(model: CertifiedClassifier, top: int, matrix: Matrix | None = None) -> tuple[Feature, ...]:
    """Return the features of the largest absolute weights.

    Parameters
    ----------
    model : CertifiedClassifier
        Fitted.
    top : int
        How many, at most.
    matrix : Matrix, optional
        The data, which may know chromosome, position and alleles of their columns.

    Returns
    -------
    features : tuple of Feature
        The largest first; of several classes, a feature counts by its largest weight.
    """
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
