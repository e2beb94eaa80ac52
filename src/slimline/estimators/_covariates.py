"""Covariates of an estimator: columns that a fit or a prediction is given, and what they add to the scores."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline.data._covariates import SHOWN, GivenCovariates, free_columns, no_features
from slimline.errors import CovariateWarning, DataError, InvalidParameterError
from slimline.learning import Certificate
from slimline.learning.covariates import Covariates, separated_rows
from slimline.learning.problem import BinaryProblem
from slimline.learning.score_bounds import ScoreBounds

Floats = NDArray[np.float64]
Index = NDArray[np.intp]


def prepare_covariates(given: GivenCovariates, weights: Floats, *, intercept: bool) -> Covariates:
    """Return the covariates of a fit, and warn of those that depend on others."""
    columns = free_columns(given, intercept=intercept)
    covariates = Covariates(columns, weights)
    n_samples = int((weights > 0.0).sum())
    if len(covariates) >= n_samples:
        if not given.n_columns:
            raise DataError(
                "1 sample is fitted exactly by a free intercept, which leaves nothing for the features to explain: "
                "give more samples."
            )
        raise InvalidParameterError(
            f"must be fewer than the samples: {len(covariates)} columns that are not penalised fit {n_samples} "
            "samples exactly, and leave nothing for the features to explain.",
            "covariates",
        )
    left_out = sorted(set(range(columns.shape[1])) - set(covariates.kept.tolist()))
    if left_out:
        named = ", ".join(given.name(j - intercept) for j in left_out)
        warnings.warn(
            f"{given.noun} that depend on the ones before them, or on the intercept, are left out; their effects are "
            f"NaN: {named}.",
            CovariateWarning,
            stacklevel=9,  # the line that called `fit`
        )
    if not covariates.is_sound:
        raise InvalidParameterError(f"{given.noun} are nearly dependent: centre and scale them first.", "covariates")
    return covariates


def require_overlap(
    problem: BinaryProblem, given: GivenCovariates, label: Any, names: Sequence[str] | None, *, intercept: bool
) -> None:
    """Refuse classes that covariates alone separate, since effects would be infinite; `names` are of the samples."""
    if problem.covariates is None or problem.inside is not None:
        return
    covariates = problem.covariates
    rows, effects = separated_rows(covariates, problem.labels)
    kept = [int(k) - intercept for k in covariates.kept]
    alone = [j for j in kept if j >= 0 and _separates_alone(covariates, kept.index(j), problem, intercept, len(rows))]
    largest = [
        given.name(j)
        for j, effect in zip(kept, effects, strict=True)
        if (j in alone if alone else j >= 0 and abs(effect) > 1e-6 * np.abs(effects).max())
    ]
    few = rows[:SHOWN].tolist()
    shown = "rows " + ", ".join(map(str, few)) if names is None else ", ".join(repr(str(names[row])) for row in few)
    shown += ", ..." if len(rows) > SHOWN else ""
    raise DataError(
        f"the {given.noun} alone separate {label!r} from the rest in {len(rows)} samples ({shown}), by "
        f"{', '.join(largest) or 'the intercept'}: their effects would be infinite. Leave out such a column, or the "
        "samples for which it takes a value that only one class has.",
        parameter="covariates",
    )


def _separates_alone(covariates: Covariates, place: int, problem: BinaryProblem, intercept: bool, count: int) -> bool:
    """Return whether one column, with the intercept, separates as many rows as all of them do."""
    columns = covariates.columns[:, sorted({place, *range(intercept)})]
    return len(separated_rows(Covariates(columns, covariates.weights), problem.labels)[0]) >= count


@dataclass(frozen=True)
class FreeEffects:
    """Intercept and effects of covariates of a fitted model; nothing of them is penalised."""

    #: What was given in training.
    n_covariates: int
    names: tuple[str, ...] | None
    #: Whether the first column is the constant 1.
    intercept: bool
    #: Numbers of the columns that were not left out.
    kept: NDArray[np.intp]
    #: One a task.
    bounds: tuple[ScoreBounds, ...]
    #: Numbers of the features without a penalty, the last columns.
    features: Index = field(default_factory=no_features)

    @classmethod
    def none(cls) -> Self:
        """Return those of a model without any."""
        return cls(0, None, False, np.zeros(0, dtype=np.intp), ())

    def fields(self) -> dict[str, Any]:
        """Return the fields of `StoredModel` that hold them."""
        explained = [bound.explained for bound in self.bounds]
        fields: dict[str, Any] = {"names": None if self.names is None else list(self.names), "count": self.n_covariates}
        if len(self.features):
            fields["features"] = self.features.tolist()
        return {
            "covariates": fields | {"intercept": self.intercept, "kept": self.kept.tolist()},
            "free_effects": np.array([bound.effects for bound in self.bounds]),
            "free_transform": self.bounds[0].transform,
            "free_square": np.array([bound.square for bound in self.bounds]),
            "free_linear": np.array([bound.linear for bound in self.bounds]),
            "free_size": np.array([bound.size for bound in self.bounds]),
            "free_reach": np.array([bound.reach for bound in self.bounds]),
            "free_explained": None if any(one is None for one in explained) else np.array(explained),
        }

    @classmethod
    def of_fields(cls, stored: Any) -> Self | None:
        """Return those of a stored model."""
        fields = stored.covariates
        if fields is None:
            return None
        names, explained = fields["names"], stored.free_explained
        parts = zip(
            stored.free_effects,
            stored.radius.tolist(),
            stored.free_square,
            stored.free_linear,
            stored.free_size.tolist(),
            stored.free_reach,
            [None] * len(stored.radius) if explained is None else explained,
            strict=True,
        )
        bounds = [
            ScoreBounds(effects, stored.free_transform, radius, square, linear, size, reach, one)
            for effects, radius, square, linear, size, reach, one in parts
        ]
        kept, features = (np.array(fields.get(name, ()), dtype=np.intp) for name in ("kept", "features"))
        names = None if names is None else tuple(names)
        return cls(fields["count"], names, fields["intercept"], kept, tuple(bounds), features)

    def given(self, covariates: Any, n_samples: int) -> Floats:
        """Return the covariates of some samples; refuse others than those of the training."""
        if covariates is None and self.n_covariates:
            named = ", ".join(self.names or ()) or f"{self.n_covariates} columns"
            raise InvalidParameterError(f"are needed: the model was trained with {named}.", "covariates")
        given = GivenCovariates.of(covariates, n_samples)
        if given.n_covariates and not self.n_covariates:
            raise InvalidParameterError("must be None: the model was trained without covariates.", "covariates")
        if given.n_covariates != self.n_covariates:
            raise InvalidParameterError(
                f"must be the {self.n_covariates} that the model was trained with; got {given.n_covariates}.",
                "covariates",
            )
        if given.names is not None and self.names is not None and given.names != self.names:
            raise InvalidParameterError(
                f"must be {', '.join(self.names)}, in this order; got {', '.join(given.names)}.", "covariates"
            )
        return given.values

    def columns(self, given: Floats) -> Floats:
        """Return the columns that are not penalised, for covariates and features without a penalty of some samples."""
        return free_columns(GivenCovariates(given), intercept=self.intercept)[:, self.kept]

    def scores(self, columns: Floats) -> Floats:
        """Return what they add to the scores; of shape (n_samples, n_tasks)."""
        return np.column_stack([bound.scores(columns) for bound in self.bounds])

    def sizes(self, columns: Floats) -> Floats:
        """Return sums of the absolute values of what each adds to the scores; of shape (n_samples, n_tasks)."""
        return np.asarray(np.abs(columns) @ np.abs(self.effects[:, self.kept]).T)

    def of_features(self, known: NDArray[np.intp], unknown: NDArray[np.intp]) -> FreeEffects:
        """Return the effects with bounds for samples of which only some features are known, in that order."""
        return replace(self, bounds=tuple(bound.of_features(known, unknown) for bound in self.bounds))

    def errors(
        self, columns: Floats, norms: Floats, lost: Floats, inner: Floats | None = None, unknown: float = 0.0
    ) -> Floats:
        """Return how far scores can be from the exact ones; of shape (n_samples, n_tasks)."""
        found, first = [], 0
        for bound in self.bounds:
            part = None
            if inner is not None and bound.explained is not None:
                part = inner[:, first : first + len(bound.explained)]
                first += len(bound.explained)
            found.append(bound.error(columns, norms, part, lost, unknown))
        return np.column_stack(found)

    @property
    def explained(self) -> Floats | None:
        """Return the regressions of the features on the covariates, one below the other; None: not computed."""
        parts = [bound.explained for bound in self.bounds if bound.explained is not None]
        return np.vstack(parts) if parts else None

    @property
    def n_columns(self) -> int:
        """Return how many columns there are, the intercept among them."""
        return self.intercept + self.n_covariates + len(self.features)

    @property
    def effects(self) -> Floats:
        """Return the effects of all columns, the intercept first; NaN: left out; of shape (n_tasks, n_columns)."""
        found = np.full((len(self.bounds), self.n_columns), np.nan)
        for row, bound in zip(found, self.bounds, strict=True):
            row[self.kept] = bound.transform @ bound.effects
        return found

    @property
    def radii(self) -> Floats:
        """Return how far each effect can be from the exact one; of shape (n_tasks, n_columns)."""
        found = np.full((len(self.bounds), self.n_columns), np.nan)
        for row, bound in zip(found, self.bounds, strict=True):
            each, nothing = np.eye(len(self.kept)), np.zeros(len(self.kept))
            inner = None if bound.explained is None else np.zeros_like(each)
            row[self.kept] = bound.error(each, nothing, inner)
        return found

    @property
    def intercepts(self) -> Floats:
        """Return the effects of the constant 1; 0 without an intercept."""
        effects = self.effects[:, 0] if self.intercept else np.zeros(len(self.bounds))
        return np.nan_to_num(effects)

    @property
    def coefficients(self) -> Floats:
        """Return the effects of the covariates; of shape (n_tasks, n_covariates)."""
        return self.effects[:, int(self.intercept) : self.intercept + self.n_covariates]

    def certificate(self, claim: Certificate) -> Certificate:
        """Return a certificate whose bounds of the coefficients hold for the features without a penalty as well."""
        if not len(self.features):
            return claim
        radius = claim.coordinate_radius.copy()
        own = self.radii[:, self.n_columns - len(self.features) :]
        radius[:, self.features] = np.where(np.isnan(own), np.inf, own)
        return replace(claim, coordinate_radius=radius)

    def add_to(self, coefficients: Floats) -> Floats:
        """Write the effects of the features without a penalty into coefficients; 0 for those that were left out."""
        own = self.effects[:, self.n_columns - len(self.features) :]
        coefficients[:, self.features] = np.nan_to_num(own)
        return coefficients
