"""Prediction with a fitted certified classifier, and what is proved about it."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from slimline._base.checks import whole
from slimline.data import Matrix
from slimline.errors import InvalidParameterError
from slimline.estimators._decisions import Decisions, decisions_of, ranking_of
from slimline.estimators._validation import NamedFeatures, as_matrix, class_of_scores, log_probabilities, probabilities
from slimline.learning import Certificate, TopFeatures

Floats = NDArray[np.float64]


def _requires_logistic(estimator: Any) -> bool:
    if estimator.loss != "logistic":
        raise AttributeError(f'probabilities need loss="logistic"; this classifier has loss={estimator.loss!r}.')
    return True


class CertifiedModel(NamedFeatures, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the certified classifiers; not for direct use."""

    loss: str
    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Floats
    certificate_: Certificate
    n_features_in_: int
    intercept_scaling_: float
    _centre: Floats | None
    _factor: Floats | None
    _fill: Floats | None

    # Prediction ------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the samples, `X @ coef_.T + intercept_`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            For two classes one score: above 0 means the second class.
        """
        check_is_fitted(self)
        matrix = self._filled(as_matrix(self, X, reset=False, finite=self._fill is not None))
        scores = matrix.dot(np.ascontiguousarray(self.coef_.T)) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        labels : array of shape (n_samples,)
            Label of the class with the highest score.
        """
        scores = self.decision_function(X)
        return np.asarray(self.classes_[class_of_scores(scores)])

    @available_if(_requires_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class; for the logistic loss.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        probability : array of shape (n_samples, n_classes)
            With more than two classes, the probabilities of one against the rest, scaled to sum to 1.
        """
        return probabilities(self.decision_function(X))

    @available_if(_requires_logistic)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        log_probability : array of shape (n_samples, n_classes)
            Natural logarithms.
        """
        return log_probabilities(self.decision_function(X))

    # Claims ----------------------------------------------------------------------------------------

    def certified(self, X: Any) -> NDArray[np.bool_]:
        """Return which predictions are certified to equal those of the exact model, in one pass over `X`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        proved : array of shape (n_samples,), bool
            Whether training on all features, to the exact optimum, would give the same label. This is no statement
            about the world.

        Notes
        -----
        With two classes, the label of x is certified if `|w_mᵀx| > η‖x‖`, since the exact weights are within the radius
        η of the certified ones w_m. With more, the score of its class must exceed the score of every other class b by
        more than (η_a + η_b)‖x‖. x includes its constant feature and is standardised as in training; rounding errors
        are added.
        """
        return self.decide(X).proved

    def decide(self, X: Any) -> Decisions:
        """Return labels, scores and which labels are certified, in one pass over `X`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.

        Returns
        -------
        decisions : Decisions
            The results of `predict`, `decision_function` and `certified`; scores up to rounding.
        """
        check_is_fitted(self)
        matrix = as_matrix(self, X, reset=False, finite=self._fill is not None)
        if self._centre is not None and self._factor is not None:
            matrix = matrix.standardised(self._centre, 1.0 / self._factor, self._fill)
        claim = self.certificate_
        return decisions_of(matrix, self.classes_, claim.weights, claim.radius, self.intercept_scaling_)

    def top_features(self, k: int = 20, label: Any = None) -> TopFeatures:
        """Return the features of the largest weights, with intervals, and whether their rank is certified.

        Parameters
        ----------
        k : int
            Number of features.
        label : object, optional
            The class whose weights are ranked. By default the second of two classes; with more, a feature counts by
            its largest absolute weight over all of them.

        Returns
        -------
        features : TopFeatures
            In falling order of absolute (standardised) weight.
        """
        check_is_fitted(self)
        first = ranking_of(self.certificate_, self.classes_, label, whole("k", k, most=self.n_features_in_))
        names = self._feature_names
        name = np.array([f"x{j}" if names is None else names[j] for j in first.index.tolist()], dtype=object)
        return TopFeatures(first.index, name, first.weight, first.lower, first.upper, first.worst <= k)

    # Files -----------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, trained_on: Matrix | None = None) -> None:
        """Write the fitted classifier to a file that holds arrays and plain data, and no code.

        Parameters
        ----------
        path : str or path
            The file, usually with the ending .slim.
        overwrite : bool, default=False
            Whether a file that exists may be replaced.
        trained_on : Matrix, optional
            The training data: means of their columns, places and alleles of their variants are written as well, so
            that `slimline predict` can align other data; and which samples they are (digests of their names, and the
            fingerprint of the data), so that it does not take them for new ones. Takes a pass, unless the model is
            standardised.

        Notes
        -----
        What JSON cannot hold among the parameters (a random generator, a splitter, a scorer) is not written, nor is
        the path of a search over penalties: only its best model is.
        """
        from slimline.estimators._aligned import TrainingSamples
        from slimline.estimators._alignment import column_facts, source_details
        from slimline.estimators._persistence import stored_model

        check_is_fitted(self)
        if trained_on is None:
            stored = stored_model(self)
        else:
            facts = column_facts(self, trained_on) | TrainingSamples.of(trained_on).fields()
            stored = stored_model(self, source_details(trained_on), **facts)
        stored.write(path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a fitted classifier from a file that `save` or `slimline fit` wrote; nothing in it is run.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        model : CertifiedClassifier or CertifiedClassifierCV
            With the same weights, to the last bit, and the same certificate.
        """
        from slimline.estimators._persistence import load_model

        model = load_model(path)
        if not isinstance(model, cls):
            raise InvalidParameterError(f"{path} holds a {type(model).__name__}: use {type(model).__name__}.load.")
        return model

    def to_sklearn(self) -> Any:
        """Return a plain scikit-learn linear model with the same weights, which no longer needs slimline.

        Returns
        -------
        model : LinearSVC, LogisticRegression or SGDClassifier
            By the loss; the last for the squared loss, and for the logistic one with several classes. It takes data
            as they are given, standardising being part of its weights; missing values must be filled before, with the
            means of the training data.
        """
        from slimline.estimators._persistence import to_sklearn

        check_is_fitted(self)
        return to_sklearn(self)

    def to_onnx(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model of `to_sklearn` as ONNX, in float32; needs `pip install "slimline[onnx]"`.

        Parameters
        ----------
        path : str or path
            The file, usually with the ending .onnx.
        overwrite : bool, default=False
            Whether a file that exists may be replaced.
        """
        from slimline.estimators._persistence import to_onnx

        check_is_fitted(self)
        to_onnx(self, path, overwrite=overwrite)

    # scikit-learn ----------------------------------------------------------------------------------

    def _filled(self, matrix: Matrix) -> Matrix:
        return matrix if self._fill is None else matrix.standardised(None, None, self._fill)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
