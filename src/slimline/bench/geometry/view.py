"""A case of geometry for the terminal: time, memory, what was found and how far off it is, targets."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from slimline.bench.compare import judge, ratio
from slimline.bench.geometry.run import GeometryMeasurement
from slimline.bench.record import CaseResult, Role
from slimline.bench.table import case_view, format_bytes, format_ratio, format_seconds, format_value

_STYLE: dict[Role, str] = {"limit": "cyan", "ours": "bold", "peer": ""}


def geometry_case_view(case: CaseResult) -> RenderableType:
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


def _contenders(case: CaseResult) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("contender", no_wrap=True)
    for heading in ("time", "memory", "found", "off by\nat most", "ours\n/ it"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("how")
    yardstick = next((m for m in case.of_role("ours") if m.best is not None), None)
    for role, style in _STYLE.items():
        members = case.of_role(role)
        for m in members:
            assert isinstance(m, GeometryMeasurement)
            beside = None if yardstick is None or m is yardstick else ratio(case, yardstick.contender, m.contender)
            table.add_row(
                m.contender,
                format_seconds(m.best),
                "" if role == "limit" else format_bytes(m.extra_bytes),
                "" if m.value is None else f"{m.value:.7g}",
                format_off(m.off),
                "" if beside is None else format_ratio(beside),
                _how(m),
                style=style,
                end_section=role != "peer" and m is members[-1],
            )
    return table


def format_off(value: float | None) -> str:
    """Return how far off an answer is, with two digits; from 1 on it says nothing."""
    if value is None:
        return ""
    return "≥ 1" if not value < 1.0 else f"{value:.1e}"


def _how(m: GeometryMeasurement) -> Text:
    if m.status == "measured":
        return Text(m.setting)
    style = "red" if m.status == "failed" and m.role != "peer" else "yellow"
    return Text(f"{m.status}: {m.note}" if m.note else m.status, style=style)


def _targets(case: CaseResult) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for verdict in (judge(case, target) for target in case.targets):
        mark, style = {True: ("✓", "green"), False: ("✗", "red"), None: ("?", "dim")}[verdict.met]
        text = f"{mark} {verdict.target.contender}: {verdict.text}; measured {format_value(verdict)}"
        lines.append(Text(text, style=style))
    return [Text(""), *lines] if lines else []


def print_geometry_case(console: Console, case: CaseResult) -> None:
    """Print a case."""
    console.print(geometry_case_view(case))
