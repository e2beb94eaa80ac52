"""CertifiedRegressor: a linear regression that proves how far its weights are from the exact ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from slimline._base.checks import at_least_zero, chance, flag, is_auto, number
from slimline.data import Matrix
from slimline.data._covariates import GivenCovariates, free_columns
from slimline.data._labels import numeric_targets
from slimline.data._passes import ProgressBar
from slimline.errors import DataError
from slimline.estimators._certified_fit import CertifiedFit, FitJob, Task
from slimline.estimators._decisions import beside_of, scored_rows
from slimline.estimators._fitting import StepCallbacks, check_parameters
from slimline.estimators._predictions import (
    CertifiedPredictions,
    ScoreInterval,
    correlation_interval,
    predictions_of,
    r2_interval,
)
from slimline.estimators._validation import as_matrix, require_memory, training_weights
from slimline.learning import TopFeatures
from slimline.learning.regression_losses import REGRESSION_LOSSES, TargetLoss

Floats = NDArray[np.float64]


class CertifiedRegressor(MultiOutputMixin, RegressorMixin, CertifiedFit):  # type: ignore[misc]
    """Linear regression with a certified distance to the exact weights, trained on a random sketch if that is faster.

    The algorithm, its routes and its certificate are those of `CertifiedClassifier`. The intercept has no penalty, nor
    have covariates.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty: `1/alpha` of scikit-learn's Ridge, and C of SVR.
    loss : {"squared", "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "quantile"}, default="squared"
        Loss of a residual r: ½r²; ½r² up to δ and a line beyond; max(0, abs(r) - ε), that of SVR; its square; and that
        of a quantile τ, which is τr above 0 and (1 - τ)abs(r) below.
    delta : float or "auto", default="auto"
        δ of the Huber loss, in units of the target. "auto" takes 1.345 robust standard deviations of the residuals
        without features, so that outliers count less and others as in least squares; `delta_` has its value.
    epsilon : float, default=0.1
        ε, in units of the target.
    quantile : float, default=0.5
        τ, between 0 and 1; ½ is the median.
    standardize_target : bool, default=False
        Have C, δ and ε mean what they would for targets of deviation 1. Results stay in units of the target.
    tol : float, default=1e-2
        Certified relative error ‖w - w*‖/‖w*‖ to stop at, for the worst target.
    method : {"auto", "sketch", "gram", "direct"}, default="auto"
        As in `CertifiedClassifier`.
    recovery : {"certified", "dual", "debiased_dual", "iterative", "naive"}, default="certified"
        As in `CertifiedClassifier`.
    projection : str or projection transformer, default="auto"
        Family of the projection, as in `make_projection`.
    n_components : int or "auto", default="auto"
        Number of components of the sketch; "auto" lets the cost model choose.
    max_passes : int, default=50
        Largest number of passes over the data.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    intercept : {"free", "penalised"}, default="free"
        Whether the intercept has a penalty; beside covariates it has none.
    intercept_scaling : float or "auto", default="auto"
        Value of the constant feature of a penalised intercept, as in `CertifiedClassifier`.
    standardize : bool, default=False
        Centre and scale each feature, implicitly; missing values are imputed with the mean of the feature.
    penalty_factor : array-like of shape (n_features,), mapping or None, default=None
        Factors of the penalties of the features, as in `CertifiedClassifier`; 0: no penalty, infinity: left out.
    score_bounds : bool, default=False
        Take one more pass for sharper bounds of predictions, as in `CertifiedClassifier`.
    random_state : int, RandomState or None, default=None
        Seed of the projection.
    verbose : int, default=0
        1: show the progress of every pass and the certificate after every step.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Weights of the original features.
    intercept_ : float or array of shape (n_targets,)
        Intercepts.
    covariate_coef_ : array of shape (n_targets, n_covariates)
        Effects of the covariates; NaN for those that depend on others and were left out.
    delta_ : array of shape (n_targets,)
        δ of the Huber loss.
    certificate_ : Certificate
        The certified bounds, a row for each target.
    history_ : list of Step
        What each step reached.
    n_passes_ : int
        Number of passes over the data.
    n_iter_ : int
        Number of steps.
    route_ : Route
        The method that was chosen, and why.
    projections_ : list of str
        Projections that were drawn, one JSON line each.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if the data have any.

    See Also
    --------
    CertifiedClassifier : The same for classes.

    Notes
    -----
    With targets yᵢ, sample weights s, covariates u (the constant 1 among them) and a convex loss ψ of the residual, the
    exact weights w* and effects b* minimise ::

        ½‖w‖² + C Σ sᵢ ψ(yᵢ - wᵀxᵢ - bᵀuᵢ).

    The dual problem has a variable for each sample and the constraint Uᵀβ = 0. The certificate accounts for what
    rounding leaves of it; the covariates page of the documentation derives it, and the bounds of predictions.
    For the squared loss this is kernel ridge regression [1]_ on XXᵀ, for the ε-insensitive one support vector
    regression [2]_.

    References
    ----------
    .. [1] Saunders, C.; Gammerman, A.; Vovk, V. (1998). "Ridge regression learning algorithm in dual variables." ICML.
    .. [2] Drucker, H.; Burges, C. J. C.; Kaufman, L.; Smola, A.; Vapnik, V. (1996). "Support vector regression
       machines." NIPS 9.
    .. [3] Huber, P. J. (1981). "Robust statistics." Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import CertifiedRegressor
    >>> X = np.random.default_rng(0).standard_normal((40, 2000))
    >>> y = 10.0 + X[:, 3]
    >>> model = CertifiedRegressor(random_state=0).fit(X, y)
    >>> bool(model.certificate_.relative_error[0] < 1e-2)
    True
    """

    _losses = tuple(REGRESSION_LOSSES)

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared",
        delta: float | str = "auto",
        epsilon: float = 0.1,
        quantile: float = 0.5,
        standardize_target: bool = False,
        tol: float = 1e-2,
        method: str = "auto",
        recovery: str = "certified",
        projection: Any = "auto",
        n_components: int | str = "auto",
        max_passes: int = 50,
        fit_intercept: bool = True,
        intercept: str = "free",
        intercept_scaling: float | str = "auto",
        standardize: bool = False,
        penalty_factor: Any = None,
        score_bounds: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.delta = delta
        self.epsilon = epsilon
        self.quantile = quantile
        self.standardize_target = standardize_target
        self.tol = tol
        self.method = method
        self.recovery = recovery
        self.projection = projection
        self.n_components = n_components
        self.max_passes = max_passes
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.standardize = standardize
        self.penalty_factor = penalty_factor
        self.score_bounds = score_bounds
        self.random_state = random_state
        self.verbose = verbose

    # Fitting ---------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, covariates: Any = None) -> Self:
        """Train on a sketch and step towards the exact weights until they are certified.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; several share the passes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; rows of weight 0 are left out.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Numbers that enter the model beside the features, without a penalty: age, sex, principal components.

        Returns
        -------
        self : object
            The fitted regression.
        """
        self._check()
        self._with_callbacks(type(self)._fit, X, y, sample_weight, covariates)
        return self

    def _check(self) -> None:
        """Refuse parameters that cannot work, before any data are read."""
        check_parameters(self)
        if not is_auto(self.delta):
            number("delta", self.delta)
        at_least_zero("epsilon", self.epsilon)
        chance("quantile", self.quantile)
        flag("standardize_target", self.standardize_target)

    def _fit(self, X: Any, y: Any, sample_weight: Any, covariates: Any, groups: Any = None) -> None:
        require_memory(X)
        matrix = as_matrix(self, X, reset=True, finite=bool(self.standardize))
        targets = numeric_targets(y, matrix.shape[0])
        self._is_flat = targets.ndim == 1
        weight = training_weights(sample_weight, matrix.shape[0])
        weight = np.ones(matrix.shape[0]) if weight is None else weight
        given = GivenCovariates.of(covariates, matrix.shape[0])
        kept = np.flatnonzero(weight)
        self._divide(targets, kept, groups)
        if len(kept) < len(weight):
            matrix, weight, targets = matrix.rows(kept), weight[kept], targets[kept]
        given = self._beside(matrix, weight, given.rows(kept))
        callbacks = StepCallbacks(self, X, y)
        if self.verbose:
            matrix = matrix.counted()  # so that only the passes of this fit are shown
            matrix.listen(ProgressBar())
        self._train(matrix, targets.reshape(len(targets), -1), weight, given, callbacks)
        callbacks.end(X, y)

    def _divide(self, targets: Floats, kept: NDArray[np.intp], groups: Any) -> None:
        """Divide the rows into folds, where the regression has any: before those of weight 0 are left out."""

    def _train(
        self, matrix: Matrix, targets: Floats, weight: Floats, given: GivenCovariates, callbacks: StepCallbacks
    ) -> None:
        job = self._target_job(matrix, targets, weight, given)
        states, history = self._solve(job.solver, job.problems(1.0 / float(self.C)), callbacks)
        self._keep(job, states, history)
        if self.recovery == "certified":
            self._warn_if_open()
        else:
            self._warn_if_worthless()

    def _target_job(
        self,
        matrix: Matrix,
        targets: Floats,
        weight: Floats,
        given: GivenCovariates,
        n_fits: int = 1,
        n_searched: int = 0,
    ) -> FitJob:
        """Return what the fits share; of each target its loss, whose parameters may be in units of it."""
        free = bool(self.fit_intercept) and self.intercept == "free"
        columns = free_columns(given, intercept=free)
        losses = [
            TargetLoss.of(
                self.loss,
                target,
                weight,
                columns,
                delta=self.delta,
                epsilon=float(self.epsilon),
                quantile=float(self.quantile),
                standardize=bool(self.standardize_target),
            )
            for target in targets.T
        ]
        tasks = [
            Task(one.loss, np.ones(len(target)), -target, one.factor, one.size)
            for one, target in zip(losses, targets.T, strict=True)
        ]
        self.delta_ = np.array([one.delta for one in losses])
        return self._job(matrix, weight, weight, tasks, given, n_fits, n_searched)

    def _tell_weights(self, constant: float) -> None:
        super()._tell_weights(constant)
        if self._is_flat:
            self.coef_, self.intercept_ = self.coef_[0], self.intercept_[0]

    # Prediction ------------------------------------------------------------------------------------

    def predict(self, X: Any, covariates: Any = None) -> Floats:
        """Return the predicted target of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.

        Returns
        -------
        targets : array of shape (n_samples,) or (n_samples, n_targets)
            `X @ coef_.T + intercept_`, and `covariates @ covariate_coef_.T`.
        """
        scores = self._scores(X, covariates)
        return scores[:, 0] if self._is_flat else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, covariates: Any = None) -> float:
        """Return the coefficient of determination R² of the predictions.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.

        Returns
        -------
        score : float
            At most 1; of several targets the mean.
        """
        from sklearn.metrics import r2_score  # which loads much that most programs never need

        return float(r2_score(y, self.predict(X, covariates), sample_weight=sample_weight))

    def certified_predictions(self, X: Any, covariates: Any = None) -> CertifiedPredictions:
        """Return predictions with bounds of those of the exact model, in one pass over `X`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.

        Returns
        -------
        predictions : CertifiedPredictions
            Training on all features, to the exact optimum, predicts between the bounds. This is no statement about the
            world: it is no prediction interval of the target.
        """
        matrix, claim = self._trained_view(X), self.certificate_
        beside = beside_of(self._free, covariates, matrix)
        rows = scored_rows(matrix, claim.weights, claim.radius, self.intercept_scaling_, beside=beside)
        return predictions_of(rows, flat=self._is_flat)

    def certified_r2(self, X: Any, y: Any, sample_weight: Any = None, *, covariates: Any = None) -> list[ScoreInterval]:
        """Return the coefficient of determination of each target, with bounds of that of the exact model.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.

        Returns
        -------
        scores : list of ScoreInterval
            One for each target.

        Notes
        -----
        With E² = Σ sᵢ errorᵢ² of the bounds of the predictions, the residual sum of squares of the exact model lies
        within `(√RSS ± E)²`.
        """
        return self._intervals(r2_interval, X, y, sample_weight, covariates)

    def certified_correlation(
        self, X: Any, y: Any, sample_weight: Any = None, *, covariates: Any = None
    ) -> list[ScoreInterval]:
        """Return the correlation of predictions and each target, with bounds of that of the exact model.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Those of the samples, if the model was trained with any.

        Returns
        -------
        scores : list of ScoreInterval
            One for each target; NaN if all predictions are the same.

        Notes
        -----
        The correlation is the cosine of an angle, between the centred predictions f and the centred target. With E² =
        Σ sᵢ errorᵢ² of the bounds of the predictions, the angle of the exact model is within `arcsin(E/‖f‖)` of it.
        """
        return self._intervals(correlation_interval, X, y, sample_weight, covariates)

    def _intervals(
        self, interval: Callable[..., ScoreInterval | None], X: Any, y: Any, sample_weight: Any, covariates: Any
    ) -> list[ScoreInterval]:
        found = self.certified_predictions(X, covariates)
        n = len(found.value)
        weight = training_weights(sample_weight, n)
        parts = (part.reshape(n, -1).T for part in (found.value, found.error, numeric_targets(y, n)))
        scores = [score for columns in zip(*parts, strict=True) if (score := interval(*columns, weight)) is not None]
        if len(scores) < len(self.certificate_.weights):
            raise DataError(
                "a target that is the same for all samples has no coefficient of determination or correlation."
            )
        return scores

    def top_features(self, k: int = 20, target: int | None = None) -> TopFeatures:
        """Return the features of the largest weights, with intervals, and whether their rank is certified.

        Parameters
        ----------
        k : int
            Number of features.
        target : int, optional
            Number of the target whose weights are ranked; by default a feature counts by its largest absolute weight
            over all of them.

        Returns
        -------
        features : TopFeatures
            In falling order of absolute weight: of the standardised features, times the root of the penalty factor.
        """
        check_is_fitted(self)
        numbers = np.arange(len(self.certificate_.weights))
        return self._heaviest(k, numbers, None if len(numbers) == 1 else target)

    def to_sklearn(self) -> Any:
        """Return a plain scikit-learn linear model with the same weights; it does not need slimline.

        Returns
        -------
        model : Ridge
            Whatever the loss: its predictions are the same. It takes data as they are given, standardising being part
            of its weights; missing values must be filled before.

        Notes
        -----
        Of a model with covariates the plain one takes both in one matrix, `np.hstack([X, covariates])`. Covariates that
        were left out of the fit count 0 there. The inputs have names if features and covariates have.
        """
        from slimline.estimators._persistence import to_sklearn

        check_is_fitted(self)
        return to_sklearn(self)
