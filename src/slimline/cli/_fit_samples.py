"""Samples of a fit: labels, covariates, held-out rows, test files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import share
from slimline.cli._covariates import CovariateTable, covariates_in_file
from slimline.cli._labels import Labels, known_labels
from slimline.cli._options import Task
from slimline.errors import DataError, InvalidParameterError

if TYPE_CHECKING:
    from slimline.data import Matrix


def stored_bytes(path: Path) -> int | None:
    """Return the size of a file, or of all files of a folder."""
    if not path.exists():
        return None
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size


Index = NDArray[np.intp]


@dataclass(frozen=True)
class LabelSource:
    """Source of the labels."""

    #: A file of their own; None: the data have them.
    path: Path | None
    #: Column.
    target: str | None
    #: Column that names the samples.
    id: str | None
    #: Classification or regression.
    task: Task = Task.auto

    def of(self, matrix: Matrix, task: Task | None = None) -> Labels:
        """Return the labels of the rows of a matrix."""
        labels = known_labels(matrix, self.path, self.target, self.id, task or self.task)
        if labels is None:
            raise DataError(f"{matrix.name} carries no labels of two classes: add --labels FILE --target COLUMN.")
        return labels


@dataclass(frozen=True)
class CovariateSource:
    """Source of the covariates."""

    #: File.
    path: Path
    #: Names and ranges of its columns; None: all that do not name samples.
    columns: str | None = None
    #: Column that names the samples.
    id: str | None = None
    #: File for the samples of a file of held-out rows; None: the same.
    test: Path | None = None

    def of(self, matrix: Matrix) -> CovariateTable:
        """Return the covariates of the rows of the data."""
        return covariates_in_file(self.path, matrix, self.columns, self.id)

    def of_test(self, matrix: Matrix, known: CovariateTable) -> CovariateTable:
        """Return the same covariates of the rows of a file of held-out rows, texts coded in the same way."""
        return covariates_in_file(self.test or self.path, matrix, known.names, self.id, known.coding)


@dataclass(frozen=True)
class Samples:
    """Rows to train on and rows held out."""

    #: All of the data.
    data: Matrix
    #: Rows to train on,
    train: Matrix
    #: their labels,
    y: NDArray[Any]
    #: and covariates.
    covariates: CovariateTable | None
    #: Rows held out,
    test: Matrix | None
    #: their labels,
    y_test: NDArray[Any] | None
    #: and covariates.
    covariates_test: CovariateTable | None
    #: Where labels come from, in words.
    labels: str
    #: Whether they are the numbers of a regression,
    is_regression: bool
    #: and what they are called.
    target: str
    #: Rows without a label, or without a covariate.
    left_out: int
    #: Which rows are held out, in words.
    held_out: str
    #: All rows of the data that have a label, held out or not, their labels and covariates.
    labelled: Matrix
    y_labelled: NDArray[Any]
    covariates_labelled: CovariateTable | None
    #: Rows of a file of held-out rows that are trained on, and are therefore not held out.
    not_new: int = 0
    #: Notes for the reader about these rows.
    notes: tuple[str, ...] = ()

    @property
    def smallest_class(self) -> int:
        """Return the number of training rows of the rarest class; of a regression, of all training rows."""
        return len(self.y) if self.is_regression else int(np.unique(self.y, return_counts=True)[1].min())

    @property
    def all_trained_on(self) -> bool:
        """Return whether no row of the data is held out."""
        return len(self.y) == len(self.y_labelled)

    def whole(self) -> Samples:
        """Return the same with every labelled row of the data to train on."""
        return replace(self, train=self.labelled, y=self.y_labelled, covariates=self.covariates_labelled)


def samples_of(
    data: Matrix,
    labels: LabelSource,
    holdout: float,
    seed: int,
    test: Matrix | None = None,
    covariates: CovariateSource | None = None,
) -> Samples:
    """Divide the rows of the data that have a label and covariates."""
    known = labels.of(data)
    table = None if covariates is None else covariates.of(data)
    rows, y = _known_rows(known, table)
    if not known.is_regression:
        _require_two_classes(y, known, table)
    labelled = data if len(rows) == data.shape[0] else data.rows(rows)
    beside = None if table is None else table.of(rows)
    whole = Samples(
        data=data,
        train=labelled,
        y=y,
        covariates=beside,
        test=None,
        y_test=None,
        covariates_test=None,
        labels=known.source,
        is_regression=known.is_regression,
        target=known.name or labels.target or "",
        left_out=data.shape[0] - len(rows),
        held_out="",
        labelled=labelled,
        y_labelled=y,
        covariates_labelled=beside,
        notes=() if table is None else table.notes,
    )
    if test is not None:
        task = Task.regression if known.is_regression else Task.classification
        beside_test = None if covariates is None or table is None else covariates.of_test(test, table)
        return _with_test(whole, test, labels.of(test, task), beside_test)
    kept, aside = held_out_rows(np.zeros(len(y)) if known.is_regression else y, holdout, seed)
    drawn_from = "the rows" if known.is_regression else "each class"
    if not len(aside):
        return whole
    return replace(
        whole,
        train=data.rows(rows[kept]),
        y=y[kept],
        covariates=None if beside is None else beside.of(kept),
        test=data.rows(rows[aside]),
        y_test=y[aside],
        covariates_test=None if beside is None else beside.of(aside),
        held_out=f"{100 * holdout:g} % of {drawn_from}, drawn with seed {seed}",
    )


def _known_rows(labels: Labels, covariates: CovariateTable | None) -> tuple[Index, NDArray[Any]]:
    """Return the rows of a matrix that have a label and all covariates, and their labels."""
    if covariates is None:
        return labels.rows, labels.values
    both = np.isin(labels.rows, covariates.rows)
    return labels.rows[both], labels.values[both]


def _require_two_classes(y: NDArray[Any], labels: Labels, covariates: CovariateTable | None) -> None:
    """Refuse covariates that all samples of all classes but one lack."""
    if covariates is not None and len(np.unique(y)) < 2 <= len(np.unique(labels.values)):
        raise DataError(
            f"{len(y):,} rows have a label and covariates, of fewer than two classes. {' '.join(covariates.notes)}",
            parameter="covariates",
        )


def _with_test(samples: Samples, test: Matrix, labels: Labels, covariates: CovariateTable | None) -> Samples:
    """Hold out the labelled rows of another file, but for those that are trained on."""
    from slimline.estimators._aligned import TrainingSamples

    seen = TrainingSamples.of(samples.train).among(test)
    rows, y = _known_rows(labels, covariates)
    new = np.ones(len(rows), dtype=bool) if seen is None else ~seen[rows]
    if not new.any():
        raise InvalidParameterError(
            f"{test.name}: all of its {len(new):,} rows with a label are in {samples.data.name}, too, and would "
            "be trained on. Give rows that are not, or leave --test out: then --holdout puts rows aside.",
            "--test",
        )
    rows, notes = rows[new], () if covariates is None else covariates.notes
    return replace(
        samples,
        test=test if len(rows) == test.shape[0] else test.rows(rows),
        y_test=y[new],
        covariates_test=None if covariates is None else covariates.of(rows),
        held_out=f"all of {test.name}" if new.all() else f"the {len(rows):,} rows of {test.name} that are new",
        not_new=int((~new).sum()),
        notes=(*samples.notes, *(f"held-out rows: {note}" for note in notes if note not in samples.notes)),
    )


def held_out_rows(y: NDArray[Any], holdout: float, seed: int) -> tuple[Index, Index]:
    """Draw a share of the rows of each class (all of one class: of the rows)."""
    holdout = share("holdout", holdout, "the rows")
    rng = np.random.default_rng(seed)
    aside = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        count = min(round(holdout * len(rows)), len(rows) - 1)
        aside[rng.permutation(rows)[:count]] = True
    return np.flatnonzero(~aside), np.flatnonzero(aside)
