"""The problem that a plan is about, and the checks of what was given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import at_least_zero, chance, flag, is_auto, number, one_of, whole
from slimline.data import Matrix, open_matrix
from slimline.data._covariates import GivenCovariates, free_columns
from slimline.data._labels import as_one_type, class_labels, numeric_targets
from slimline.errors import DataError, InvalidParameterError
from slimline.learning import LOSSES, BinaryProblem
from slimline.learning.covariates import Covariates
from slimline.learning.problem import class_signs
from slimline.learning.regression_losses import REGRESSION_LOSSES, TargetLoss
from slimline.learning.training_data import AUTO
from slimline.planning._route import DataShape

Floats = NDArray[np.float64]
_METHODS = ("auto", "sketch", "gram", "direct")
#: Tasks, and what follows from loss and labels.
_TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True)
class RegressionSettings:
    """Settings of the losses of regression, as `CertifiedRegressor` has them."""

    #: δ of the Huber loss, or "auto".
    huber_delta: float | str = AUTO
    epsilon: float = 0.1
    quantile: float = 0.5
    standardize_target: bool = False

    @classmethod
    def checked(cls, huber_delta: Any, epsilon: Any, quantile: Any, standardize_target: Any) -> RegressionSettings:
        """Return settings, or say which cannot be."""
        delta = AUTO if is_auto(huber_delta) else number("huber_delta", huber_delta)
        epsilon = at_least_zero("epsilon", epsilon)
        return cls(delta, epsilon, chance("quantile", quantile), bool(flag("standardize_target", standardize_target)))


@dataclass(frozen=True)
class Problem:
    """The problem of a plan."""

    #: As for the classifier and the regressor.
    C: float
    #: Name of the loss.
    loss: str
    #: Certified error to stop at.
    tol: float
    #: Value of the constant column, as in `TrainingData`; 0: there is none.
    constant: float | str
    #: Two or more; 0: a regression.
    n_classes: int
    #: Targets of a regression; 0: classes.
    n_targets: int
    #: Whether there is an intercept that is not penalised, and how many covariates are not.
    intercept: bool
    n_covariates: int
    #: Rows in all, of which the data at hand may be a sample.
    n_samples: int
    #: For the sample and the sketches.
    seed: int
    settings: RegressionSettings = RegressionSettings()

    @property
    def n_tasks(self) -> int:
        """Return how many problems share the passes: one for two classes, else one a class or target."""
        return self.n_targets or (1 if self.n_classes == 2 else self.n_classes)

    @property
    def n_free(self) -> int:
        """Return how many columns have no penalty."""
        return int(self.intercept) + self.n_covariates

    def through_origin(self) -> Problem:
        """Return the problem without an intercept or covariates."""
        return replace(self, constant=0.0, intercept=False, n_covariates=0)


@dataclass(frozen=True)
class Samples:
    """Labels and covariates of the rows at hand, made up where they are not known."""

    #: Class number of each row; a regression has only one.
    codes: NDArray[np.intp]
    #: Of shape (n_samples, n_targets).
    targets: Floats
    #: Of shape (n_samples, n_covariates).
    covariates: GivenCovariates
    #: Whether the labels were given.
    labelled: bool = True

    def of(self, rows: Any) -> Samples:
        """Return those of some rows."""
        return replace(self, codes=self.codes[rows], targets=self.targets[rows], covariates=self.covariates.rows(rows))

    def columns(self, problem: Problem) -> Covariates | None:
        """Return the columns without a penalty; None if there are none, or these rows are too few for them."""
        if not problem.n_free:
            return None
        given = self.covariates if problem.n_covariates else GivenCovariates.of(None, len(self.codes))
        columns = Covariates(free_columns(given, intercept=problem.intercept), np.ones(len(self.codes)))
        return columns if 0 < len(columns) < len(self.codes) and columns.is_sound else None

    def problems(self, problem: Problem) -> list[BinaryProblem]:
        """Return the problems of these rows; covariates that separate the classes of a sample are left out of it."""
        columns = self.columns(problem)
        if columns is None and problem.n_covariates:
            return self.problems(replace(problem, n_covariates=0))
        if problem.n_targets:
            return [self._regression(problem, target, columns) for target in self.targets.T]
        ones, penalty = np.ones(len(self.codes)), 1.0 / problem.C
        made = [
            BinaryProblem(LOSSES[problem.loss], signs, ones, penalty, covariates=columns)
            for signs in class_signs(self.codes, problem.n_classes)
        ]
        if problem.n_covariates and any(one.inside is None for one in made):
            return self.problems(replace(problem, n_covariates=0))
        return made

    def _regression(self, problem: Problem, target: Floats, columns: Covariates | None) -> BinaryProblem:
        """Return the problem of a target, as `CertifiedRegressor` has it."""
        settings, ones = problem.settings, np.ones(len(target))
        one = TargetLoss.of(
            problem.loss,
            target,
            ones,
            np.zeros((len(target), 0)) if columns is None else columns.columns,
            delta=settings.huber_delta,
            epsilon=settings.epsilon,
            quantile=settings.quantile,
            standardize=settings.standardize_target,
        )
        return BinaryProblem(one.loss, ones, ones, 1.0 / (problem.C * one.factor), -target, columns)


def check_choices(loss: str, method: str, n_components: Any, task: str, intercept: str) -> None:
    """Refuse a loss, a method, a task, an intercept or a number of components that there is not."""
    one_of("loss", loss, [*LOSSES, *(name for name in REGRESSION_LOSSES if name not in LOSSES)])
    one_of("method", method, _METHODS)
    one_of("task", task, _TASKS)
    one_of("intercept", intercept, ("free", "penalised"))
    if not is_auto(n_components):
        whole("n_components", n_components, auto=True)


def opened(X: Any, standardize: bool) -> tuple[Matrix | None, NDArray[Any] | None]:
    """Return the data as they are trained on, and the labels that they carry."""
    if X is None:
        return None, None
    matrix = X if isinstance(X, Matrix) else open_matrix(Path(X) if isinstance(X, str) else X)
    if not min(matrix.shape):
        raise DataError(f"{matrix.name} has the shape {matrix.shape}: there is nothing to plan for.")
    labels = _carried(matrix)
    return (matrix.standardised("mean", "std", "mean") if standardize else matrix), labels


def is_regression(loss: str, task: str, y: NDArray[Any] | None, n_targets: int | None) -> bool:
    """Return whether numbers are predicted; the squared loss, which both tasks have, leaves it to the labels."""
    of_classes, of_numbers = loss in LOSSES, loss in REGRESSION_LOSSES
    if (task == "classification" and not of_classes) or (task == "regression" and not of_numbers):
        known = ", ".join(LOSSES if task == "classification" else REGRESSION_LOSSES)
        raise InvalidParameterError(f"must be one of {known} for a {task}; got {loss!r}.", "loss", loss)
    if task != "auto" or of_classes != of_numbers:
        return task == "regression" or not of_classes
    if y is None or n_targets is not None:
        return n_targets is not None
    values = as_one_type(y.ravel())
    is_whole = values.dtype.kind != "f" or bool((values == np.rint(values))[np.isfinite(values)].all())
    return (y.ndim == 2 and y.shape[1] > 1) or not is_whole


def labels_of(
    y: NDArray[Any] | None, n_samples: int, n_classes: int | None, n_targets: int | None, regression: bool
) -> tuple[NDArray[np.intp] | None, Floats | None, int, int]:
    """Return class numbers or targets of the rows, and the numbers of classes and targets."""
    other, name = (n_classes, "n_classes") if regression else (n_targets, "n_targets")
    if other is not None:
        raise InvalidParameterError(f"must be left out of a {'regression' if regression else 'classification'}.", name)
    if y is None:
        count = n_targets if regression else n_classes
        if regression:
            return None, None, 0, 1 if count is None else whole("n_targets", count)
        return None, None, 2 if count is None else whole("n_classes", count, 2), 0
    if regression:
        targets = numeric_targets(y, n_samples)
        targets = targets.reshape(len(targets), -1)
        _require_count("n_targets", n_targets, targets.shape[1])
        return None, targets, 0, targets.shape[1]
    names, codes = class_labels(y.ravel(), n_samples)
    _require_count("n_classes", n_classes, len(names))
    return codes, None, len(names), 0


def _require_count(name: str, given: Any, found: int) -> None:
    if given is not None and given != found:
        raise InvalidParameterError(f"must be {found}, as many as y has, or be left out; got {given!r}.", name, given)


def covariates_of(covariates: Any, n_covariates: Any, n_samples: int | None) -> tuple[GivenCovariates | None, int]:
    """Return the covariates, if they are given, and how many there are."""
    count = 0 if n_covariates is None else whole("n_covariates", n_covariates, 0)
    if covariates is None:
        return None, count
    if n_samples is None:
        raise InvalidParameterError("were given without X: give both, or n_covariates.", "covariates")
    given = GivenCovariates.of(covariates, n_samples)
    if n_covariates is not None and count != given.n_covariates:
        raise InvalidParameterError(
            f"must be {given.n_covariates}, as many as covariates has, or be left out; got {count}.",
            "n_covariates",
            n_covariates,
        )
    return given, given.n_covariates


def samples_of(
    problem: Problem,
    n_rows: int,
    rng: np.random.Generator,
    codes: NDArray[np.intp] | None = None,
    targets: Floats | None = None,
    covariates: GivenCovariates | None = None,
) -> Samples:
    """Return labels and covariates of rows; what is not known is drawn at random."""
    labelled = codes is not None or targets is not None
    if codes is None:
        classes = np.arange(n_rows) % max(problem.n_classes, 1)
        codes = rng.permutation(classes) if problem.n_classes else classes
    if targets is None:
        targets = rng.standard_normal((n_rows, problem.n_targets))
    if covariates is None:
        covariates = GivenCovariates(rng.standard_normal((n_rows, problem.n_covariates)))
    return Samples(codes, targets, covariates, labelled)


def require_room(problem: Problem, given: GivenCovariates | None) -> None:
    """Refuse as many columns without a penalty as samples, as a fit does."""
    independent = problem.n_free
    if given is not None:
        columns = free_columns(given, intercept=problem.intercept)
        independent = len(Covariates(columns, np.ones(len(columns))))
    if problem.n_free and independent >= problem.n_samples:
        raise InvalidParameterError(
            f"must be fewer than the samples: {independent} columns that are not penalised fit {problem.n_samples} "
            "samples exactly, and leave nothing for the features to explain.",
            "n_samples" if not problem.n_covariates else "n_covariates" if given is None else "covariates",
        )


def shape_of(
    matrix: Matrix | None, n_samples: Any, n_features: Any, density: Any, dtype: Any, standardize: bool
) -> DataShape:
    """Return the shape of all the data."""
    if matrix is None:
        if n_samples is None or n_features is None:
            raise InvalidParameterError("give data, or n_samples and n_features.")
        size = (whole("n_samples", n_samples), whole("n_features", n_features))
        share = None if density is None else number("density", density, most=1.0)
        try:
            kind = np.dtype(dtype)
        except TypeError:
            raise InvalidParameterError(
                f'must be a type of numbers, such as "float32"; got {dtype!r}.', "dtype", dtype
            ) from None
        if kind.kind not in "fiub":
            raise InvalidParameterError(
                f'must be a type of real numbers, such as "int8"; got {dtype!r}.', "dtype", dtype
            )
        stored = not standardize and (share is not None or kind.kind == "f")
        return DataShape(size, kind, share, 1 if share is None else 2, standardize, stored)
    if n_features is not None and n_features != matrix.shape[1]:
        raise InvalidParameterError(
            f"must be left out, or be that of {matrix.name}, {matrix.shape[1]:,}; got {n_features!r}.",
            "n_features",
            n_features,
        )
    if density is not None:
        raise InvalidParameterError(f"must be left out: {matrix.name} has one of its own.", "density", density)
    shape = DataShape.of(matrix)
    if n_samples is None:
        return shape
    if whole("n_samples", n_samples) < matrix.shape[0]:
        raise InvalidParameterError(
            f"must be at least {matrix.shape[0]:,}, the rows of {matrix.name}, or be left out: it counts "
            f"all rows, of which these are a sample; got {n_samples:,}.",
            "n_samples",
            n_samples,
        )
    return replace(shape, shape=(int(n_samples), shape.shape[1]))


def _carried(matrix: Matrix) -> NDArray[Any] | None:
    """Return the labels in the data; none, where all are the same: such files are common, and mean nothing by it."""
    labels = matrix.labels
    known = labels[labels == labels] if labels is not None else ()  # NaN stands for a missing one
    return None if len(np.unique(known)) < 2 else labels
