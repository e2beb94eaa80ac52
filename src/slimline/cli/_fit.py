"""`slimline fit`: from a file to a certified model and a page worth showing."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slimline.cli._options import Family, Loss, Method
from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from slimline.cli._fit_job import Finished, FitJob

EXAMPLES = """[bold]Examples[/bold]

slimline fit words.svm

slimline fit cohort.bed --labels cohort.labels.tsv --target population --tol 1e-3

slimline fit spectra.csv --target tumour --id patient --standardize --test later.csv --model tumour.slim

No data at hand? [bold]slimline simulate cohort[/bold] writes those of the second.

Ends with code 3 where the certified error is above --tol. Stopped? The same command goes on."""

#: Code of a fit that did not reach the certified error asked for.
NOT_CERTIFIED = 3
_AUTO = "auto"


class Scoring(StrEnum):
    """What the cross-validation compares."""

    accuracy = "accuracy"
    balanced_accuracy = "balanced_accuracy"


class ClassWeight(StrEnum):
    """Weights of the classes."""

    balanced = "balanced"


_DATA, _MODEL, _OUT = "Data", "Model", "Output"


def fit(
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="A file that `open_matrix` opens: .npy, .svm, .csv, .bed, .h5ad, …"),
    ],
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TSV or CSV (or .npy) with the labels.", rich_help_panel=_DATA),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of the labels: of FILE, or of DATA itself.", rich_help_panel=_DATA),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column that names the samples, of DATA or FILE.", rich_help_panel=_DATA),
    ] = None,
    holdout: Annotated[
        float, typer.Option(help="Share of each class held out, to see how good it is.", rich_help_panel=_DATA)
    ] = 0.2,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows to hold out, in a file of their own.", rich_help_panel=_DATA),
    ] = None,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit/--no-refit",
            help="After the measurement, train the model that is written on all rows, held out or not.",
            rich_help_panel=_DATA,
        ),
    ] = True,
    feature_names: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Names of the columns, one a line.", rich_help_panel=_DATA),
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
    C: Annotated[
        str,
        typer.Option(
            "--C",
            metavar="auto|X",
            help="Inverse strength of the penalty; auto: the best by cross-validation.",
            rich_help_panel=_MODEL,
        ),
    ] = _AUTO,
    scoring: Annotated[
        Scoring,
        typer.Option(help="Score by which --C auto chooses; balanced for rare classes.", rich_help_panel=_MODEL),
    ] = Scoring.accuracy,
    loss: Annotated[Loss, typer.Option(help="Loss of a sample.", rich_help_panel=_MODEL)] = Loss.squared_hinge,
    tol: Annotated[
        float, typer.Option(help="Certified relative error of the weights to stop at.", rich_help_panel=_MODEL)
    ] = 1e-2,
    standardize: Annotated[
        bool | None,
        typer.Option(
            "--standardize/--no-standardize",
            help="Columns to mean 0, deviation 1; missing filled. Genotypes are, unless told otherwise.",
            rich_help_panel=_MODEL,
            show_default="for genotypes",
        ),
    ] = None,
    class_weight: Annotated[
        ClassWeight | None, typer.Option(help="balanced: rare classes count as much.", rich_help_panel=_MODEL)
    ] = None,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="No constant.", rich_help_panel=_MODEL)] = False,
    method: Annotated[Method, typer.Option(help="Route to the weights.", rich_help_panel=_MODEL)] = Method.auto,
    projection: Annotated[
        Family | None, typer.Option(help="Family of projections.", show_default="auto", rich_help_panel=_MODEL)
    ] = None,
    dimensions: Annotated[
        int | None,
        typer.Option(min=1, help="Dimensions of the sketch.", show_default="auto", rich_help_panel=_MODEL),
    ] = None,
    max_passes: Annotated[int, typer.Option(min=1, help="Passes at most.", rich_help_panel=_MODEL)] = 50,
    seed: Annotated[
        int, typer.Option(min=0, help="Of the projection and of the rows held out.", rich_help_panel=_MODEL)
    ] = 0,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads.", show_default="all", rich_help_panel=_MODEL)
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The model.", show_default="DATA.slim, here", rich_help_panel=_OUT),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The page.", show_default="DATA.html, here", rich_help_panel=_OUT),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="No page.", rich_help_panel=_OUT)] = False,
    audit: Annotated[
        bool,
        typer.Option(
            "--audit/--no-audit",
            help="Measure what a projection does to margins and distances of a sample: one more pass.",
            rich_help_panel=_OUT,
        ),
    ] = False,
    no_resume: Annotated[
        bool,
        typer.Option("--no-resume", help="Keep nothing to go on from, where disk is short.", rich_help_panel=_OUT),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.", rich_help_panel=_OUT)] = False,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write everything as JSON; - for stdout.", rich_help_panel=_OUT),
    ] = None,
) -> None:
    """Fit a linear classifier, prove how far it is from the exact one, and write the model and a page about it.

    A fit that was stopped, by Ctrl-C or by force, goes on where it was when the same command is given again.
    """
    from dataclasses import replace
    from json import dumps

    from rich.markup import escape

    from slimline.cli._fit_job import FitJob
    from slimline.cli._fit_samples import LabelSource
    from slimline.cli._fit_settings import FitSettings, Outputs, command_line
    from slimline.cli._fit_view import fit_view
    from slimline.cli._options import DataFileOptions, names_rows, require_number
    from slimline.cli._output import check_json_path, require_not_read, tables, write_json

    check_json_path(json)
    require_number("--tol", tol, 1.0)
    stem = data.name.split(".")[0]
    page = None if no_report else report or Path(f"{stem}.html")
    outputs = Outputs(model or Path(f"{stem}.slim"), page, force)
    outputs.check()
    written = {"--model": outputs.model, "--report": outputs.report, "--json": json}
    require_not_read(written, (data, labels, test, feature_names))
    settings = FitSettings(
        C=_penalty(C),
        scoring=scoring.value,
        loss=loss.value,
        method=method.value,
        projection=_AUTO if projection is None else projection.value,
        tol=tol,
        dimensions=dimensions,
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
    from slimline.cli._fit_settings import OPTIONS
    from slimline.cli._fit_view import FitDisplay
    from slimline.cli._options import explained_errors, in_options

    with (
        nullcontext() if threads is None else thread_limit(threads),
        explained_errors(),
        in_options(OPTIONS, bool(task.settings.standardize)),
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
        raise InvalidParameterError(f"--C {text}: give a number above 0, or {_AUTO}.")
    return value
