"""`slimline plan`: how many dimensions, for which guarantee, at what cost."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slimline.cli.choices import Loss, Method
from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from slimline.cli.data_file import DataFileOptions
    from slimline.cli.labels import Labels
    from slimline.data import Matrix
    from slimline.planning import Plan

EXAMPLES = """[bold]Examples[/bold]

slimline plan cohort.bed --labels cohort.labels.tsv --target population --standardize

slimline plan words.svm --tol 1e-3 --json plan.json

slimline plan --samples 2000 --features 500000 --dtype int8 --margin 0.3 --figure plan.png"""

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
_LAYOUT = 1
#: Names of the parameters of `slimline.plan` that messages speak of, and the options.
_OPTIONS = {
    "n_samples": "--samples",
    "n_features": "--features",
    "n_classes": "--classes",
    "n_components": "--components",
}


class Element(StrEnum):
    """What numbers are stored as."""

    float64 = "float64"
    float32 = "float32"
    float16 = "float16"
    int8 = "int8"
    uint8 = "uint8"
    int16 = "int16"


_DATA, _SIZES, _TASK, _THEORY, _OUT = "Data", "Sizes", "Task", "Guarantees", "Output"


def plan(
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA", help="A file that `open_matrix` opens: .npy, .svm, .csv, .bed, .h5ad, …"),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TSV or CSV (or .npy) with the labels.", rich_help_panel=_DATA),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of the labels: of FILE, or of DATA itself.", rich_help_panel=_DATA),
    ] = None,
    id: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of DATA that names its rows.", rich_help_panel=_DATA)
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
    samples: Annotated[
        int | None,
        typer.Option(min=2, help="Rows; with DATA, how many it is a sample of.", rich_help_panel=_SIZES),
    ] = None,
    features: Annotated[int | None, typer.Option(min=1, help="Columns.", rich_help_panel=_SIZES)] = None,
    classes: Annotated[
        int | None, typer.Option(min=2, help="Classes, where there are no labels.", rich_help_panel=_SIZES)
    ] = None,
    density: Annotated[
        float | None, typer.Option(help="Share of values that are stored; dense unless told.", rich_help_panel=_SIZES)
    ] = None,
    dtype: Annotated[
        Element | None,
        typer.Option(help="What a value is stored as.", show_default="float32", rich_help_panel=_SIZES),
    ] = None,
    C: Annotated[float, typer.Option("--C", help="As for CertifiedClassifier.", rich_help_panel=_TASK)] = 1.0,
    loss: Annotated[Loss, typer.Option(help="Loss.", rich_help_panel=_TASK)] = Loss.squared_hinge,
    tol: Annotated[float, typer.Option(help="Certified error to reach.", rich_help_panel=_TASK)] = 1e-2,
    method: Annotated[Method, typer.Option(help="Route; auto: the fastest.", rich_help_panel=_TASK)] = Method.auto,
    components: Annotated[
        int | None, typer.Option(min=1, help="Columns of the sketch.", show_default="auto", rich_help_panel=_TASK)
    ] = None,
    standardize: Annotated[
        bool,
        typer.Option("--standardize", help="Columns to mean 0, deviation 1; missing filled.", rich_help_panel=_TASK),
    ] = False,
    no_intercept: Annotated[
        bool, typer.Option("--no-intercept", help="No constant column.", rich_help_panel=_TASK)
    ] = False,
    eps: Annotated[float, typer.Option(help="Distortion, in (0, 1).", rich_help_panel=_THEORY)] = 0.1,
    delta: Annotated[float, typer.Option(help="Failure probability, in (0, 1).", rich_help_panel=_THEORY)] = 0.05,
    margin: Annotated[
        float | None,
        typer.Option(
            help="Normalised margin, in (0, 1], for several classes in (0, 2]; from the data unless told.",
            rich_help_panel=_THEORY,
        ),
    ] = None,
    rank: Annotated[
        int | None, typer.Option(min=1, help="Rank of the data, if below both sizes.", rich_help_panel=_THEORY)
    ] = None,
    sparsity: Annotated[
        int | None, typer.Option(min=1, help="Most non-zeros of a row.", rich_help_panel=_THEORY)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the sample and of the rehearsal.", rich_help_panel=_TASK)] = 0,
    every: Annotated[bool, typer.Option("--all", help="Show every guarantee.", rich_help_panel=_OUT)] = False,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the plan as JSON; - for stdout.", rich_help_panel=_OUT),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw dimension against ε: .png, .svg or .pdf.", rich_help_panel=_OUT),
    ] = None,
) -> None:
    """Say how many dimensions each guarantee asks for, what a certified fit costs, and what we would do.

    From data (a sample of the rows is enough) or from sizes alone; nothing is trained.
    """
    from json import dumps

    from rich.markup import escape

    from slimline.cli.data_file import DataFileOptions
    from slimline.cli.options import require_number
    from slimline.cli.output import check_json_path, tables, write_json
    from slimline.cli.plan_view import plan_code, plan_view
    from slimline.report import check_figure_path, plan_figure, save_figure

    check_json_path(json)
    if figure is not None:
        check_figure_path(figure)
    for option, value, most in (("--C", C, None), ("--tol", tol, None), ("--margin", margin, 2.0)):
        require_number(option, value, most)
    for option, value in (("--eps", eps), ("--delta", delta)):
        require_number(option, value, 1.0, below=True)
    require_number("--density", density, 1.0)
    if data is None:
        _require_sizes(samples, features)
        own = {"--labels": labels, "--target": target, "--id": id, "--format": format, "--dataset": dataset}
        _refuse(own | {"--missing": missing}, "it is about a file, and there is no DATA")
    else:
        told = {"--features": features, "--density": density, "--dtype": dtype}
        _refuse(told, f"{data} tells it itself")
    own_label = target if labels is None else None
    source = None if data is None else DataFileOptions(data, format, own_label, id, missing, dataset)
    settings: dict[str, Any] = {
        "n_samples": samples,
        "n_features": features,
        "n_classes": classes,
        "density": density,
        "dtype": (dtype or Element.float32).value,
        "C": C,
        "loss": loss.value,
        "tol": tol,
        "method": method.value,
        "n_components": components or "auto",
        "eps": eps,
        "delta": delta,
        "margin": margin,
        "rank": rank,
        "sparsity": sparsity,
        "fit_intercept": not no_intercept,
        "standardize": standardize,
        "random_state": seed,
    }
    made, known = _made(source, labels, target, settings)
    console = tables(json)
    console.print(plan_view(made, _words(data, known), every=every))
    if figure is not None:
        save_figure(plan_figure(made), figure)
        console.print(f"\n[dim]Figure:[/dim] {escape(str(figure))}", soft_wrap=True)
    console.print("\n[dim]Next, in Python:[/dim]")
    carried = known is not None and labels is None and known.complete
    code = plan_code(made, None if source is None else source.code(), carried)
    console.print(code, markup=False, soft_wrap=True)
    record = {"layout": _LAYOUT, "plan": made.to_dict(), "labels": None if known is None else known.source}
    write_json(json, dumps(record, indent=1))


def _made(
    source: DataFileOptions | None, path: Path | None, target: str | None, settings: dict[str, Any]
) -> tuple[Plan, Labels | None]:
    """Return the plan, and the labels that it was made with."""
    from slimline.cli.data_file import explained_errors
    from slimline.cli.labels import known_labels
    from slimline.cli.options import in_options
    from slimline.cli.output import progress
    from slimline.planning import plan as make_plan

    with progress() as bar, explained_errors(), in_options(_OPTIONS, settings["standardize"]):
        task = bar.add_task("", total=None)
        settings = settings | {"progress": lambda text: bar.update(task, description=text)}
        if source is None:
            return make_plan(**settings), None
        bar.update(task, description=f"opening {source.path.name}")
        matrix = source.open()
        if path is not None:
            bar.update(task, description=f"reading {path.name}")
        labels = known_labels(matrix, path, target)
        if labels is not None and not labels.complete:
            matrix = matrix.rows(labels.rows)
        _require_rows(matrix, settings["n_samples"])
        # never quite full: what is computed between passes would seem to stand still
        matrix.listen(lambda now: bar.update(task, completed=0.99 * now.fraction, total=1.0))
        return make_plan(matrix, None if labels is None else labels.values, **settings), labels


def _words(data: Path | None, labels: Labels | None) -> str:
    if labels is not None:
        return labels.source
    return "" if data is None else "no labels known: add --labels FILE --target COLUMN"


def _require_sizes(samples: int | None, features: int | None) -> None:
    if samples is None or features is None:
        raise InvalidParameterError("give a file, or --samples and --features: slimline plan --help has examples.")


def _require_rows(matrix: Matrix, samples: int | None) -> None:
    if samples is not None and samples < matrix.shape[0]:
        raise InvalidParameterError(
            f"--samples {samples:,}: {matrix.name} has {matrix.shape[0]:,} rows. With a file, --samples says how many "
            "rows there are in all, where the file is a sample of them; leave it out where it is not."
        )


def _refuse(options: dict[str, Any], reason: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise InvalidParameterError(f"{option} cannot be given here: {reason}.")
