"""A case of learning for the terminal: time, memory, what was reached and with which settings, targets."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from slimline.bench.compare import judge, ratio
from slimline.bench.learn import names
from slimline.bench.learn.run import JudgedMeasurement
from slimline.bench.record import CaseResult, Measurement
from slimline.bench.table import case_view, format_bytes, format_ratio, format_seconds, format_value

_HEADINGS = {"error": "certified error", "gap": "relative gap"}


def learn_case_view(case: CaseResult) -> RenderableType:
    """Return a case as a heading, a table of its contenders, and a line for each target.

    Parameters
    ----------
    case : CaseResult
        The case.

    Returns
    -------
    view : renderable
        For `rich`.
    """
    if case.skipped:
        return case_view(case)
    threads = f"{case.threads} thread{'s' if case.threads != 1 else ''}"
    heading = Text.assemble((f"\n{case.name}", "bold magenta"), f"  {case.title}, {threads}")
    return Group(heading, Text(""), _contenders(case), *_targets(case))


def measured_by(case: CaseResult) -> Measurement | None:
    """Return the one of ours that the others are compared with: "auto", else the fastest."""
    ours = [m for m in case.of_role("ours") if m.best is not None]
    auto = next((m for m in ours if m.contender == names.AUTO), None)
    return auto or min(ours, key=lambda m: m.best or 0.0, default=None)


def _contenders(case: CaseResult) -> Table:
    yardstick = measured_by(case)
    quantity = next((m.quantity for m in case.measurements if isinstance(m, JudgedMeasurement)), "error")
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("contender", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("memory", justify="right", no_wrap=True)
    table.add_column(_HEADINGS[quantity], justify="right", no_wrap=True)
    table.add_column("settings", no_wrap=True)
    label = "" if yardstick is None else f"{yardstick.contender.split()[-1]} / it"
    table.add_column(label, justify="right", no_wrap=True)
    table.add_column("")
    for role, style in (("ours", "bold"), ("peer", "")):
        members = case.of_role("ours" if role == "ours" else "peer")
        for m in members:
            assert isinstance(m, JudgedMeasurement)
            last = role == "ours" and m is members[-1]
            beside = None if yardstick is None else ratio(case, yardstick.contender, m.contender)
            table.add_row(
                m.contender,
                format_seconds(m.best),
                format_bytes(m.extra_bytes if m.best is not None else None),
                _reached(m),
                _settings(m),
                "" if yardstick is m or beside is None else format_ratio(beside),
                _note(m),
                style=style,
                end_section=last,
            )
    return table


def _reached(m: JudgedMeasurement) -> Text:
    if m.reached is None:
        return Text("–")
    return Text(f"{m.reached:.1e}", style="" if m.status == "measured" else "yellow")


def _settings(m: JudgedMeasurement) -> str:
    return f"{m.passes} passes" if m.passes is not None else m.setting


def _note(m: JudgedMeasurement) -> Text:
    if m.status == "measured":
        return Text("")
    prefix = "" if m.tried_seconds is not None else f"{m.status}: "
    style = "red" if m.status == "failed" and m.role == "ours" else "yellow"
    return Text(f"{prefix}{m.note}" if m.note else m.status, style=style)


def _targets(case: CaseResult) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for verdict in (judge(case, target) for target in case.targets):
        mark, style = {True: ("✓", "green"), False: ("✗", "red"), None: ("?", "dim")}[verdict.met]
        text = f"{mark} {verdict.target.contender}: {verdict.text}; measured {format_value(verdict)}"
        lines.append(Text(text, style=style))
    return [Text(""), *lines] if lines else []


def print_learn_case(console: Console, case: CaseResult) -> None:
    """Print a case."""
    console.print(learn_case_view(case))
