"""The columns with the largest weights, and what is proved of their places."""

from __future__ import annotations

from typing import Any

import numpy as np

from slimline.data import Matrix
from slimline.estimators import CertifiedClassifier
from slimline.recovery import rank_bounds
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
    claim = model.certificate_
    weights = claim.weights[:, :-1]
    k = min(top, weights.shape[1])
    best, worst = rank_bounds(claim.interval_centre, claim.interval_radius)
    task = np.abs(weights).argmax(axis=0)
    places = getattr(matrix, "variants", None)
    leading = model.top_features(k)
    features = []
    for j, name in zip(leading.index.tolist(), leading.name, strict=True):
        t = int(task[j])
        middle, around = float(claim.interval_centre[t, j]), float(claim.interval_radius[t, j])
        features.append(
            Feature(
                index=j,
                name=str(name),
                label=str(model.classes_[t if len(weights) > 1 else 1]),
                weight=float(weights[t, j]),
                lower=middle - around,
                upper=middle + around,
                best_rank=int(best[j]),
                worst_rank=int(worst[j]),
                **_place(places, j),
            )
        )
    return tuple(features)


def _place(variants: Any, j: int) -> dict[str, Any]:
    if variants is None:
        return {}
    return {
        "chromosome": str(variants.chromosome[j]),
        "position": int(variants.position[j]),
        "allele1": str(variants.allele1[j]),
        "allele2": str(variants.allele2[j]),
    }
