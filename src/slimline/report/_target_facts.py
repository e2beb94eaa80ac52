"""Targets of a regression, and effects of covariates, as facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import real_array
from slimline.errors import DataError
from slimline.estimators import CertifiedClassifier, CertifiedRegressor
from slimline.report._records import EffectFacts, TargetFacts

Floats = NDArray[np.float64]


def real_targets(y: Any, n_rows: int, name: str) -> Floats:
    """Return targets as float64, of shape (n_rows,) or (n_rows, n_targets); refuse missing ones."""
    targets = np.asarray(real_array(y, name), dtype=np.float64)
    if targets.ndim not in (1, 2) or len(targets) != n_rows:
        raise DataError(f"{name} has the shape {targets.shape}, and there are {n_rows:,} rows.")
    if not np.isfinite(targets).all():
        raise DataError(f"{name} contains NaN or infinity: leave out the samples whose target is missing.")
    return targets


def target_facts(
    model: CertifiedRegressor, y: Any, n_rows: int, names: Sequence[str] = ()
) -> tuple[tuple[TargetFacts, ...], Floats]:
    """Return facts of the targets, and their values; they must be as many as in the fit."""
    values = real_targets(y, n_rows, "y")
    columns = values.reshape(n_rows, -1).T
    if len(columns) != len(model.certificate_.weights):
        raise DataError(f"the model was fitted to {len(model.certificate_.weights)} targets, and y has {len(columns)}.")
    named = list(names) or _names(y) or ([""] if len(columns) == 1 else [f"y{k}" for k in range(len(columns))])
    if len(named) != len(columns):
        raise DataError(f"there are {len(columns)} targets, and {len(named)} names of them.")
    quantiles = np.quantile(columns, [0.0, 0.25, 0.5, 0.75, 1.0], axis=1).T
    return tuple(
        TargetFacts(name, float(column.mean()), float(column.std()), tuple(row.tolist()))
        for name, column, row in zip(named, columns, quantiles, strict=True)
    ), values


def _names(y: Any) -> list[str]:
    if hasattr(y, "columns"):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [] if name is None else [str(name)]


def effect_facts(
    model: CertifiedClassifier | CertifiedRegressor, targets: Sequence[str], covariates: Floats | None
) -> tuple[EffectFacts, ...]:
    """Return the effects that have no penalty; none where intercept and covariates are penalised or absent."""
    if model._free is None:
        return ()
    found = model.covariate_effects()
    n_intercepts = int(model._free.intercept)
    deviations: list[float | None] = [None] * len(found.name)
    if covariates is not None:
        deviations[n_intercepts : n_intercepts + covariates.shape[1]] = covariates.std(axis=0).tolist()
    labels = targets
    if isinstance(model, CertifiedClassifier):
        labels = [str(label) for label in (model.classes_[1:] if len(found.effect) == 1 else model.classes_)]
    return tuple(
        EffectFacts(str(name), float(effect), float(lower), float(upper), label, k >= n_intercepts, deviation)
        for label, *rows in zip(labels, found.effect, found.lower, found.upper, strict=True)
        for k, (name, effect, lower, upper, deviation) in enumerate(zip(found.name, *rows, deviations, strict=True))
    )
