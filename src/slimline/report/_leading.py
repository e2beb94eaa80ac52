"""Features of the largest weights, and the features that are nearly the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import ColumnStats, Matrix
from slimline.data._arrays import column_stats_and_values
from slimline.data._standardised import Standardised, scale_of
from slimline.estimators import CertifiedClassifier, CertifiedRegressor
from slimline.estimators._decisions import ranking_of
from slimline.report._records import Feature, Neighbour

Floats = NDArray[np.float64]

#: Absolute correlation from which on two features count as nearly the same.
NEARLY_THE_SAME = 0.9
#: Features whose near duplicates are looked for, and near duplicates that are named.
_LOOKED_AT, _MOST_NAMED = 20, 5
#: Most bytes of the correlations.
_BYTES = 200_000_000


@dataclass(frozen=True)
class Leading:
    """Features of the largest weights, the values of the first of them, and statistics of all features."""

    features: tuple[Feature, ...]
    #: One column for each of the first features, of shape (n_samples, k); standardised if the model is.
    values: Floats
    #: None if the model standardises: its features have deviation 1.
    stats: ColumnStats | None


def standardised(model: CertifiedClassifier | CertifiedRegressor, matrix: Matrix) -> Matrix:
    """Return the data standardised as the model has them, without its penalty factors, which change no correlation."""
    if model._centre is None or model._factor is None:
        return matrix
    scale, factors = scale_of(model._factor), model._factors
    if scale is not None and factors is not None:
        scale = np.where(np.isfinite(scale), scale, 1.0) * np.where(np.isfinite(scale), factors.scale, np.inf)
    return matrix.standardised(model._centre, scale, model._fill)


def leading_features(
    model: CertifiedClassifier | CertifiedRegressor, matrix: Matrix, top: int, stats: ColumnStats | None = None
) -> Leading:
    """Read the features of the largest weights in one pass, with the statistics of all features unless known."""
    features = ranked_features(model, top, matrix)
    indices = np.array([feature.index for feature in features[: n_looked_at(matrix.shape[1])]])
    order = np.argsort(indices)
    seen = standardised(model, matrix)
    if seen is matrix and stats is None:
        stats, values = column_stats_and_values(matrix, indices[order])
    else:
        values = seen.columns(indices[order]).dot(np.eye(len(indices)))
    return Leading(features, values[:, np.argsort(order)], stats)


def n_looked_at(n_features: int) -> int:
    """Return for how many features near duplicates are looked for in one pass."""
    return max(1, min(_LOOKED_AT, _BYTES // (8 * n_features)))


def features_with_neighbours(seen: Matrix, leading: Leading, names: Sequence[str] | None) -> tuple[Feature, ...]:
    """Return the leading features with their near duplicates, in one pass."""
    looked_at = leading.features[: leading.values.shape[1]]
    indices = np.array([feature.index for feature in looked_at])
    found = near_duplicates(seen, indices, leading.values, None if leading.stats is None else leading.stats.std)
    named = [
        replace(
            feature,
            n_neighbours=count,
            neighbours=tuple(Neighbour(f"x{j}" if names is None else str(names[j]), r) for j, r in nearest),
        )
        for feature, (count, nearest) in zip(looked_at, found, strict=True)
    ]
    return (*named, *leading.features[len(named) :])


def near_duplicates(
    matrix: Matrix, columns: NDArray[np.intp], values: Floats, deviation: Floats | None
) -> list[tuple[int, list[tuple[int, float]]]]:
    """Count the features that are nearly the same as some, in one pass; return the nearest with their correlations.

    `values` are those of `columns`; `deviation` is that of every feature, and is not needed for standardised data.
    """
    centred = values - values.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    centred /= np.where(norms > 0.0, norms, 1.0)
    counts = np.zeros(len(columns), dtype=np.int64)
    nearest: list[list[tuple[float, int, float]]] = [[] for _ in columns]
    for part, correlations in matrix.tdot_parts(centred):
        if deviation is not None and not isinstance(matrix, Standardised):
            size = deviation[part, None]
            np.divide(correlations, size, out=correlations, where=size > 0.0)
            correlations[size[:, 0] == 0.0] = 0.0
        correlations /= np.sqrt(matrix.shape[0])
        rows, which = np.nonzero(np.abs(correlations) >= NEARLY_THE_SAME)
        for row, k in zip(rows.tolist(), which.tolist(), strict=True):
            if part.start + row != columns[k]:
                counts[k] += 1
                r = float(correlations[row, k])
                nearest[k].append((-abs(r), part.start + row, r))
        nearest = [sorted(found)[:_MOST_NAMED] for found in nearest]
    return [
        (int(count), [(j, float(np.clip(r, -1.0, 1.0))) for _, j, r in found])
        for count, found in zip(counts, nearest, strict=True)
    ]


def ranked_features(model: CertifiedClassifier | CertifiedRegressor, top: int, matrix: Matrix) -> tuple[Feature, ...]:
    """Return the features of the largest absolute weights; targets of a regression are labelled y0, y1 and so on."""
    several = len(model.certificate_.weights) > 1
    if isinstance(model, CertifiedClassifier):
        labels = [str(label) for label in (model.classes_ if several else model.classes_[1:])]
    else:
        labels = [f"y{k}" for k in range(len(model.certificate_.weights))]
    first = ranking_of(model.certificate_, np.array(labels), k=min(top, model.n_features_in_))
    names, places = model._feature_names, matrix.variants
    return tuple(
        Feature(
            index=j,
            name=f"x{j}" if names is None else str(names[j]),
            label=labels[first.task[place]],
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
