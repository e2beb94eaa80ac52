"""Inputs and results of the measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix, open_matrix
from slimline.errors import DataError, InvalidParameterError
from slimline.projections import Projection

#: Rows whose numbers a message names.
_NAMED = 5
#: Characters of an object that a message shows.
_SHOWN = 80
#: Norms whose squares have lost digits.
_TINY = 1e-140
#: Squared norms of the largest row between which sums of products neither lose digits nor overflow.
_LEAST_SQUARE, _MOST_SQUARE = 1e-304, 1e304
#: What tells a number that is not 0 from 0, though its square vanishes.
_LIFT = 1e140


def matrix_of(X: Any) -> Matrix:
    """Return data that have a row and a column as a `Matrix`."""
    matrix = X if isinstance(X, Matrix) else open_matrix(Path(X) if isinstance(X, str) else X)
    if not min(matrix.shape):
        raise DataError(f"{matrix.name} has the shape {matrix.shape}: there is no point to measure.")
    return matrix


def projection_of(projection: Any, shape: tuple[int, int]) -> Projection:
    """Return the projection that a transformer, fitted or not, stands for on data of this shape."""
    drawn = projection if isinstance(projection, Projection) else getattr(projection, "projection_", None)
    if drawn is None and hasattr(projection, "projection_for"):
        drawn = projection.projection_for(shape)
    if not isinstance(drawn, Projection):
        shown = (
            repr(projection) if len(repr(projection)) <= _SHOWN else f"an object of type {type(projection).__name__}"
        )
        raise InvalidParameterError(
            f"must be one of slimline's, such as GaussianProjection(n_components=256); got {shown}.", "projection"
        )
    if drawn.n_features != shape[1]:
        raise InvalidParameterError(
            f"the projection has n_features={drawn.n_features:,}, and the data have {shape[1]:,} columns."
        )
    return drawn


def require_directions(norms: NDArray[np.float64], matrix: Matrix) -> None:
    """Refuse rows of zeros, and of hardly more, and name them: they have no angle, or none that can be measured."""
    zero = np.flatnonzero(norms == 0.0)
    if zero.size and not has_entries(matrix.rows(zero)):
        raise DataError(
            f"{named_rows(zero)} of {matrix.name} {'is' if zero.size == 1 else 'are'} all zero and {_has(zero)} no "
            "angle: leave such rows out, or measure without normalising."
        )
    tiny = np.flatnonzero(norms < _TINY)
    if tiny.size:
        raise DataError(
            f"the squares of {named_rows(tiny)} of {matrix.name} are below what float64 resolves: multiply the data by "
            "a large number, which changes no angle, or measure without normalising."
        )


def require_squares(squares: NDArray[np.float64], matrix: Matrix) -> None:
    """Refuse data that are so small or so large that squares of their rows are lost to float64."""
    largest = float(squares.max())
    small = largest < _LEAST_SQUARE
    if not (small or largest > _MOST_SQUARE) or (small and not has_entries(matrix)):
        return
    raise DataError(
        f"the squares of all rows of {matrix.name} are {'below' if small else 'above'} what float64 resolves: multiply "
        f"the data by a {'large' if small else 'small'} number; margins and radii are multiplied with them."
    )


def has_entries(matrix: Matrix) -> bool:
    """Return whether any value is not 0, however small."""
    if not min(matrix.shape):
        return False
    # weights that no row is orthogonal to by chance
    return bool(np.any(matrix.dot(np.full(matrix.shape[1], _LIFT) * (1.0 + np.arange(matrix.shape[1]) % 7))))


def named_rows(rows: NDArray[np.intp]) -> str:
    """Return "row 3", "rows 3, 7" or "rows 3, 7, 9, 10, 12 and 31 more"."""
    shown = ", ".join(str(int(row)) for row in rows[:_NAMED])
    more = f" and {rows.size - _NAMED:,} more" if rows.size > _NAMED else ""
    return f"row{'' if rows.size == 1 else 's'} {shown}{more}"


def _has(rows: NDArray[np.intp]) -> str:
    return "has" if rows.size == 1 else "have"


Floats = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Bracketed:
    """A number between two proved ends."""

    #: What the witness attains.
    value: float
    #: Proved ends: the exact number lies between them, rounding counted in.
    lower: float
    upper: float
    #: How it was found.
    reached: str = field(repr=False)

    @property
    def relative_gap(self) -> float:
        """Return the width of the bracket, as a part of its upper end; 0 where both ends are 0."""
        return (self.upper - self.lower) / self.upper if self.upper > 0.0 else 0.0


@dataclass(frozen=True)
class Margin(Bracketed):
    """The largest distance of all points from a plane between two classes; its lower end is the one attained.

    Where no plane separates them, `value` and `lower` are 0 and `upper` is the residual of the proof: the combination
    `multipliers` of the points, those of one class negated, has that norm, so no plane has a larger margin.
    """

    #: Whether a plane separates the classes; None where neither was proved: the residual is not small.
    separable: bool | None
    #: Normal of the plane, of norm 1; where nothing separates, of the soft-margin machine, or 0 if that has none;
    #: of shape (n_features,).
    separator: Floats = field(repr=False, compare=False)
    #: The plane is ⟨separator, x⟩ + intercept = 0.
    intercept: float
    #: Points that the proof needs.
    support: Index = field(repr=False, compare=False)
    #: Their weights in the nearest points of the hulls: 1 in sum, with an intercept over each class.
    multipliers: Floats = field(repr=False, compare=False)
    #: Points on the wrong side of the soft-margin machine's plane; none where the classes are separable.
    violators: Index = field(repr=False, compare=False)
    #: The second one is on the positive side.
    classes: tuple[object, object]
    #: Which margin it is.
    normalised: bool
    with_intercept: bool

    @property
    def residual(self) -> float:
        """Return the norm of the combination of points that proves the upper end."""
        return self.upper * (2.0 if self.with_intercept else 1.0)


@dataclass(frozen=True)
class ErrorAllowedMargin(Bracketed):
    """The margin that all but a share of the points have, for a given plane."""

    #: The share.
    errors: float
    #: The points with a smaller margin: no more than the share.
    short: Index = field(repr=False, compare=False)
    #: A point that has just this margin.
    boundary: int


@dataclass(frozen=True)
class BestErrorAllowedMargin(ErrorAllowedMargin):
    """The largest margin that all but a share of the points can have; its lower end is that of `separator`."""

    #: Normal of a plane through the origin, of norm 1; of shape (n_features,).
    separator: Floats = field(repr=False, compare=False)
    #: Whether every set of points that could be left out was examined or excluded.
    complete: bool


@dataclass(frozen=True)
class MulticlassMargin(Bracketed):
    """The largest lead of each point's own class over every other one; its lower end is the one attained."""

    #: Whether some vectors give every point's own class the highest score; None where neither was proved.
    separable: bool | None
    #: One vector a class: each of norm 1 (normalised), or all together; of shape (n_classes, n_features).
    separators: Floats = field(repr=False, compare=False)
    #: Points that the proof needs.
    support: Index = field(repr=False, compare=False)
    #: Number of the other class of each.
    rivals: Index = field(repr=False, compare=False)
    #: Their weights, 1 in sum.
    multipliers: Floats = field(repr=False, compare=False)
    #: In the order of the separators.
    classes: tuple[object, ...]
    #: Whether it is shi2012's Definition 7, or Crammer and Singer's margin of the points as they are.
    normalised: bool


