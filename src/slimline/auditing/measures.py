"""The margins of one set of points, before a projection or after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline.geometry import Points, margin, multiclass_margin
from slimline.geometry.margin import VANISHED
from slimline.geometry.records import Bracketed, Margin, MulticlassMargin
from slimline.geometry.rivals import Rivals

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
    """The classes of the points.

    Parameters
    ----------
    codes : array of shape (n_samples,)
        Class numbers.
    n_classes : int
        Two or more.
    """

    codes: Codes
    n_classes: int

    @property
    def signs(self) -> Floats:
        """Return -1 or 1, for two classes."""
        return np.where(self.codes == 1, 1.0, -1.0)

    @property
    def pairs(self) -> Rivals:
        """Return every point with every other class."""
        return Rivals(self.codes, self.n_classes)


def margins_of(
    points: Points, labels: Labels, *, directions: bool = True, vectors: bool = True
) -> dict[str, Bracketed]:
    """Return the margins of the points, by name.

    Parameters
    ----------
    points : Points
        They keep their Gram matrix.
    labels : Labels
        Their classes.
    directions : bool
        Whether every point has a direction: a sketch that is zero has none, and no margin in cosines is left then.
    vectors : bool
        Whether the separators are wanted, too. Where they are not, and nothing separates the classes by the widest of
        the margins, the others are 0 without a search of their own.

    Returns
    -------
    margins : dict
        Three for two classes, two for several.
    """
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
    """Return the vectors of the normalised margin, one column a class, or a single one for two classes.

    Parameters
    ----------
    margins : dict
        Of `margins_of`.

    Returns
    -------
    U : array of shape (n_features, k)
        Columns of norm 1, or 0 where nothing separates several classes.
    """
    if NORMALISED in margins:
        found = margins[NORMALISED]
        assert isinstance(found, Margin)
        return found.separator[:, None]
    found = margins[DEFINITION_7]
    assert isinstance(found, MulticlassMargin)
    return np.ascontiguousarray(found.separators.T)


def cosines_with(products: Floats, norms: Floats, lengths: Floats) -> Floats:
    """Return cosines from inner products; 0 for a vector without a direction.

    Parameters
    ----------
    products : array of shape (n_samples, k)
        ⟨xᵢ, u⟩.
    norms : array of shape (n_samples,)
        ‖xᵢ‖.
    lengths : array of shape (k,)
        ‖u‖.

    Returns
    -------
    cosines : array of shape (n_samples, k)
        Within [-1, 1].
    """
    sizes = norms[:, None] * lengths
    return np.clip(np.divide(products, sizes, out=np.zeros(products.shape), where=sizes > 0.0), -1.0, 1.0)


def room(cosines: Floats, labels: Labels) -> Floats:
    """Return the margin of every point about given vectors: yᵢcᵢ, or the least lead of its own class."""
    if labels.n_classes == 2:
        return np.asarray(labels.signs * cosines[:, 0])
    return np.asarray(labels.pairs.leads(cosines).reshape(len(cosines), -1).min(axis=1))
