"""`slimline fit`: from files of data, labels and covariates to a certified model and a page worth showing."""

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

slimline fit cohort.bed --labels pheno.tsv --target height --covariates covar.tsv --covariate-columns age,sex,PC1-PC10

No data at hand? [bold]slimline simulate cohort[/bold] writes the data of the second example.

Exit code 3: the certified error is above --tol. To resume a fit that was stopped, repeat its command."""

#: Code of a fit that did not reach the certified error asked for.
NOT_CERTIFIED = 3
_AUTO = "auto"


class Scoring(StrEnum):
    """Scores that the cross-validation compares."""

    accuracy = "accuracy"
    balanced_accuracy = "balanced_accuracy"
    roc_auc = "roc_auc"
    neg_log_loss = "neg_log_loss"
    r2 = "r2"


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
    task: Annotated[
        options.Task,
        typer.Option(
            help="auto: a regression if the labels are measurements, that is, all are numbers, and some of more than "
            "two are not whole, or more than ten are different and not 0, 1, … or 1, 2, … without a gap, or more than "
            "half are different.",
            rich_help_panel=options.DATA,
        ),
    ] = options.Task.auto,
    id: options.IdColumn = None,
    covariates: options.CovariateFile = None,
    covariate_columns: options.CovariateColumns = None,
    holdout: Annotated[
        float,
        typer.Option(
            help="Share of the samples (of each class) to hold out, to measure the accuracy.",
            rich_help_panel=options.DATA,
        ),
    ] = 0.2,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of samples to hold out instead.", rich_help_panel=options.DATA),
    ] = None,
    test_covariates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with their covariates.",
            show_default="that of --covariates",
            rich_help_panel=options.DATA,
        ),
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
        Scoring | None,
        typer.Option(
            help="Score by which --C auto chooses; for rare classes not accuracy.",
            show_default="accuracy, or r2 for a regression",
            rich_help_panel=options.MODEL,
        ),
    ] = None,
    loss: Annotated[
        options.Loss | None,
        typer.Option(
            help="Loss of a sample; the last four are for regressions.",
            show_default="squared_hinge, or squared for a regression",
            rich_help_panel=options.MODEL,
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            help="Residual at which the Huber loss turns linear.", show_default="auto", rich_help_panel=options.MODEL
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Residual up to which the ε-insensitive losses are 0.",
            show_default="0.1",
            rich_help_panel=options.MODEL,
        ),
    ] = None,
    quantile: Annotated[
        float | None,
        typer.Option(
            help="Quantile that the quantile loss predicts.", show_default="0.5", rich_help_panel=options.MODEL
        ),
    ] = None,
    standardize_target: Annotated[
        bool,
        typer.Option(
            "--standardize-target",
            help="Take --delta and --epsilon in standard deviations of the target.",
            rich_help_panel=options.MODEL,
        ),
    ] = False,
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
    intercept: Annotated[
        options.Intercept | None,
        typer.Option(
            help="Whether the intercept is penalised, or there is none.",
            show_default="free",
            rich_help_panel=options.MODEL,
        ),
    ] = None,
    no_intercept: options.NoIntercept = False,
    prevalence: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Share of the second class in the population, to which probabilities of the logistic loss are moved.",
            rich_help_panel=options.MODEL,
        ),
    ] = None,
    penalty_factors: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TSV or CSV file with two columns, features and factors of their penalties: 0 is none, inf leaves a "
            "feature out.",
            show_default="1 for all",
            rich_help_panel=options.MODEL,
        ),
    ] = None,
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
    """Fit a linear classifier or regression, certify how close it is to the exact one, write the model and a page.

    If a fit is interrupted, the same command resumes it.
    """
    from dataclasses import replace
    from json import dumps

    from rich.markup import escape

    from slimline._base.checks import number
    from slimline.cli._fit_job import FitJob
    from slimline.cli._fit_samples import CovariateSource, LabelSource
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
    require_not_read(written, (data, labels, covariates, test, test_covariates, penalty_factors, feature_names))
    penalty = _penalty(C)
    if recovery is not Recovery.certified and penalty is None:
        raise InvalidParameterError(
            f"{recovery.value} is for comparison, and cross-validation is certified: give --C X.",
            "recovery",
            recovery.value,
        )
    if no_intercept and intercept not in (None, options.Intercept.none):
        raise InvalidParameterError(f"{intercept.value} contradicts --no-intercept.", "intercept", intercept.value)
    if covariates is None:
        for name, given in (("covariate_columns", covariate_columns), ("test_covariates", test_covariates)):
            if given is not None:
                raise InvalidParameterError("needs --covariates FILE, which may be DATA itself.", name, given)
    if test_covariates is not None and test is None:
        raise InvalidParameterError("needs --test FILE.", "test_covariates", test_covariates)
    settings = FitSettings(
        C=penalty,
        scoring=None if scoring is None else scoring.value,
        loss=None if loss is None else loss.value,
        delta=delta,
        epsilon=epsilon,
        quantile=quantile,
        standardize_target=standardize_target,
        method=method.value,
        recovery=recovery.value,
        projection=_AUTO if projection is None else projection.value,
        tol=tol,
        n_components=components,
        standardize=standardize,
        class_weight=None if class_weight is None else class_weight.value,
        intercept="none" if no_intercept else (intercept or options.Intercept.free).value,
        prevalence=prevalence,
        holdout=0.0 if test is not None else holdout,
        seed=seed,
        max_passes=max_passes,
        refit=refit,
    )
    own = target if labels is None else None
    words = [str(data)]
    sources: dict[str, Any] = {
        "--labels": labels,
        "--target": target,
        "--task": None if task is options.Task.auto else task.value,
        "--id": id,
        "--covariates": covariates,
        "--covariate-columns": covariate_columns,
        "--test": test,
        "--test-covariates": test_covariates,
        "--penalty-factors": penalty_factors,
        "--feature-names": feature_names,
    }
    sources |= {"--format": format, "--dataset": dataset, "--missing": missing}
    for option, value in sources.items():
        words += [] if value is None else [option, str(value)]
    own_id = id if labels is None or names_rows(data, format) else None
    source = DataFileOptions(data, format, own, own_id, missing, dataset)
    job = FitJob(
        source=source,
        labels=LabelSource(labels, target, id, task),
        covariates=None if covariates is None else CovariateSource(covariates, covariate_columns, id, test_covariates),
        settings=settings,
        outputs=outputs,
        test=None if test is None else replace(source, path=test),
        penalty_factors=penalty_factors,
        feature_names=feature_names,
        command=command_line(words, settings, threads),
        measure_projection=audit and (page is not None or json is not None),
        resumable=not no_resume,
    )
    finished = finished_fit(job, threads)
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
