"""Summary of predictions: what was predicted and proved, what it rests on, and how it compares with true values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.text import counted, rounded_down, rounded_up, short_percent
from slimline.cli._labels import Labels
from slimline.estimators._predictions import ScoreInterval, correlation_interval, r2_interval

if TYPE_CHECKING:
    from slimline.estimators._alignment import Alignment
    from slimline.estimators._decisions import Decisions
    from slimline.estimators._predictions import CertifiedPredictions

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
_LAYOUT = 1
#: How many labels a sentence lists.
LABELS_SHOWN = 5


@dataclass(frozen=True)
class Accuracy:
    """Number of correct predictions, for samples with known labels."""

    #: Where the labels come from, in words.
    source: str
    #: Rows with a label that were not trained on.
    rows: int
    #: Predicted so.
    right: int
    #: Rows that the most frequent label is right for.
    majority: int
    #: Whether no more are right than these.
    worse_than_majority: bool
    #: The same of the rows whose prediction is proved to be the exact model's.
    certified_rows: int
    certified_right: int
    #: Rows with a label that the model does not know, and therefore never predicts,
    unknown: int = 0
    #: and some of these.
    unknown_labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Agreement:
    """Scores of a regression, for samples whose true values are known."""

    #: Where the values come from, in words.
    source: str
    #: Rows with a value that were not trained on.
    rows: int
    mean_absolute_error: float
    #: With bounds of those of the exact model; None where all values are the same.
    r2: ScoreInterval | None
    correlation: ScoreInterval | None


@dataclass(frozen=True)
class UsedCovariates:
    """Covariates that the predictions rest on."""

    #: Where they come from, in words.
    source: str
    #: Rows that lack a value, and so have no prediction.
    missing: int


@dataclass(frozen=True, kw_only=True)
class PredictionSummary(ABC):
    """Counts of what was predicted, and of the columns that it rests on."""

    #: The files.
    model: str
    data: str
    #: Rows of the data.
    rows: int
    #: Alignment of the columns.
    columns: Alignment
    #: Whether it is known what a column can hold at most, as it is of genotypes.
    bounded: bool
    #: Rows that the model was trained on; None if that is unknown.
    trained_on: int | None = None
    #: Whether the certificate of the model is finite; if not, nothing can be certified.
    finite: bool = True
    #: None: the model has none.
    covariates: UsedCovariates | None = None
    #: Share of the second class in the population that the probabilities are for; None: in the training samples.
    prevalence: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        found = asdict(self)
        del found["bounded"], found["finite"]
        found["columns"]["filled"] = self.columns.filled
        return {"layout": _LAYOUT} | found

    @property
    def predicted(self) -> int:
        """Return how many rows have a prediction."""
        return self.rows - (0 if self.covariates is None else self.covariates.missing)

    def sentences(self) -> Iterator[str]:
        """Yield what a person should know, a line each."""
        yield self._first()
        if self.covariates is not None:
            none = f" No prediction without them: {counted(self.covariates.missing, 'row')}."
            yield f"Covariates: {self.covariates.source}.{none if self.covariates.missing else ''}"
        if self.prevalence is not None:
            yield f"Probabilities hold for a population in which the second class has a share of {self.prevalence:g}."
        if not self.finite:
            yield (
                "Nothing is proved about this model, whatever the data: its certificate is infinite. Train it again on "
                "data of another scale, or with a smaller C."
            )
        yield from self._of_columns()
        if self.columns.filled:
            yield from self._of_filled()
        if self.trained_on:
            some = "All" if self.trained_on == self.rows else f"{self.trained_on:,}"
            yield (
                f"{some} of these rows were trained on, or have the names of samples that were. They cannot tell how "
                f"good the model is on new rows: their {self._known} are not compared."
            )
        yield from self._of_truth("new row" if self.trained_on else "row")

    #: Word for true values.
    _known = "values"

    @abstractmethod
    def _first(self) -> str:
        """Return the sentence about what was predicted and proved."""

    @abstractmethod
    def _of_filled(self) -> Iterator[str]:
        """Yield what imputed columns mean for the proofs."""

    @abstractmethod
    def _of_truth(self, row: str) -> Iterator[str]:
        """Yield how predictions compare with true values; `row` is the word for a row."""

    def _of_columns(self) -> Iterator[str]:
        found, name = self.columns, Path(self.data).name
        if found.matched_by == "order":
            yield f"Columns: all {found.n_columns:,}, taken in their order, since they are not named on both sides."
            return
        sentence = f"Columns: {found.used:,} of the model's {found.n_columns:,} are in {name}"
        if found.reordered:
            sentence += ", in another order"
        if found.swapped:
            sentence += f"; {found.swapped:,} count the other allele there, and were counted the other way"
        if found.filled:
            kinds = [f"{found.absent:,} absent"] if found.absent else []
            kinds += [f"{found.other_alleles:,} with other alleles"] if found.other_alleles else []
            sentence += f"; {found.filled:,} filled with their mean in training ({', '.join(kinds)})"
        if found.ignored:
            sentence += f"; {found.ignored:,} of {name} not used"
        yield sentence + "."
        if found.palindromic:
            yield (
                f"{found.palindromic:,} of the swapped variants are A/T or C/G, which look swapped in a file of the "
                "other strand, too: make sure that both files are on the same strand."
            )


@dataclass(frozen=True, kw_only=True)
class LabelSummary(PredictionSummary):
    """Counts of labels that were predicted and proved."""

    #: How many predictions are proved to be the exact model's.
    certified: int
    #: How often each label was predicted.
    labels: dict[str, int]
    #: Of rows that were not trained on, if there are some whose labels are known.
    accuracy: Accuracy | None

    _known = "labels"

    def _first(self) -> str:
        return (
            f"{counted(self.rows, 'row')}: {self.certified:,} certified ({_share(self.certified, self.predicted)}), "
            "proved to get the label that the exact model of the training data gives."
        )

    def _of_filled(self) -> Iterator[str]:
        if self.bounded:
            yield "A label is certified only if no genotypes of the filled columns, 0, 1 or 2 each, could change it."
        elif not self.certified:
            yield "No label is certified: nothing is known of what the filled columns could have held."

    def _of_truth(self, row: str) -> Iterator[str]:
        if (known := self.accuracy) is None:
            return
        also = ""
        if known.certified_rows not in (0, known.rows):
            share = _share(known.certified_right, known.certified_rows)
            also = f", for {share} of the {known.certified_rows:,} certified"
        yield (
            f"Right for {_share(known.right, known.rows)} of {counted(known.rows, row)} with a label{also}; "
            f"the most frequent label alone for {_share(known.majority, known.rows)}. Labels: {known.source}."
        )
        if known.worse_than_majority:
            yield "Warning: on these rows the model is no better than always naming the most frequent label."
        if known.unknown:
            yield (
                f"{known.unknown:,} of these rows cannot be right: the model knows no label "
                f"{_some(known.unknown_labels)}; it knows {_some([*self.labels])}."
            )


@dataclass(frozen=True, kw_only=True)
class ValueSummary(PredictionSummary):
    """Numbers that were predicted, and how far they can be from the exact model's."""

    #: Half of the rows are proved to be no further than this from the prediction of the exact model, and all.
    median_error: float
    largest_error: float
    #: On rows that were not trained on, if there are some whose values are known.
    agreement: Agreement | None

    def _first(self) -> str:
        median, largest = rounded_up(self.median_error, 2), rounded_up(self.largest_error, 2)
        return (
            f"{counted(self.rows, 'row')}: the exact model of the training data predicts between from and to, within "
            f"{median} of the prediction for half of them, and within {largest} for all."
        )

    def _of_filled(self) -> Iterator[str]:
        if self.bounded:
            yield "The bounds hold for all genotypes of the filled columns, 0, 1 or 2 each."
        elif not np.isfinite(self.largest_error):
            yield "The predictions have no bounds: nothing is known of what the filled columns could have held."

    def _of_truth(self, row: str) -> Iterator[str]:
        if (known := self.agreement) is None:
            return
        scores = [
            f"{name} {part.value:.3g} (exact model {rounded_down(part.lower, 3)} to {rounded_up(part.upper, 3)})"
            for name, part in (("R²", known.r2), ("correlation", known.correlation))
            if part is not None
        ]
        scores.append(f"mean absolute error {known.mean_absolute_error:.3g}")
        yield f"On {counted(known.rows, row)} with a value: {', '.join(scores)}. Values: {known.source}."
        if known.r2 is not None and known.r2.value <= 0.0:
            yield "Warning: on these rows the model is no better than always predicting their mean."


