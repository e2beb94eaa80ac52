"""CertifiedClassifierCV: the penalty chosen by cross-validation, every member of the path certified."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv

from slimline.data import Matrix
from slimline.errors import InvalidParameterError
from slimline.estimators.callbacks import StepCallbacks
from slimline.estimators.certified_classifier import CertifiedClassifier
from slimline.estimators.certified_parameters import check_parameters
from slimline.estimators.path import FoldScores, most_tasks_at_once
from slimline.estimators.sketch_search import best_penalty, scores_on_sketch
from slimline.recovery import Outcome, Task, certificate_of
from slimline.solvers import loss_named

Floats = NDArray[np.float64]


class CertifiedClassifierCV(CertifiedClassifier):
    """CertifiedClassifier with C chosen by cross-validation, all fits sharing one sketch and its passes.

    A fit to a part of the rows is the same problem with weight 0 for the others, so the fits of all parts, penalties
    and classes are columns of the same products: the data go by as often as for the slowest of them. The values of
    the rows left out come with those products, and scoring needs no further pass.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Penalties to try, or how many from 1e-4 to 1e4; with `search="sketch"` these are divided by the mean squared
        norm of the rows, so that they fit data of any scale.
    search : {"certified", "sketch"}, default="certified"
        "certified" steps on with the fits of all folds and penalties until each is certified. "sketch" compares fits
        to the sketch (or to the Gram matrix, or the rows), which need no further pass over the data, and then makes
        one certified fit, with the best penalty, to all rows.
    cv : int, splitter or iterable, default=5
        How the rows are divided, as in scikit-learn.
    scoring : str, callable or None, default=None
        What chooses; None: accuracy.
    loss, tol, method, projection, n_components, max_passes, fit_intercept, intercept_scaling, class_weight
        As in `CertifiedClassifier`; `tol` holds for every member.
    standardize : bool, default=False
        As in `CertifiedClassifier`; means and deviations are those of all rows, labels not being looked at.
    random_state, verbose
        As in `CertifiedClassifier`.

    Attributes
    ----------
    C_ : float
        The penalty with the best mean score; of several the smallest, and with `search="sketch"` the smallest whose
        mean loss on the rows left out is within one standard error of the least.
    Cs_ : array of shape (n_penalties,)
        Penalties that were tried, rising.
    scores_ : array of shape (n_folds, n_penalties)
        Score of each fit on the rows that it did not see.
    coefs_path_ : array of shape (n_penalties, n_tasks, n_features)
        Weights of the fits to all rows; with `search="certified"`.
    certificates_path_ : list of Certificate
        What is proved about them; with `search="certified"`.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.estimators import CertifiedClassifierCV
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
        intercept_scaling: float = 1.0,
        standardize: bool = False,
        class_weight: Any = None,
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
        self.intercept_scaling = intercept_scaling
        self.standardize = standardize
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    #: The published ways of recovery are for comparison only.
    recovery = "certified"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
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
            For a splitter that keeps rows of a group together, such as scikit-learn's `GroupKFold`.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        check_parameters(self)
        if self.search not in ("certified", "sketch"):
            raise InvalidParameterError(f'search must be "certified" or "sketch"; got {self.search!r}.')
        self._with_callbacks(type(self)._fit, X, y, sample_weight, groups)
        return self

    def _divide(self, labels: NDArray[Any], kept: NDArray[np.intp], groups: Any) -> None:
        splitter = check_cv(self.cv, labels, classifier=True)
        place = np.full(len(labels), -1, dtype=np.intp)
        place[kept] = np.arange(len(kept))
        parts = splitter.split(np.zeros((len(labels), 1)), labels, groups)
        both = [[place[np.asarray(rows)] for rows in pair] for pair in parts]
        self._folds = [(train[train >= 0], test[test >= 0]) for train, test in both]

    def _train(self, matrix: Matrix, codes: NDArray[np.intp], weight: Floats, callbacks: StepCallbacks) -> None:
        if self.search == "sketch":
            self._train_on_sketch(matrix, codes, weight, callbacks)
            return
        before = matrix.passes
        self.Cs_ = penalties(self.Cs)
        folds = self.__dict__.pop("_folds")
        data, s, signs, fitting = self._prepared(matrix, codes, weight, len(self.Cs_) * (len(folds) + 1))
        _require_both_sides(signs, s, folds)
        per_fit = len(signs)
        tasks = self._tasks(signs, s, folds)
        at_once = max(per_fit, most_tasks_at_once(data.shape) // per_fit * per_fit)
        scores = FoldScores(get_scorer(self.scoring or "accuracy"), self.classes_, codes, weight, self.loss)
        whole: list[Outcome] = []
        found: list[float] = []
        model = fitting.model(data, min(task.penalty for task in tasks))
        worst = []
        for first in range(0, len(tasks), at_once):
            group = tasks[first : first + at_once]
            outcome = fitting.outcome(data, group, lambda step: self._tell(step, callbacks), model)
            model = outcome.model
            worst += [proof.relative_error for proof in outcome.proofs]
            for k in range(0, len(outcome.proofs), per_fit):
                fit = outcome.part(slice(k, k + per_fit))
                number = (first + k) // per_fit
                if number < len(self.Cs_):
                    whole.append(fit)
                else:
                    found.append(scores(fit, folds[number // len(self.Cs_) - 1][1]))
        self.scores_ = np.array(found).reshape(len(folds), len(self.Cs_))
        best = int(np.argmax(self.scores_.mean(axis=0)))
        self.C_ = float(self.Cs_[best])
        self._keep(data, whole[best], before, fitting)
        self.certificates_path_ = [certificate_of(data, fit, self._factor) for fit in whole]
        factor = 1.0 if self._factor is None else self._factor
        self.coefs_path_ = np.array([claim.weights[:, :-1] * factor for claim in self.certificates_path_])
        self._warn_of_members(worst)

    def _train_on_sketch(
        self, matrix: Matrix, codes: NDArray[np.intp], weight: Floats, callbacks: StepCallbacks
    ) -> None:
        before, folds = matrix.passes, self.__dict__.pop("_folds")
        for name in ("coefs_path_", "certificates_path_"):  # of a fit before
            self.__dict__.pop(name, None)
        data, s, signs, fitting = self._prepared(matrix, codes, weight)
        loss, values = loss_named(self.loss), penalties(self.Cs)
        _require_both_sides(signs, s, folds)
        relative = isinstance(self.Cs, Integral)
        model = fitting.model(data, 0.0 if relative else 1.0 / float(values.max()))
        square = model.mean_square() if relative else 1.0
        self.Cs_ = values / (square if square > 0.0 else 1.0)
        scores = FoldScores(get_scorer(self.scoring or "accuracy"), self.classes_, codes, weight, self.loss)
        self.scores_, losses = scores_on_sketch(model, loss, self.Cs_, signs, s, folds, scores)
        self.C_ = float(self.Cs_[best_penalty(self.scores_, losses)])
        tasks = [Task(loss, sign, s, 1.0 / self.C_) for sign in signs]
        outcome = fitting.outcome(data, tasks, lambda step: self._tell(step, callbacks), model)
        self._keep(data, outcome, before, fitting)
        self._warn_if_open(outcome)

    def _warn_of_members(self, errors: list[float]) -> None:
        above = sum(error > self.tol for error in errors)
        if above:
            warnings.warn(
                f"{above} of {len(errors)} fits (penalties, folds and classes) did not reach a certified relative "
                f"error of tol={self.tol:g} within max_passes={self.max_passes}; the worst has {max(errors):.2g}. What "
                "would help: scale the data (standardize=True, or rows of norm 1), smaller Cs, more passes.",
                ConvergenceWarning,
                stacklevel=6,  # the line that called `fit`
            )

    def _tasks(
        self, signs: list[Floats], s: Floats, folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
    ) -> list[Task]:
        """Return a task for every set of rows (all of them first), penalty and class."""
        loss = loss_named(self.loss)
        tasks = []
        for train in [np.arange(len(s)), *(train for train, _ in folds)]:
            kept = np.zeros_like(s)
            kept[train] = s[train]
            tasks += [Task(loss, sign, kept, 1.0 / float(C)) for C in self.Cs_ for sign in signs]
        return tasks


def _require_both_sides(signs: list[Floats], s: Floats, folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]]) -> None:
    for train, _ in folds:
        for sign in signs:
            kept = sign[train][s[train] > 0]
            if not ((kept > 0).any() and (kept < 0).any()):
                raise InvalidParameterError(
                    "a class has no sample left when a fold is put aside: use fewer folds, or drop the class."
                )


def penalties(Cs: Any) -> Floats:
    """Return the penalties to try, rising.

    Parameters
    ----------
    Cs : int or array-like
        How many from 1e-4 to 1e4, or the values.

    Returns
    -------
    values : array
        All above 0.
    """
    if isinstance(Cs, Integral) and not isinstance(Cs, bool) and int(Cs) >= 1:
        return np.asarray(np.logspace(-4, 4, int(Cs)))
    values = np.atleast_1d(np.asarray(Cs))
    fine = not isinstance(Cs, (bool, Real)) and values.ndim == 1 and values.size > 0 and values.dtype.kind in "fiu"
    if not fine or not np.isfinite(values).all() or (values <= 0).any():
        raise InvalidParameterError(f"Cs must be a whole number above 0 or numbers above 0; got {Cs!r:.100}.")
    return np.unique(values.astype(np.float64))
