"""CertifiedRegressorCV: the penalty of a regression chosen by cross-validation, all fits sharing the passes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv

from slimline._base.checks import one_of
from slimline.data import Matrix
from slimline.data._covariates import GivenCovariates
from slimline.errors import AccuracyWarning, InvalidParameterError
from slimline.estimators._certified_fit import FitJob, Task
from slimline.estimators._certified_regressor import CertifiedRegressor
from slimline.estimators._certified_search import CertifiedSearch, folds_of
from slimline.estimators._fitting import StepCallbacks

Floats = NDArray[np.float64]


class CertifiedRegressorCV(CertifiedSearch, CertifiedRegressor):
    """CertifiedRegressor with C chosen by cross-validation, all fits sharing one sketch and its passes.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Values of C to try; or their number, from 1e-4 to 1e4 divided by the (weighted) mean squared norm of the
        samples, extended while the best value is at an end. Several targets share one C.
    cv : int, splitter or iterable, default=5
        Division of the samples into folds, as in scikit-learn.
    scoring : str, callable or None, default=None
        Score that chooses C; None: the coefficient of determination, the mean over targets.
    search : {"certified", "sketch"}, default="sketch"
        As in `CertifiedClassifierCV`: "sketch" compares fits to the sketch, and certifies the one with the best C;
        "certified" certifies every fit of the search.
    loss, delta, epsilon, quantile, standardize_target, tol, method, projection, n_components, max_passes : optional
        As in `CertifiedRegressor`; `tol` holds for every fit of a certified search.
    fit_intercept, intercept, intercept_scaling, standardize, score_bounds, random_state, verbose : optional
        As in `CertifiedRegressor`; covariates and intercept are fitted anew in each fold.

    Attributes
    ----------
    C_ : float
        The value with the best mean score on held-out samples.
    Cs_ : array of shape (n_penalties,)
        Values of C that were tried, rising.
    scores_ : array of shape (n_folds, n_penalties)
        Score of each fit on the samples that it did not see.
    losses_ : array of shape (n_folds, n_penalties)
        Mean loss on the same samples.
    coefs_path_, certificates_path_
        As in `CertifiedClassifierCV`; with `search="certified"`.
    coef_, intercept_, covariate_coef_, delta_, certificate_, history_, n_passes_, n_iter_, route_, projections_
        As in `CertifiedRegressor`, for the fit to all samples with `C_`.
    n_features_in_, feature_names_in_
        As in `CertifiedRegressor`.

    See Also
    --------
    CertifiedRegressor : The fit for one C.
    CertifiedClassifierCV : The same for classes.

    Notes
    -----
    A fit to some of the samples has weight 0 for the others, so that the fits of all folds and penalties share their
    passes, which contain the predictions of the held-out samples.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import CertifiedRegressorCV
    >>> X = np.random.default_rng(0).standard_normal((60, 500))
    >>> y = 5.0 + X[:, :10].sum(axis=1)
    >>> model = CertifiedRegressorCV(Cs=[1e-3, 1e-2], cv=3, random_state=0).fit(X, y)
    >>> model.scores_.shape
    (3, 2)
    """

    def __init__(
        self,
        Cs: Any = 10,
        *,
        cv: Any = 5,
        scoring: Any = None,
        search: str = "sketch",
        loss: str = "squared",
        delta: float | str = "auto",
        epsilon: float = 0.1,
        quantile: float = 0.5,
        standardize_target: bool = False,
        tol: float = 1e-2,
        method: str = "auto",
        projection: Any = "auto",
        n_components: int | str = "auto",
        max_passes: int = 50,
        fit_intercept: bool = True,
        intercept: str = "free",
        intercept_scaling: float | str = "auto",
        standardize: bool = False,
        score_bounds: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.search = search
        self.loss = loss
        self.delta = delta
        self.epsilon = epsilon
        self.quantile = quantile
        self.standardize_target = standardize_target
        self.tol = tol
        self.method = method
        self.projection = projection
        self.n_components = n_components
        self.max_passes = max_passes
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.standardize = standardize
        self.score_bounds = score_bounds
        self.random_state = random_state
        self.verbose = verbose

    #: The published ways of recovery are for comparison only.
    recovery = "certified"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, *, covariates: Any = None) -> Self:
        """Fit every part of the rows and every penalty together, choose the best penalty, and keep its fit.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; rows of weight 0 are left out.
        groups : array-like of shape (n_samples,), optional
            For a splitter that keeps rows of a group together, such as scikit-learn's `GroupKFold`.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Numbers that enter the model beside the features, without a penalty.

        Returns
        -------
        self : object
            The fitted regression.
        """
        one_of("search", self.search, ("certified", "sketch"))
        self._check()
        self._with_callbacks(type(self)._fit, X, y, sample_weight, covariates, groups)
        return self

    def _divide(self, targets: Floats, kept: NDArray[np.intp], groups: Any) -> None:
        self._folds = folds_of(check_cv(self.cv, targets, classifier=False), targets, kept, groups)

    def _train(
        self, matrix: Matrix, targets: Floats, weight: Floats, given: GivenCovariates, callbacks: StepCallbacks
    ) -> None:
        folds = self.__dict__.pop("_folds")
        if not all(len(train) and len(test) for train, test in folds):
            raise InvalidParameterError("a fold has no sample left to train on or to score: use fewer folds.", "cv")
        job = self._target_job(matrix, targets, weight, given, *self._fit_counts(folds))
        scale = float(np.mean([1.0 / task.unit for task in job.tasks]))
        null = [_null_loss(job, number) for number in range(len(job.tasks))]
        judge = _FoldScores(None if self.scoring is None else get_scorer(self.scoring), job.tasks, weight)
        found = self._search(job, folds, judge, float(np.mean(null)), callbacks, scale)
        self._warn_of_edge(found, "target")
        best = float(found.scores[:, found.best].mean())
        if self.scoring in (None, "r2") and best <= 0.0 and not given.n_covariates:
            warnings.warn(
                f"the best mean R² of the cross-validation is {best:.3f}: on held-out samples the model is no better "
                "than the mean of the target. What may help: standardised features, covariates, other features, more "
                "samples.",
                AccuracyWarning,
                stacklevel=5,  # the line that called `fit`
            )
        self._finish(job, callbacks)


def _null_loss(job: FitJob, number: int) -> float:
    """Return the mean loss of the model without features."""
    problem = job.problems(1.0)[number]
    nothing = np.zeros(len(problem.labels))
    effects = problem.refitted_near(nothing, np.zeros(problem.free.shape[1]))
    loss = problem.loss_of(problem.scores(nothing, effects)) / float(problem.weights.sum())
    return loss / job.tasks[number].unit


class _FoldScores:
    """Scores and losses of fits on samples that they did not see, from their residuals on all samples."""

    def __init__(self, scorer: Callable[..., Any] | None, tasks: list[Task], weight: Floats) -> None:
        self._scorer, self._tasks, self._weight = scorer, tasks, weight
        self._targets = -np.column_stack([np.asarray(task.offset) for task in tasks])

    def __call__(self, differences: Floats, rows: NDArray[np.intp]) -> tuple[float, float]:
        """Return score and loss; `differences` are predictions less targets."""
        weight = self._weight[rows]
        losses = [
            np.average(task.loss.value(column[rows]), weights=weight) / task.unit
            for task, column in zip(self._tasks, differences.T, strict=True)
        ]
        targets = self._targets[rows]
        if self._scorer is None:
            centred = targets - np.average(targets, axis=0, weights=weight)
            whole = weight @ np.square(centred)
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = np.where(whole > 0.0, 1.0 - weight @ np.square(differences[rows]) / whole, 0.0)
            return float(shares.mean()), float(np.mean(losses))
        flat = targets.shape[1] == 1
        predicted = _Known((targets + differences[rows])[:, 0] if flat else targets + differences[rows])
        places = np.arange(len(rows))[:, None]
        uniform = bool((self._weight == self._weight[0]).all())
        extra = {} if uniform else {"sample_weight": weight}
        score = self._scorer(predicted, places, targets[:, 0] if flat else targets, **extra)
        return float(score), float(np.mean(losses))


class _Known(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted regression whose predictions of the rows 0, 1, … are known."""

    def __init__(self, values: Floats) -> None:
        self._values = values

    def predict(self, rows: Any) -> Floats:
        return np.asarray(self._values[np.asarray(rows)[:, 0]])

    def __sklearn_is_fitted__(self) -> bool:
        return True
