"""Multi-class classification with a single weight vector."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from slimline._base.checks import flag, number, whole
from slimline.data import Matrix
from slimline.data._labels import class_labels
from slimline.estimators._validation import (
    NamedFeatures,
    as_matrix,
    training_weights,
    without_zero_weights,
)
from slimline.learning.crammer_singer import CrammerSinger
from slimline.projections._embedding import GROUP, ShiftedEmbedding
from slimline.projections._transformer import projection_seed

Floats = NDArray[np.float64]

#: Most scores, and most lifted weights, that are held at a time.
_HELD = 1 << 25
#: Columns of R that a feature is added to, where they can be shared out.
_NONZEROS = 4


@dataclass(frozen=True)
class ClassProjections:
    """R_y for y = 0, 1, …: independent sparse embeddings of the features and of a constant 1 beside them."""

    #: Number of features, d.
    n_features: int
    #: Number of columns, r.
    n_components: int
    #: 64-bit key; R_y depends on it and on y alone.
    seed: int
    #: Whether the constant has weights too.
    intercept: bool

    @property
    def stride(self) -> int:
        """Rows from one class to the next in the long embedding: whole groups, so that no two classes share one."""
        return -(-(self.n_features + self.intercept) // GROUP) * GROUP

    def of(self, y: int, n_features: int | None = None) -> ShiftedEmbedding:
        """Return R_y, the constant as its last row; or the first `n_features` rows of it."""
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
    """Scores by passes over the data: two an evaluation."""

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
    """Scores from the sketches X R_y, which are made once, a pass a class, and held."""

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
    """Return the scores in the form that needs the fewest passes, in no more memory than the data themselves take."""
    sketched = n_classes * projections.n_components * 8 <= matrix.shape[1] * matrix.dtype.itemsize
    return (SketchedScores if sketched else PassedScores)(projections, matrix, n_classes)


class OneParameterClassifier(NamedFeatures, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear classifier for any number of classes with a single weight vector.

    Every class y has a random projection R_y of its own, drawn from the seed and never stored, and the prediction is
    the y with the largest ⟨v, R_yᵀx⟩. The model is v, the seed and the class labels; apart from one label for each
    class, its size does not depend on the number of classes.

    Parameters
    ----------
    n_components : int, default=4096
        Length r of v. The time of training hardly depends on it. A multiple of 64 is fastest.
    C : float, default=1.0
        Inverse strength of the penalty, as in scikit-learn's LinearSVC.
    fit_intercept : bool, default=True
        Add a constant feature of value 1; its weights, one for each class, come from v too and are penalised.
    tol : float, default=1e-2
        Training stops when the duality gap is below this fraction of the objective, or of its decrease since v = 0 if
        that is smaller (but not below `tol`/100 of the objective).
    max_iter : int, default=1000
        Largest number of gradients.
    random_state : int, RandomState instance or None, default=None
        Seed of the projections.

    Attributes
    ----------
    vector_ : array of shape (n_components,)
        The one parameter, v.
    seed_ : int
        Key of the projections.
    classes_ : array of shape (n_classes,)
        Labels.
    objective_, gap_ : float
        Value of the objective, and the duality gap: the objective exceeds its minimum by at most this.
    n_iter_ : int
        Number of gradients that were computed.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if the data have any.

    See Also
    --------
    slimline.geometry.one_parameter_margin : The margin that some v has on given data.
    slimline.bounds.one_parameter_cosines : For the number of components that keeps the margin.
    CertifiedClassifier : One weight vector for each class.

    Notes
    -----
    Training minimises the objective of Crammer and Singer [2]_ over v, to a duality gap ::

        ½‖v‖² + C Σᵢ sᵢ max_y (1[y ≠ yᵢ] + ⟨v, R_yᵀxᵢ⟩ - ⟨v, R_yᵢᵀxᵢ⟩).

    If the m samples of L classes have normalised margin γ, then some v has margin at least κγ/√(2L) - 2ε/(1-ε) on the
    projected samples, κ = (1+ε)/(1-ε), with probability 1 - δ for r > 12 ln(6m(L-1)/δ)/(3ε² - 2ε³) ([1]_, Theorem 9;
    `shi2012.9` in :mod:`slimline.bounds` says for which margin that is proved). The bound is informative only for ε of
    the order of γ/√L, so accuracy needs many components: with too few of them v = 0 is the minimum, and the prediction
    is constant.

    References
    ----------
    .. [1] Shi, Q.; Shen, C.; Hill, R.; van den Hengel, A. (2012). "Is margin preserved after random projection?" ICML.
    .. [2] Crammer, K.; Singer, Y. (2001). "On the algorithmic implementation of multiclass kernel-based vector
       machines." Journal of Machine Learning Research 2, 265-292.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slimline import OneParameterClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneParameterClassifier(n_components=1024, random_state=0).fit(X, y)
    >>> model.vector_.shape
    (1024,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        n_components: int = 4096,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-2,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train.

        Two passes over the data a gradient; or one a class and no more, where the sketches of all classes together
        take less room than the data.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample, 0 or more.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_parameters()
        matrix = as_matrix(self, X, reset=True)
        classes, codes = class_labels(y, matrix.shape[0], warn=True)
        weights = training_weights(sample_weight, matrix.shape[0])
        matrix, classes, codes, weights = without_zero_weights(matrix, classes, codes, weights)
        costs = np.full(matrix.shape[0], float(self.C)) if weights is None else float(self.C) * weights
        seed = projection_seed(self.random_state)
        projections = ClassProjections(matrix.shape[1], int(self.n_components), seed, bool(self.fit_intercept))
        scores = training_scores(projections, matrix, classes.size)
        solution = CrammerSinger(scores, codes, costs).solve(float(self.tol), int(self.max_iter))
        if not solution.converged:
            warnings.warn(
                f"after {solution.evaluations} gradients the objective is proved to be within "
                f"{solution.gap / solution.objective:.1e} of its minimum, and tol={self.tol} was asked for: "
                "raise max_iter, scale the features, or lower C.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.classes_, self.seed_, self.vector_ = classes, seed, solution.v
        self.objective_, self.gap_, self.n_iter_ = solution.objective, solution.gap, solution.evaluations
        self._intercept = bool(self.fit_intercept)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of every class.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        scores : array of shape (n_samples, n_classes)
            ⟨v, R_yᵀx⟩; for two classes an array of shape (n_samples,), the second class's score less the first's.
        """
        check_is_fitted(self, "vector_")
        matrix, projections = as_matrix(self, X, reset=False), self._projections()
        out = np.empty((matrix.shape[0], self.classes_.size))
        for chunk in projections.chunks(self.classes_.size, matrix.shape[0]):
            out[:, chunk] = projections.scores(matrix, self.vector_, chunk)
        return out[:, 1] - out[:, 0] if self.classes_.size == 2 else out

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest score, looking at some classes at a time.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        labels : array of shape (n_samples,)
            Of the first such class, where several score the same.
        """
        check_is_fitted(self, "vector_")
        matrix, projections = as_matrix(self, X, reset=False), self._projections()
        highest = np.full(matrix.shape[0], -np.inf)
        codes = np.zeros(matrix.shape[0], dtype=np.intp)
        for chunk in projections.chunks(self.classes_.size, matrix.shape[0]):
            scores = projections.scores(matrix, self.vector_, chunk)
            winner = scores.argmax(axis=1)
            score = scores[np.arange(winner.size), winner]
            better = score > highest
            highest[better], codes[better] = score[better], winner[better] + chunk.start
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def __sklearn_tags__(self) -> Any:
        """Return the tags of scikit-learn: sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _projections(self) -> ClassProjections:
        return ClassProjections(self.n_features_in_, self.vector_.size, self.seed_, self._intercept)

    def _check_parameters(self) -> None:
        for name in ("n_components", "max_iter"):
            whole(name, getattr(self, name))
        for name in ("C", "tol"):
            number(name, getattr(self, name))
        flag("fit_intercept", self.fit_intercept)
