"""`slimline audit`: what a projection did to margins, angles, distances and the ball of these data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slimline.cli.choices import Family
from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from slimline.auditing import Audit
    from slimline.cli.data_file import DataFileOptions
    from slimline.cli.labels import Labels

EXAMPLES = """[bold]Examples[/bold]

slimline audit words.svm --components 1024

slimline audit cohort.bed --labels cohort.labels.tsv --target population --standardize --projection osnap --rows 300

slimline audit data.npy --labels labels.npy --rows all --repeats 50 --json audit.json --figure audit.png

No data at hand? [bold]slimline simulate cohort[/bold] writes those of the second."""

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
_LAYOUT = 1
#: Names of the parameters of `slimline.audit` that messages speak of, and the options.
_OPTIONS = {
    "n_components=": "--components ",
    "n_components": "--components",
    "rows=": "--rows ",
    "random_state": "--seed",
    "errors": "--errors",
}
#: `--rows` for as many as are quick and for every row, and the most that it can be: all pairs of them are measured.
_AUTO, _ALL, _MOST_ROWS = "auto", "all", 10_000


_DATA, _PROJECTION, _THEORY, _OUT = "Data", "Projection", "Guarantees", "Output"


def audit(
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
    standardize: Annotated[
        bool,
        typer.Option("--standardize", help="Columns to mean 0, deviation 1; missing filled.", rich_help_panel=_DATA),
    ] = False,
    rows: Annotated[
        str,
        typer.Option(
            metavar="N|auto|all",
            help="Rows to measure, drawn at random; auto: up to 2,000, at most 10,000.",
            rich_help_panel=_DATA,
        ),
    ] = "auto",
    projection: Annotated[
        Family, typer.Option(help="Family of projections.", rich_help_panel=_PROJECTION)
    ] = Family.gaussian,
    components: Annotated[
        int | None,
        typer.Option(min=1, help="Dimensions of the sketch.", show_default="256", rich_help_panel=_PROJECTION),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Independent draws.", rich_help_panel=_PROJECTION)] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws, and of the rows.", rich_help_panel=_PROJECTION)] = 0,
    eps: Annotated[float, typer.Option(help="Distortion asked about, in (0, 1).", rich_help_panel=_THEORY)] = 0.2,
    delta: Annotated[float, typer.Option(help="Failure probability, in (0, 1).", rich_help_panel=_THEORY)] = 0.05,
    errors: Annotated[
        float,
        typer.Option(help="Share of points that may fall short of a margin, in [0, 1).", rich_help_panel=_THEORY),
    ] = 0.05,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the audit as JSON; - for stdout.", rich_help_panel=_OUT),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw before and after: .png, .svg or .pdf.", rich_help_panel=_OUT),
    ] = None,
) -> None:
    """Say whether a projection kept the margins, angles, distances and the ball of these data.

    Each is measured before and after repeated draws, beside what theorems promise and exact laws foretell.
    """
    from json import dumps

    from rich.markup import escape

    from slimline.cli.audit_view import audit_code, audit_view
    from slimline.cli.data_file import DataFileOptions
    from slimline.cli.options import require_number
    from slimline.cli.output import check_json_path, tables, write_json
    from slimline.report import audit_figure, check_figure_path, save_figure

    check_json_path(json)
    if figure is not None:
        check_figure_path(figure)
    for option, value in (("--eps", eps), ("--delta", delta)):
        require_number(option, value, 1.0, below=True)
    source = DataFileOptions(data, format, target if labels is None else None, id, missing, dataset)
    settings: dict[str, Any] = {
        "projection": projection.value,
        "n_components": components,
        "repeats": repeats,
        "eps": eps,
        "delta": delta,
        "errors": errors,
        "rows": _rows(rows),
        "random_state": seed,
    }
    made, known = _made(source, labels, target, standardize, settings)
    console = tables(json)
    console.print(audit_view(made, _words(known), standardize))
    if figure is not None:
        save_figure(audit_figure(made), figure)
        console.print(f"\n[dim]Figure:[/dim] {escape(str(figure))}", soft_wrap=True)
    console.print("\n[dim]The same in Python:[/dim]")
    carried = known is None or (labels is None and known.complete)
    console.print(audit_code(source.code(), settings, standardize, carried), markup=False, soft_wrap=True)
    record = {
        "layout": _LAYOUT,
        "audit": made.to_dict(),
        "labels": None if known is None else known.source,
        "standardize": standardize,
    }
    write_json(json, dumps(record, indent=1))


def _made(
    source: DataFileOptions, path: Path | None, target: str | None, standardize: bool, settings: dict[str, Any]
) -> tuple[Audit, Labels | None]:
    """Return the audit, and the labels that it was made with."""
    import warnings

    from sklearn.exceptions import DataDimensionalityWarning

    from slimline.auditing import audit as make_audit
    from slimline.cli.data_file import explained_errors
    from slimline.cli.labels import known_labels
    from slimline.cli.options import in_options
    from slimline.cli.output import progress

    with progress() as bar, explained_errors(), in_options(_OPTIONS, standardize):
        task = bar.add_task(f"opening {source.path.name}", total=None)

        def drawn(done: int, total: int) -> None:
            bar.update(task, description=f"{done} of {total} draws", completed=done, total=total)

        matrix = source.open()
        if path is not None:
            bar.update(task, description=f"reading {path.name}")
        labels = known_labels(matrix, path, target)
        if labels is not None and not labels.complete:
            matrix = matrix.rows(labels.rows)
        if standardize:
            matrix = matrix.standardised("mean", "std", "mean")
        bar.update(task, description="measuring the data before the projection")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataDimensionalityWarning)  # a note of the audit says it
            return make_audit(matrix, None if labels is None else labels.values, progress=drawn, **settings), labels


def _words(labels: Labels | None) -> str:
    return "none known, so no margins: add --labels FILE --target COLUMN" if labels is None else labels.source


def _rows(text: str) -> int | str | None:
    if text == _ALL:
        return None
    if text == _AUTO:
        return text
    if not text.isdecimal() or not 2 <= int(text) <= _MOST_ROWS:
        raise InvalidParameterError(
            f"--rows {text}: give a number of rows from 2 to {_MOST_ROWS:,}, {_AUTO} or {_ALL}."
        )
    return int(text)
