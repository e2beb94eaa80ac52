"""A case of learning for the terminal: time, memory, what was reached and with which settings, targets."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from slimline.bench.compare import judge, ratio
from slimline.bench.learn import names
from slimline.bench.learn.run import JudgedMeasurement
from slimline.bench.record import CaseResult, Measurement, Role
from slimline.bench.table import case_view, format_bytes, format_ratio, format_seconds, format_value

_HEADINGS = {"error": "certified\nerror", "gap": "relative\ngap"}

_STYLE: dict[Role, str] = {"ours": "bold", "peer": ""}


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
    tried = any(isinstance(m, JudgedMeasurement) and m.tried_seconds is not None for m in case.measurements)
    remark = [Text("In brackets: what was asked for was not reached.", style="dim")] if tried else []
    return Group(heading, Text(""), _contenders(case), *remark, *_targets(case))


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
    label = "" if yardstick is None else f"{yardstick.contender.split()[-1]}\n/ it"
    table.add_column(label, justify="right", no_wrap=True)
    table.add_column("settings")
    for role, style in _STYLE.items():
        members = case.of_role(role)
        for m in members:
            assert isinstance(m, JudgedMeasurement)
            last = role == "ours" and m is members[-1]
            beside = None if yardstick is None else ratio(case, yardstick.contender, m.contender)
            table.add_row(
                m.contender,
                _time(m),
                format_bytes(m.extra_bytes if m.best is not None else None),
                _reached(m),
                "" if yardstick is m or beside is None else format_ratio(beside),
                _settings(m),
                style=style,
                end_section=last,
            )
    return table


def _time(m: JudgedMeasurement) -> Text:
    """Return the time; in brackets where it was spent in vain."""
    if m.tried_seconds is not None:
        return Text(f"({format_seconds(m.tried_seconds)})", style="yellow")
    return Text(format_seconds(m.best))


def _reached(m: JudgedMeasurement) -> Text:
    if m.reached is None:
        return Text("–")
    return Text(format_error(m.reached), style="" if m.status == "measured" else "yellow")


def format_error(value: float) -> str:
    """Return an error with two digits; from 1 on it says nothing about the weights."""
    return "≥ 1" if value >= 1.0 else f"{value:.2g}" if value >= 1e-3 else f"{value:.1e}"


def _settings(m: JudgedMeasurement) -> Text:
    if m.status == "measured" or m.tried_seconds is not None:
        words = m.setting or ("" if m.passes is None else f"{m.passes} passes")
        return Text(f"{words}, {m.note}" if m.note else words)
    style = "red" if m.status == "failed" and m.role == "ours" else "yellow"
    return Text(f"{m.status}: {m.note}" if m.note else m.status, style=style)


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
