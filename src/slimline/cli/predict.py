"""`slimline predict`: what a model says of new rows, and which of it is proved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slimline.errors import FileFormatError, InvalidParameterError, NonFiniteError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slimline.cli.data_file import DataFileOptions
    from slimline.cli.prediction_summary import PredictionSummary
    from slimline.data import Matrix
    from slimline.estimators.decisions import Decisions
    from slimline.model_files import StoredModel

EXAMPLES = """[bold]Examples[/bold]

slimline predict cohort.slim new.bed --out predictions.csv

slimline predict cohort.slim new.bed --labels new.labels.tsv --target population --out predictions.tsv --json new.json

slimline predict words.slim new.svm | head"""

_DATA, _OUT = "Data", "Output"


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file that `slimline fit` or `save` wrote.")],
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="A file that `open_matrix` opens: .npy, .svm, .csv, .bed, .h5ad, …"),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write to a .csv or .tsv file.", show_default="stdout", rich_help_panel=_OUT),
    ] = None,
    id: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of DATA that names its rows.", rich_help_panel=_DATA)
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="TSV or CSV (or .npy) with true labels, to count what is right.", rich_help_panel=_DATA
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of the labels: of FILE, or of DATA itself.", rich_help_panel=_DATA),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Kind of file, where the ending does not tell.", rich_help_panel=_DATA)
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which matrix of a file.", rich_help_panel=_DATA)
    ] = None,
    missing: Annotated[
        int | None, typer.Option(help="Whole number that stands for a missing value.", rich_help_panel=_DATA)
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the summary as JSON; - for stdout.", rich_help_panel=_OUT),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace --out if it exists.", rich_help_panel=_OUT)] = False,
) -> None:
    """Say the label of every row, its scores, and whether the label is proved to be the exact model's.

    Columns are matched by name, genotypes by variant and allele. Absent ones are filled: that counts against the proof.
    Rows that the model was trained on are marked, and do not count when labels are compared.
    """
    from json import dumps

    from slimline.cli.data_file import DataFileOptions
    from slimline.cli.output import STANDARD_OUTPUT, check_json_path, require_not_read, write_json
    from slimline.cli.table_file import check_table_path, write_table

    check_json_path(json)
    check_table_path("--out", out, force)
    require_not_read({"--out": out, "--json": json}, (model, data, labels))
    if json == STANDARD_OUTPUT and out in (None, STANDARD_OUTPUT):
        raise InvalidParameterError("--json - and the predictions cannot both go to standard output: add --out FILE.")
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

    from slimline.cli.data_file import explained_errors
    from slimline.cli.output import progress
    from slimline.cli.prediction_summary import PredictionSummary, accuracy_of, true_labels
    from slimline.estimators.aligned import aligned_decisions
    from slimline.estimators.saving import restored_model
    from slimline.estimators.training_samples import TrainingSamples
    from slimline.model_files import StoredModel

    with progress() as bar, explained_errors():
        task = bar.add_task(f"opening {path.name}", total=None)
        stored = StoredModel.read(path)
        loss = restored_model(stored, str(path)).loss
        bar.update(task, description=f"opening {source.path.name}")
        with _in_words(stored):
            matrix = source.open()
            known = true_labels(matrix, stored.classes, labels, target)
            bar.update(task, description=source.path.name)
            matrix.listen(lambda now: bar.update(task, completed=now.fraction, total=1.0))
            decisions, alignment = aligned_decisions(stored, matrix)
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


@contextmanager
def _in_words(stored: StoredModel) -> Iterator[None]:
    """Have messages speak of the model and of options, not of parameters."""
    from slimline.cli.options import said_of_file

    try:
        yield
    except NonFiniteError as error:
        if stored.fill is not None or "missing" not in str(error):
            raise
        said = str(error).split(": fill it")[0]
        raise NonFiniteError(
            f"{said}, and the model was trained without --standardize, which fills missing values: fill them in the "
            "file, or train with it."
        ) from None
    except FileFormatError as error:
        said = said_of_file(str(error))
        asked = f"n_features={stored.n_features} was asked for"
        raise FileFormatError(said.replace(asked, f"the model has {stored.n_features:,} columns")) from None


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

    from slimline.estimators.scores import class_of_scores, probabilities

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
