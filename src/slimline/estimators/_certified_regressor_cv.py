"""CertifiedRegressorCV: the penalty of a regression chosen by cross-validation, all fits sharing the passes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, check_cv

from slimline._base.checks import one_of
from slimline.data import Matrix
from slimline.data._covariates import GivenCovariates
from slimline.errors import AccuracyWarning, CovariateWarning, InvalidParameterError
from slimline.estimators._certified_fit import FitJob, Task
from slimline.estimators._certified_regressor import CertifiedRegressor
from slimline.estimators._certified_search import CertifiedSearch, Fold, folds_of
from slimline.estimators._fitting import StepCallbacks
from slimline.estimators._penalty_search import PenaltySearch, penalties
from slimline.learning.leave_one_out import LeaveOneOut
from slimline.learning.surrogate import GRAM_SAMPLES, FeatureSurrogate, GramSurrogate

Floats = NDArray[np.float64]
#: Folds by default; and to the cost model leaving out each sample takes as long, for one target. It is faster, but the
#: time is better spent on an exact Gram matrix: the noise of a sketch hides weak signals from the search.
_FOLDS = 5
#: A target that varies by less than this part of it is constant, and has an R² of 0.
_CONSTANT = 1e-14
#: How many rows a message lists.
_SHOWN = 5


class CertifiedRegressorCV(CertifiedSearch, CertifiedRegressor):
    """CertifiedRegressor with C chosen by cross-validation, all fits sharing one sketch and its passes.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Values of C to try; or their number, from 1e-4 to 1e4 divided by the (weighted) mean squared norm of the
        samples, extended while the best value is at an end. Several targets share one C.
    cv : int, splitter, iterable or None, default=None
        Division of the samples into folds, as in scikit-learn. None: each sample is left out by itself, as in RidgeCV,
        if `loss="squared"`, `search="sketch"`, there are at most 5,000 samples and no `groups`, and the route is
        "sketch" or "gram"; else 5 folds. A number of folds keeps `groups` together.
    scoring : str, callable or None, default=None
        Score that chooses C; None: the coefficient of determination, the mean over targets. If each sample is left out
        by itself, it is computed once, from the predictions of all samples.
    search : {"certified", "sketch"}, default="sketch"
        As in `CertifiedClassifierCV`: "sketch" compares fits to the sketch, and certifies the one with the best C;
        "certified" certifies every fit of the search.
    loss, delta, epsilon, quantile, standardize_target, tol, method, projection, n_components, max_passes : optional
        As in `CertifiedRegressor`; `tol` holds for every fit of a certified search.
    fit_intercept, intercept, intercept_scaling, standardize, penalty_factor, score_bounds : optional
        As in `CertifiedRegressor`; what has no penalty is fitted anew in each fold.
    random_state, verbose : optional
        As in `CertifiedRegressor`.

    Attributes
    ----------
    C_ : float
        The value with the best mean score on held-out samples.
    Cs_ : array of shape (n_penalties,)
        Values of C that were tried, rising.
    scores_ : array of shape (n_folds, n_penalties)
        Score of each fit on the samples that it did not see; one row if each sample is left out by itself.
    losses_ : array of shape (n_folds, n_penalties)
        Mean loss on the same samples.
    loo_predictions_ : array of shape (n_samples,) or (n_samples, n_targets)
        Prediction of each sample by the fit with `C_` to the sketch, or to the Gram matrix, of all other samples; if
        each sample is left out by itself. NaN for samples of weight 0, and for those that cannot be left out, since
        the covariates depend on each other without them.
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

    Leaving out each sample by itself takes no fit: one eigendecomposition gives the exact leave-one-out residuals for
    every penalty and target. [1]_ has the formula without covariates; the covariates page of the documentation derives
    it with them.

    References
    ----------
    .. [1] Golub, G. H.; Heath, M.; Wahba, G. (1979). "Generalized cross-validation as a method for choosing a good
       ridge parameter." Technometrics 21.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import CertifiedRegressorCV
    >>> X = np.random.default_rng(0).standard_normal((60, 500))
    >>> y = 5.0 + X[:, :10].sum(axis=1)
    >>> model = CertifiedRegressorCV(Cs=[1e-3, 1e-2], random_state=0).fit(X, y)
    >>> model.scores_.shape, model.loo_predictions_.shape
    ((1, 2), (60,))
    >>> CertifiedRegressorCV(Cs=[1e-3, 1e-2], cv=3, random_state=0).fit(X, y).scores_.shape
    (3, 2)
    """

    def __init__(
        self,
        Cs: Any = 10,
        *,
        cv: Any = None,
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
        penalty_factor: Any = None,
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
        self.penalty_factor = penalty_factor
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
            Groups whose samples stay together: relatives, or repeated measurements of a person.
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
        splitter = check_cv(_FOLDS if self.cv is None else self.cv, targets, classifier=False)
        if groups is not None and (self.cv is None or isinstance(self.cv, Integral)):
            splitter = GroupKFold(_FOLDS if self.cv is None else int(self.cv))
        alone = self.cv is None and groups is None and self.loss == "squared" and self.search == "sketch"
        alone = alone and len(kept) <= GRAM_SAMPLES and self.method != "direct"
        self._division = _Division(len(targets), kept, alone, partial(folds_of, splitter, targets, kept, groups))

    def _train(
        self, matrix: Matrix, targets: Floats, weight: Floats, given: GivenCovariates, callbacks: StepCallbacks
    ) -> None:
        self.__dict__.pop("loo_predictions_", None)  # of an earlier fit
        division = self.__dict__.pop("_division")
        folds = [] if division.alone else division.folds()
        n_fits, n_searched = self._fit_counts(folds)
        if division.alone:
            n_searched = max(1, _FOLDS * len(penalties(self.Cs)) // targets.shape[1])
        job = self._target_job(matrix, targets, weight, given, n_fits, n_searched)
        if division.alone and job.solver.route.method == "direct":
            folds = division.folds()  # the rows are not made into an n × n matrix
        scale = float(np.mean([1.0 / task.unit for task in job.tasks]))
        null = float(np.mean([_null_loss(job, number) for number in range(len(job.tasks))]))
        judge = _FoldScores(None if self.scoring is None else get_scorer(self.scoring), job.tasks, weight)
        if folds:
            found = self._search(job, folds, judge, null, callbacks, scale)
        else:
            found = self._leave_one_out(job, targets, division, judge, null, scale)
        self._warn_of_edge(found, "target")
        best = float(found.scores[:, found.best].mean())
        if self.scoring in (None, "r2") and best <= 0.0 and not given.n_columns:
            warnings.warn(
                f"the best mean R² of the cross-validation is {best:.3f}: on held-out samples the model is no better "
                "than the mean of the target. What may help: standardised features, covariates, other features, more "
                "samples.",
                AccuracyWarning,
                stacklevel=5,  # the line that called `fit`
            )
        self._finish(job, callbacks)

    def _leave_one_out(
        self, job: FitJob, targets: Floats, division: _Division, judge: _FoldScores, zero_loss: float, unit: float
    ) -> PenaltySearch:
        """Try the values of C on the surrogate without each sample, choose one, and keep what it predicts."""
        surrogate, free = self._begin(job), job.problems(1.0)[0].free
        if isinstance(surrogate, GramSurrogate):
            left_out = LeaveOneOut.of_gram(surrogate.K, job.weights, free, targets)
        else:
            assert isinstance(surrogate, FeatureSurrogate)
            left_out = LeaveOneOut.of_rows(surrogate.columns(), job.weights, free, targets)
        scored = np.flatnonzero(left_out.defined)

        def attempt(Cs: Floats) -> tuple[Floats, Floats]:
            found = np.array([judge(-residuals, scored) for residuals in left_out.residuals(1.0 / Cs)])
            return found[None, :, 0], found[None, :, 1]

        search = self._choose(job, attempt, zero_loss, unit)
        predictions = np.full((division.n_samples, targets.shape[1]), np.nan)
        predictions[division.kept] = targets - next(left_out.residuals(np.array([1.0 / self.C_])))
        self.loo_predictions_ = predictions[:, 0] if self._is_flat else predictions
        if not left_out.defined.all():
            rows = division.kept[~left_out.defined]
            shown = ", ".join(map(str, rows[:_SHOWN].tolist())) + (", ..." if len(rows) > _SHOWN else "")
            warnings.warn(
                f"rows {shown}, {len(rows)} in all, do not count in the choice of C: they cannot be predicted by the "
                "fit to all other samples, which does not determine the effects of the covariates. Leave out "
                "covariates that differ from the others in a single sample.",
                CovariateWarning,
                stacklevel=6,  # the line that called `fit`
            )
        return search


@dataclass(frozen=True)
class _Division:
    """The samples of a search, and how they are divided."""

    n_samples: int
    #: Numbers of the samples whose weight is not 0.
    kept: NDArray[np.intp]
    #: Whether each may be left out by itself.
    alone: bool
    make_folds: Callable[[], list[Fold]]

    def __post_init__(self) -> None:
        if self.alone and len(self.kept) < 2:
            raise InvalidParameterError(
                f"must divide the samples, and n_samples={len(self.kept)} (those of weight 0 left out).", "cv"
            )

    def folds(self) -> list[Fold]:
        """Return the folds."""
        folds = self.make_folds()
        if not all(len(train) and len(test) for train, test in folds):
            raise InvalidParameterError("a fold has no sample left to train on or to score: use fewer folds.", "cv")
        return folds


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
            varies = whole > (_CONSTANT**2) * (weight @ np.square(targets))
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = np.where(varies, 1.0 - weight @ np.square(differences[rows]) / whole, 0.0)
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
