"""The margins of one set of points, before a projection or after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slimline.geometry import Points, margin, multiclass_margin
from slimline.geometry.records import Bracketed, Margin, MulticlassMargin
from slimline.geometry.rivals import Rivals

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

#: Names of the margins of two classes, and of several.
PLAIN, NORMALISED, WITH_INTERCEPT = "margin", "normalised margin", "margin with intercept"
CRAMMER_SINGER, DEFINITION_7 = "Crammer-Singer margin", "normalised multiclass margin"
#: Brackets of Definition 7 need not be narrower: what happens to it is far larger.
_TOL_DEFINITION_7 = 1e-3

ABOUT = {
    PLAIN: "distance of the nearest point from the best plane through the origin (shi2012, Definition 1)",
    NORMALISED: "the same with all points scaled to norm 1: a cosine (shi2012, Definition 2)",
    WITH_INTERCEPT: "half the distance of the two classes' convex hulls (paul2013)",
    CRAMMER_SINGER: "least lead of a point's own class, all vectors together of norm 1",
    DEFINITION_7: "least lead of a point's own class, in cosines (shi2012, Definition 7)",
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


def margins_of(points: Points, labels: Labels, *, directions: bool = True) -> dict[str, Bracketed]:
    """Return the margins of the points, by name.

    Parameters
    ----------
    points : Points
        They keep their Gram matrix.
    labels : Labels
        Their classes.
    directions : bool
        Whether every point has a direction: a sketch that is zero has none, and no margin in cosines is left then.

    Returns
    -------
    margins : dict
        Three for two classes, two for several.
    """
    codes = labels.codes
    none = Bracketed(0.0, 0.0, 0.0, "a point is zero and has no direction")
    if labels.n_classes == 2:
        return {
            PLAIN: margin(points, codes),
            NORMALISED: margin(points, codes, normalised=True) if directions else none,
            WITH_INTERCEPT: margin(points, codes, intercept=True),
        }
    return {
        CRAMMER_SINGER: multiclass_margin(points, codes, normalised=False),
        DEFINITION_7: multiclass_margin(points, codes, tol=_TOL_DEFINITION_7) if directions else none,
    }


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
