"""Measurements of an audit, before and after each draw of a projection."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix
from slimline.errors import DataError
from slimline.geometry import (
    Points,
    enclosing_ball,
    error_allowed_margin,
    margin,
    multiclass_margin,
    one_parameter_margin,
)
from slimline.geometry._class_pairs import ClassPairs
from slimline.geometry._distortion import Distortion, distortions_between, rounding_of_grams
from slimline.geometry._embedding import EmbeddingError, error_on
from slimline.geometry._inputs import Ball, Bracketed, Margin, MulticlassMargin, named_rows
from slimline.geometry._margin import VANISHED
from slimline.geometry._multiclass import stacked_margin
from slimline.geometry._points import RowSpace, require_zero
from slimline.projections import HashEmbedding, Projection, SubsampledHadamard

#: Squared distances below this part of the squared norms may be those of equal points, as far as a Gram matrix tells.
_NEAR = 1e-12
#: Pairs that are looked at and named, at most.
_MOST_PAIRS = 5


def contradictions(points: Points, codes: NDArray[np.intp]) -> tuple[tuple[int, int], ...]:
    """Return pairs of rows that are equal, number by number, and have different labels."""
    near = _near_pairs(points.gram(), codes)
    if not near:
        return ()
    rows, places = np.unique(near, return_inverse=True)
    differences = np.zeros((len(rows), len(near)))
    for k, (first, second) in enumerate(places.reshape(-1, 2)):
        differences[first, k], differences[second, k] = 1.0, -1.0
    apart = points.matrix.rows(rows).tdot(differences)
    original = points.matrix._original_row
    return tuple((original(i), original(j)) for k, (i, j) in enumerate(near) if not apart[:, k].any())


def _near_pairs(K: NDArray[np.float64], codes: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return the first pairs of different classes that a Gram matrix cannot tell apart."""
    squares = np.diagonal(K)
    found: list[tuple[int, int]] = []
    for i in range(len(K) - 1):
        sums = squares[i] + squares[i + 1 :]
        close = (sums - 2.0 * K[i, i + 1 :] <= _NEAR * sums) & (codes[i + 1 :] != codes[i])
        found += [(i, i + 1 + int(j)) for j in np.flatnonzero(close)]
        if len(found) >= _MOST_PAIRS:
            break
    return found[:_MOST_PAIRS]


#: Theorems on the embedding error that hold for a family, by the names of `make_projection` and of `slimline.bounds`.
EMBEDDINGS = {
    "gaussian": ("vaswani2013.c2",),
    "sign": ("paul2013.sign", "paul2013.cw"),
    "achlioptas": ("paul2013.sign", "paul2013.cw"),
    "very_sparse": ("embedding.very_sparse",),
    "srht": ("paul2013.srht", "paul2013.cw"),
    "srht_replaced": ("paul2013.srht", "paul2013.cw"),
    "cw": ("paul2013.cw",),
    "generalised_cw": ("paul2013.cw.generalised",),
    "osnap": ("paul2013.cw",),
}


def family_name(projection: Projection) -> str:
    """Return what `make_projection` calls the family of a projection."""
    family = projection.family
    if family == "sparse_sign":
        density = _density(projection)
        if np.isclose(density, 1.0 / 3.0):
            return "achlioptas"
        return "very_sparse" if np.isclose(density, 1.0 / np.sqrt(projection.n_features)) else family
    if isinstance(projection, HashEmbedding) and family == "sparse_embedding":
        if projection.nnz_per_feature > 1:
            return "osnap"
        return "cw" if projection.n_stacks is None else "generalised_cw"
    if isinstance(projection, SubsampledHadamard) and projection.replace:
        return "srht_replaced"
    return family


def known_family(projection: Projection) -> str:
    """Return the family whose theorems hold for a projection."""
    name = family_name(projection)
    if name == "sparse_sign":
        # that theorem stands on the fourth moment of the entries, 1/density: for denser ones it holds all the more
        least = (1.0 - 1e-9) / np.sqrt(projection.n_features)
        return "very_sparse" if _density(projection) >= least else ""
    return name if name in EMBEDDINGS else ""


