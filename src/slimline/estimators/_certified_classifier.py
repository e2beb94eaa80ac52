"""CertifiedClassifier: a linear classifier that proves how far its weights are from the exact ones."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slimline.data import Matrix
from slimline.data._covariates import GivenCovariates
from slimline.data._labels import class_labels
from slimline.data._passes import ProgressBar
from slimline.estimators._certified_fit import CertifiedFit, FitJob, Task
from slimline.estimators._certified_model import CertifiedClassification
from slimline.estimators._covariates import require_overlap
from slimline.estimators._fitting import StepCallbacks, check_parameters
from slimline.estimators._validation import (
    as_matrix,
    class_factors,
    require_memory,
    training_weights,
    without_zero_weights,
)
from slimline.learning import loss_named
from slimline.learning.problem import class_signs

Floats = NDArray[np.float64]


class CertifiedClassifier(CertifiedClassification, CertifiedFit):
    """Linear classifier with a certified distance to the exact weights, trained on a random sketch if that is faster.

    It solves the problem on a sketch X R, recovers the weights of the original features through the dual variables, and
    improves them by steps of one or two passes over the data each, until the *certified* relative error is below `tol`.
    If the data are small or sparse, their Gram matrix or their rows replace the sketch; the certificate is the same.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, as in scikit-learn's LinearSVC and LogisticRegression.
    loss : {"squared_hinge", "logistic", "hinge", "squared"}, default="squared_hinge"
        Loss of a sample.
    tol : float, default=1e-2
        Certified relative error ‖w - w*‖/‖w*‖ to stop at, for the worst class.
    method : {"auto", "sketch", "gram", "direct"}, default="auto"
        "sketch" trains on a sketch. "gram" solves exactly through X Xᵀ, or through X itself if it has fewer features
        than samples. "direct" uses the rows themselves, as LIBLINEAR does, for sparse data and for arrays in memory
        that are neither standardised nor scaled by penalty factors. "auto" takes the fastest by a measured cost model.
    recovery : {"certified", "dual", "debiased_dual", "iterative", "naive"}, default="certified"
        Recovery of the weights from the sketch. "dual", "iterative" and "naive" are the published methods, for
        comparison; "debiased_dual" takes the bias of the sketch out of "dual".
    projection : str or projection transformer, default="auto"
        Family of the projection, as in `make_projection`.
    n_components : int or "auto", default="auto"
        Number of components of the sketch; "auto" lets the cost model choose.
    max_passes : int, default=50
        Largest number of passes over the data.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    intercept : {"free", "penalised"}, default="free"
        "free" has no penalty on the intercept, as in LogisticRegression, SVC and glmnet; covariates need it.
        "penalised" adds a constant feature, kept exact beside the sketch, as LIBLINEAR does.
    intercept_scaling : float or "auto", default="auto"
        Value of the constant feature of a penalised intercept: the larger it is, the less the intercept is penalised.
        "auto" takes the root mean square norm of the samples (standardised, if they are), so that intercept and weights
        are penalised in proportion, whatever the scale and the number of features. 1.0 is LIBLINEAR's default.
    standardize : bool, default=False
        Centre and scale each feature, implicitly; missing values are imputed with the mean of the feature.
    penalty_factor : array-like of shape (n_features,), mapping or None, default=None
        Factors κ of the penalties of the features, which are then ½κⱼwⱼ²; on top of standardising. A mapping gives
        those of some features by their names, and the others 1. Infinity leaves a feature out. 0 takes its penalty
        away: it becomes a covariate (at most 100, with a free intercept), whose effect stands in `coef_` and whose
        interval `covariate_effects` gives; reading such features takes a pass, in training and for every certified
        prediction. glmnet scales its factors to a mean of 1, and slimline does not: multiply C by their mean for the
        same penalty.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of the classes.
    score_bounds : bool, default=False
        Take one more pass after the last step, with a right-hand side for each free column, which about halves the
        bounds of scores beside a free intercept, and makes them sharper still beside covariates.
    random_state : int, RandomState or None, default=None
        Seed of the projection.
    verbose : int, default=0
        1: show the progress of every pass and the certificate after every step.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Weights of the original features, for `predict`. Changing them changes no certified result: `decide`,
        `certified`, `top_features` and `save` use `certificate_.weights`.
    intercept_ : array of shape (1,) or (n_classes,)
        Intercepts.
    covariate_coef_ : array of shape (1, n_covariates) or (n_classes, n_covariates)
        Effects of the covariates; NaN for those that depend on others and were left out.
    intercept_scaling_ : float
        Value of the constant feature of a penalised intercept; else 0.
    certificate_ : Certificate
        The certified bounds; its arrays are read-only.
    history_ : list of Step
        What each step reached.
    n_passes_ : int
        Number of passes over the data.
    n_iter_ : int
        Number of steps.
    route_ : Route
        The method that was chosen, and why.
    projections_ : list of str
        Projections that were drawn, one JSON line each: the first, and others after poor steps.
    classes_ : array of shape (n_classes,)
        Labels.
    class_prior_ : array of shape (n_classes,)
        Share of each class in the sum of the sample weights.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if the data have any.

    See Also
    --------
    CertifiedClassifierCV : Chooses C by cross-validation, all fits sharing the passes.
    CertifiedFeatureSelector : Keeps the features of largest weight.
    ProjectedClassifier : Trains and predicts on the sketch, without a certificate.

    Notes
    -----
    For two classes, y = ±1, sample weights s, covariates u (the constant 1 among them) and a convex loss ℓ, the exact
    weights w* and effects b* minimise ::

        ½‖w‖² + C Σ sᵢ ℓ(yᵢ (wᵀxᵢ + bᵀuᵢ)).

    With penalty factors κ, ½Σκⱼwⱼ² takes the place of ½‖w‖²: the features are xⱼ/√κⱼ and their weights √κⱼwⱼ. These are
    what `certificate_` and `top_features` speak of, so the certified ball and relative error hold in the norm whose
    square is Σκⱼwⱼ². `coef_` and `certificate_.coordinate_radius` are those of the features as they are given.

    With more classes this is one against the rest for each class. The dual problem has a variable αᵢ = sᵢaᵢ for each
    sample, with Σ yᵢ αᵢ uᵢ = 0, and w_α = C Σ yᵢ αᵢ xᵢ. For any w and any dual feasible α, the duality gap bounds the
    distance of the midpoint w_m = (w + w_α)/2 from w* ::

        ‖w_m - w*‖² ≤ C Σ sᵢ [ℓ(mᵢ) + ℓ*(-aᵢ) + aᵢmᵢ] + ¼‖w - w_α‖²,

    with mᵢ = yᵢ (wᵀxᵢ + bᵀuᵢ) and ℓ* the convex conjugate of ℓ. The bound holds for every sketch and every seed, and
    includes the rounding errors of float64 ([5]_, §3.1). The certificates page of the documentation derives it; bounds
    of this kind are known from screening [4]_.

    A step linearises the objective at the present dual point, solves the small problem with the sketch in place of the
    data, and takes its dual variables as a direction. This is dual random projection [1]_, studied in [2]_ (Theorem 2)
    and, as a preconditioner for ridge regression, in [3]_. The published step has length 1 and can diverge if the
    embedding error exceeds ½. Here line searches, in the dual and in the span of earlier points, ensure that no step
    increases the gap, and the exact products with the data that earlier steps have computed correct the sketch.

    `method="direct"` uses dual coordinate descent, as LIBLINEAR [6]_ does, or Newton steps for smooth losses.

    References
    ----------
    .. [1] Zhang, L.; Mahdavi, M.; Jin, R.; Yang, T.; Zhu, S. (2013). "Recovering the optimal solution by dual random
       projection." COLT, PMLR 30.
    .. [2] Vaswani, S. (2013). "Optimal weight recovery under random projections." University of British Columbia.
    .. [3] Wang, J.; Lee, J. D.; Mahdavi, M.; Kolar, M.; Srebro, N. (2017). "Sketching meets random projection in the
       dual." AISTATS, PMLR 54.
    .. [4] Fercoq, O.; Gramfort, A.; Salmon, J. (2015). "Mind the duality gap: safer rules for the Lasso." ICML, PMLR
       37.
    .. [5] Higham, N. J. (2002). "Accuracy and stability of numerical algorithms." 2nd edition, SIAM.
    .. [6] Fan, R.-E.; Chang, K.-W.; Hsieh, C.-J.; Wang, X.-R.; Lin, C.-J. (2008). "LIBLINEAR: a library for large
       linear classification." Journal of Machine Learning Research 9, 1871-1874.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import CertifiedClassifier
    >>> X = np.random.default_rng(0).standard_normal((40, 2000))
    >>> y = X[:, 3] > 0
    >>> model = CertifiedClassifier(random_state=0).fit(X, y)
    >>> bool(model.certificate_.relative_error[0] < 1e-2)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
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
        class_weight: Any = None,
        score_bounds: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
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
        self.class_weight = class_weight
        self.score_bounds = score_bounds
        self.random_state = random_state
        self.verbose = verbose

    # Fitting ---------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, covariates: Any = None) -> Self:
        """Train on a sketch and step towards the exact weights until they are certified.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Labels; may be left out for a `Matrix` that carries them.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; rows of weight 0 are left out.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Numbers that enter the model beside the features, without a penalty: age, sex, principal components.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        check_parameters(self)
        self._with_callbacks(type(self)._fit, X, y, sample_weight, covariates)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, covariates: Any, groups: Any = None) -> None:
        require_memory(X)
        matrix = as_matrix(self, X, reset=True, finite=bool(self.standardize))  # else the first pass looks
        if y is None and isinstance(X, Matrix):
            y = X.labels
        weight = training_weights(sample_weight, matrix.shape[0])
        if weight is None:
            weight = np.ones(matrix.shape[0])
        given = GivenCovariates.of(covariates, matrix.shape[0])
        self.classes_, codes = class_labels(y, matrix.shape[0], warn=True)
        labels, kept = self.classes_[codes], np.flatnonzero(weight)
        matrix, self.classes_, codes, weight = without_zero_weights(matrix, self.classes_, codes, weight)
        assert weight is not None
        totals = np.bincount(codes, weights=weight, minlength=len(self.classes_))
        self.class_prior_ = totals / totals.sum()
        callbacks = StepCallbacks(self, X, y)
        self._divide(labels, kept, groups)
        if self.verbose:
            matrix = matrix.counted()  # so that only the passes of this fit are shown
            matrix.listen(ProgressBar())
        self._train(matrix, codes, weight, self._beside(matrix, weight, given.rows(kept)), callbacks)
        callbacks.end(X, y)

    def _divide(self, labels: NDArray[Any], kept: NDArray[np.intp], groups: Any) -> None:
        """Divide the rows into folds, where the classifier has any: before those of weight 0 are left out."""

    def _train(
        self,
        matrix: Matrix,
        codes: NDArray[np.intp],
        weight: Floats,
        given: GivenCovariates,
        callbacks: StepCallbacks,
    ) -> None:
        job = self._class_job(matrix, codes, weight, given)
        states, history = self._solve(job.solver, job.problems(1.0 / float(self.C)), callbacks)
        self._keep(job, states, history)
        if self.recovery == "certified":
            self._warn_if_open()
        else:
            self._warn_if_worthless()

    def _class_job(
        self,
        matrix: Matrix,
        codes: NDArray[np.intp],
        weight: Floats,
        given: GivenCovariates,
        n_fits: int = 1,
        n_searched: int = 0,
    ) -> FitJob:
        """Return what the fits share; refuse covariates that alone separate classes."""
        s = weight * class_factors(self.class_weight, self.classes_, codes, weight)[codes]
        loss = loss_named(self.loss)
        tasks = [Task(loss, sign) for sign in class_signs(codes, len(self.classes_))]
        job = self._job(matrix, weight, s, tasks, given, n_fits, n_searched)
        if given.n_columns:
            names = self.classes_[1:] if len(tasks) == 1 else self.classes_
            for problem, label in zip(job.problems(1.0), names.tolist(), strict=True):
                require_overlap(problem, given, label, matrix.sample_ids, intercept=job.intercept)
        return job
