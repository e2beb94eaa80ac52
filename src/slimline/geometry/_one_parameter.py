"""The margin of the one-parameter method: one vector for all classes, a projection for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import number, one_of
from slimline._base.rounding import sum_error
from slimline.data._labels import class_labels
from slimline.errors import DataError, InvalidParameterError
from slimline.geometry._class_pairs import ClassPairs
from slimline.geometry._convex import ConvexPoints, Look, nearest
from slimline.geometry._inputs import OneParameterMargin, named_rows, projection_of, reached_by
from slimline.geometry._margin import FIRST, is_separable
from slimline.geometry._points import MOST_POINTS, Points
from slimline.projections import Projection

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

#: Numbers in the sketches of all classes, at most: 4 GB.
_MOST_NUMBERS = 1 << 29


def one_parameter_margin(
    X: Any, y: Any, projections: Any, *, denominator: str = "difference", tol: float = 1e-8
) -> OneParameterMargin:
    """Return the margin of one vector v on data with a projection for each class.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path, Matrix or Points
        One row a point.
    y : array-like of shape (n_samples,)
        Labels of two classes or more.
    projections : projection, or sequence of projections
        One projection for each class. A single one gives every class the projection of its family with another seed.
    denominator : "difference" or "printed"
        ‖R_yᵀx - R_y'ᵀx‖, which makes the margin a cosine, as in the proof of Theorem 9; or √(‖R_yᵀx‖² + ‖R_y'ᵀx‖²), as
        equation 6 is printed.
    tol : float
        Width of the bracket, relative to the margin.

    Returns
    -------
    margin : OneParameterMargin
        Margin of the sketches as computed: in float32 for data that are not float64.

    See Also
    --------
    slimline.OneParameterClassifier : The classifier.
    multiclass_margin : One vector for each class, without a projection.

    Notes
    -----
    It is the maximum over unit v of the least ⟨v, R_yᵢᵀxᵢ - R_y'ᵀxᵢ⟩/(denominator), over all points i and classes y'
    other than their own ([1]_, eq. 6 and Theorem 9).

    References
    ----------
    .. [1] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import GaussianProjection
    >>> from slimline.geometry import one_parameter_margin
    >>> X = np.random.default_rng(0).standard_normal((6, 50))
    >>> found = one_parameter_margin(X, [0, 1, 2, 0, 1, 2], GaussianProjection(20, random_state=0))
    >>> found.separable, found.vector.shape
    (True, (20,))
    """
    tol = number("tol", tol, 0.0, 0.5)
    one_of("denominator", denominator, ("difference", "printed"))
    data = Points.of(X)
    names, codes = class_labels(y, data.shape[0])
    drawn = _of_each_class(projections, len(names), data.shape)
    numbers = data.shape[0] * sum(projection.n_components for projection in drawn)
    if numbers > _MOST_NUMBERS:
        raise DataError(
            f"the sketches of {data.shape[0]:,} rows for {len(names)} classes have {numbers:,} numbers: take fewer "
            f"rows, for instance open_matrix(X).rows(range({data.shape[0] * _MOST_NUMBERS // numbers})), or fewer "
            "components."
        )
    sketches = np.stack([data.matrix.sketch(projection) for projection in drawn]).astype(np.float64, copy=False)
    _scale_rows(sketches)
    points = _SketchedPairs(sketches, ClassPairs(codes, len(names)), denominator)
    found = nearest(points, tol)
    separable = is_separable(found, points)
    index = found.supports
    lower = found.lower if separable else 0.0
    vector = found.lowest.witness
    return OneParameterMargin(
        value=lower,
        lower=lower,
        upper=found.upper,
        reached=reached_by(found.looks, len(found.index), len(points.pairs), "pairs of a point and another class"),
        separable=separable,
        vector=vector / max(float(np.linalg.norm(vector)), np.finfo(float).tiny),
        support=points.pairs.points(index),
        rivals=points.pairs.classes(index),
        multipliers=found.weights[found.weights > 0.0],
        classes=tuple(name.item() for name in names),
    )


def _of_each_class(projections: Any, n_classes: int, shape: tuple[int, int]) -> list[Projection]:
    if not isinstance(projections, Sequence):
        first = projection_of(projections, shape)
        seeds = np.random.SeedSequence(first.seed).generate_state(n_classes, np.uint64)
        return [dataclasses.replace(first, seed=int(seed)) for seed in seeds]
    drawn = [projection_of(projection, shape) for projection in projections]
    if len(drawn) != n_classes:
        raise InvalidParameterError(
            f"has {n_classes} classes, and there are {len(drawn)} projections: give as many.", "y"
        )
    if len({projection.n_components for projection in drawn}) > 1:
        raise InvalidParameterError("all projections must have the same number of components: one vector is for all.")
    return drawn


def _scale_rows(sketches: Floats) -> None:
    """Bring the sketches of each point to a size of about 1, exactly and in place: no cosine changes."""
    sizes = np.maximum(sketches.max(axis=(0, 2)), -sketches.min(axis=(0, 2)))
    np.ldexp(sketches, -np.frexp(sizes)[1][:, None], out=sketches)


class _SketchedPairs(ConvexPoints):
    """(R_yᵀx - R_y'ᵀx) over its size, for every pair."""

    def __init__(self, sketches: Floats, pairs: ClassPairs, denominator: str) -> None:
        super().__init__(np.zeros(len(pairs), dtype=np.uint8), MOST_POINTS)
        self._sketches, self.pairs = sketches, pairs
        self._squares = np.einsum("yij,yij->iy", sketches, sketches)
        self._sizes = np.sqrt(self._size_squares(denominator))
        empty = np.flatnonzero(self._sizes == 0.0)
        if empty.size:
            rows = np.unique(pairs.points(empty))
            raise DataError(
                f"{named_rows(rows)} {'is' if rows.size == 1 else 'are'} the same for two classes after the "
                "projection, as zeros are, and without an angle: leave such rows out."
            )

    @property
    def zero(self) -> float:
        return 1.0

    def start(self) -> Index:
        return np.arange(len(self.pairs)) if len(self.pairs) <= 2 * FIRST else self.pairs.start(FIRST)

    def gram(self, index: Index) -> Floats:
        vectors = self._vectors(index)
        return np.ascontiguousarray(vectors @ vectors.T)

    def look(self, index: Index, weights: Floats) -> Look:
        vectors = self._vectors(index)
        v = weights @ vectors
        norm = float(np.linalg.norm(v))
        values = self.pairs.leads((self._sketches @ v).T) / self._sizes
        # two products, one subtraction, a quotient of rounded sizes; ‖R_yᵀx‖ ≤ √(sum of both squares)
        r = len(v)
        sizes = self.pairs.doubts(np.sqrt(self._squares)) / self._sizes
        sure = values - sum_error(r + 2) * norm * sizes
        least, slack = float(sure.min()), 1.0 + 4.0 * sum_error(len(index) + r)
        off = sum_error(len(index)) * float(weights @ sizes[index])
        lower = least / (norm * slack) if least > 0.0 and norm > 0.0 else 0.0
        return Look(lower, norm * slack + off, 0.5 * norm * norm, values, v)

    def _vectors(self, index: Index) -> Floats:
        rows = self.pairs.points(index)
        own = self._sketches[self.pairs.codes[rows], rows]
        return np.asarray((own - self._sketches[self.pairs.classes(index), rows]) / self._sizes[index][:, None])

    def _size_squares(self, denominator: str) -> Floats:
        if denominator == "printed":
            return self.pairs.doubts(self._squares)
        n, n_classes = self._squares.shape
        out = np.empty((n, n_classes - 1))
        step = max(1, (1 << 22) // (n_classes * self._sketches.shape[2]))
        for first in range(0, n, step):
            index = np.arange(first * (n_classes - 1), min(first + step, n) * (n_classes - 1))
            rows = self.pairs.points(index)
            apart = self._sketches[self.pairs.codes[rows], rows] - self._sketches[self.pairs.classes(index), rows]
            out[first : first + step] = np.einsum("ij,ij->i", apart, apart).reshape(-1, n_classes - 1)
        return out.ravel()
