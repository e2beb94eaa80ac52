"""The margin of the data, and the dimensions that keep it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline.bounds import margin_dimension, multiclass_margin_dimension
from slimline.errors import NoDimensionError
from slimline.planning.findings import Findings
from slimline.planning.problem import Problem

#: "Most" rows are all but one in so many.
_ONE_IN = 100


@dataclass(frozen=True)
class KeptMargin:
    """The margin, and the dimensions that keep it positive.

    Parameters
    ----------
    value : float or None
        None where it is not known.
    dimension, most : int or None
        For all rows, and for all but one in a hundred; None where no dimension that one could use does.
    note : str
        What that stands on.
    """

    value: float | None
    dimension: int | None
    most: int | None
    note: str


def given_margin(margin: float, problem: Problem, delta: float) -> KeptMargin:
    """Return what keeps a given margin, all points having just that.

    With several classes, the cosines are taken to be half of it and minus half of it: nearest to 0, where a cosine
    varies most.

    Parameters
    ----------
    margin : float
        Normalised.
    problem : Problem
        Sizes.
    delta : float
        Failure probability.

    Returns
    -------
    kept : KeptMargin
        A union over all points is one point with a smaller probability.
    """
    n = problem.n_samples
    note = f"all {n:,} points taken to have the given margin"
    cosines = np.full((1, problem.n_classes), -0.5 * margin)
    cosines[0, 0] = 0.5 * margin
    if problem.n_classes > 2:
        note += ", half of it on either side of 0"

    def dimension(errors: int) -> int:
        share = delta * (errors + 1) / n
        if problem.n_classes == 2:
            return margin_dimension([margin], share)
        return multiclass_margin_dimension(cosines, [0], share)

    return KeptMargin(margin, _if_any(dimension, 0), _if_any(dimension, n // _ONE_IN), note)


def found_margin(found: Findings, codes: NDArray[np.intp] | None, problem: Problem, delta: float) -> KeptMargin:
    """Return the margin of a separator of the data, and what keeps it.

    Parameters
    ----------
    found : Findings
        With the cosines of all rows, if their classes are known.
    codes : array or None
        Class number of each row.
    problem : Problem
        Sizes.
    delta : float
        Failure probability.

    Returns
    -------
    kept : KeptMargin
        Rows that are on the wrong side already are not counted.
    """
    if found.cosines is None or codes is None:
        return KeptMargin(None, None, None, "no labels, no margin")
    room = cosines = found.cosines
    if problem.n_classes > 2:
        own = cosines[np.arange(len(codes)), codes]
        others = np.where(np.arange(cosines.shape[1]) == codes[:, None], -np.inf, cosines)
        room = own - others.max(axis=1)

    def dimension(errors: int) -> int:
        if problem.n_classes == 2:
            return margin_dimension(room, delta, errors=errors)
        return multiclass_margin_dimension(cosines, codes, delta, errors=errors)

    lost = int(np.sum(room <= 0.0))
    those = f"the {len(room):,} rows at hand" if len(room) < problem.n_samples else f"all {len(room):,} rows"
    note = f"a separator of {found.sample:,} rows, through the origin, and {those}"
    if lost:
        note += f"; not counting {lost:,} on the wrong side of it already"
    if lost == len(room):
        return KeptMargin(float(room.min()), None, None, note)
    most = min(lost + len(room) // _ONE_IN, len(room) - 1)
    return KeptMargin(float(room.min()), _if_any(dimension, lost), _if_any(dimension, most), note)


def _if_any(dimension: Callable[[int], int], errors: int) -> int | None:
    try:
        return dimension(errors)
    except NoDimensionError:  # a row lies on the boundary, but for rounding
        return None
