"""`slimline plan`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from json import dumps
from math import isfinite
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from slimline.cli._options import Loss, Method
from slimline.errors import InvalidParameterError
from slimline.planning._records import Cost, Guarantee, Plan, duration, size

if TYPE_CHECKING:
    from slimline.cli._labels import Labels
    from slimline.cli._options import DataFileOptions
    from slimline.data import Matrix

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_CODE_WIDTH = 76


def plan_view(plan: Plan, labels: str, *, every: bool = False) -> RenderableType:
    """Return a plan for the terminal."""
    return Group(
        Panel(_advice(plan), title="In plain words", title_align="left", border_style="green", padding=(1, 2)),
        _heading("What is known"),
        Padding(_known(plan, labels), (0, 2)),
        _heading(f"What each guarantee asks for at ε = {plan.eps:g}, δ = {plan.delta:g}"),
        Padding(_guarantees(plan, every), (0, 2)),
        _heading(f"What each way to a certified error of {plan.tol:g} costs"),
        Padding(_costs(plan), (0, 2)),
    )


def telling(guarantees: Sequence[Guarantee]) -> list[Guarantee]:
    """Return, for each thing that can be kept, the guarantee that asks for the least.

    In their order. A theorem goes before one that holds in the limit only; one that does not speak of this eps is
    there only if no other does for the same thing; what any dimension keeps is left out.
    """
    best: dict[str, Guarantee] = {}
    for row in guarantees:
        if row.dimension == 1:
            continue
        kept = row.about.partition(",")[0]
        if kept not in best or _rank(row) < _rank(best[kept]):
            best[kept] = row
    chosen = {id(row) for row in best.values()}
    return [row for row in guarantees if id(row) in chosen]


def plan_code(plan: Plan, opened: str | None, carries_labels: bool) -> str:
    """Return the Python that does what is advised."""
    names = "CertifiedClassifier" + (", open_matrix" if opened else "")
    given = ", ".join(f"{name}={_literal(value)}" for name, value in plan.parameters.items())
    call = f"model = CertifiedClassifier({given})"
    if len(call) > _CODE_WIDTH:
        inside = fill(given + ",", _CODE_WIDTH, initial_indent="    ", subsequent_indent="    ")
        call = f"model = CertifiedClassifier(\n{inside}\n)"
    lines = [f"from slimline import {names}", "", call]
    if opened:
        lines.insert(2, f"X = {opened}")
    lines.append("model.fit(X)" if carries_labels else "model.fit(X, y)  # y: the label of each row")
    return "\n".join(lines)


def count(value: float) -> str:
    """Return a number of dimensions: in full below ten million, else with a power of ten."""
    if value < 1e7:
        return f"{value:,.0f}"
    mantissa, _, exponent = f"{value:.1e}".partition("e+")
    return f"{mantissa}·10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def _rank(row: Guarantee) -> tuple[bool, bool, float]:
    return row.dimension is None, row.kind != "theorem", float("inf") if row.dimension is None else row.dimension


def _literal(value: Any) -> str:
    return dumps(value) if isinstance(value, str) else repr(value)


def _heading(text: str) -> RenderableType:
    return Padding(Rule(Text(text, style="bold magenta"), align="left", style="magenta"), (1, 0, 1, 0))


def _advice(plan: Plan) -> Text:
    first, _, rest = plan.advice.partition(". ")
    return Text.assemble((f"{first.rstrip('.')}.", "bold"), f" {rest}" if rest else "")


def _known(plan: Plan, labels: str) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    stored = "dense" if plan.density is None else f"{100 * plan.density:.2g} % of the values stored"
    table.add_row("data", f"{plan.n_samples:,} samples × {plan.n_features:,} features, {stored}")
    table.add_row("classes", f"{plan.n_classes}" + (f" ({labels})" if labels else ""))
    standardised = ", standardised" if plan.standardize else ""
    intercept = "" if plan.fit_intercept else ", no intercept"
    table.add_row("task", f"{plan.loss.replace('_', ' ')}, C = {plan.C:g}{standardised}{intercept}")
    table.add_row(
        "effective dimension", f"{plan.effective_dimension:,.0f} (of at most {min(plan.n_samples, plan.n_features):,})"
    )
    table.add_row("certified error", f"{_errors(plan)} (expected with a sketch)")
    table.add_row("margin", _margin(plan))
    looked = "from sizes alone, for data that have nothing in common: the hardest case"
    if plan.passes:
        looked = f"{plan.source}; {plan.passes} passes"
    table.add_row("this plan", f"{looked}; {duration(plan.seconds)}")
    return table


def _errors(plan: Plan) -> str:
    parts = [
        f"{error:.{2 if error >= 1 else 1}g} after {steps}" if isfinite(error) else f"none yet after {steps}"
        for steps, error in plan.errors.items()
    ]
    return ", ".join(parts) + " steps"


def _margin(plan: Plan) -> str:
    if plan.margin is None:
        return f"not known: {plan.margin_note}"
    said = f"{plan.margin:.3g} ({plan.margin_note})"
    if plan.margin_dimension is None:
        return said
    kept = "it positive" if plan.margin > 0 else "the other rows on their side"
    said += f"; by the exact law, {_dimensions(plan, plan.margin_dimension)} keep {kept}"
    if plan.most_dimension is not None and plan.most_dimension < plan.margin_dimension:
        said += f", and {_dimensions(plan, plan.most_dimension)} do for 99 % of the rows"
    return said


def _dimensions(plan: Plan, wanted: int) -> str:
    saves = "" if wanted < plan.n_features else ", more than there are features,"
    return f"{count(wanted)} Gaussian dimensions{saves}"


def _table(*columns: tuple[str, str]) -> Table:
    """Return a table whose first column takes what room is left, and goes on in the next line."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for k, (name, style) in enumerate(columns):
        table.add_column(name, justify="right" if k else "left", style=style, no_wrap=k > 0)
    return table