@dataclass(frozen=True)
class OneParameterMargin(Bracketed):
    """The largest lead of each point's own class by one vector v, each class with a projection of its own."""

    #: Whether some v gives every point's own class the highest score; None where neither was proved.
    separable: bool | None
    #: v, of norm 1; of shape (n_components,).
    vector: Floats = field(repr=False, compare=False)
    #: Points that the proof needs.
    support: Index = field(repr=False, compare=False)
    #: Number of the other class of each.
    rivals: Index = field(repr=False, compare=False)
    #: Their weights, 1 in sum.
    multipliers: Floats = field(repr=False, compare=False)
    #: In the order of the projections.
    classes: tuple[object, ...]


@dataclass(frozen=True)
class Ball(Bracketed):
    """The smallest ball around all points; its upper end is the one attained."""

    #: The ball around it of radius `value` holds all points; of shape (n_features,).
    centre: Floats = field(repr=False, compare=False)
    #: Points on the surface that the proof needs.
    support: Index = field(repr=False, compare=False)
    #: The centre is the sum of these points with these weights, 1 in sum.
    multipliers: Floats = field(repr=False, compare=False)

    @property
    def radius(self) -> float:
        """Return the radius of the ball around `centre`."""
        return self.value


def reached_by(looks: int, used: int, n: int, what: str) -> str:
    """Return a sentence that tells how a bracket was found."""
    those = f"all {n:,}" if used >= n else f"{used:,} of {n:,}"
    times = "once" if looks == 1 else f"{looks} times"
    return f"quadratic over the Gram matrix of {those} {what}; bracket by passes over all of them, looked at {times}"
