"""Any classifier, trained on the sketch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from slimline._base.checks import is_auto, whole
from slimline.data import Matrix
from slimline.data._labels import class_labels
from slimline.errors import InvalidParameterError
from slimline.estimators._validation import (
    NamedFeatures,
    as_matrix,
    training_weights,
    without_zero_weights,
)
from slimline.projections import Identity, Projection
from slimline.projections._families import frozen_projection
from slimline.projections._transformer import RandomProjection, projection_seed

Method = Callable[["ProjectedClassifier", Any], NDArray[Any]]

#: What "auto" takes: the largest number of components in Paul et al.'s tables.
AUTOMATIC_COMPONENTS = 1024


def _inner_has(name: str) -> Callable[[Method], Method]:
    """Return a check that the inner estimator, fitted or not, has a method."""

    def check(self: ProjectedClassifier) -> bool:
        inner = getattr(self, "estimator_", None)
        getattr(self._inner() if inner is None else inner, name)  # its AttributeError says more than False
        return True

    decorator: Callable[[Method], Method] = available_if(check)
    return decorator


class ProjectedClassifier(NamedFeatures, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier that is trained on the sketch X R and predicts there.

    It reads the data once in `fit`, and once for every prediction.

    Parameters
    ----------
    projection : str or projection transformer, default="auto"
        A family of :func:`make_projection`; or a transformer such as `GaussianProjection()`, which is cloned, and whose
        own `n_components` and `random_state` are used if they are set.
    n_components : int or "auto", default="auto"
        Number of components. "auto": 1,024, and no projection at all up to 2,048 features, where it would lose more
        than it saves.
    estimator : classifier, default=None
        Is cloned and trained on the sketch. None: `LinearSVC(dual=False, tol=1e-6)`.
    random_state : int, RandomState instance or None, default=None
        Seed of the projection, and of an estimator that has none of its own.

    Attributes
    ----------
    projection_ : slimline.projections.Projection
        R as a frozen value.
    estimator_ : classifier
        The classifier that was trained on the sketch.
    n_components_ : int
        Number of components in use.
    classes_ : array of shape (n_classes,)
        Labels.
    coef_ : array of shape (n_vectors, n_features)
        Weights of a linear estimator, lifted to the original features at each request: `decision_function(X)` is
        X @ coef_.T + intercept_ up to rounding. They predict well, but are *not* the weights that training on all
        features gives.
    intercept_ : array or float
        Intercept of the linear estimator.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if the data have any.

    See Also
    --------
    CertifiedClassifier : Weights of the original features, with a certificate.
    make_projection : The families by name.

    Notes
    -----
    Training on the sketch is what Paul et al. [1]_ do with support vector machines. If ‖VᵀV - VᵀRRᵀV‖₂ ≤ ε for the
    right singular vectors V of X, a hard margin γ becomes γ̃ with γ̃² ≥ (1 - ε)γ² ([1]_, Theorem 1), and the radius of
    the smallest ball around the samples satisfies B̃² ≤ (1 + ε)B² ([1]_, Theorem 2). `paul2013.1` and `paul2013.2` in
    :mod:`slimline.bounds` say how many components that takes.

    `coef_` is the naive recovery ŵ = R z, z being the weights on the sketch. ŵᵀx = zᵀ(Rᵀx) for every x, so predictions
    are the same, but the relative error of ŵ itself is at least of the order of √((d - ρ)/r), ρ being the rank of X
    ([2]_, Theorem 1).

    References
    ----------
    .. [1] Paul, S.; Boutsidis, C.; Magdon-Ismail, M.; Drineas, P. (2013). "Random projections for support vector
       machines." AISTATS, PMLR 31, 498-506.
    .. [2] Vaswani, S. (2013). "Optimal weight recovery under random projections." University of British Columbia.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from slimline import ProjectedClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 5000))
    >>> y = X[:, :50].sum(axis=1) > 0
    >>> model = ProjectedClassifier("srht", 512, LogisticRegression(), random_state=0).fit(X, y)
    >>> model.coef_.shape
    (1, 5000)
    >>> bool(np.allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_))
    True
    """

    def __init__(
        self,
        projection: Any = "auto",
        n_components: int | str = "auto",
        estimator: Any = None,
        random_state: Any = None,
    ) -> None:
        self.projection = projection
        self.n_components = n_components
        self.estimator = estimator
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sketch the data in one pass and train on the sketch.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample, for an estimator that takes it.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        matrix = as_matrix(self, X, reset=True)
        classes, codes = class_labels(y, matrix.shape[0], warn=True)
        inner = self._inner()
        weights = {}
        if sample_weight is not None:
            if not has_fit_parameter(inner, "sample_weight"):
                raise InvalidParameterError(f"must be left out: {type(inner).__name__} takes none.", "sample_weight")
            given = training_weights(sample_weight, matrix.shape[0])
            matrix, classes, codes, given = without_zero_weights(matrix, classes, codes, given)
            weights = {"sample_weight": given}
        projection = self._choose(matrix)
        _seed_inner(inner, self.random_state)
        self.estimator_ = inner.fit(matrix.sketch(projection), classes[codes], **weights)
        self.projection_, self.classes_ = projection, classes
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the estimator's labels for the sketch of `X`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        labels : array of shape (n_samples,)
            Predicted labels.
        """
        return np.asarray(self._fitted().predict(self._sketch(X)))

    @_inner_has("decision_function")
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the estimator's scores for the sketch of `X`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_vectors)
            As the estimator gives them.
        """
        return np.asarray(self._fitted().decision_function(self._sketch(X)))

    @_inner_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the estimator's probabilities for the sketch of `X`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return np.asarray(self._fitted().predict_proba(self._sketch(X)))

    @_inner_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithms of the estimator's probabilities for the sketch of `X`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        logarithms : array of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return np.asarray(self._fitted().predict_log_proba(self._sketch(X)))

    @property
    def n_components_(self) -> int:
        """Number of components in use."""
        self._fitted()
        projection: Projection = self.projection_
        return projection.n_components

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights of a linear estimator on the original features."""
        weights: Any = self._fitted().coef_
        projection: Projection = self.projection_
        return projection.lift(weights.toarray() if sp.issparse(weights) else weights)  # type: ignore[attr-defined]

    @property
    def intercept_(self) -> Any:
        """Intercept of a linear estimator."""
        inner = self._fitted()
        _ = inner.coef_  # a kernel machine has an intercept, but no weights: its AttributeError says so
        return inner.intercept_

    def __sklearn_tags__(self) -> Any:
        """Return the tags of scikit-learn: sparse input is accepted; classes as the inner estimator takes them."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.estimator is not None and (inner := get_tags(self.estimator).classifier_tags) is not None:
            tags.classifier_tags = replace(inner, multi_label=False)  # one label a sample, whatever it could do
        return tags

    def _inner(self) -> Any:
        if self.estimator is not None:
            return clone(self.estimator)
        from sklearn.svm import LinearSVC  # here: it would make the import of slimline heavier

        return LinearSVC(dual=False, tol=1e-6)

    def _fitted(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def _sketch(self, X: Any) -> NDArray[Any]:
        return as_matrix(self, X, reset=False).sketch(self.projection_)

    def _choose(self, matrix: Matrix) -> Projection:
        """Return R for data of this shape."""
        n_components = self.n_components
        given = isinstance(self.projection, RandomProjection)
        if given and self.projection.n_components != "auto":
            n_components = self.projection.n_components
        if is_auto(n_components):
            if matrix.shape[1] <= 2 * AUTOMATIC_COMPONENTS:
                return Identity(matrix.shape[1], matrix.shape[1], 0)
            n_components = AUTOMATIC_COMPONENTS
        else:
            n_components = whole("n_components", n_components, auto=True)
        random_state = clone(self.projection).random_state if given else None
        seed = projection_seed(self.random_state if random_state is None else random_state)
        return frozen_projection(self.projection, matrix.shape[1], n_components, seed)


def _seed_inner(inner: Any, random_state: Any) -> None:
    """Give the estimator, and what it is made of, a seed where the user gave one to the whole and none to it."""
    if random_state is None:
        return
    parameters = inner.get_params()
    unseeded = [name for name in sorted(parameters) if name == "random_state" or name.endswith("__random_state")]
    unseeded = [name for name in unseeded if parameters[name] is None]
    # Only 32 bits of a number serve as a seed there; the projection has all 64.
    numbers = check_random_state(int(random_state) % 2**32 if isinstance(random_state, Integral) else random_state)
    inner.set_params(**{name: int(numbers.randint(2**31 - 1)) for name in unseeded})
