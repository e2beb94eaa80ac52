"""Samples of a fit: labels, held-out rows, test files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.checks import share
from slimline.cli._labels import Labels, known_labels
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

    def of(self, matrix: Matrix) -> Labels:
        """Return the labels of the rows of a matrix."""
        labels = known_labels(matrix, self.path, self.target, self.id)
        if labels is None:
            raise DataError(f"{matrix.name} carries no labels of two classes: add --labels FILE --target COLUMN.")
        return labels


@dataclass(frozen=True)
class Samples:
    """Rows to train on and rows held out."""

    #: All of the data.
    data: Matrix
    #: Rows to train on,
    train: Matrix
    #: and their labels.
    y: NDArray[Any]
    #: Rows held out,
    test: Matrix | None
    #: and their labels.
    y_test: NDArray[Any] | None
    #: Where labels come from, in words.
    labels: str
    #: Rows without a label.
    left_out: int
    #: Which rows are held out, in words.
    held_out: str
    #: All rows of the data that have a label, held out or not, and their labels.
    labelled: Matrix
    y_labelled: NDArray[Any]
    #: Rows of a file of held-out rows that are trained on, and are therefore not held out.
    not_new: int = 0

    @property
    def smallest_class(self) -> int:
        """Return the number of training rows of the rarest class."""
        return int(np.unique(self.y, return_counts=True)[1].min())

    @property
    def all_trained_on(self) -> bool:
        """Return whether no row of the data is held out."""
        return len(self.y) == len(self.y_labelled)

    def whole(self) -> Samples:
        """Return the same with every labelled row of the data to train on."""
        return replace(self, train=self.labelled, y=self.y_labelled)


def samples_of(data: Matrix, labels: LabelSource, holdout: float, seed: int, test: Matrix | None = None) -> Samples:
    """Divide the rows of the data that have a label."""
    known = labels.of(data)
    y = known.values
    labelled = data if known.complete else data.rows(known.rows)
    whole = Samples(
        data=data,
        train=labelled,
        y=y,
        test=None,
        y_test=None,
        labels=known.source,
        left_out=data.shape[0] - len(known.rows),
        held_out="",
        labelled=labelled,
        y_labelled=y,
    )
    if test is not None:
        return _with_test(whole, test, labels.of(test))
    kept, aside = held_out_rows(y, holdout, seed)
    if not len(aside):
        return whole
    return replace(
        whole,
        train=data.rows(known.rows[kept]),
        y=y[kept],
        test=data.rows(known.rows[aside]),
        y_test=y[aside],
        held_out=f"{100 * holdout:g} % of each class, drawn with seed {seed}",
    )


def _with_test(samples: Samples, test: Matrix, labels: Labels) -> Samples:
    """Hold out the labelled rows of another file, but for those that are trained on."""
    from slimline.estimators._aligned import TrainingSamples

    seen = TrainingSamples.of(samples.train).among(test)
    new = np.ones(len(labels.rows), dtype=bool) if seen is None else ~seen[labels.rows]
    if not new.any():
        raise InvalidParameterError(
            f"{test.name}: all of its {len(new):,} rows with a label are in {samples.data.name}, too, and would "
            "be trained on. Give rows that are not, or leave --test out: then --holdout puts rows aside.",
            "--test",
        )
    rows = labels.rows[new]
    return replace(
        samples,
        test=test if len(rows) == test.shape[0] else test.rows(rows),
        y_test=labels.values[new],
        held_out=f"all of {test.name}" if new.all() else f"the {len(rows):,} rows of {test.name} that are new",
        not_new=int((~new).sum()),
    )


def held_out_rows(y: NDArray[Any], holdout: float, seed: int) -> tuple[Index, Index]:
    """Draw a share of the rows of each class."""
    holdout = share("holdout", holdout, "the rows")
    rng = np.random.default_rng(seed)
    aside = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        count = min(round(holdout * len(rows)), len(rows) - 1)
        aside[rng.permutation(rows)[:count]] = True
    return np.flatnonzero(~aside), np.flatnonzero(aside)
