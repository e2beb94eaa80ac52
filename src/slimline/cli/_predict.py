"""`slimline predict`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slimline.cli import _options as options
from slimline.errors import InvalidParameterError, NonFiniteError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slimline.cli._covariates import CovariateTable
    from slimline.cli._labels import Labels
    from slimline.cli._options import DataFileOptions
    from slimline.cli._prediction_summary import PredictionSummary
    from slimline.data import Matrix
    from slimline.estimators._alignment import Alignment
    from slimline.estimators._decisions import Decisions
    from slimline.estimators._predictions import CertifiedPredictions
    from slimline.model_files import StoredModel

    #: Names of the columns of a table, and what is in them, one entry a row.
    Columns = dict[str, list[Any]]

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
            help="TSV, CSV or .npy file with true labels or values, to compare the predictions with.",
            rich_help_panel=options.DATA,
        ),
    ] = None,
    target: options.Target = None,
    covariates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TSV, CSV, PLINK or .npy file with the covariates that the model was trained with.",
            rich_help_panel=options.DATA,
        ),
    ] = None,
    prevalence: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Share of the second class in the population, if the training samples are cases and controls.",
            show_default="as in the fit",
            rich_help_panel=options.MODEL,
        ),
    ] = None,
    format: options.FormatName = None,
    dataset: options.Dataset = None,
    missing: options.Missing = None,
    json: options.JsonFile = None,
    force: options.Force = False,
) -> None:
    """Predict the label or the value of every sample, and certify what the exact model would predict.

    Features are matched by name, genotypes by variant and allele. Absent features are imputed, which widens the bounds.
    Samples that the model was trained on are marked, and left out when accuracy is measured. Samples without the
    covariates that the model needs get no prediction.
    """
    from json import dumps

    from slimline._base.plain import plain
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
    require_not_read(written, (model, data, labels, covariates))
    if json == STANDARD_OUTPUT and out in (None, STANDARD_OUTPUT):
        raise InvalidParameterError(
            "- and the predictions cannot both go to standard output: add --out FILE.", "--json"
        )
    source = DataFileOptions(data, format, target if labels is None else None, id, missing, dataset)
    summary, columns = _made(model, source, labels, target, covariates, prevalence)
    write_table(out, list(columns), zip(*columns.values(), strict=True))
    _say(summary, out)
    write_json(json, dumps(plain(summary.to_dict()), indent=1, allow_nan=False))


def _made(
    path: Path,
    source: DataFileOptions,
    labels: Path | None,
    target: str | None,
    covariates: Path | None,
    prevalence: float | None,
) -> tuple[PredictionSummary, Columns]:
    """Return the summary, and the table."""
    import numpy as np

    from slimline.cli._output import progress
    from slimline.cli._prediction_summary import UsedCovariates
    from slimline.estimators._aligned import TrainingSamples
    from slimline.estimators._persistence import restored_model
    from slimline.model_files import StoredModel

    with progress() as bar:
        task = bar.add_task(f"opening {path.name}", total=None)
        stored = StoredModel.read(path)
        fitted = restored_model(stored, str(path))
        _require_covariates(stored, path, covariates)
        share, shift = _prevalence(fitted, stored, prevalence)
        bar.update(task, description=f"opening {source.path.name}")
        matrix = source.open()
        known = _true_values(stored, matrix, labels, target)
        table = _table(stored, matrix, covariates, source.id)
        trained_on = TrainingSamples.of_model(stored).among(matrix)
        ids, n = matrix.sample_ids, matrix.shape[0]
        kept = np.arange(n)
        if table is not None and len(table.rows) < n:
            kept = table.rows
            matrix, table, known = matrix.rows(kept), table.of(kept), _of_rows(known, kept, n)
        bar.update(task, description=source.path.name)
        matrix.listen(lambda now: bar.update(task, completed=now.fraction, total=1.0))
        found, alignment = _aligned(stored, matrix, table)
        facts = {
            "model": str(path),
            "data": str(source.path),
            "rows": n,
            "columns": alignment,
            "bounded": stored.allele1 is not None,
            "trained_on": None if trained_on is None else int(trained_on.sum()),
            "finite": bool(np.isfinite(stored.radius).all()),
            "prevalence": share,
            "covariates": None if table is None else UsedCovariates(table.source, n - len(kept)),
        }
        of_kept = None if trained_on is None else trained_on[kept]
        summary = _summary(found, stored, known, of_kept, facts)
        columns: Columns = {"id": list(range(n) if ids is None else ids)}
        columns |= {name: _spread(cells, kept, n) for name, cells in _cells(found, stored, fitted.loss, shift).items()}
        seen = [""] * n if trained_on is None else trained_on.tolist()
        return summary, {name: seen if name == "trained_on" else cells for name, cells in columns.items()}


def _require_covariates(stored: StoredModel, path: Path, covariates: Path | None) -> None:
    """Refuse a model and a file of covariates that do not go together, before any data are read."""
    told = stored.covariates or {}
    if told.get("count") and covariates is None:
        names = told["names"]
        listed = ", ".join(names) if names else f"{told['count']} covariates without names"
        raise InvalidParameterError(f"is needed: {path} was trained with {listed}.", "--covariates")
    if covariates is not None and not told.get("count"):
        raise InvalidParameterError(f"does not apply: {path} was trained without covariates.", "--covariates")


def _prevalence(fitted: Any, stored: StoredModel, asked: float | None) -> tuple[float | None, float]:
    """Return the prevalence that probabilities are for, and what it adds to the scores."""
    if stored.is_regression:
        if asked is not None:
            raise InvalidParameterError(f"does not apply: a {stored.kind} has no classes.", "prevalence", asked)
        return None, 0.0
    share = stored.details.get("prevalence") if asked is None else asked
    return share, 0.0 if share is None else fitted.prevalence_shift(share)


def _table(stored: StoredModel, matrix: Matrix, path: Path | None, id: str | None) -> CovariateTable | None:
    """Return the covariates that the model needs."""
    if path is None:
        return None
    from slimline.cli._covariates import covariates_of_model

    return covariates_of_model(path, stored, matrix, id)


def _true_values(stored: StoredModel, matrix: Matrix, path: Path | None, target: str | None) -> Labels | None:
    """Return labels or numbers that predictions can be compared with."""
    from slimline.cli._labels import labels_in_data, labels_in_file
    from slimline.cli._options import Task
    from slimline.cli._prediction_summary import class_numbers

    asked = path is not None or target is not None
    if stored.is_regression and len(stored.weights) > 1:
        if asked:
            raise InvalidParameterError(
                f"does not apply: the model has {len(stored.weights)} targets. Compare them in Python.",
                "--labels" if path is not None else "--target",
            )
        return None
    task = Task.classification
    if stored.is_regression:
        task = Task.regression if asked else Task.auto  # the data may carry classes, such as cases and controls
    known = labels_in_data(matrix, asked, task) if path is None else labels_in_file(path, target, matrix, task=task)
    if known is None or not len(known.rows):
        return None
    if stored.is_regression:
        return known if known.is_regression else None
    return known if asked or (class_numbers(known.values, stored.classes) >= 0).all() else None


def _of_rows(known: Labels | None, kept: NDArray[np.intp], n: int) -> Labels | None:
    """Return the labels of some rows, by their numbers among these."""
    import numpy as np

    if known is None:
        return None
    place = np.full(n, -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    rows = place[known.rows]
    there = rows >= 0
    return replace(known, values=known.values[there], rows=rows[there]) if there.any() else None


def _aligned(
    stored: StoredModel, matrix: Matrix, covariates: CovariateTable | None
) -> tuple[Decisions | CertifiedPredictions, Alignment]:
    from slimline.estimators import aligned_decisions, aligned_predictions

    try:
        return (aligned_predictions if stored.is_regression else aligned_decisions)(stored, matrix, covariates)
    except NonFiniteError as error:
        if error.parameter != "fill" or stored.fill is not None:
            raise
        raise error.with_remedy(
            "The model was trained without --standardize, which imputes missing values: impute them in the file, or "
            "train with --standardize."
        ) from None


def _summary(
    found: Any,
    stored: StoredModel,
    known: Labels | None,
    trained_on: NDArray[np.bool_] | None,
    facts: dict[str, Any],
) -> PredictionSummary:
    import numpy as np

    from slimline.cli._prediction_summary import LabelSummary, ValueSummary, accuracy_of, agreement_of

    if stored.is_regression:
        return ValueSummary(
            **facts,
            median_error=float(np.median(found.error)),
            largest_error=float(found.error.max()),
            agreement=None if known is None else agreement_of(found, known, trained_on),
        )
    return LabelSummary(
        **facts,
        certified=int(found.proved.sum()),
        labels={str(label): int((found.labels == label).sum()) for label in stored.classes},
        accuracy=None if known is None else accuracy_of(found, stored.classes, known, trained_on),
    )


def _cells(found: Any, stored: StoredModel, loss: str, shift: float) -> Columns:
    """Return the columns of the table behind the first, of the rows that have a prediction."""
    import numpy as np

    from slimline.estimators._validation import class_of_scores, probabilities

    if stored.is_regression:
        parts = [part.reshape(len(part), -1).T.tolist() for part in (found.value, found.lower, found.upper)]
        columns: Columns = {}
        for number, ends in enumerate(zip(*parts, strict=True)):
            of = f"_{number}" if len(stored.weights) > 1 else ""
            columns |= dict(zip((f"predicted{of}", f"from{of}", f"to{of}"), ends, strict=True))
        return columns | {"trained_on": []}
    scores = found.scores
    winner, row = class_of_scores(scores), np.arange(len(scores))
    texts = [str(label) for label in stored.classes]
    columns = {
        "label": [texts[number] for number in winner.tolist()],
        "certified": found.proved.tolist(),
        "trained_on": [],
        "score": (scores if scores.ndim == 1 else scores[row, winner]).tolist(),
    }
    if loss == "logistic":
        columns["probability"] = probabilities(scores + shift)[row, winner].tolist()
    if scores.ndim == 2:
        columns |= {f"score_{text}": part for text, part in zip(texts, scores.T.tolist(), strict=True)}
    return columns


def _spread(cells: Iterable[Any], kept: NDArray[np.intp], n: int) -> list[Any]:
    """Return cells for all rows: empty ones where there is no prediction."""
    found: list[Any] = [None] * n
    for row, cell in zip(kept.tolist(), cells, strict=False):
        found[row] = cell
    return found


def _say(summary: PredictionSummary, out: Path | None) -> None:
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    for line in summary.sentences():
        console.print(line, markup=False, soft_wrap=True)
    if out is not None and out != Path("-"):
        console.print(f"Written: {out}", markup=False, soft_wrap=True)
