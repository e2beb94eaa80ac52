"""A plan for the terminal: what we would do, what is known, the guarantees, the costs, and the code."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps
from math import isfinite
from textwrap import fill
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from slimline.planning.advice import duration, size
from slimline.planning.records import Cost, Guarantee, Plan

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_CODE_WIDTH = 76


def plan_view(plan: Plan, labels: str, *, every: bool = False) -> RenderableType:
    """Return a plan for the terminal.

    Parameters
    ----------
    plan : Plan
        What to show.
    labels : str
        Where the labels come from, in words.
    every : bool
        Whether all guarantees are shown, instead of the most telling ones.

    Returns
    -------
    view : renderable
        For `rich`.
    """
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

    Parameters
    ----------
    guarantees : sequence of Guarantee
        All of them.

    Returns
    -------
    guarantees : list of Guarantee
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
    """Return the Python that does what is advised.

    Parameters
    ----------
    plan : Plan
        The advice.
    opened : str, optional
        Expression that opens the data; None where there are none yet.
    carries_labels : bool
        Whether the data carry the labels.

    Returns
    -------
    code : str
        A few lines; the last one fits the model.
    """
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
