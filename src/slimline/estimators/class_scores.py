"""Scores ⟨v, R_yᵀx⟩ for every class y, each class with a projection of its own, none of them stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix
from slimline.projections.shifted_embedding import ShiftedEmbedding
from slimline.projections.sparse_embedding import GROUP

Floats = NDArray[np.float64]

#: Most scores, and most lifted weights, that are held at a time.
_HELD = 1 << 25
#: Columns of R that a feature is added to, where they can be shared out.
_NONZEROS = 4


@dataclass(frozen=True)
class ClassProjections:
    """R_y for y = 0, 1, …: independent sparse embeddings of the features and of a constant 1 beside them.

    Parameters
    ----------
    n_features : int
        Number of features, d.
    n_components : int
        Number of columns, r.
    seed : int
        64-bit key; R_y depends on it and on y alone.
    intercept : bool
        Whether the constant has weights too.
    """

    n_features: int
    n_components: int
    seed: int
    intercept: bool

    @property
    def stride(self) -> int:
        """Rows from one class to the next in the long embedding: whole groups, so that no two classes share one."""
        return -(-(self.n_features + self.intercept) // GROUP) * GROUP

    def of(self, y: int, n_features: int | None = None) -> ShiftedEmbedding:
        """Return R_y, the constant as its last row; or the first `n_features` rows of it.

        Parameters
        ----------
        y : int
            Number of the class.
        n_features : int, optional
            Number of rows.

        Returns
        -------
        projection : ShiftedEmbedding
            Of the class.
        """
        return self._stretch(y, self.n_features + self.intercept if n_features is None else n_features)

    def lift(self, v: Floats, classes: slice) -> tuple[Floats, Floats]:
        """Return R_y v for a range of classes: weights (d × k) and intercepts (k)."""
        lifted = self._all_of(classes).lift(v).reshape(-1, self.stride)
        weights = np.ascontiguousarray(lifted[:, : self.n_features].T, dtype=np.float64)
        return weights, lifted[:, self.n_features].astype(np.float64) if self.intercept else np.zeros(len(lifted))

    def apply(self, sums: Floats, constants: Floats, classes: slice) -> Floats:
        """Return Σ_y R_yᵀ m_y for a range of classes; m_y is a column of `sums` (d × k) and, below it, a constant."""
        padded = np.zeros((sums.shape[1], self.stride))
        padded[:, : self.n_features] = sums.T
        if self.intercept:
            padded[:, self.n_features] = constants
        total: Floats = self._all_of(classes).apply(padded.reshape(1, -1))[0].astype(np.float64, copy=False)
        return total

    def _all_of(self, classes: slice) -> ShiftedEmbedding:
        return self._stretch(classes.start, (classes.stop - classes.start) * self.stride)

    def _stretch(self, y: int, rows: int) -> ShiftedEmbedding:
        parts = _NONZEROS if self.n_components % _NONZEROS == 0 else 1
        return ShiftedEmbedding(rows, self.n_components, self.seed, parts, first=y * self.stride)

    def chunks(self, n_classes: int, n_samples: int) -> list[slice]:
        """Return ranges of classes whose scores and weights fit in memory together."""
        size = max(1, _HELD // max(n_samples, self.n_features, 1))
        return [slice(start, min(start + size, n_classes)) for start in range(0, n_classes, size)]

    def scores(self, matrix: Matrix, v: Floats, classes: slice) -> Floats:
        """Return the scores of all samples for a range of classes, in one pass over the data."""
        weights, intercepts = self.lift(v, classes)
        product: Floats = matrix.dot(weights)
        product += intercepts
        return product


class PassedScores:
    """Scores by passes over the data: two an evaluation.

    Parameters
    ----------
    projections : ClassProjections
        Of the classes.
    matrix : Matrix
        Data.
    n_classes : int
        Number of classes.
    """

    def __init__(self, projections: ClassProjections, matrix: Matrix, n_classes: int) -> None:
        self._projections, self._matrix = projections, matrix
        self.chunks = projections.chunks(n_classes, matrix.shape[0])
        self.n_components = projections.n_components

    def scores(self, v: Floats, classes: slice) -> Floats:
        """Return the scores for a range of classes."""
        return self._projections.scores(self._matrix, v, classes)

    def adjoint(self, G: Floats, classes: slice) -> Floats:
        """Return Σ_y R_yᵀ Xᵀ g_y."""
        return self._projections.apply(self._matrix.tdot(G), G.sum(axis=0), classes)


class SketchedScores:
    """Scores from the sketches X R_y, which are made once, a pass a class, and held.

    Parameters
    ----------
    projections : ClassProjections
        Of the classes.
    matrix : Matrix
        Data, wider than all sketches together.
    n_classes : int
        Number of classes.
    """

    def __init__(self, projections: ClassProjections, matrix: Matrix, n_classes: int) -> None:
        self.n_components = projections.n_components
        self.chunks = projections.chunks(n_classes, matrix.shape[0])
        self._sketches = []
        for y in range(n_classes):
            sketch = matrix.sketch(projections.of(y, projections.n_features)).astype(np.float64, copy=False)
            if projections.intercept:
                constant: Any = projections.of(y).rows(projections.n_features)
                sketch += constant.toarray()
            self._sketches.append(sketch)

    def scores(self, v: Floats, classes: slice) -> Floats:
        """Return the scores for a range of classes."""
        return np.stack([sketch @ v for sketch in self._sketches[classes]], axis=1)

    def adjoint(self, G: Floats, classes: slice) -> Floats:
        """Return Σ_y (X R_y)ᵀ g_y."""
        total: Floats = np.zeros(self.n_components)
        for sketch, g in zip(self._sketches[classes], G.T, strict=True):
            total += sketch.T @ g
        return total


def training_scores(projections: ClassProjections, matrix: Matrix, n_classes: int) -> PassedScores | SketchedScores:
    """Return the scores in the form that needs the fewest passes, in no more memory than the data themselves take.

    Parameters
    ----------
    projections : ClassProjections
        Of the classes.
    matrix : Matrix
        Data.
    n_classes : int
        Number of classes.

    Returns
    -------
    scores : PassedScores or SketchedScores
        The second where the sketches of all classes together are narrower than the data.
    """
    sketched = n_classes * projections.n_components * 8 <= matrix.shape[1] * matrix.dtype.itemsize
    return (SketchedScores if sketched else PassedScores)(projections, matrix, n_classes)
