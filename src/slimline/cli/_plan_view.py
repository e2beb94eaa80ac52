"""A plan in the terminal, and the Python that follows it."""

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

from slimline._base.text import duration, scientific, size
from slimline.planning._guarantees import NEEDS_CLASSES
from slimline.planning._records import Cost, Guarantee, Plan, beside, what_is_predicted

_CODE_WIDTH = 76


def plan_view(plan: Plan, labels: str, covariates: str = "", *, every: bool = False) -> RenderableType:
    """Return a plan for the terminal; where labels and covariates come from stands beside the task."""
    return Group(
        Panel(_advice(plan), title="Recommendation", title_align="left", border_style="green", padding=(1, 2)),
        _heading("Data and task"),
        Padding(_known(plan, labels, covariates), (0, 2)),
        _heading(f"Components that each guarantee needs at ε = {plan.eps:g}, δ = {plan.delta:g}"),
        Padding(_guarantees(plan, every), (0, 2)),
        _heading(f"Cost of each way to a certified error of {plan.tol:g}"),
        Padding(_costs(plan), (0, 2)),
    )


def telling(guarantees: Sequence[Guarantee]) -> list[Guarantee]:
    """Return, for each thing that can be kept, the guarantee that asks for the least.

    In their order. A theorem goes before one that holds in the limit only; one that does not speak of this eps is
    there only if no other does for the same thing; what any dimension keeps is left out, and what needs classes that a
    regression does not have.
    """
    best: dict[str, Guarantee] = {}
    for row in guarantees:
        if row.dimension == 1 or row.note == NEEDS_CLASSES:
            continue
        kept = row.about.partition(",")[0]
        if kept not in best or _rank(row) < _rank(best[kept]):
            best[kept] = row
    chosen = {id(row) for row in best.values()}
    return [row for row in guarantees if id(row) in chosen]


def plan_code(plan: Plan, opened: str | None, carries_labels: bool) -> str:
    """Return the Python that does what is advised."""
    names = plan.estimator + (", open_matrix" if opened else "")
    given = ", ".join(f"{name}={_literal(value)}" for name, value in plan.parameters.items())
    call = f"model = {plan.estimator}({given})"
    if len(call) > _CODE_WIDTH:
        inside = fill(given + ",", _CODE_WIDTH, initial_indent="    ", subsequent_indent="    ")
        call = f"model = {plan.estimator}(\n{inside}\n)"
    lines = [f"from slimline import {names}", "", call]
    if opened:
        lines.insert(2, f"X = {opened}")
    lines.append(_fit_line(plan, carries_labels))
    return "\n".join(lines)


def _fit_line(plan: Plan, carries_labels: bool) -> str:
    given, needed = ["X"], []
    if plan.task == "regression" and carries_labels:
        given.append("X.labels")
    elif not carries_labels:
        given.append("y")
        kind = "label" if plan.task == "classification" else "target" if plan.n_targets == 1 else "targets"
        needed.append(f"y: the {kind} of each row")
    if plan.n_covariates:
        given.append("covariates=U")
        needed.append(f"U: the {plan.n_covariates} covariates" if plan.n_covariates > 1 else "U: the covariate")
    return f"model.fit({', '.join(given)})" + (f"  # {'; '.join(needed)}" if needed else "")


def _rank(row: Guarantee) -> tuple[bool, bool, float]:
    return row.dimension is None, row.kind != "theorem", float("inf") if row.dimension is None else row.dimension


def _literal(value: Any) -> str:
    return dumps(value) if isinstance(value, str) else repr(value)


def _heading(text: str) -> RenderableType:
    return Padding(Rule(Text(text, style="bold magenta"), align="left", style="magenta"), (1, 0, 1, 0))


def _advice(plan: Plan) -> Text:
    first, _, rest = plan.advice.partition(". ")
    return Text.assemble((f"{first.rstrip('.')}.", "bold"), f" {rest}" if rest else "")


def _known(plan: Plan, labels: str, covariates: str) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    stored = "dense" if plan.density is None else f"{100 * plan.density:.2g} % of the values stored"
    table.add_row("data", f"{plan.n_samples:,} samples × {plan.n_features:,} features, {stored}")
    table.add_row("predicts", what_is_predicted(plan) + (f" ({labels})" if labels else ""))
    standardised = ", standardised" if plan.standardize else ""
    table.add_row("task", f"{plan.loss.replace('_', ' ')}, C = {plan.C:g}{standardised}{beside(plan)}")
    if covariates:
        table.add_row("covariates", covariates)
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
    if plan.task == "regression":
        return f"none: it {NEEDS_CLASSES}"
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
    if any(row.note == NEEDS_CLASSES for row in plan.guarantees):
        parts.append("Theorems about margins and classes are left out: a regression has none.")
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
