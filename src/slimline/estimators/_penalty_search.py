"""The search over C: which values are tried, how their fits score, and which is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from slimline._base.rounding import overflow_allowed
from slimline.errors import DataError, InvalidParameterError
from slimline.estimators._validation import class_of_scores, probabilities
from slimline.learning import BinaryProblem, Surrogate, loss_named
from slimline.learning.problem import ExactSubspace, class_signs

Floats = NDArray[np.float64]
#: Memory for the points of all tasks that run together.
_BYTES = 1 << 30
#: Vectors of weights that a task keeps.
_POINTS = 10
#: Returns scores and losses, each of shape (n_folds, n_penalties), of some penalties.
TryPenalties = Callable[[Floats], tuple[Floats, Floats]]
#: The automatic grid covers these powers of ten (in units of the data), and is extended up to those.
_FIRST, _FURTHEST = 4, 6
#: An extension steps on by no more than this factor, for so many steps.
_STEP, _STEPS = 10.0, 3
#: Mean losses that differ by less than this part of the loss of weights of 0 are equal, and the smaller C is taken.
_SAME_LOSS = 1e-2
#: Mean scores that differ by less than this differ by rounding.
_SAME_SCORE = 1e-12
Index = NDArray[np.intp]
#: Gap that a fit to a part of the rows is solved to, as a part of the objective of weights that are 0.
_GAP = 1e-4


def most_tasks_at_once(shape: tuple[int, int]) -> int:
    """Return how many tasks may share their passes."""
    return max(1, _BYTES // (8 * _POINTS * (shape[0] + shape[1] + 1)))


class FoldScores:
    """Scores and losses of fits on samples that they did not see, from the values that the fits give all samples."""

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
        """Return the score of a fit on the samples that it did not see, and its mean loss over them and the tasks."""
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


@dataclass(frozen=True)
class PenaltySearch:
    """The values of C that were tried, rising, and how the fits did on the samples left out."""

    #: Values of C; of shape (n_penalties,).
    Cs: Floats
    #: Score and mean loss of each fit; of shape (n_folds, n_penalties).
    scores: Floats
    losses: Floats
    #: Mean loss of weights of 0.
    zero_loss: float

    @property
    def best(self) -> int:
        """Return the number of the best value."""
        return best_penalty(self.scores, self.losses, self.zero_loss)

    @property
    def edge(self) -> str:
        """Return which end of the range the best value is: "smallest", "largest", or "" for neither."""
        if len(self.Cs) == 1:
            return ""
        return {0: "smallest", len(self.Cs) - 1: "largest"}.get(self.best, "")


def search_penalties(Cs: Any, unit: float, zero_loss: float, try_penalties: TryPenalties) -> PenaltySearch:
    """Try penalties; extend an automatic grid as long as its best value is at one of its ends."""
    automatic = isinstance(Cs, Integral)
    values = penalties(Cs, unit)
    search = PenaltySearch(values, *try_penalties(values), zero_loss)
    while automatic and search.edge:
        more = _beyond(search, unit)
        if not len(more):
            break
        scores, losses = try_penalties(more)
        order = np.argsort(np.concatenate([search.Cs, more]))
        search = PenaltySearch(
            np.concatenate([search.Cs, more])[order],
            np.hstack([search.scores, scores])[:, order],
            np.hstack([search.losses, losses])[:, order],
            zero_loss,
        )
    return search


def best_penalty(scores: Floats, losses: Floats, zero_loss: float) -> int:
    """Return which penalty is best.

    The one of the best mean score; of several, which is common for wide data, the one of the least mean loss; and of
    those whose loss differs by less than 1 % of the loss of weights of 0, the smallest C: past it nothing changes but
    the time that a fit takes.
    """
    means, costs = scores.mean(axis=0), losses.mean(axis=0)
    costs = np.where(means < means.max() - _SAME_SCORE, np.inf, costs)
    return int(np.flatnonzero(costs <= costs.min() + _SAME_LOSS * zero_loss)[0])


def penalties(Cs: Any, unit: float = 1.0) -> Floats:
    """Return the values of C to try first, rising."""
    if isinstance(Cs, Integral) and not isinstance(Cs, bool) and int(Cs) >= 1:
        with np.errstate(over="ignore"):
            tried = np.asarray(np.logspace(-_FIRST, _FIRST, int(Cs)) if int(Cs) > 1 else np.ones(1)) / unit
        if not (tried[0] > 0.0 and np.isfinite(tried[-1])):
            raise DataError(
                f"the mean squared norm of the samples is {unit:.1g}, and no C goes with it: scale the data first."
            )
        return tried
    values = np.atleast_1d(np.asarray(Cs))
    fine = not isinstance(Cs, (bool, Real)) and values.ndim == 1 and values.size > 0 and values.dtype.kind in "fiu"
    if not fine or not np.isfinite(values).all() or (values <= 0).any():
        raise InvalidParameterError(f"must be a whole number above 0 or numbers above 0; got {Cs!r:.100}.", "Cs", Cs)
    return np.unique(values.astype(np.float64))


def _beyond(search: PenaltySearch, unit: float) -> Floats:
    """Return further values past the end where the best one is; none past the furthest."""
    step = min(search.Cs[1] / search.Cs[0], _STEP)
    powers = step ** np.arange(1.0, _STEPS + 1)
    with np.errstate(over="ignore"):
        more = search.Cs[-1] * powers if search.edge == "largest" else search.Cs[0] / powers[::-1]
        scaled = more * unit
    furthest = 10.0**_FURTHEST * (1.0 + 1e-9)
    within = (scaled <= furthest) & (scaled >= 1.0 / furthest)
    return np.asarray(more[within])


def scores_on_sketch(
    surrogate: Surrogate,
    problems: Callable[[float, Floats], list[BinaryProblem]],
    weights: Floats,
    Cs: Floats,
    folds: Sequence[tuple[Index, Index]],
    scores: Callable[[Floats, Index], tuple[float, float]],
) -> tuple[Floats, Floats]:
    """Return how fits to the sketch of a part of the samples do on the others.

    Score and mean loss on the samples left out. Nothing is proved about them: they choose C, and the fit with that C
    is certified.
    """
    found = np.empty((2, len(folds), len(Cs)))
    for k, (train, test) in enumerate(folds):
        kept = np.zeros_like(weights)
        kept[train] = weights[train]
        starts: dict[int, Floats] = {}
        for j, C in enumerate(Cs):
            columns = []
            for i, problem in enumerate(problems(1.0 / float(C), kept)):
                starts[i], values = _fit(surrogate, problem, starts.get(i))
                columns.append(values)
            found[:, k, j] = scores(np.column_stack(columns), test)
    return found[0], found[1]


@overflow_allowed()
def _fit(surrogate: Surrogate, problem: BinaryProblem, start: Floats | None) -> tuple[Floats, Floats]:
    """Return the dual variables of a small problem, and what its weights make of all rows."""
    n = len(problem.labels)
    nothing, rows = ExactSubspace(n), slice(None) if problem.rows is None else problem.rows
    small = problem.small(np.zeros(n))
    first = problem.loss.project(np.zeros(n)) if start is None else start
    gap = _GAP * problem.loss_of(np.zeros(n))
    found = surrogate.solve(small, problem.rows, nothing, (problem.weights * first)[rows], gap)
    a = problem.loss.project(np.zeros(n))
    a[rows] = problem.loss.project(found.dual / small.weights)
    if found.weights is not None and problem.is_plain:
        return a, found.values
    values = surrogate.times(problem.representer(a), nothing) / problem.penalty
    return a, values if problem.is_plain else problem.scores(values, found.effects)