def _density(projection: Projection) -> float:
    return float(getattr(projection, "density", 0.0))


Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

#: Names of the margins of two classes, and of several.
PLAIN, NORMALISED, WITH_INTERCEPT = "margin", "normalised margin", "margin with intercept"
CRAMMER_SINGER, DEFINITION_7 = "Crammer-Singer margin", "normalised multiclass margin"
#: What the vectors chosen before have after it, with some points left out, and what one vector has for all classes.
SAME_SEPARATOR, ERROR_ALLOWED = "normalised margin, same separator", "error-allowed margin"
ONE_PARAMETER = "one-parameter margin"
#: Brackets of Definition 7 need not be narrower: what happens to it is far larger.
_TOL_DEFINITION_7 = 1e-3

ABOUT = {
    PLAIN: "distance of the nearest point from the best plane through the origin (shi2012, Definition 1)",
    NORMALISED: "the same with all points scaled to norm 1: a cosine (shi2012, Definition 2)",
    WITH_INTERCEPT: "half the distance of the two classes' convex hulls (paul2013)",
    CRAMMER_SINGER: "least lead of a point's own class, all vectors together of norm 1",
    DEFINITION_7: "least lead of a point's own class, in cosines (shi2012, Definition 7)",
    SAME_SEPARATOR: "the margin of the separator that was chosen before and is projected like the points: what "
    "theorems speak of",
    ERROR_ALLOWED: "what all but the allowed share of the points have about the plane chosen before, in cosines "
    "(shi2012, Definition 3)",
    ONE_PARAMETER: "least cosine of one vector v with R_yᵀx - R_y'ᵀx, each class with a projection of its own "
    "(shi2012, (6)); before, with a part of v for each class",
}


@dataclass(frozen=True)
class Labels:
    """The classes of the points."""

    #: Class numbers; of shape (n_samples,).
    codes: Codes
    #: Two or more.
    n_classes: int

    @property
    def signs(self) -> Floats:
        """Return -1 or 1, for two classes."""
        return np.where(self.codes == 1, 1.0, -1.0)

    @property
    def pairs(self) -> ClassPairs:
        """Return every point with every other class."""
        return ClassPairs(self.codes, self.n_classes)


def margins_of(
    points: Points, labels: Labels, *, directions: bool = True, vectors: bool = True
) -> dict[str, Bracketed]:
    """Return the margins of the points, by name."""
    codes = labels.codes
    two = labels.n_classes == 2
    widest = margin(points, codes, intercept=True) if two else multiclass_margin(points, codes, normalised=False)
    known = {} if vectors else _ruled_out(points, widest, labels)
    if not directions:
        known[NORMALISED] = known[DEFINITION_7] = Bracketed(0.0, 0.0, 0.0, "a point is zero and has no direction")
    if two:
        return {
            PLAIN: known.get(PLAIN) or margin(points, codes),
            NORMALISED: known.get(NORMALISED) or margin(points, codes, normalised=True),
            WITH_INTERCEPT: widest,
        }
    cosines = known.get(DEFINITION_7) or multiclass_margin(points, codes, tol=_TOL_DEFINITION_7)
    return {CRAMMER_SINGER: widest, DEFINITION_7: cosines}


def _ruled_out(points: Points, widest: Margin | MulticlassMargin, labels: Labels) -> dict[str, Bracketed]:
    """Return the margins that are 0 with the widest one, each with an upper end that follows from its own.

    A plane through the origin is one with an intercept; one with the margin t in cosines has t min ‖x‖ at least. Unit
    vectors with the lead t in cosines have t min ‖x‖/√L at least, all together scaled to norm 1.
    """
    if widest.separable is not False:
        return {}
    norms = np.sqrt(points.squares)
    least, most = float(norms.min()), float(norms.max())
    in_cosines = widest.upper / least if least > 0.0 else np.inf
    ends = {
        PLAIN: (widest.upper, most),
        NORMALISED: (in_cosines, 1.0),
        DEFINITION_7: (float(np.sqrt(labels.n_classes)) * in_cosines, float(np.sqrt(2.0))),
    }
    how = "nothing separates the classes by any margin"
    return {name: Bracketed(0.0, 0.0, end, how) for name, (end, size) in ends.items() if end <= VANISHED * size}


