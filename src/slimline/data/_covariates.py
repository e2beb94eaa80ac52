"""Covariates of the samples, from an array or a data frame, with names if there are any."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline.errors import InvalidParameterError

Floats = NDArray[np.float64]
#: How many names or rows a message lists.
SHOWN = 5


def no_features() -> NDArray[np.intp]:
    """Return the numbers of no features."""
    return np.zeros(0, dtype=np.intp)


@dataclass(frozen=True)
class GivenCovariates:
    """Covariates as numbers, with their names; and features that have no penalty, as further columns."""

    #: Of shape (n_samples, n_columns).
    values: Floats
    #: Names; None: they have none.
    names: tuple[str, ...] | None = None
    #: Numbers and names of the features that are the last columns.
    features: NDArray[np.intp] = field(default_factory=no_features)
    feature_names: tuple[str, ...] = ()
    #: What was imputed for their missing values; None: nothing.
    fill: Floats | None = None
    #: Passes over the data that reading them took.
    passes: int = 0

    @classmethod
    def of(cls, covariates: Any, n_samples: int) -> Self:
        """Return what was given, or none; refuse what is not a number a sample and covariate."""
        if covariates is None:
            return cls(np.zeros((n_samples, 0)))
        names = _names(covariates)
        if sp.issparse(covariates):
            raise InvalidParameterError("must be an array or a data frame: sparse ones are refused.", "covariates")
        if np.ma.isMaskedArray(covariates):
            covariates = np.ma.filled(covariates.astype(object), None)
        table = np.asarray(covariates.to_numpy() if names is not None else covariates)
        if table.ndim != 2:
            raise InvalidParameterError(
                f"must have one row for each sample and one column for each covariate; got shape {table.shape}"
                + (": use covariates.reshape(-1, 1)." if table.ndim == 1 else "."),
                "covariates",
            )
        if len(table) != n_samples:
            raise InvalidParameterError(
                f"must have one row for each of {n_samples} samples; got {len(table)}.", "covariates"
            )
        found = cls(_numbers(table, names), names)
        found._require_finite()
        return found

    @property
    def n_columns(self) -> int:
        """Return how many columns there are."""
        return int(self.values.shape[1])

    @property
    def n_covariates(self) -> int:
        """Return how many of them are covariates."""
        return self.n_columns - len(self.features)

    @property
    def noun(self) -> str:
        """Return what the columns are, for messages."""
        return "covariates and features of penalty factor 0" if len(self.features) else "covariates"

    def rows(self, kept: NDArray[np.intp]) -> GivenCovariates:
        """Return the covariates of some samples."""
        return replace(self, values=self.values[kept])

    def name(self, number: int) -> str:
        """Return the name of a column."""
        if number >= self.n_covariates:
            return self.feature_names[number - self.n_covariates]
        return f"u{number}" if self.names is None else self.names[number]

    def _require_finite(self) -> None:
        wrong = ~np.isfinite(self.values)
        if wrong.any():
            columns = np.flatnonzero(wrong.any(axis=0))
            named = ", ".join(self.name(j) for j in columns[:SHOWN].tolist())
            more = ", ..." if len(columns) > SHOWN else ""
            raise InvalidParameterError(
                f"must be finite: NaN or infinity in {named}{more} of {int(wrong.any(axis=1).sum())} samples. Leave "
                "these samples out, or fill in what is missing: covariates are not imputed.",
                "covariates",
            )


def _names(covariates: Any) -> tuple[str, ...] | None:
    if not (hasattr(covariates, "columns") and hasattr(covariates, "to_numpy")):
        return None
    return tuple(str(name) for name in covariates.columns)


def _numbers(table: NDArray[Any], names: tuple[str, ...] | None) -> Floats:
    """Return a table as float64, or say which column holds something else."""
    if table.dtype.kind in "fiub":
        return np.ascontiguousarray(table, dtype=np.float64)
    columns = []
    for j in range(table.shape[1]):
        try:
            if table.dtype.kind in "cmM":  # NumPy would drop the imaginary parts, and count dates from 1970
                raise TypeError
            columns.append(np.array([np.nan if value is None else value for value in table[:, j]], dtype=np.float64))
        except (TypeError, ValueError):
            name = f"column {j}" if names is None else repr(names[j])
            raise InvalidParameterError(
                f"must hold numbers, and {name} does not: code categories as columns of 0 and 1 first.", "covariates"
            ) from None
    return np.column_stack(columns) if columns else np.zeros((len(table), 0))


def free_columns(given: GivenCovariates, *, intercept: bool) -> Floats:
    """Return the columns that are not penalised: the constant 1 first, if there is an intercept."""
    ones = np.ones((len(given.values), int(intercept)))
    return np.hstack([ones, given.values])
