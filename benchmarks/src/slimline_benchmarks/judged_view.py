"""A judged case for the terminal: time, memory, what was reached and with which settings, targets."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from slimline._base.text import format_bytes, format_ratio, format_seconds
from slimline_benchmarks.compare import judge, ratio, share
from slimline_benchmarks.judged import JudgedMeasurement
from slimline_benchmarks.record import CaseResult, Measurement, Role
from slimline_benchmarks.table import case_view, format_value

_HEADINGS = {"error": "certified\nerror", "gap": "relative\ngap", "off": "off by\nat most"}
_STYLE: dict[Role, str] = {"limit": "cyan", "ours": "bold", "peer": ""}


def judged_case_view(case: CaseResult, yardstick: str = "") -> RenderableType:
    """Return a case as a heading, a table of its contenders, and a line for each target.

    Parameters
    ----------
    case : CaseResult
        The case.
    yardstick : str
        The one of ours that the others are compared with.

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
    remarks = [f"{m.limit}: {part:.0%} of the time of {m.contender}." for m, part in _shares(case)]
    remarks += ["In brackets: what was asked for was not reached."] if tried else []
    said = [Text(remark, style="dim") for remark in remarks]
    return Group(heading, Text(""), _contenders(case, measured_by(case, yardstick)), *said, *_targets(case))


def measured_by(case: CaseResult, yardstick: str = "") -> Measurement | None:
    """Return the one of ours that the others are compared with: the one that is named, else the fastest."""
    ours = [m for m in case.of_role("ours") if m.best is not None]
    named = next((m for m in ours if m.contender == yardstick), None)
    return named or min(ours, key=lambda m: m.best or 0.0, default=None)


def _shares(case: CaseResult) -> list[tuple[Measurement, float]]:
    parts = [(m, share(case, m)) for m in case.of_role("ours")]
    return [(m, part) for m, part in parts if part is not None]


def _contenders(case: CaseResult, yardstick: Measurement | None) -> Table:
    members = [m for m in case.measurements if isinstance(m, JudgedMeasurement)]
    quantity = next((m.quantity for m in members), "error")
    numbers = any(m.found is not None for m in members)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    table.add_column("contender", no_wrap=True)
    own = "" if yardstick is None else "ours" if len(case.of_role("ours")) == 1 else yardstick.contender.split()[-1]
    for heading in ("time", "memory", *(["found"] if numbers else []), _HEADINGS[quantity], own and f"{own}\n/ it"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("settings")
    for role, style in _STYLE.items():
        group = [m for m in members if m.role == role]
        for m in group:
            beside = None if yardstick is None else ratio(case, yardstick.contender, m.contender)
            table.add_row(
                m.contender,
                _time(m),
                format_bytes(m.extra_bytes if m.best is not None else None),
                *(["" if m.found is None else f"{m.found:.7g}"] if numbers else []),
                _reached(m),
                "" if yardstick is m or beside is None else format_ratio(beside),
                _settings(m),
                style=style,
                end_section=role != "peer" and m is group[-1],
            )
    return table


def _time(m: JudgedMeasurement) -> Text:
    """Return the time; in brackets where it was spent in vain."""
    if m.tried_seconds is not None:
        return Text(f"({format_seconds(m.tried_seconds)})", style="yellow")
    return Text(format_seconds(m.best))


def _reached(m: JudgedMeasurement) -> Text:
    if m.reached is None:
        return Text("" if m.role == "limit" else "–")
    return Text(format_error(m.reached), style="" if m.status == "measured" else "yellow")


def format_error(value: float) -> str:
    """Return an error with two digits; from 1 on it says nothing."""
    return "≥ 1" if not value < 1.0 else f"{value:.2g}" if value >= 1e-3 else f"{value:.1e}"


def _settings(m: JudgedMeasurement) -> Text:
    if m.status == "measured" or m.tried_seconds is not None:
        words = m.setting or ("" if m.passes is None else f"{m.passes} passes")
        return Text(f"{words}, {m.note}" if m.note else words)
    style = "red" if m.status == "failed" and m.role != "peer" else "yellow"
    return Text(f"{m.status}: {m.note}" if m.note else m.status, style=style)


def _targets(case: CaseResult) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for verdict in (judge(case, target) for target in case.targets):
        mark, style = {True: ("✓", "green"), False: ("✗", "red"), None: ("?", "dim")}[verdict.met]
        text = f"{mark} {verdict.target.contender}: {verdict.text}; measured {format_value(verdict)}"
        lines.append(Text(text, style=style))
    return [Text(""), *lines] if lines else []


def print_judged_case(console: Console, case: CaseResult, yardstick: str = "") -> None:
    """Print a case."""
    console.print(judged_case_view(case, yardstick))
