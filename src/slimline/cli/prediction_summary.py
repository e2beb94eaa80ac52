"""What is worth saying of predictions, in a few sentences or as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slimline.cli.labels import Labels, labels_in_data, labels_in_file

if TYPE_CHECKING:
    from slimline.data import Matrix
    from slimline.estimators.alignment import Alignment
    from slimline.estimators.decisions import Decisions

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
_LAYOUT = 1
#: How many labels a sentence lists.
_LABELS_SHOWN = 5


@dataclass(frozen=True)
class Accuracy:
    """How many predictions are right, where labels are known.

    Parameters
    ----------
    source : str
        Where the labels come from, in words.
    rows : int
        Rows with a label that were not trained on.
    right : int
        Predicted so.
    majority : int
        Rows that the most frequent label is right for.
    worse_than_majority : bool
        Whether no more are right than these.
    certified_rows, certified_right : int
        The same of the rows whose prediction is proved to be the exact model's.
    unknown : int
        Rows with a label that the model does not know, and therefore never gives,
    unknown_labels : tuple of str
        and some of these.
    """

    source: str
    rows: int
    right: int
    majority: int
    worse_than_majority: bool
    certified_rows: int
    certified_right: int
    unknown: int = 0
    unknown_labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class PredictionSummary:
    """Counts of what was predicted and proved, and of the columns that it rests on.

    Parameters
    ----------
    model, data : str
        The files.
    rows : int
        Rows of the data.
    certified : int
        How many predictions are proved to be the exact model's.
    labels : dict of int
        How often each label was predicted.
    columns : Alignment
        What became of the columns.
    bounded : bool
        Whether it is known what a column can hold at most, as it is of genotypes.
    accuracy : Accuracy or None
        Of rows that were not trained on, if there are some whose labels are known.
    trained_on : int or None
        Rows that the model was trained on; None if that cannot be told.
    finite : bool
        Whether the certificate of the model is finite; if not, no label of any data can be certified.
    """

    model: str
    data: str
    rows: int
    certified: int
    labels: dict[str, int]
    columns: Alignment
    bounded: bool
    accuracy: Accuracy | None
    trained_on: int | None = None
    finite: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        found = asdict(self)
        del found["bounded"], found["finite"]
        found["columns"]["filled"] = self.columns.filled
        return {"layout": _LAYOUT} | found

    def sentences(self) -> Iterator[str]:
        """Yield what a person should know, a line each.

        Yields
        ------
        sentence : str
            Plain text.
        """
        yield (
            f"{_counted(self.rows, 'row')}: {self.certified:,} certified ({_percent(self.certified, self.rows)}), "
            "proved to get the label that the exact model of the training data gives."
        )
        if not self.finite:
            yield (
                "Nothing is proved about this model, whatever the data: its certificate is infinite. Train it again on "
                "data of another scale, or with a smaller C."
            )
        yield from self._columns()
        if self.columns.filled and self.bounded:
            yield "A label is certified only if no genotypes of the filled columns, 0, 1 or 2 each, could change it."
        elif self.columns.filled and not self.certified:
            yield "No label is certified: nothing is known of what the filled columns could have held."
        if self.trained_on:
            some = "All" if self.trained_on == self.rows else f"{self.trained_on:,}"
            yield (
                f"{some} of these rows were trained on, or have the names of samples that were. They cannot tell how "
                "good the model is on new rows: their labels are not compared."
            )
        if self.accuracy is not None:
            known = self.accuracy
            also, new = "", "new row" if self.trained_on else "row"
            if known.certified_rows not in (0, known.rows):
                share = _percent(known.certified_right, known.certified_rows)
                also = f", for {share} of the {known.certified_rows:,} certified"
            yield (
                f"Right for {_percent(known.right, known.rows)} of {_counted(known.rows, new)} with a label{also}; "
                f"the most frequent label alone for {_percent(known.majority, known.rows)}. Labels: {known.source}."
            )
            if known.worse_than_majority:
                yield "Warning: on these rows the model is no better than always naming the most frequent label."
            if known.unknown:
                yield (
                    f"{known.unknown:,} of these rows cannot be right: the model knows no label "
                    f"{_some(known.unknown_labels)}; it knows {_some([*self.labels])}."
                )

    def _columns(self) -> Iterator[str]:
        found, name = self.columns, Path(self.data).name
        if found.matched_by == "order":
            yield f"Columns: all {found.n_columns:,}, taken in their order, since they are not named on both sides."
            return
        told = f"Columns: {found.used:,} of the model's {found.n_columns:,} are in {name}"
        if found.reordered:
            told += ", in another order"
        if found.swapped:
            told += f"; {found.swapped:,} count the other allele there, and were counted the other way"
        if found.filled:
            kinds = [f"{found.absent:,} absent"] if found.absent else []
            kinds += [f"{found.other_alleles:,} with other alleles"] if found.other_alleles else []
            told += f"; {found.filled:,} filled with their mean in training ({', '.join(kinds)})"
        if found.ignored:
            told += f"; {found.ignored:,} of {name} not used"
        yield told + "."
        if found.palindromic:
            yield (
                f"{found.palindromic:,} of the swapped variants are A/T or C/G, which look swapped in a file of the "
                "other strand, too: make sure that both files are on the same strand."
            )


def true_labels(matrix: Matrix, classes: NDArray[Any], path: Path | None, target: str | None) -> Labels | None:
    """Return labels that predictions can be compared with.

    Parameters
    ----------
    matrix : Matrix
        The data.
    classes : array of shape (n_classes,)
        Labels that the model knows.
    path : Path, optional
        File with labels; None: those of the data, where they have any.
    target : str, optional
        Column of them.

    Returns
    -------
    labels : Labels or None
        None where there are none, or where nobody asked for them and they are not the model's.
    """
    asked = path is not None or target is not None
    known = labels_in_data(matrix, asked) if path is None else labels_in_file(path, target, matrix)
    if known is None or not len(known.rows):
        return None
    return known if asked or (class_numbers(known.values, classes) >= 0).all() else None


def accuracy_of(
    decisions: Decisions, classes: NDArray[Any], known: Labels, trained_on: NDArray[np.bool_] | None = None
) -> Accuracy | None:
    """Compare predictions with labels.

    Parameters
    ----------
    decisions : Decisions
        What was predicted.
    classes : array of shape (n_classes,)
        Labels that the model knows; any other is never predicted.
    known : Labels
        Labels of some rows.
    trained_on : array of shape (n_samples,), bool, optional
        Rows that were trained on, which say nothing of how good the model is.

    Returns
    -------
    accuracy : Accuracy or None
        Counts; None if all of these rows were trained on.
    """
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
        unknown_labels=tuple(str(label) for label in np.unique(values[truth < 0])[: _LABELS_SHOWN + 1]),
    )


def class_numbers(labels: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return which class each label is, as text or as number; -1 where it is none.

    Parameters
    ----------
    labels : sequence
        Labels, such as they stand in a file.
    classes : array of shape (n_classes,)
        Labels that a model knows.

    Returns
    -------
    numbers : array of int
        One a label.
    """
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
    return ", ".join(labels[:_LABELS_SHOWN]) + (", …" if len(labels) > _LABELS_SHOWN else "")


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _percent(part: int, whole: int) -> str:
    from slimline.cli.audit_view import percent

    return percent(part / whole) if whole else "0%"
