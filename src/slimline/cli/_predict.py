"""`slimline predict`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from slimline._base.text import counted, short_percent
from slimline.cli import _options as options
from slimline.cli._labels import Labels, labels_in_data, labels_in_file
from slimline.errors import InvalidParameterError, ModelFileError, NonFiniteError

if TYPE_CHECKING:
    import numpy as np

    from slimline.cli._options import DataFileOptions
    from slimline.data import Matrix
    from slimline.estimators._alignment import Alignment
    from slimline.estimators._decisions import Decisions
    from slimline.model_files import StoredModel

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
_LAYOUT = 1
#: How many labels a sentence lists.
_LABELS_SHOWN = 5


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
    #: Rows with a label that the model does not know, and therefore never gives,
    unknown: int = 0
    #: and some of these.
    unknown_labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class PredictionSummary:
    """Counts of what was predicted and proved, and of the columns that it rests on."""

    #: The files.
    model: str
    data: str
    #: Rows of the data.
    rows: int
    #: How many predictions are proved to be the exact model's.
    certified: int
    #: How often each label was predicted.
    labels: dict[str, int]
    #: What became of the columns.
    columns: Alignment
    #: Whether it is known what a column can hold at most, as it is of genotypes.
    bounded: bool
    #: Of rows that were not trained on, if there are some whose labels are known.
    accuracy: Accuracy | None
    #: Rows that the model was trained on; None if that cannot be told.
    trained_on: int | None = None
    #: Whether the certificate of the model is finite; if not, no label of any data can be certified.
    finite: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        found = asdict(self)
        del found["bounded"], found["finite"]
        found["columns"]["filled"] = self.columns.filled
        return {"layout": _LAYOUT} | found

    def sentences(self) -> Iterator[str]:
        """Yield what a person should know, a line each."""
        yield (
            f"{counted(self.rows, 'row')}: {self.certified:,} certified ({_share(self.certified, self.rows)}), "
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
                share = _share(known.certified_right, known.certified_rows)
                also = f", for {share} of the {known.certified_rows:,} certified"
            yield (
                f"Right for {_share(known.right, known.rows)} of {counted(known.rows, new)} with a label{also}; "
                f"the most frequent label alone for {_share(known.majority, known.rows)}. Labels: {known.source}."
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


def true_labels(matrix: Matrix, classes: NDArray[Any], path: Path | None, target: str | None) -> Labels | None:
    """Return labels that predictions can be compared with."""
    asked = path is not None or target is not None
    known = labels_in_data(matrix, asked) if path is None else labels_in_file(path, target, matrix)
    if known is None or not len(known.rows):
        return None
    return known if asked or (class_numbers(known.values, classes) >= 0).all() else None


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
        unknown_labels=tuple(str(label) for label in np.unique(values[truth < 0])[: _LABELS_SHOWN + 1]),
    )


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
    return ", ".join(labels[:_LABELS_SHOWN]) + (", …" if len(labels) > _LABELS_SHOWN else "")


def _share(part: int, whole: int) -> str:
    return short_percent(part / whole) if whole else "0%"


EXAMPLES = """[bold]Examples[/bold]

slimline predict cohort.slim new.bed --out predictions.csv

slimline predict cohort.slim new.bed --labels new.labels.tsv --target population --out predictions.tsv --json new.json