def separators_of(margins: dict[str, Bracketed]) -> Floats:
    """Return the vectors of the normalised margin, one column a class, or a single one for two classes."""
    if NORMALISED in margins:
        found = margins[NORMALISED]
        assert isinstance(found, Margin)
        return found.separator[:, None]
    found = margins[DEFINITION_7]
    assert isinstance(found, MulticlassMargin)
    return np.ascontiguousarray(found.separators.T)


def cosines_with(products: Floats, norms: Floats, lengths: Floats) -> Floats:
    """Return cosines from inner products; 0 for a vector without a direction."""
    sizes = norms[:, None] * lengths
    return np.clip(np.divide(products, sizes, out=np.zeros(products.shape), where=sizes > 0.0), -1.0, 1.0)


def room(cosines: Floats, labels: Labels) -> Floats:
    """Return the margin of every point about given vectors: yᵢcᵢ, or the least lead of its own class."""
    if labels.n_classes == 2:
        return np.asarray(labels.signs * cosines[:, 0])
    return np.asarray(labels.pairs.leads(cosines).reshape(len(cosines), -1).min(axis=1))


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
    """The data before the projection."""

    #: The rows that are measured.
    matrix: Matrix
    #: The same, with their Gram matrix.
    points: Points
    #: Their span.
    space: RowSpace
    #: Around them.
    ball: Ball
    #: Their classes.
    labels: Labels | None
    #: By name; empty without labels.
    margins: dict[str, Bracketed]
    #: Vectors that are chosen before the projection; of shape (n_features, k).
    separators: Floats
    #: Of the points with them; of shape (n_samples, k).
    cosines: Floats
    #: Share of the points that may fall short of a margin.
    errors: float
    #: What the others have about the separator of two classes; None where there is none.
    error_allowed: Bracketed | None = None
    #: The one-parameter margin of several classes, before any projection; None where it is not measured.
    stacked: Bracketed | None = None
    #: Rows that are equal and have different labels, the first few; looked for where nothing separates the
    #: classes.
    contradictions: tuple[tuple[int, int], ...] = ()


def measure_original(matrix: Matrix, labels: Labels | None, *, errors: float, n_components: int) -> Before:
    """Return what the data are like before the projection."""
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
            "margin in cosines.",
            "Leave them out, with open_matrix(X).rows(others) and their labels.",
            "rows",
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
    """Changes of the pairs in one draw; only the first draw has a `record`, since it is large."""

    largest: float
    share_within: float
    n_pairs: int
    record: Distortion | None


@dataclass(frozen=True)
class Draw:
    """The data after one draw of the projection."""

    #: R.
    projection: Projection
    #: By name.
    margins: dict[str, Bracketed]
    #: Margin of each point about the vectors that were chosen before; of shape (n_samples,).
    room: Floats
    #: Around the points.
    ball: Ball
    #: Of R on their span.
    embedding: EmbeddingError
    #: Distances, angles, inner products.
    pairs: dict[str, PairsOfDraw]
    #: What all points but the allowed share have about the separator that was chosen before.
    error_allowed: Bracketed | None
    #: For several classes, where their sketches are not too many numbers.
    one_parameter: Bracketed | None


def draws_of(projection: Projection, repeats: int) -> list[Projection]:
    """Return the projection itself, and others of its kind with seeds drawn from its own."""
    # a key of its own: `one_parameter_margin` draws the projections of the classes from the bare seed
    sequence = np.random.SeedSequence(projection.seed, spawn_key=(1,))
    seeds = sequence.generate_state(max(repeats - 1, 1), np.uint64)[: repeats - 1]
    return [projection, *(dataclasses.replace(projection, seed=int(seed)) for seed in seeds)]


def measure_projected(before: Before, projections: list[Projection], eps: float) -> Iterator[Draw]:
    """Yield what each draw did to the data.

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
