"""CertifiedClassifierCV: the penalty chosen by cross-validation, every member of the path certified."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedGroupKFold, check_cv

from slimline._base.checks import one_of
from slimline.data import Matrix
from slimline.data._covariates import GivenCovariates
from slimline.errors import AccuracyWarning, InvalidParameterError
from slimline.estimators._certified_classifier import CertifiedClassifier
from slimline.estimators._certified_search import CertifiedSearch, Fold, folds_of
from slimline.estimators._fitting import StepCallbacks, check_parameters
from slimline.estimators._penalty_search import FoldScores, PenaltySearch
from slimline.learning import loss_named

Floats = NDArray[np.float64]


class CertifiedClassifierCV(CertifiedSearch, CertifiedClassifier):
    """CertifiedClassifier with C chosen by cross-validation, all fits sharing one sketch and its passes.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Values of C to try; or their number, from 1e-4 to 1e4 divided by the (weighted) mean squared norm of the
        samples, so that they fit data of any scale. This automatic grid is extended, to 1e-6 and 1e6 at most, while its
        best value is at an end.
    search : {"certified", "sketch"}, default="certified"
        "certified" continues the fits of all folds and penalties until each is certified. "sketch" compares fits to the
        sketch (or to the Gram matrix, or the rows), which need no further pass over the data, and then makes one
        certified fit to all samples, with the best penalty.
    cv : int, splitter or iterable, default=5
        Division of the samples into folds, as in scikit-learn; a number of folds keeps `groups` together.
    scoring : str, callable or None, default=None
        Score that chooses C, such as "balanced_accuracy" for rare classes; None: accuracy.
    loss, tol, method, projection, n_components, max_passes, fit_intercept, intercept, intercept_scaling : optional
        As in `CertifiedClassifier`; `tol` holds for every fit of the search.
    class_weight, score_bounds, penalty_factor : optional
        As in `CertifiedClassifier`.
    standardize : bool, default=False
        As in `CertifiedClassifier`; means and deviations are those of all samples, and do not use the labels.
    random_state, verbose : optional
        As in `CertifiedClassifier`.

    Attributes
    ----------
    C_ : float
        The value with the best mean score on held-out samples. Ties go to the smaller mean loss, and among losses that
        differ by less than 1 % of the loss of zero weights to the smallest C.
    Cs_ : array of shape (n_penalties,)
        Values of C that were tried, rising.
    scores_ : array of shape (n_folds, n_penalties)
        Score of each fit on the samples that it did not see.
    losses_ : array of shape (n_folds, n_penalties)
        Mean loss on the same samples, which decides between equal scores.
    coefs_path_ : array of shape (n_penalties, n_tasks, n_features)
        Weights of the fits to all samples; with `search="certified"`.
    certificates_path_ : list of Certificate
        Certificates of these fits; with `search="certified"`.
    coef_, intercept_, intercept_scaling_, certificate_, history_, n_passes_, n_iter_, route_, projections_
        As in `CertifiedClassifier`, for the fit to all samples with `C_`.
    classes_, n_features_in_, feature_names_in_
        As in `CertifiedClassifier`.

    See Also
    --------
    CertifiedClassifier : The fit for one C, with the mathematics of the certificate.

    Notes
    -----
    A fit to some of the samples is the problem of :class:`CertifiedClassifier` with weight 0 for the others. So the
    fits of all folds, penalties and classes are columns of the same matrix products, and the number of passes over the
    data is that of the slowest fit. These products contain the scores of the held-out samples, which need no pass of
    their own.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline import CertifiedClassifierCV
    >>> X = np.random.default_rng(0).standard_normal((60, 500))
    >>> y = X[:, 3] > 0
    >>> model = CertifiedClassifierCV(Cs=[0.01, 1.0], cv=3, random_state=0).fit(X, y)
    >>> model.scores_.shape
    (3, 2)
    """

    def __init__(
        self,
        Cs: Any = 10,
        *,
        cv: Any = 5,
        scoring: Any = None,
        search: str = "certified",
        loss: str = "squared_hinge",
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
        class_weight: Any = None,
        score_bounds: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.search = search
        self.loss = loss
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
        self.class_weight = class_weight
        self.score_bounds = score_bounds
        self.random_state = random_state
        self.verbose = verbose

    #: The published ways of recovery are for comparison only.
    recovery = "certified"

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, *, covariates: Any = None
    ) -> Self:
        """Fit every part of the rows and every penalty together, choose the best penalty, and keep its fit.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Matrix, of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Labels; may be left out for a `Matrix` that carries them.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; rows of weight 0 are left out.
        groups : array-like of shape (n_samples,), optional
            Groups whose samples stay together: relatives, or repeated measurements of a person.
        covariates : array-like or data frame of shape (n_samples, n_covariates), optional
            Numbers that enter the model beside the features, without a penalty; fitted anew in each fold.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        check_parameters(self)
        one_of("search", self.search, ("certified", "sketch"))
        self._with_callbacks(type(self)._fit, X, y, sample_weight, covariates, groups)
        return self

    def _divide(self, labels: NDArray[Any], kept: NDArray[np.intp], groups: Any) -> None:
        splitter = check_cv(self.cv, labels, classifier=True)
        if groups is not None and isinstance(self.cv, Integral):
            splitter = StratifiedGroupKFold(int(self.cv))
        self._folds = folds_of(splitter, labels, kept, groups)

    def _train(
        self,
        matrix: Matrix,
        codes: NDArray[np.intp],
        weight: Floats,
        given: GivenCovariates,
        callbacks: StepCallbacks,
    ) -> None:
        folds = self.__dict__.pop("_folds")
        job = self._class_job(matrix, codes, weight, given, *self._fit_counts(folds))
        _require_samples([task.labels for task in job.tasks], job.weights, folds)
        scores = FoldScores(get_scorer(self.scoring or "accuracy"), self.classes_, codes, weight, self.loss)
        found = self._search(job, folds, scores, float(loss_named(self.loss).value(np.zeros(1))[0]), callbacks)
        self._warn_of_search(found, codes, weight, folds)
        self._finish(job, callbacks)

    def _warn_of_search(self, found: PenaltySearch, codes: NDArray[np.intp], weight: Floats, folds: list[Fold]) -> None:
        """Warn of a best C at the end of what was tried, and of scores that need no features."""
        self._warn_of_edge(found, "classes")
        best = float(found.scores[:, found.best].mean())
        chance = _score_without_features(self.scoring, codes, weight, folds)
        if best <= chance + 1e-12:
            warnings.warn(
                f"the best mean score of the cross-validation is {best:.3f}, and always predicting the most "
                f"frequent class scores {chance:.3f}: on held-out samples the model is no better. What may help: "
                "standardised features, balanced class weights with balanced accuracy as the score, other features, "
                "more samples.",
                AccuracyWarning,
                stacklevel=6,
            )


def _score_without_features(scoring: Any, codes: NDArray[np.intp], weight: Floats, folds: list[Fold]) -> float:
    """Return the mean score of always naming the commonest class; -inf if the scoring is another one."""
    classes = int(codes.max()) + 1
    if scoring == "balanced_accuracy":
        return 1.0 / classes
    if scoring not in (None, "accuracy"):
        return float("-inf")
    shares = []
    for train, test in folds:
        commonest = np.bincount(codes[train], weight[train], classes).argmax()
        shares.append(np.average(codes[test] == commonest, weights=weight[test]))
    return float(np.mean(shares))


def _require_samples(signs: list[Floats], s: Floats, folds: list[Fold]) -> None:
    for train, test in folds:
        if not len(test):
            raise InvalidParameterError(
                "a fold has no sample left to score, since those of weight 0 are left out: use fewer folds, or shuffle "
                "the samples."
            )
        for sign in signs:
            kept = sign[train][s[train] > 0]
            if not ((kept > 0).any() and (kept < 0).any()):
                raise InvalidParameterError(
                    "a class has no sample left when a fold is held out: use fewer folds, or drop the class."
                )
