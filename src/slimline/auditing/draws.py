"""The data before the projection, and one draw after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.auditing.contradictions import contradictions
from slimline.auditing.measures import Labels, cosines_with, margins_of, room, separators_of
from slimline.data import Matrix
from slimline.errors import DataError
from slimline.geometry import Points, enclosing_ball, error_allowed_margin, one_parameter_margin
from slimline.geometry.distortion import Distortion, distortions_between, rounding_of_grams
from slimline.geometry.embedding import EmbeddingError, error_on
from slimline.geometry.inputs import named_rows
from slimline.geometry.multiclass import stacked_margin
from slimline.geometry.records import Ball, Bracketed
from slimline.geometry.row_space import RowSpace, require_zero
from slimline.projections import Projection

Floats = NDArray[np.float64]

#: The three kinds of pairs, as `Distortions` names them.
PAIRS = ("distances", "angles", "inner_products")
#: A sketch is zero, if its norm is so many roundings of that of the point, or less: `distortions` has it so.
_LOST = 16.0
#: Seed of the pairs that are kept for pictures and asked about by the laws: the same audit, the same numbers.
_SHOWN_PAIRS = 0
#: Numbers in the sketches of all classes up to which the one-parameter margin is measured: 1 GB.
_MOST_NUMBERS = 1 << 27


@dataclass(frozen=True)
class Before:
    """The data before the projection.

    Parameters
    ----------
    matrix : Matrix
        The rows that are measured.
    points : Points
        The same, with their Gram matrix.
    space : RowSpace
        Their span.
    ball : Ball
        Around them.
    labels : Labels or None
        Their classes.
    margins : dict
        By name; empty without labels.
    separators : array of shape (n_features, k)
        Vectors that are chosen before the projection.
    cosines : array of shape (n_samples, k)
        Of the points with them.
    errors : float
        Share of the points that may fall short of a margin.
    error_allowed : Bracketed or None
        What the others have about the separator of two classes; None where there is none.
    stacked : Bracketed or None
        The one-parameter margin of several classes, before any projection; None where it is not measured.
    contradictions : tuple of (int, int)
        Rows that are equal and have different labels, the first few; looked for where nothing separates the classes.
    """

    matrix: Matrix
    points: Points
    space: RowSpace
    ball: Ball
    labels: Labels | None
    margins: dict[str, Bracketed]
    separators: Floats
    cosines: Floats
    errors: float
    error_allowed: Bracketed | None = None
    stacked: Bracketed | None = None
    contradictions: tuple[tuple[int, int], ...] = ()


def look_before(matrix: Matrix, labels: Labels | None, *, errors: float, n_components: int) -> Before:
    """Return what the data are like before the projection.

    Parameters
    ----------
    matrix : Matrix
        Data.
    labels : Labels or None
        Their classes.
    errors : float
        Share of the points that may fall short of a margin.
    n_components : int
        Of the projections that will be looked at.

    Returns
    -------
    before : Before
        In one Gram matrix and a few passes.
    """
    points = Points(matrix)
    points.gram()  # kept: norms, span, ball and margins come from it
    if labels is None:
        space, ball, empty = RowSpace.of(points), enclosing_ball(points), np.zeros((matrix.shape[1], 0))
        return Before(matrix, points, space, ball, None, {}, empty, np.zeros((0, 0)), errors)
    zero = np.flatnonzero(points.squares == 0.0)
    if zero.size:
        require_zero(matrix.rows(zero))
        rows = np.array([matrix._original_row(int(row)) for row in zero])
        raise DataError(
            f"{named_rows(rows)} of {matrix.name}, counted from 0: nothing but zeros, which have no angle and no "
            "margin in cosines. Leave them out: X.rows(others) in Python, an empty label in a file of labels."
        )
    margins = margins_of(points, labels)
    U = separators_of(margins)
    cosines = cosines_with(matrix.dot(U), np.sqrt(points.squares), np.linalg.norm(U, axis=0))
    error_allowed = stacked = None
    if labels.n_classes == 2 and U.any():
        error_allowed = error_allowed_margin(points, labels.codes, U[:, 0], errors=errors)
    if labels.n_classes > 2 and _few_enough(matrix, labels, n_components):
        stacked = stacked_margin(points, labels.codes)
    space, ball = RowSpace.of(points), enclosing_ball(points)
    equal = () if any(found.value > 0.0 for found in margins.values()) else contradictions(points, labels.codes)
    return Before(matrix, points, space, ball, labels, margins, U, cosines, errors, error_allowed, stacked, equal)


@dataclass(frozen=True)
class PairsOfDraw:
    """What became of the pairs in one draw: `record` is kept for the first draw only, since it is large."""

    largest: float
    share_within: float
    n_pairs: int
    record: Distortion | None


@dataclass(frozen=True)
class Draw:
    """The data after one draw of the projection.

    Parameters
    ----------
    projection : Projection
        R.
    margins : dict
        By name.
    room : array of shape (n_samples,)
        Margin of each point about the vectors that were chosen before.
    ball : Ball
        Around the points.
    embedding : EmbeddingError
        Of R on their span.
    pairs : dict of str to PairsOfDraw
        Distances, angles, inner products.
    error_allowed : Bracketed or None
        What all points but the allowed share have about the separator that was chosen before.
    one_parameter : Bracketed or None
        For several classes, where their sketches are not too many numbers.
    """

    projection: Projection
    margins: dict[str, Bracketed]
    room: Floats
    ball: Ball
    embedding: EmbeddingError
    pairs: dict[str, PairsOfDraw]
    error_allowed: Bracketed | None
    one_parameter: Bracketed | None


def draws_of(projection: Projection, repeats: int) -> list[Projection]:
    """Return the projection itself, and others of its kind with seeds drawn from its own.

    Parameters
    ----------
    projection : Projection
        The first.
    repeats : int
        How many in all.

    Returns
    -------
    projections : list of Projection
        Independent of each other.
    """
    # a key of its own: `one_parameter_margin` draws the projections of the classes from the bare seed
    sequence = np.random.SeedSequence(projection.seed, spawn_key=(1,))
    seeds = sequence.generate_state(max(repeats - 1, 1), np.uint64)[: repeats - 1]
    return [projection, *(dataclasses.replace(projection, seed=int(seed)) for seed in seeds)]


def look_after(before: Before, projections: list[Projection], eps: float) -> Iterator[Draw]:
    """Yield what each draw did to the data.

    Parameters
    ----------
    before : Before
        What they were like.
    projections : list of Projection
        The draws.
    eps : float
        Distortion that pairs are counted by.

    Yields
    ------
    Draw
        One a projection; each takes one pass over the data, and one a class more for several classes.
    """
    K = before.points.gram()
    rounding = rounding_of_grams(before.matrix.shape[1])
    for number, projection in enumerate(projections):
        Z = np.asarray(before.matrix.sketch(projection, double=True))
        points = Points(Z)
        changed = distortions_between(K, points.gram(), rounding=rounding, random_state=_SHOWN_PAIRS)
        pairs = {name: _pairs(getattr(changed, name), eps, keep=number == 0) for name in PAIRS}
        labels, margins = before.labels, {}
        kept = np.zeros(0)
        error_allowed = one_parameter = None
        if labels is not None:
            norms = np.sqrt(points.squares)
            norms[norms <= _LOST * rounding * np.sqrt(before.points.squares)] = 0.0
            margins = margins_of(points, labels, directions=bool(norms.all()), vectors=False)
            projected = np.asarray(projection.apply(np.ascontiguousarray(before.separators.T)))
            lengths = np.linalg.norm(projected, axis=1)
            kept = room(cosines_with(Z @ projected.T, norms, lengths), labels)
            if before.error_allowed is not None:
                error_allowed = _error_allowed(points, labels, projected[0], kept, before.errors, bool(norms.all()))
            if before.stacked is not None:
                one_parameter = _one_parameter(before.matrix, labels, projection)
        error = error_on(before.space, Z[before.space.rows], projection)
        ball = enclosing_ball(points)
        yield Draw(projection, margins, kept, ball, error, pairs, error_allowed, one_parameter)


def _error_allowed(
    points: Points, labels: Labels, separator: Floats, kept: Floats, errors: float, directions: bool
) -> Bracketed:
    if directions and separator.any():
        return error_allowed_margin(points, labels.codes, separator, errors=errors)
    value = float(np.sort(kept)[min(int(np.floor(errors * len(kept) * (1.0 + 1e-12))), len(kept) - 1)])
    return Bracketed(value, value, value, "a point or the separator is zero and has no direction: a margin of 0")


def _few_enough(matrix: Matrix, labels: Labels, n_components: int) -> bool:
    return matrix.shape[0] * labels.n_classes * n_components <= _MOST_NUMBERS


def _one_parameter(matrix: Matrix, labels: Labels, projection: Projection) -> Bracketed:
    try:
        return one_parameter_margin(matrix, labels.codes, projection)
    except DataError:  # a row whose sketch is the same for two classes: no vector tells them apart
        return Bracketed(0.0, 0.0, 0.0, "a row is the same for two classes after the projection")


def _pairs(record: Any, eps: float, keep: bool) -> PairsOfDraw:
    share = float(record.share_within(eps)) if record.n_pairs else 1.0
    return PairsOfDraw(float(record.value), share, int(record.n_pairs), record if keep else None)
