"""`slimline fit`: from a file to a certified model and a page worth showing."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slimline.cli import _options as options
from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from slimline.cli._fit_job import Finished, FitJob

EXAMPLES = """[bold]Examples[/bold]

slimline fit words.svm

slimline fit cohort.bed --labels cohort.labels.tsv --target population --tol 1e-3

slimline fit spectra.csv --target tumour --id patient --standardize --test later.csv --model tumour.slim

No data at hand? [bold]slimline simulate cohort[/bold] writes the data of the second example.

Exit code 3: the certified error is above --tol. To resume a fit that was stopped, repeat its command."""

#: Code of a fit that did not reach the certified error asked for.
NOT_CERTIFIED = 3
_AUTO = "auto"


class Scoring(StrEnum):
    """Scores that the cross-validation compares."""

    accuracy = "accuracy"
    balanced_accuracy = "balanced_accuracy"


class ClassWeight(StrEnum):
    """Weights of the classes."""

    balanced = "balanced"


class Recovery(StrEnum):
    """Recovery of the weights from the sketch."""

    certified = "certified"
    dual = "dual"
    debiased_dual = "debiased_dual"
    iterative = "iterative"
    naive = "naive"


def fit(
    data: options.DataPath,
    labels: options.LabelFile = None,
    target: options.Target = None,
    id: options.IdColumn = None,
    holdout: Annotated[
        float,
        typer.Option(help="Share of each class to hold out, to measure the accuracy.", rich_help_panel=options.DATA),
    ] = 0.2,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of samples to hold out instead.", rich_help_panel=options.DATA),
    ] = None,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit/--no-refit",
            help="After the measurement, train the final model on all samples, held out or not.",
            rich_help_panel=options.DATA,
        ),
    ] = True,
    feature_names: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Names of the features, one a line.", rich_help_panel=options.DATA),
    ] = None,
    format: options.FormatName = None,
    dataset: options.Dataset = None,
    missing: options.Missing = None,
    C: Annotated[
        str,
        typer.Option(
            "--C",
            metavar="auto|X",
            help="Inverse strength of the penalty; auto: the best by cross-validation.",
            rich_help_panel=options.MODEL,
        ),
    ] = _AUTO,
    scoring: Annotated[
        Scoring,
        typer.Option(help="Score by which --C auto chooses; balanced for rare classes.", rich_help_panel=options.MODEL),
    ] = Scoring.accuracy,
    loss: options.LossName = options.Loss.squared_hinge,
    tol: options.Tolerance = 1e-2,
    standardize: Annotated[
        bool | None,
        typer.Option(
            "--standardize/--no-standardize",
            help="Standardise each feature, and impute missing values with the mean.",
            rich_help_panel=options.MODEL,
            show_default="for genotypes",
        ),
    ] = None,
    class_weight: Annotated[
        ClassWeight | None, typer.Option(help="balanced: all classes count equally.", rich_help_panel=options.MODEL)
    ] = None,
    no_intercept: options.NoIntercept = False,
    method: options.MethodName = options.Method.auto,
    recovery: Annotated[
        Recovery,
        typer.Option(
            help="Recovery of the weights from the sketch; all but certified are for comparison, and take --C X.",
            rich_help_panel=options.MODEL,
        ),
    ] = Recovery.certified,
    projection: Annotated[
        options.Family | None,
        typer.Option(help="Family of projections.", show_default="auto", rich_help_panel=options.MODEL),
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(
            "--components",
            "--dimensions",
            min=1,
            help="Components of the sketch.",
            show_default="auto",
            rich_help_panel=options.MODEL,
        ),
    ] = None,
    max_passes: Annotated[
        int, typer.Option(min=1, help="Largest number of passes.", rich_help_panel=options.MODEL)
    ] = 50,
    seed: options.Seed = 0,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads.", show_default="all", rich_help_panel=options.MODEL)
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Model file.", show_default="DATA.slim, here", rich_help_panel=options.OUTPUT
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="HTML page.", show_default="DATA.html, here", rich_help_panel=options.OUTPUT),
    ] = None,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write no page.", rich_help_panel=options.OUTPUT)
    ] = False,
    audit: Annotated[
        bool,
        typer.Option(
            "--audit/--no-audit",
            help="Measure what a projection does to margins and distances of a sample: one more pass.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = False,
    no_resume: Annotated[
        bool,
        typer.Option("--no-resume", help="Write no checkpoints (saves disk space).", rich_help_panel=options.OUTPUT),
    ] = False,
    force: options.Force = False,
    json: options.JsonFile = None,
) -> None:
    """Fit a linear classifier, certify how close it is to the exact one, and write the model and a page about it.

    If a fit is interrupted, the same command resumes it.
    """
    from dataclasses import replace
    from json import dumps

    from rich.markup import escape

    from slimline._base.checks import number
    from slimline.cli._fit_job import FitJob
    from slimline.cli._fit_samples import LabelSource
    from slimline.cli._fit_settings import FitSettings, Outputs, command_line
    from slimline.cli._fit_view import fit_view
    from slimline.cli._options import DataFileOptions, names_rows
    from slimline.cli._output import check_json_path, require_different, require_not_read, tables, write_json

    check_json_path(json)
    number("tol", tol, most=1.0)
    stem = data.name.split(".")[0]
    page = None if no_report else report or Path(f"{stem}.html")
    outputs = Outputs(model or Path(f"{stem}.slim"), page, force)
    outputs.check()
    written = {"--model": outputs.model, "--report": outputs.report, "--json": json}
    require_different(written)
    require_not_read(written, (data, labels, test, feature_names))
    penalty = _penalty(C)
    if recovery is not Recovery.certified and penalty is None:
        raise InvalidParameterError(
            f"{recovery.value} is for comparison, and cross-validation is certified: give --C X.",
            "recovery",
            recovery.value,
        )
    settings = FitSettings(
        C=penalty,
        scoring=scoring.value,
        loss=loss.value,
        method=method.value,
        recovery=recovery.value,
        projection=_AUTO if projection is None else projection.value,
        tol=tol,
        n_components=components,
        standardize=standardize,
        class_weight=None if class_weight is None else class_weight.value,
        intercept=not no_intercept,
        holdout=0.0 if test is not None else holdout,
        seed=seed,
        max_passes=max_passes,
        refit=refit,
    )
    own = target if labels is None else None
    words = [str(data)]
    given: dict[str, Any] = {
        "--labels": labels,
        "--target": target,
        "--id": id,
        "--test": test,
        "--feature-names": feature_names,
    }
    given |= {"--format": format, "--dataset": dataset, "--missing": missing}
    for option, value in given.items():
        words += [] if value is None else [option, str(value)]
    own_id = id if labels is None or names_rows(data, format) else None
    source = DataFileOptions(data, format, own, own_id, missing, dataset)
    task = FitJob(
        source=source,
        labels=LabelSource(labels, target, id),
        settings=settings,
        outputs=outputs,
        test=None if test is None else replace(source, path=test),
        feature_names=feature_names,
        command=command_line(words, settings, threads),
        measure_projection=audit and (page is not None or json is not None),
        resumable=not no_resume,
    )
    finished = finished_fit(task, threads)
    console = tables(json)
    console.print(fit_view(finished.report))
    for name, path in (("Model", outputs.model), ("Page", outputs.report)):
        if path is not None:
            console.print(f"[dim]{name}:[/dim] {escape(str(path))}", soft_wrap=True)
    write_json(json, dumps(finished.report.to_dict(), indent=1))
    if not finished.converged:
        raise typer.Exit(NOT_CERTIFIED)


def finished_fit(task: FitJob, threads: int | None) -> Finished:
    """Fit, showing where it stands on standard error."""
    from contextlib import nullcontext

    from rich.console import Console

    from slimline._base.system import thread_limit
    from slimline.cli._fit_job import run_fit
    from slimline.cli._fit_samples import stored_bytes
    from slimline.cli._fit_view import FitDisplay

    with (
        nullcontext() if threads is None else thread_limit(threads),
        FitDisplay(
            Console(stderr=True, highlight=False),
            task.source.path.name,
            stored_bytes(task.source.path),
            task.settings.tol,
        ) as display,
    ):
        try:
            return run_fit(task, display)
        except KeyboardInterrupt:
            how = " The same command goes on where it was." if task.resumable and task.outputs.can_resume() else ""
            raise KeyboardInterrupt(f"stopped.{how}") from None


def _penalty(text: str) -> float | None:
    if text == _AUTO:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value < float("inf"):
        raise InvalidParameterError(f"must be a number above 0, or {_AUTO}; got {text}.", "C", text)
    return value