slimline predict words.slim new.svm | head"""


def predict(
    model: options.ModelPath,
    data: options.DataPath,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write to a .csv or .tsv file.", show_default="stdout", rich_help_panel=options.OUTPUT
        ),
    ] = None,
    id: options.IdColumn = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TSV, CSV or .npy file with true labels, to measure the accuracy.",
            rich_help_panel=options.DATA,
        ),
    ] = None,
    target: options.Target = None,
    format: options.FormatName = None,
    dataset: options.Dataset = None,
    missing: options.Missing = None,
    json: options.JsonFile = None,
    force: options.Force = False,
) -> None:
    """Predict the label of every sample, with its scores, and certify which labels the exact model would give.

    Features are matched by name, genotypes by variant and allele. Absent features are imputed, which widens the bounds.
    Samples that the model was trained on are marked, and left out when accuracy is measured.
    """
    from json import dumps

    from slimline.cli._options import DataFileOptions
    from slimline.cli._output import (
        STANDARD_OUTPUT,
        check_json_path,
        check_table_path,
        require_different,
        require_not_read,
        write_json,
        write_table,
    )

    check_json_path(json)
    check_table_path("--out", out, force)
    require_different(written := {"--out": out, "--json": json})
    require_not_read(written, (model, data, labels))
    if json == STANDARD_OUTPUT and out in (None, STANDARD_OUTPUT):
        raise InvalidParameterError(
            "- and the predictions cannot both go to standard output: add --out FILE.", "--json"
        )
    source = DataFileOptions(data, format, target if labels is None else None, id, missing, dataset)
    summary, head, lines = _made(model, source, labels, target)
    write_table(out, head, lines)
    _say(summary, out)
    write_json(json, dumps(summary.to_dict(), indent=1))


def _made(
    path: Path, source: DataFileOptions, labels: Path | None, target: str | None
) -> tuple[PredictionSummary, list[str], Iterator[list[Any]]]:
    """Return the summary, and the table: names of its columns, and lines."""
    import numpy as np

    from slimline.cli._output import progress
    from slimline.estimators._aligned import TrainingSamples, aligned_decisions
    from slimline.estimators._persistence import restored_model
    from slimline.model_files import StoredModel

    with progress() as bar:
        task = bar.add_task(f"opening {path.name}", total=None)
        stored = StoredModel.read(path)
        if stored.is_regression or (stored.covariates or {}).get("count"):
            raise ModelFileError(
                f"{path} holds a {stored.kind} that this command cannot use, since it predicts classes and takes no "
                f"covariates. In Python, {stored.kind}.load(file).predict(X, covariates) predicts."
            )
        loss = restored_model(stored, str(path)).loss
        bar.update(task, description=f"opening {source.path.name}")
        matrix = source.open()
        known = true_labels(matrix, stored.classes, labels, target)
        bar.update(task, description=source.path.name)
        matrix.listen(lambda now: bar.update(task, completed=now.fraction, total=1.0))
        try:
            decisions, alignment = aligned_decisions(stored, matrix)
        except NonFiniteError as error:
            if error.parameter != "fill" or stored.fill is not None:
                raise
            raise error.with_remedy(
                "The model was trained without --standardize, which imputes missing values: impute them in the "
                "file, or train with --standardize."
            ) from None
        trained_on = TrainingSamples.of_model(stored).among(matrix)
        summary = PredictionSummary(
            model=str(path),
            data=str(source.path),
            rows=len(decisions.labels),
            certified=int(decisions.proved.sum()),
            labels={str(label): int((decisions.labels == label).sum()) for label in stored.classes},
            columns=alignment,
            bounded=stored.allele1 is not None,
            accuracy=None if known is None else accuracy_of(decisions, stored.classes, known, trained_on),
            trained_on=None if trained_on is None else int(trained_on.sum()),
            finite=bool(np.isfinite(stored.radius).all()),
        )
        return summary, _head(stored, loss), _lines(decisions, stored, loss, matrix, trained_on)


def _head(stored: StoredModel, loss: str) -> list[str]:
    several = [f"score_{label}" for label in stored.classes] if len(stored.classes) > 2 else []
    return [
        "id",
        "label",
        "certified",
        "trained_on",
        "score",
        *(["probability"] if loss == "logistic" else []),
        *several,
    ]


def _lines(
    decisions: Decisions, stored: StoredModel, loss: str, matrix: Matrix, trained_on: NDArray[np.bool_] | None
) -> Iterator[list[Any]]:
    import numpy as np

    from slimline.estimators._validation import class_of_scores, probabilities

    winner, row = class_of_scores(decisions.scores), np.arange(len(decisions.labels))
    scores: Any = decisions.scores
    parts: list[Any] = [scores if scores.ndim == 1 else scores[row, winner]]
    if loss == "logistic":
        parts.append(probabilities(scores)[row, winner])
    if scores.ndim == 2:
        parts.extend(scores.T)
    texts, ids = [str(label) for label in stored.classes], matrix.sample_ids
    names: Any = range(len(row)) if ids is None else ids
    seen: list[Any] = [""] * len(row) if trained_on is None else trained_on.tolist()
    proved = decisions.proved.tolist()
    for name, number, sure, known, *numbers in zip(names, winner.tolist(), proved, seen, *parts, strict=True):
        yield [name, texts[number], sure, known, *map(float, numbers)]


def _say(summary: PredictionSummary, out: Path | None) -> None:
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    for line in summary.sentences():
        console.print(line, markup=False, soft_wrap=True)
    if out is not None and out != Path("-"):
        console.print(f"Written: {out}", markup=False, soft_wrap=True)
