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

from slimline._base.text import duration, scientific, size
from slimline.cli import _options as options
from slimline.errors import InvalidParameterError
from slimline.planning._records import Cost, Guarantee, Plan

if TYPE_CHECKING:
    from slimline.cli._labels import Labels
    from slimline.cli._options import DataFileOptions

_CODE_WIDTH = 76


def plan_view(plan: Plan, labels: str, *, every: bool = False) -> RenderableType:
    """Return a plan for the terminal."""
    return Group(
        Panel(_advice(plan), title="Recommendation", title_align="left", border_style="green", padding=(1, 2)),
        _heading("Data and task"),
        Padding(_known(plan, labels), (0, 2)),
        _heading(f"Components that each guarantee needs at ε = {plan.eps:g}, δ = {plan.delta:g}"),
        Padding(_guarantees(plan, every), (0, 2)),
        _heading(f"Cost of each way to a certified error of {plan.tol:g} costs"),
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
    source = "from sizes alone, for independent samples: the hardest case"
    if plan.passes:
        source = f"{plan.source}; {plan.passes} passes"
    table.add_row("this plan", f"{source}; {duration(plan.seconds)}")
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
    return f"{scientific(wanted)} Gaussian dimensions{saves}"


def _table(*columns: tuple[str, str]) -> Table:
    """Return a table whose first column takes what room is left, and goes on in the next line."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for k, (name, style) in enumerate(columns):
        table.add_column(name, justify="right" if k else "left", style=style, no_wrap=k > 0)
    return table


def _guarantees(plan: Plan, every: bool) -> RenderableType:
    shown = list(plan.guarantees) if every else telling(plan.guarantees)
    with_printed = any(row.printed is not None for row in shown)
    columns = [("preserved", ""), ("bound", "dim"), ("needs", ""), ("exact\nlaw", "cyan")]
    table = _table(*columns, *([("as\nprinted", "")] if with_printed else []))
    table.columns[1].justify = "left"
    for row in shown:
        note = "" if _order(row) else row.note
        kept = Text.assemble(row.about, (f" ({note})", "dim") if note else "")
        exact = "" if row.exact is None else scientific(row.exact)
        table.add_row(kept, row.name, _asked(row), exact, *([_printed(row)] if with_printed else []))
    return Group(table, Text(_reading(plan, shown, with_printed), style="dim"))


def _asked(row: Guarantee) -> Text:
    if row.dimension is None:
        return Text("–  ", style="dim")
    about = "" if row.kind == "theorem" else "~"
    return Text(f"{about}{scientific(row.dimension)} {'✓' if row.below_features else '✗'}", style=_verdict(row))


def _verdict(row: Guarantee) -> str:
    return "green" if row.below_features else "yellow"


def _printed(row: Guarantee) -> Text:
    if row.printed is None:
        return Text("")
    order = _order(row)
    return Text(f"~{scientific(row.printed)}" if order else scientific(row.printed), style="dim" if order else "red")


def _order(row: Guarantee) -> bool:
    """Return whether the printed guarantee is an O(·)."""
    return "O(·)" in row.note


def _reading(plan: Plan, shown: Sequence[Guarantee], with_printed: bool) -> str:
    parts = [f"\n✓ fewer than the {plan.n_features:,} features; ✗ not fewer, so that nothing is saved."]
    if any(row.exact is not None for row in shown):
        parts.append("Exact law: what the same claim needs with a Gaussian projection.")
    if with_printed:
        parts.append("As printed: the number in the document, which does not hold unless marked ~.")
    if any(row.kind != "theorem" or _order(row) for row in shown):
        parts.append("~: in the limit, or up to a constant.")
    left = len(plan.guarantees) - len(shown)
    if left:
        parts.append(f"Of each quantity, the guarantee that needs least is shown; --all shows {left} more.")
    return " ".join(parts)


def _costs(plan: Plan) -> RenderableType:
    table = _table(("method", ""), ("components", ""), ("steps", ""), ("passes", ""), ("time", ""), ("memory", ""))
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
    notes.insert(0, "→ recommended. Memory: beyond the data.")
    return Group(table, Text("\n" + " ".join(notes), style="dim"))


def _reason(cost: Cost) -> str:
    return f"{cost.method}: {cost.note}."


EXAMPLES = """[bold]Examples[/bold]

slimline plan cohort.bed --labels cohort.labels.tsv --target population --standardize

slimline plan words.svm --tol 1e-3 --json plan.json

slimline plan --samples 2000 --features 500000 --dtype int8 --margin 0.3 --figure plan.png"""

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
    loss: options.LossName = options.Loss.squared_hinge,
    tol: options.Tolerance = 1e-2,
    method: options.MethodName = options.Method.auto,
    components: options.Components = None,
    standardize: options.Standardize = False,
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
    from slimline.cli._options import DataFileOptions
    from slimline.cli._output import check_json_path, require_different, tables, write_json
    from slimline.report import check_figure_path, plan_figure, save_figure

    check_json_path(json)
    require_different({"--figure": figure, "--json": json})
    if figure is not None:
        check_figure_path(figure)
    number("C", C)
    number("tol", tol)
    chance("eps", eps)
    chance("delta", delta)
    for name, value, most in (("margin", margin, 2.0), ("density", density, 1.0)):
        if value is not None:
            number(name, value, most=most)
    if data is None:
        _require_sizes(samples, features)
        own = {"--labels": labels, "--target": target, "--id": id, "--format": format, "--dataset": dataset}
        _refuse(own | {"--missing": missing}, "it describes a file, and there is no DATA")
    else:
        _refuse({"--features": features, "--density": density, "--dtype": dtype}, f"it is read from {data}")
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
    from slimline.cli._output import progress
    from slimline.planning import plan as make_plan

    with progress() as bar:
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


def _refuse(options: dict[str, Any], reason: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise InvalidParameterError(f"cannot be given here: {reason}.", option)
