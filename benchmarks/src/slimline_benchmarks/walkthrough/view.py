"""The demonstration for the terminal: three tables and a summary in plain words."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from slimline._base.text import format_bytes, format_seconds
from slimline_benchmarks.walkthrough.records import TOP, DemoResult, Distortion, FamilyResult

_SHOWN = 5


def demo_view(result: DemoResult) -> RenderableType:
    """Return the whole demonstration."""
    return Group(
        _heading("1  The data"),
        Padding(_data(result), (0, 2)),
        _heading("2  Sketching: fewer numbers, the same distances"),
        Padding(Group(_families(result), _reading(result)), (0, 2)),
        _heading("3  Which variants matter?"),
        Padding(Group(_weights(result), _top(result)), (0, 2)),
        Text(""),
        Panel(_summary(result), title="In plain words", title_align="left", border_style="green", padding=(1, 2)),
    )


def _heading(text: str) -> RenderableType:
    return Padding(Rule(Text(text, style="bold magenta"), align="left", style="magenta"), (1, 0, 1, 0))


def _data(result: DemoResult) -> Text:
    s = result.settings
    return Text.assemble(
        (f"{s.people:,} people × {s.variants:,} genetic variants", "bold"),
        f" (0, 1 or 2 copies of an allele, {format_bytes(result.input_bytes)} as int8), simulated: {s.populations} "
        f"populations that drifted apart a little (Fst {s.fst:g}). The task: tell from which one a person comes.",
    )


def _table(*columns: tuple[str, str]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for name, style in columns:
        table.add_column(name, justify="right" if table.columns else "left", style=style, no_wrap=True)
    return table


def _families(result: DemoResult) -> Table:
    table = _table(
        ("projection", "bold"),
        ("time", ""),
        ("memory", ""),
        ("R, if\nstored", "dim"),
        ("typical\nchange", ""),
        ("worst\nchange", ""),
        ("accuracy", ""),
    )
    law = _distortion(result.law)
    table.add_row("the exact law says", "", "", "", *law, "", style="cyan", end_section=True)
    for family in result.families:
        table.add_row(*_family(family), end_section=family is result.families[-1])
    if result.peer is not None:
        table.add_row(*_family(result.peer), style="yellow")
    return table


def _family(family: FamilyResult) -> tuple[str, ...]:
    return (
        family.title,
        format_seconds(family.seconds),
        format_bytes(family.extra_bytes),
        format_bytes(family.stored_bytes),
        *_distortion(family.distortion),
        _percent(family.accuracy),
    )


def _distortion(distortion: Distortion) -> tuple[str, str]:
    return f"{100 * distortion.typical:.1f} %", f"{100 * distortion.worst:.0f} %"


def _percent(part: float) -> str:
    """Return a part in percent; 100 % only if it is all of it."""
    return "100 %" if part == 1 else f"{min(99.9, 100 * part):.1f} %"


def _reading(result: DemoResult) -> Text:
    s = result.settings
    gaussian = next(one for one in result.families if one.family == "gaussian")
    return Text(
        f"\n{s.variants:,} numbers a person become {s.components:,}. Memory: above the data and the sketch. Change: of "
        f"the squared distances of all {result.pairs:,} pairs of people. The law is exact for Gaussian R and says that "
        f"{_percent(result.law.beyond)} of pairs change by more than 10 %; measured: "
        f"{_percent(gaussian.distortion.beyond)}. Accuracy: a "
        "linear classifier trained on the sketch, asked about people it has not seen.",
        style="dim",
    )


def _weights(result: DemoResult) -> Table:
    table = _table(
        ("weights of the variants", "bold"),
        ("time", ""),
        ("accuracy", ""),
        ("cosine\nto exact", ""),
        (f"of the exact\ntop {TOP}", ""),
    )
    for one in (result.full, result.lifted, result.looked_back):
        exact = one is result.full
        cosine, found = ("", "") if exact else (f"{one.cosine:.2f}", f"{one.found}")
        style = "cyan" if exact else ""
        table.add_row(one.title, format_seconds(one.seconds), _percent(one.accuracy), cosine, found, style=style)
        if exact:
            table.add_section()
    return table


def _top(result: DemoResult) -> RenderableType:
    table = _table(("top variants", "bold"), ("weight", ""), ("exact\nrank", ""), ("rarest", ""), ("most\ncommon", ""))
    for one in result.top[:_SHOWN]:
        table.add_row(
            f"variant {one.variant:,}",
            f"{one.weight:.2e}",
            f"{one.exact_rank:,}",
            f"{100 * one.lowest:.0f} %",
            f"{100 * one.highest:.0f} %",
        )
    note = Text(
        f"\nTimes include projecting ({result.chosen}) and training. Rarest, most common: the allele's true frequency "
        "in the populations where it is so.",
        style="dim",
    )
    return Group(Text(""), table, note)


def _summary(result: DemoResult) -> RenderableType:
    s = result.settings
    chosen = next(one for one in result.families if one.title == result.chosen)
    points = [
        f"A sketch replaces each person's {s.variants:,} numbers by {s.components:,} random mixtures of them. Squared "
        f"distances between people change little: typically by {100 * chosen.distortion.typical:.1f} %, "
        f"where the law foretells {100 * result.law.typical:.1f} %.",
        f"The random matrix R that mixes them is never stored: {_spared(result)}.",
        f"A classifier trained on the sketch alone gets {_percent(chosen.accuracy)} of unseen people right; trained on "
        f"all variants, {_percent(result.full.accuracy)}.",
        f"Lifting its weights back gives a model on the original variants that predicts the same for "
        f"{result.same_predictions:,} of {result.tested:,} people. But do not rank variants by it: it finds "
        f"{result.lifted.found} of the {TOP} that matter most.",
        f"One more look at the data repairs that: {result.looked_back.found} of {TOP}, in "
        f"{format_seconds(result.looked_back.seconds)} instead of {format_seconds(result.full.seconds)}"
        f"{_memory_of_full(result)}.",
    ]
    grid = Table.grid(padding=(0, 1))
    for point in points:
        grid.add_row(Text("•", style="green"), point)
    return grid


def _spared(result: DemoResult) -> str:
    dense = next(one for one in result.families if one.family == "gaussian")
    text = f"{format_bytes(dense.stored_bytes)} that nobody needs"
    if dense.extra_bytes is None:
        return text
    text += f", {format_bytes(dense.extra_bytes)} in use at the peak"
    if result.peer is not None:
        text += f" (scikit-learn: {format_bytes(result.peer.extra_bytes)})"
    return text


def _memory_of_full(result: DemoResult) -> str:
    return (
        ""
        if result.full_extra_bytes is None
        else f" and {format_bytes(result.full_extra_bytes)} for training on everything"
    )
