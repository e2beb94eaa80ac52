"""Penalty factors: features that are penalised more or less than others, not at all, or left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix
from slimline.data._arrays import to_dense
from slimline.data._covariates import GivenCovariates
from slimline.data._standardised import Standardised
from slimline.errors import InvalidParameterError

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
_NAME = "penalty_factor"
#: Factors other than 0 and infinity lie between these, as C does.
_SMALLEST, _LARGEST = 1e-100, 1e100
#: Features without a penalty, at most: each is a dense column of every small problem.
_MOST_FREE = 100
#: How many features a message lists.
_SHOWN = 5


@dataclass(frozen=True)
class PenaltyFactors:
    """Factors κ of a penalty ½ Σ κⱼ wⱼ².

    The problem is that of the features xⱼ/√κⱼ, whose weights √κⱼ wⱼ all have the same penalty. A feature without a
    penalty moves to the covariates, and one of infinite penalty is left out: both are 0 among the penalised ones.
    """

    #: Of shape (n_features,).
    values: Floats

    @classmethod
    def of(cls, given: Any, n_features: int, names: Sequence[str] | None) -> Self | None:
        """Return validated factors, one for each feature; None if all are 1."""
        if given is None:
            return None
        values = _by_name(given, names) if isinstance(given, Mapping) else _in_order(given, n_features)
        found = cls(values)
        found._require_sound(names)
        return None if (values == 1.0).all() else found

    @property
    def scale(self) -> Floats:
        """Return what each feature is multiplied by."""
        with np.errstate(divide="ignore"):
            scale = 1.0 / np.sqrt(self.values)
        scale[self.free] = 0.0
        return scale

    @property
    def free(self) -> Index:
        """Return the numbers of the features without a penalty."""
        return np.flatnonzero(self.values == 0.0)

    def beside(
        self, given: GivenCovariates, matrix: Matrix, names: Sequence[str] | None, weight: Floats | None, *, fill: bool
    ) -> GivenCovariates:
        """Return the covariates with the features without a penalty beside them, which takes a pass if there are any.

        `fill` imputes missing values with the mean of the feature, as weighted.
        """
        numbers = self.free
        if not numbers.size:
            return given
        counted = matrix.counted()
        view = Standardised(counted.columns(numbers), None, None, "mean" if fill else None, weight)
        values = to_dense(view)
        return replace(
            given,
            values=np.hstack([given.values, values]),
            features=numbers,
            feature_names=tuple(_feature(j, names) for j in numbers.tolist()),
            fill=view.transform.fill,
            passes=counted.passes,
        )

    def _require_sound(self, names: Sequence[str] | None) -> None:
        values = self.values
        wrong = ~((values == 0.0) | np.isposinf(values) | ((values >= _SMALLEST) & (values <= _LARGEST)))
        if wrong.any():
            numbers = np.flatnonzero(wrong)
            shown = ", ".join(f"{values[j]:g} for {_feature(j, names)}" for j in numbers[:_SHOWN].tolist())
            raise InvalidParameterError(
                f"must be 0 (no penalty), infinite (left out) or between {_SMALLEST:g} and {_LARGEST:g}; got {shown}"
                + (", …" if len(numbers) > _SHOWN else "."),
                _NAME,
            )
        if not (np.isfinite(values) & (values > 0.0)).any():
            raise InvalidParameterError("must leave a feature with a penalty: all are 0 or infinite.", _NAME)
        if len(self.free) > _MOST_FREE:
            raise InvalidParameterError(
                f"may be 0 for at most {_MOST_FREE} features, as each is then one more covariate; got "
                f"{len(self.free):,}. Take small factors instead.",
                _NAME,
            )


def _by_name(given: Mapping[Any, Any], names: Sequence[str] | None) -> Floats:
    if names is None:
        raise InvalidParameterError("may be a mapping only for data whose features have names.", _NAME, given)
    numbers: dict[str, list[int]] = {str(name): [] for name in given}
    for j, name in enumerate(names):
        if name in numbers:
            numbers[name].append(j)
    unclear = [name for name, found in numbers.items() if len(found) != 1]
    if unclear:
        shown = ", ".join(map(repr, unclear[:_SHOWN])) + (", …" if len(unclear) > _SHOWN else "")
        raise InvalidParameterError(f"names features that the data do not have, or have twice: {shown}.", _NAME)
    values = np.ones(len(names))
    values[[found[0] for found in numbers.values()]] = _numbers(list(given.values()))
    return values


def _in_order(given: Any, n_features: int) -> Floats:
    values = _numbers(given)
    if values.shape != (n_features,):
        raise InvalidParameterError(
            f"must have one number for each of {n_features:,} features; got shape {values.shape}.", _NAME
        )
    return values


def _numbers(given: Any) -> Floats:
    try:
        values = np.asarray(given)
        if values.dtype.kind in "fiu" or values.dtype.kind == "O":
            return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    raise InvalidParameterError(f"must hold numbers, one for each feature; got {given!r:.100}.", _NAME)


def _feature(number: int, names: Sequence[str] | None) -> str:
    return f"x{number}" if names is None else str(names[number])
