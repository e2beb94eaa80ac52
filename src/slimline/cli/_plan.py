"""`slimline plan`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slimline.cli import _options as options
from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slimline.cli._covariates import CovariateTable
    from slimline.cli._fit_samples import CovariateSource
    from slimline.cli._labels import Labels
    from slimline.cli._options import DataFileOptions
    from slimline.data import Matrix
    from slimline.planning import Plan


EXAMPLES = """[bold]Examples[/bold]

slimline plan cohort.bed --labels cohort.labels.tsv --target population --standardize

slimline plan cohort.bed --labels pheno.tsv --target height --loss squared --covariates covar.tsv

slimline plan words.svm --tol 1e-3 --json plan.json

slimline plan --samples 2000 --features 500000 --dtype int8 --margin 0.3 --figure plan.png

slimline plan --samples 2000 --features 500000 --dtype int8 --loss huber --covariate-count 13"""

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
_LAYOUT = 1


class Element(StrEnum):
    """Types in which values are stored."""

    float64 = "float64"
    float32 = "float32"
    float16 = "float16"
    int8 = "int8"
    uint8 = "uint8"
    int16 = "int16"


def plan(
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA", help="File that `open_matrix` opens: .npy, .svm, .csv, .bed, .h5ad, …"),
    ] = None,
    labels: options.LabelFile = None,
    target: options.Target = None,
    covariates: options.CovariateFile = None,
    covariate_columns: options.CovariateColumns = None,
    id: options.IdColumn = None,
    format: options.FormatName = None,
    dataset: options.Dataset = None,
    missing: options.Missing = None,
    samples: Annotated[
        int | None,
        typer.Option(min=2, help="Samples; with DATA, how many it was drawn from.", rich_help_panel=options.SIZES),
    ] = None,
    features: Annotated[int | None, typer.Option(min=1, help="Features.", rich_help_panel=options.SIZES)] = None,
    classes: Annotated[
        int | None, typer.Option(min=2, help="Classes, if there are no labels.", rich_help_panel=options.SIZES)
    ] = None,
    targets: Annotated[
        int | None,
        typer.Option(min=1, help="Targets of a regression, without labels.", rich_help_panel=options.SIZES),
    ] = None,
    covariate_count: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of covariates, if there is no file of them.",
            show_default="0",
            rich_help_panel=options.SIZES,
        ),
    ] = None,
    density: Annotated[
        float | None,
        typer.Option(help="Share of values that are stored.", show_default="dense", rich_help_panel=options.SIZES),
    ] = None,
    dtype: Annotated[
        Element | None,
        typer.Option(help="Type in which a value is stored.", show_default="float32", rich_help_panel=options.SIZES),
    ] = None,
    C: Annotated[
        float, typer.Option("--C", help="Inverse strength of the penalty.", rich_help_panel=options.MODEL)
    ] = 1.0,
    loss: Annotated[
        options.Loss,
        typer.Option(help="Loss of a sample; the last four are for regressions.", rich_help_panel=options.MODEL),
    ] = options.Loss.squared_hinge,
    task: Annotated[
        options.Task,
        typer.Option(
            help="Classes or numbers; auto: by the loss, and for squared by whether labels have fractions.",
            rich_help_panel=options.MODEL,
        ),
    ] = options.Task.auto,
    huber_delta: Annotated[
        float | None,
        typer.Option(
            help="Residual at which the Huber loss turns linear.", show_default="auto", rich_help_panel=options.MODEL
        ),
    ] = None,
    epsilon: Annotated[
        float, typer.Option(help="Residual up to which the ε-insensitive losses are 0.", rich_help_panel=options.MODEL)
    ] = 0.1,
    quantile: Annotated[
        float, typer.Option(help="Quantile that the quantile loss predicts.", rich_help_panel=options.MODEL)
    ] = 0.5,
    standardize_target: Annotated[
        bool,
        typer.Option(
            "--standardize-target",
            help="Take --huber-delta and --epsilon in standard deviations of the target.",
            rich_help_panel=options.MODEL,
        ),
    ] = False,
    tol: options.Tolerance = 1e-2,
    method: options.MethodName = options.Method.auto,
    components: options.Components = None,
    standardize: options.Standardize = False,
    intercept: Annotated[
        options.Intercept,
        typer.Option(help="Whether the intercept is penalised, or there is none.", rich_help_panel=options.MODEL),
    ] = options.Intercept.free,
    no_intercept: options.NoIntercept = False,
    eps: options.Eps = 0.1,
    delta: options.Delta = 0.05,
    margin: Annotated[
        float | None,
        typer.Option(
            help="Normalised margin, in (0, 1], for several classes in (0, 2].",
            show_default="measured",
            rich_help_panel=options.GUARANTEES,
        ),
    ] = None,
    rank: Annotated[
        int | None,
        typer.Option(min=1, help="Rank of the data, if below both sizes.", rich_help_panel=options.GUARANTEES),
    ] = None,
    sparsity: Annotated[
        int | None,
        typer.Option(min=1, help="Largest number of non-zeros in a row.", rich_help_panel=options.GUARANTEES),
    ] = None,
    seed: options.Seed = 0,
    every: Annotated[bool, typer.Option("--all", help="Show every guarantee.", rich_help_panel=options.OUTPUT)] = False,
    json: options.JsonFile = None,
    figure: options.FigureFile = None,
) -> None:
    """Show how many components each guarantee needs, what a certified fit costs, and what slimline recommends.

    A plan takes data (a sample of the rows is enough) or sizes alone, and trains nothing on all of the data.
    """
    from json import dumps

    from rich.markup import escape

    from slimline._base.checks import chance, number
    from slimline.cli._fit_samples import CovariateSource
    from slimline.cli._options import DataFileOptions
    from slimline.cli._output import check_json_path, require_different, tables, write_json
    from slimline.cli._plan_view import plan_code, plan_view
    from slimline.report import check_figure_path, plan_figure, save_figure

    check_json_path(json)
    require_different({"--figure": figure, "--json": json})
    if figure is not None:
        check_figure_path(figure)
    if no_intercept and intercept is options.Intercept.penalised:
        raise InvalidParameterError(f"{intercept.value} contradicts --no-intercept.", "intercept", intercept.value)
    number("C", C)
    number("tol", tol)
    chance("eps", eps)
    chance("delta", delta)
    for name, value, most in (("margin", margin, 2.0), ("density", density, 1.0)):
        if value is not None:
            number(name, value, most=most)
    if data is None:
        _require_sizes(samples, features)
        own = {"--labels": labels, "--target": target, "--covariates": covariates, "--id": id, "--format": format}
        _refuse(own | {"--dataset": dataset, "--missing": missing}, "it describes a file, and there is no DATA")
    else:
        _refuse({"--features": features, "--density": density, "--dtype": dtype}, f"it is read from {data}")
    if covariates is None and covariate_columns is not None:
        raise InvalidParameterError(
            "needs --covariates FILE, which may be DATA itself.", "covariate_columns", covariate_columns
        )
    own_label = target if labels is None else None
    source = None if data is None else DataFileOptions(data, format, own_label, id, missing, dataset)
    settings: dict[str, Any] = {
        "n_samples": samples,
        "n_features": features,
        "n_classes": classes,
        "n_targets": targets,
        "density": density,
        "dtype": (dtype or Element.float32).value,
        "C": C,
        "loss": loss.value,
        "task": task.value,
        "huber_delta": "auto" if huber_delta is None else huber_delta,
        "epsilon": epsilon,
        "quantile": quantile,
        "standardize_target": standardize_target,
        "tol": tol,
        "method": method.value,
        "n_components": components or "auto",
        "eps": eps,
        "delta": delta,
        "margin": margin,
        "rank": rank,
        "sparsity": sparsity,
        "fit_intercept": not no_intercept and intercept is not options.Intercept.none,
        "intercept": "penalised" if intercept is options.Intercept.penalised else "free",
        "n_covariates": covariate_count,
        "standardize": standardize,
        "random_state": seed,
    }
    beside = None if covariates is None else CovariateSource(covariates, covariate_columns, id)
    made, known, table = _made(source, labels, target, beside, settings)
    console = tables(json)
    console.print(plan_view(made, _words(data, known), "" if table is None else table.source, every=every))
    for note in () if table is None else table.notes:
        console.print(f"[dim]Note: {escape(note)}[/dim]", soft_wrap=True)
    if figure is not None:
        save_figure(plan_figure(made), figure)
        console.print(f"\n[dim]Figure:[/dim] {escape(str(figure))}", soft_wrap=True)
    console.print("\n[dim]Next, in Python:[/dim]")
    carried = known is not None and labels is None and known.complete
    code = plan_code(made, None if source is None else source.code(), carried)
    console.print(code, markup=False, soft_wrap=True)
    record = {
        "layout": _LAYOUT,
        "plan": made.to_dict(),
        "labels": None if known is None else known.source,
        "covariates": None if table is None else table.source,
    }
    write_json(json, dumps(record, indent=1))


def _made(
    source: DataFileOptions | None,
    path: Path | None,
    target: str | None,
    covariates: CovariateSource | None,
    settings: dict[str, Any],
) -> tuple[Plan, Labels | None, CovariateTable | None]:
    """Return the plan, and the labels and covariates that it was made with."""
    import numpy as np

    from slimline.cli._output import progress
    from slimline.planning import plan as make_plan

    with progress() as bar:
        task = bar.add_task("", total=None)
        settings = settings | {"progress": lambda text: bar.update(task, description=text)}
        if source is None:
            return make_plan(**settings), None, None
        bar.update(task, description=f"opening {source.path.name}")
        matrix = source.open()
        if path is not None:
            bar.update(task, description=f"reading {path.name}")
        labels = _labels(matrix, path, target, settings["loss"], settings["task"])
        if covariates is not None:
            bar.update(task, description=f"reading {covariates.path.name}")
        table = None if covariates is None else covariates.of(matrix)
        rows = _known_rows(labels, table, matrix.shape[0])
        y = None if labels is None else labels.values[np.isin(labels.rows, rows)]
        beside = None if table is None else table.of(rows)
        if len(rows) < matrix.shape[0]:
            matrix = matrix.rows(rows)
        # never quite full: what is computed between passes would seem to stand still
        matrix.listen(lambda now: bar.update(task, completed=0.99 * now.fraction, total=1.0))
        return make_plan(matrix, y, covariates=beside, **settings), labels, table


def _known_rows(labels: Labels | None, covariates: CovariateTable | None, n: int) -> NDArray[np.intp]:
    """Return the rows that have a label, if any has one, and all covariates."""
    import numpy as np

    rows = np.arange(n) if labels is None else labels.rows
    return rows if covariates is None else np.intersect1d(rows, covariates.rows)


def _labels(matrix: Matrix, path: Path | None, target: str | None, loss: str, task: str) -> Labels | None:
    """Return the labels of a file, or those that the data carry: classes, or the numbers of a regression."""
    from dataclasses import replace

    import numpy as np

    from slimline.cli._labels import labels_in_data, labels_in_file, require_classes
    from slimline.planning._problem import is_regression

    found = labels_in_data(matrix, target is not None) if path is None else labels_in_file(path, target, matrix)
    if found is None:
        return None
    try:
        numbers = found.values.astype(np.float64)
    except ValueError:
        numbers = None
    if is_regression(loss, task, found.values if numbers is None else numbers, None):
        if numbers is None:
            strange = str(found.values[0])
            raise InvalidParameterError(f"{loss} needs numbers, and {found.source} has {strange!r}.", "loss", loss)
        return replace(found, values=numbers)
    require_classes(found)
    return found


def _words(data: Path | None, labels: Labels | None) -> str:
    if labels is not None:
        return labels.source
    return "" if data is None else "no labels known: add --labels FILE --target COLUMN"


def _require_sizes(samples: int | None, features: int | None) -> None:
    if samples is None or features is None:
        raise InvalidParameterError("give a file, or --samples and --features: slimline plan --help has examples.")


def _refuse(options: dict[str, Any], reason: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise InvalidParameterError(f"cannot be given here: {reason}.", option)
