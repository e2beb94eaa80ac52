"""Fitted certified models: scores, files, and the predictions of classifiers with what is certified of them."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from slimline._base.checks import chance, whole
from slimline.data import Matrix
from slimline.data._standardised import scale_of
from slimline.errors import DataError, InvalidParameterError
from slimline.estimators._covariates import FreeEffects
from slimline.estimators._decisions import CovariateEffects, Decisions, beside_of, decisions_of, ranking_of, scored_rows
from slimline.estimators._penalty_factors import PenaltyFactors
from slimline.estimators._validation import NamedFeatures, as_matrix, class_of_scores, log_probabilities, probabilities
from slimline.learning import LOSSES, Certificate, TopFeatures

Floats = NDArray[np.float64]


class CertifiedModel(NamedFeatures, BaseEstimator):  # type: ignore[misc]
    """Base of the certified classifiers and regressors; not for direct use."""

    #: Names of the losses.
    _losses: tuple[str, ...] = tuple(LOSSES)
    loss: str
    coef_: Floats
    intercept_: Floats
    certificate_: Certificate
    n_features_in_: int
    covariate_coef_: Floats
    intercept_scaling_: float
    _free: FreeEffects | None
    _centre: Floats | None
    _factor: Floats | None
    _fill: Floats | None
    _factors: PenaltyFactors | None = None

    # Weights and scores ----------------------------------------------------------------------------

    def _tell_weights(self, constant: float) -> None:
        """Set weights, intercepts and effects of covariates as they apply to data as they are given."""
        self.intercept_scaling_ = constant
        self.coef_ = self.certificate_.coefficients(self._factor)
        self.intercept_ = self._certified_intercept()
        free = self._free
        if free is None:
            self.covariate_coef_ = np.zeros((len(self.coef_), 0))
        else:
            self.coef_, self.covariate_coef_ = free.add_to(self.coef_), free.coefficients

    def _certified_intercept(self) -> Floats:
        """Return the intercept that goes with the certified weights, whatever was done to `intercept_`."""
        found = self.certificate_.intercepts(self.intercept_scaling_, self._factor, self._centre)
        return found if self._free is None else found + self._free.intercepts

    def _scores(self, X: Any, covariates: Any) -> Floats:
        """Return the scores of samples; of shape (n_samples, n_tasks)."""
        check_is_fitted(self)
        matrix = self._filled(as_matrix(self, X, reset=False, finite=self._fill is not None))
        given = self._given(covariates, matrix.shape[0])
        scores: Floats = matrix.dot(np.ascontiguousarray(np.atleast_2d(self.coef_).T)) + self.intercept_
        return scores + given @ np.nan_to_num(self.covariate_coef_).T if given.shape[1] else scores

    def _given(self, covariates: Any, n_samples: int) -> Floats:
        """Return the covariates of new samples, those that were left out included; of shape (n, n_covariates)."""
        return (self._free or FreeEffects.none()).given(covariates, n_samples)

    def covariate_effects(self) -> CovariateEffects:
        """Return the effects that are not penalised, with intervals of the exact ones.

        Those of the intercept, of the covariates, and of features of penalty factor 0.

        Returns
        -------
        effects : CovariateEffects
            The intercept is that of features as they were trained on: standardised, if they are. NaN: left out, as it
            depends on others.
        """
        check_is_fitted(self)
        if self._free is None:
            raise DataError('this model has no effects without a penalty: fit it with intercept="free" or covariates.')
        free = self._free
        names = [] if not free.intercept else ["intercept"]
        names += list(free.names or (f"u{j}" for j in range(free.n_covariates)))
        names += [self._feature_name(j) for j in free.features.tolist()]
        effects, radii = free.effects, free.radii
        return CovariateEffects(np.array(names, dtype=object), effects, effects - radii, effects + radii)

    def _heaviest(self, k: int, classes: NDArray[Any], label: Any) -> TopFeatures:
        """Return the features of the largest weights, of one vector of weights or of all of them."""
        first = ranking_of(self.certificate_, classes, label, whole("k", k, most=self.n_features_in_))
        name = np.array([self._feature_name(j) for j in first.index.tolist()], dtype=object)
        return TopFeatures(first.index, name, first.weight, first.lower, first.upper, first.worst <= k)

    def _feature_name(self, number: int) -> str:
        return f"x{number}" if self._feature_names is None else self._feature_names[number]

    def _trained_view(self, X: Any) -> Matrix:
        """Return data as they were trained on: standardised, and scaled by penalty factors, if they were."""
        check_is_fitted(self)
        matrix = as_matrix(self, X, reset=False, finite=self._fill is not None)
        if self._factor is not None:
            matrix = matrix.standardised(self._centre, scale_of(self._factor), self._fill)
        return matrix

    # Files -----------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, trained_on: Matrix | None = None) -> None:
        """Write the fitted model to a file that holds arrays and plain data, and no code.

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
        """Read a fitted model from a file that `save` or `slimline fit` wrote; nothing in it is run.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        model : CertifiedClassifier, CertifiedRegressor or one of their CV versions
            With the same weights, to the last bit, and the same certificate.
        """
        from slimline.estimators._persistence import load_model

        model = load_model(path)
        if not isinstance(model, cls):
            raise InvalidParameterError(f"{path} holds a {type(model).__name__}: use {type(model).__name__}.load.")
        return model

    def to_onnx(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model of `to_sklearn` as ONNX, in float32; needs `pip install "slimline[onnx]"`.

        Its input is that of the plain model: features, and covariates behind them.

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


def log_odds_shift(model: Any, prevalence: float) -> float:
    """Return the shift of the scores from the training samples to a population; refuse models that have none."""
    wrong = None
    if model.loss != "logistic":
        wrong = f'needs loss="logistic"; this classifier has loss={model.loss!r}.'
    elif len(model.classes_) != 2:
        wrong = f"needs two classes; this classifier has {len(model.classes_)}."
    elif model._free is None or not model._free.intercept:
        wrong = 'needs intercept="free": a penalty holds the intercept back.'
    elif model.class_weight is not None:
        wrong = "needs class_weight=None: weights of the classes move the intercept."
    elif model.class_prior_ is None:
        wrong = "needs the shares of the classes in training, which this model file of an earlier version lacks."
    if wrong is not None:
        raise InvalidParameterError(wrong, "prevalence", prevalence)
    return float(logit(prevalence) - logit(model.class_prior_[1]))


def _requires_logistic(estimator: Any) -> bool:
    if estimator.loss != "logistic":
        raise AttributeError(f'probabilities need loss="logistic"; this classifier has loss={estimator.loss!r}.')
    return True


class CertifiedClassification(ClassifierMixin):  # type: ignore[misc]
    """Prediction of the certified classifiers, and what is certified of it; not for direct use."""

    loss: str
    classes_: NDArray[Any]
    class_prior_: Floats | None
    certificate_: Certificate

    def decision_function(self, X: Any, covariates: Any = None) -> Floats:
        """Return the scores of the samples, `X @ coef_.T + intercept_`, and `covariates @ covariate_coef_.T`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            For two classes one score: above 0 means the second class.
        """
        scores: Floats = self._scores(X, covariates)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any, covariates: Any = None) -> NDArray[Any]:
        """Return the label of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.

        Returns
        -------
        labels : array of shape (n_samples,)
            Label of the class with the highest score.
        """
        scores = self.decision_function(X, covariates)
        return np.asarray(self.classes_[class_of_scores(scores)])

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, covariates: Any = None) -> float:
        """Return the share of samples whose label is predicted.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.

        Returns
        -------
        score : float
            The accuracy, 0 to 1.
        """
        from sklearn.metrics import accuracy_score  # which loads much that most programs never need

        return float(accuracy_score(y, self.predict(X, covariates), sample_weight=sample_weight))

    @available_if(_requires_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, covariates: Any = None, prevalence: float | None = None) -> Floats:
        """Return the probability of each class; for the logistic loss.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.
        prevalence : float, optional
            Share of the second class in the population, if the training samples were chosen by their class, as cases
            and controls are: the probabilities are moved by `prevalence_shift`.

        Returns
        -------
        probability : array of shape (n_samples, n_classes)
            With more than two classes, the probabilities of one against the rest, scaled to sum to 1.
        """
        scores = self.decision_function(X, covariates)
        return probabilities(scores if prevalence is None else scores + self.prevalence_shift(prevalence))

    @available_if(_requires_logistic)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any, covariates: Any = None, prevalence: float | None = None) -> Floats:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.
        prevalence : float, optional
            As in `predict_proba`.

        Returns
        -------
        log_probability : array of shape (n_samples, n_classes)
            Natural logarithms.
        """
        scores = self.decision_function(X, covariates)
        return log_probabilities(scores if prevalence is None else scores + self.prevalence_shift(prevalence))

    def prevalence_shift(self, prevalence: float) -> float:
        """Return what is added to the scores for a population in which the second class has another share.

        Parameters
        ----------
        prevalence : float
            Share π of the second class in the population, in (0, 1).

        Returns
        -------
        shift : float
            The difference of the log odds, log(π/(1 - π)) - log(p/(1 - p)), where p is the (weighted) share of the
            second class in training.

        Notes
        -----
        If samples were chosen by their class alone, as cases and controls are, the logistic model of the population
        differs from that of the sample in its intercept only, by this shift (Prentice and Pyke, Biometrika 1979). So
        certified intervals of scores move with it. The intercept must be free, and the classes have no weights: a
        penalty on it, or weights, would move it as well.
        """
        check_is_fitted(self)
        return log_odds_shift(self, chance("prevalence", prevalence))

    # Claims ----------------------------------------------------------------------------------------

    def certified(self, X: Any, covariates: Any = None) -> NDArray[np.bool_]:
        """Return which predictions are certified to equal those of the exact model, in one pass over `X`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.

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
        are added. Beside a free intercept and covariates u the bound of a score is
        `η √(‖x - X̄ᵀu‖² + 2λ uᵀN u)`; without `score_bounds`, an upper bound of it that takes no pass.
        """
        return self.decide(X, covariates).proved

    def decide(self, X: Any, covariates: Any = None) -> Decisions:
        """Return labels, scores and which labels are certified, in one pass over `X`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.

        Returns
        -------
        decisions : Decisions
            The results of `predict`, `decision_function` and `certified`; scores up to rounding.
        """
        matrix, claim = self._trained_view(X), self.certificate_
        beside = beside_of(self._free, covariates, matrix)
        rows = scored_rows(matrix, claim.weights, claim.radius, self.intercept_scaling_, beside=beside)
        return decisions_of(rows, self.classes_)

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
            In falling order of absolute weight: of the standardised features, times the root of the penalty factor.
        """
        check_is_fitted(self)
        found: TopFeatures = self._heaviest(k, self.classes_, label)
        return found

    def to_sklearn(self) -> Any:
        """Return a plain scikit-learn linear model with the same weights; it does not need slimline.

        Returns
        -------
        model : LinearSVC, LogisticRegression or SGDClassifier
            By the loss; the last for the squared loss, and for the logistic one with several classes. It takes data
            as they are given, standardising being part of its weights; missing values must be filled before, with the
            means of the training data.

        Notes
        -----
        Of a model with covariates the plain one takes both in one matrix, `np.hstack([X, covariates])`. Covariates that
        were left out of the fit count 0 there. The inputs have names if features and covariates have.
        """
        from slimline.estimators._persistence import to_sklearn

        check_is_fitted(self)
        return to_sklearn(self)