def _guarantees(plan: Plan, every: bool) -> RenderableType:
    shown = list(plan.guarantees) if every else telling(plan.guarantees)
    with_printed = any(row.printed is not None for row in shown)
    columns = [("what is kept", ""), ("bound", "dim"), ("asks for", ""), ("exact\nlaw", "cyan")]
    table = _table(*columns, *([("as\nprinted", "")] if with_printed else []))
    table.columns[1].justify = "left"
    for row in shown:
        note = "" if _order(row) else row.note
        kept = Text.assemble(row.about, (f" ({note})", "dim") if note else "")
        exact = "" if row.exact is None else count(row.exact)
        table.add_row(kept, row.name, _asked(row), exact, *([_printed(row)] if with_printed else []))
    return Group(table, Text(_reading(plan, shown, with_printed), style="dim"))


def _asked(row: Guarantee) -> Text:
    if row.dimension is None:
        return Text("–  ", style="dim")
    about = "" if row.kind == "theorem" else "~"
    return Text(f"{about}{count(row.dimension)} {'✓' if row.below_features else '✗'}", style=_verdict(row))


def _verdict(row: Guarantee) -> str:
    return "green" if row.below_features else "yellow"


def _printed(row: Guarantee) -> Text:
    if row.printed is None:
        return Text("")
    order = _order(row)
    return Text(f"~{count(row.printed)}" if order else count(row.printed), style="dim" if order else "red")


def _order(row: Guarantee) -> bool:
    """Say whether what is printed is an O(·)."""
    return "O(·)" in row.note


def _reading(plan: Plan, shown: Sequence[Guarantee], with_printed: bool) -> str:
    parts = [f"\n✓ fewer than the {plan.n_features:,} features, ✗ not: it saves nothing."]
    if any(row.exact is not None for row in shown):
        parts.append("Exact law: what the same claim takes with a Gaussian projection.")
    if with_printed:
        parts.append("As printed: what the document has in its place, which, without ~, does not hold.")
    if any(row.kind != "theorem" or _order(row) for row in shown):
        parts.append("~ in the limit, or up to a constant.")
    left = len(plan.guarantees) - len(shown)
    if left:
        parts.append(f"Shown is the least that is asked for each thing kept; --all shows {left} more.")
    return " ".join(parts)


def _costs(plan: Plan) -> RenderableType:
    table = _table(("way", ""), ("components", ""), ("steps", ""), ("passes", ""), ("time", ""), ("memory", ""))
    notes = []
    for cost in sorted(plan.costs, key=lambda cost: cost.seconds):
        possible = isfinite(cost.seconds)
        chosen = cost == plan.choice
        table.add_row(
            f"{'→' if chosen else ' '} {cost.label}",
            f"{cost.n_components:,}" if cost.n_components else "",
            *(
                (str(cost.steps), str(cost.passes), duration(cost.seconds), size(cost.nbytes))
                if possible
                else ["–"] * 4
            ),
            style="bold green" if chosen else "" if possible else "dim",
        )
        if not possible and _reason(cost) not in notes:
            notes.append(_reason(cost))
    notes.insert(0, "→ what we would take. Memory: beside the data.")
    return Group(table, Text("\n" + " ".join(notes), style="dim"))


def _reason(cost: Cost) -> str:
    return f"{cost.method}: {cost.note}."


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

    from slimline.cli._options import DataFileOptions, require_number
    from slimline.cli._output import check_json_path, tables, write_json
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
    from slimline.cli._labels import known_labels
    from slimline.cli._options import explained_errors, in_options
    from slimline.cli._output import progress
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
