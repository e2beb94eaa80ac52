"""What a measurement found: value, witness, proved bracket, and how it was reached."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Bracketed:
    """A number between two proved ends.

    Parameters
    ----------
    value : float
        What the witness attains.
    lower, upper : float
        Proved ends: the exact number lies between them, rounding counted in.
    reached : str
        How it was found.
    """

    value: float
    lower: float
    upper: float
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

    Parameters
    ----------
    separable : bool or None
        Whether a plane separates the classes; None where neither was proved: the residual is not small.
    separator : array of shape (n_features,)
        Normal of the plane, of norm 1; where nothing separates, of the soft-margin machine, or 0 if that has none.
    intercept : float
        The plane is ⟨separator, x⟩ + intercept = 0.
    support : array of row numbers
        Points that the proof needs.
    multipliers : array of the length of `support`
        Their weights in the nearest points of the hulls: 1 in sum, with an intercept over each class.
    violators : array of row numbers
        Points on the wrong side of the soft-margin machine's plane; none where the classes are separable.
    classes : tuple of 2 labels
        The second one is on the positive side.
    normalised, with_intercept : bool
        Which margin it is.
    """

    separable: bool | None
    separator: Floats = field(repr=False, compare=False)
    intercept: float
    support: Index = field(repr=False, compare=False)
    multipliers: Floats = field(repr=False, compare=False)
    violators: Index = field(repr=False, compare=False)
    classes: tuple[object, object]
    normalised: bool
    with_intercept: bool

    @property
    def residual(self) -> float:
        """Return the norm of the combination of points that proves the upper end."""
        return self.upper * (2.0 if self.with_intercept else 1.0)


@dataclass(frozen=True)
class ErrorAllowedMargin(Bracketed):
    """The margin that all but a share of the points have, for a given plane.

    Parameters
    ----------
    errors : float
        The share.
    short : array of row numbers
        The points with a smaller margin: no more than the share.
    boundary : int
        A point that has just this margin.
    """

    errors: float
    short: Index = field(repr=False, compare=False)
    boundary: int


@dataclass(frozen=True)
class MulticlassMargin(Bracketed):
    """The largest lead of each point's own class over every other one; its lower end is the one attained.

    Parameters
    ----------
    separable : bool or None
        Whether some vectors give every point's own class the highest score; None where neither was proved.
    separators : array of shape (n_classes, n_features)
        One vector a class: each of norm 1 (normalised), or all together.
    support : array of row numbers
        Points that the proof needs.
    rivals : array of the length of `support`
        Number of the other class of each.
    multipliers : array of the length of `support`
        Their weights, 1 in sum.
    classes : tuple of labels
        In the order of the separators.
    normalised : bool
        Whether it is shi2012's Definition 7, or Crammer and Singer's margin of the points as they are.
    """

    separable: bool | None
    separators: Floats = field(repr=False, compare=False)
    support: Index = field(repr=False, compare=False)
    rivals: Index = field(repr=False, compare=False)
    multipliers: Floats = field(repr=False, compare=False)
    classes: tuple[object, ...]
    normalised: bool


@dataclass(frozen=True)
class OneParameterMargin(Bracketed):
    """The largest lead of each point's own class by one vector v, each class with a projection of its own.

    Parameters
    ----------
    separable : bool or None
        Whether some v gives every point's own class the highest score; None where neither was proved.
    vector : array of shape (n_components,)
        v, of norm 1.
    support : array of row numbers
        Points that the proof needs.
    rivals : array of the length of `support`
        Number of the other class of each.
    multipliers : array of the length of `support`
        Their weights, 1 in sum.
    classes : tuple of labels
        In the order of the projections.
    """

    separable: bool | None
    vector: Floats = field(repr=False, compare=False)
    support: Index = field(repr=False, compare=False)
    rivals: Index = field(repr=False, compare=False)
    multipliers: Floats = field(repr=False, compare=False)
    classes: tuple[object, ...]


@dataclass(frozen=True)
class Ball(Bracketed):
    """The smallest ball around all points; its upper end is the one attained.

    Parameters
    ----------
    centre : array of shape (n_features,)
        The ball around it of radius `value` holds all points.
    support : array of row numbers
        Points on the surface that the proof needs.
    multipliers : array of the length of `support`
        The centre is the sum of these points with these weights, 1 in sum.
    """

    centre: Floats = field(repr=False, compare=False)
    support: Index = field(repr=False, compare=False)
    multipliers: Floats = field(repr=False, compare=False)

    @property
    def radius(self) -> float:
        """Return the radius of the ball around `centre`."""
        return self.value


def reached_by(looks: int, used: int, n: int, what: str) -> str:
    """Return a sentence that tells how a bracket was found.

    Parameters
    ----------
    looks : int
        Times that all points were looked at.
    used, n : int
        Points of the working set, and all.
    what : str
        What each point is called, in the plural.

    Returns
    -------
    sentence : str
        Without a full stop.
    """
    those = f"all {n:,}" if used >= n else f"{used:,} of {n:,}"
    times = "once" if looks == 1 else f"{looks} times"
    return f"quadratic over the Gram matrix of {those} {what}; bracket by passes over all of them, looked at {times}"
