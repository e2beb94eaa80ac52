"""Fits to parts of the rows: how many can run together, and how they do on the rows they did not see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from slimline.estimators.scores import class_of_scores, probabilities
from slimline.recovery.rounding import overflow_allowed
from slimline.recovery.task import class_signs
from slimline.solvers import loss_named

Floats = NDArray[np.float64]
#: Memory for the points of all tasks that run together.
_BYTES = 1 << 30
#: Vectors of weights that a task keeps.
_POINTS = 10


def most_tasks_at_once(shape: tuple[int, int]) -> int:
    """Return how many tasks may share their passes.

    Parameters
    ----------
    shape : (int, int)
        Samples and features.

    Returns
    -------
    number : int
        At least 1.
    """
    return max(1, _BYTES // (8 * _POINTS * (shape[0] + shape[1] + 1)))


class FoldScores:
    """Scores and losses of fits on samples that they did not see, from the values that the fits give all samples.

    Parameters
    ----------
    scorer : callable
        As scikit-learn's `get_scorer` returns.
    classes : array of shape (n_classes,)
        Labels.
    codes : array of shape (n_samples,)
        Class number of each sample.
    weight : array of shape (n_samples,)
        Sample weights.
    loss : str
        Probabilities are there for "logistic".
    """

    def __init__(
        self,
        scorer: Callable[..., Any],
        classes: NDArray[Any],
        codes: NDArray[np.intp],
        weight: Floats,
        loss: str,
    ) -> None:
        self._scorer, self._classes, self._codes, self._weight, self._loss = scorer, classes, codes, weight, loss
        self._uniform = bool((weight == weight[0]).all())
        self._signs = np.column_stack(class_signs(codes, len(classes)))

    @overflow_allowed()
    def __call__(self, values: Floats, rows: NDArray[np.intp]) -> tuple[float, float]:
        """Return the score of a fit on the samples that it did not see, and its mean loss over them and the tasks.

        Parameters
        ----------
        values : array of shape (n_samples, n_tasks)
            What the fit gives all samples.
        rows : array of int
            Those that it did not see.
        """
        known = _KnownScores(self._classes, values[rows], self._loss)
        extra = {} if self._uniform else {"sample_weight": self._weight[rows]}
        score = self._scorer(known, np.arange(len(rows))[:, None], self._classes[self._codes[rows]], **extra)
        loss = loss_named(self._loss).value((self._signs * values)[rows]).mean(axis=1)
        return float(score), float(np.average(loss, weights=self._weight[rows]))


class _KnownScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier whose scores of the rows 0, 1, … are known."""

    def __init__(self, classes: NDArray[Any], values: Floats, loss: str) -> None:
        self.classes_, self._values, self._loss = classes, values, loss

    def decision_function(self, rows: Any) -> Floats:
        values = self._values[np.asarray(rows)[:, 0]]
        return np.asarray(values[:, 0] if values.shape[1] == 1 else values)

    def predict(self, rows: Any) -> NDArray[Any]:
        return np.asarray(self.classes_[class_of_scores(self.decision_function(rows))])

    def predict_proba(self, rows: Any) -> Floats:
        if self._loss != "logistic":
            raise AttributeError(f'a score of probabilities needs loss="logistic"; this is loss={self._loss!r}.')
        return probabilities(self.decision_function(rows))

    def __sklearn_is_fitted__(self) -> bool:
        return True