def accuracy_of(
    decisions: Decisions, classes: NDArray[Any], known: Labels, trained_on: NDArray[np.bool_] | None = None
) -> Accuracy | None:
    """Compare predictions with labels."""
    new = np.ones(len(known.rows), dtype=bool) if trained_on is None else ~trained_on[known.rows]
    if not new.any():
        return None
    rows, values = known.rows[new], known.values[new]
    truth = class_numbers(values, classes)
    right = classes[truth] == decisions.labels[rows]
    right &= truth >= 0
    proved = decisions.proved[rows]
    majority = int(np.unique(values, return_counts=True)[1].max())
    return Accuracy(
        source=known.source,
        rows=len(truth),
        right=int(right.sum()),
        majority=majority,
        worse_than_majority=int(right.sum()) <= majority,
        certified_rows=int(proved.sum()),
        certified_right=int((right & proved).sum()),
        unknown=int((truth < 0).sum()),
        unknown_labels=tuple(str(label) for label in np.unique(values[truth < 0])[: LABELS_SHOWN + 1]),
    )


def agreement_of(
    predictions: CertifiedPredictions, known: Labels, trained_on: NDArray[np.bool_] | None = None
) -> Agreement | None:
    """Compare predictions of one target with true values."""
    new = np.ones(len(known.rows), dtype=bool) if trained_on is None else ~trained_on[known.rows]
    if not new.any():
        return None
    rows, truth = known.rows[new], known.values[new].astype(np.float64)
    value, error = predictions.value[rows], predictions.error[rows]
    scores = r2_interval(value, error, truth), correlation_interval(value, error, truth)
    return Agreement(known.source, len(rows), float(np.abs(value - truth).mean()), *scores)


def class_numbers(labels: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return which class each label is, as text or as number; -1 where it is none."""
    as_number = classes.dtype.kind in "iuf"
    places = {_key(label, as_number): number for number, label in enumerate(classes.tolist())}
    return np.array([places.get(_key(label, as_number), -1) for label in np.asarray(labels).tolist()], dtype=np.intp)


def _key(label: Any, as_number: bool) -> Any:
    """Return what is compared: numbers, where the classes are, else texts, those of whole numbers without a point."""
    if as_number:
        try:
            return float(label)
        except ValueError:
            return None
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _some(labels: Sequence[str]) -> str:
    return ", ".join(labels[:LABELS_SHOWN]) + (", …" if len(labels) > LABELS_SHOWN else "")


def _share(part: int, whole: int) -> str:
    return short_percent(part / whole) if whole else "0%"
