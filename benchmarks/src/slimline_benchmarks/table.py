"""Results for the terminal: for each case who took how long, beside limits, targets and peers."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from slimline._base.text import format_bytes, format_ratio, format_seconds, three_digits
from slimline_benchmarks.compare import Verdict, judge, ratio, share
from slimline_benchmarks.record import CaseResult, Measurement, Report, Role

_STYLE = {"ours": "bold", "peer": "", "limit": "cyan"}
#: Above this the median of the runs is so far from the best that the machine was busy with something else.
_BUSY = 1.5
#: Shorter runs are disturbed by anything, which says nothing of the rest.
_TELLING_SECONDS = 1e-3
#: Widths of the first and of the other columns in the tables of ratios.
_NAME_WIDTH, _RATIO_WIDTH = 30, 14


def machine_lines(report: Report) -> RenderableType:
    """Return what the figures were measured on, in two lines."""
    machine = report.machine
    libraries = ", ".join(f"{name} {version}" for name, version in machine["libraries"].items() if version)
    threads = f"{machine['threads']} thread{'s' if machine['threads'] != 1 else ''}"
    memory = f", {format_bytes(machine['memory_bytes'])}" if machine["memory_bytes"] else ""
    first = f"{machine['cpu']}, {machine['cpus']} CPUs{memory}; {threads}, kernels for {machine['instruction_set']}"
    return Text(f"{first}\n{libraries}", style="dim")


def case_view(case: CaseResult, width: int = 120) -> RenderableType:
    """Return a case as a heading, a table of its contenders, and tables of ours against the peers.

    Parameters
    ----------
    case : CaseResult
        The case.
    width : int
        Columns of the terminal; where they do not take all peers side by side, there are several tables.

    Returns
    -------
    view : renderable
        For `rich`.
    """
    threads = f"{case.threads} thread{'s' if case.threads != 1 else ''}"
    heading = Text.assemble((f"\n{case.name}", "bold magenta"), f"  {case.title}, {threads}")
    if case.skipped:
        prefix = "" if case.skipped.startswith("absent") else "skipped: "
        return Group(heading, Text(prefix + case.skipped, style="yellow"))
    parts: list[RenderableType] = [heading, Text(""), _contenders(case)]
    if any(m.task for m in case.measurements):
        return Group(*parts, *_pairs(case), *_disturbance(case))
    peers = case.of_role("peer") if case.of_role("ours") else ()
    step = max(1, (width - _NAME_WIDTH) // _RATIO_WIDTH)
    for start in range(0, len(peers), step):
        parts += [Text(""), _ratios(case, peers[start : start + step])]
    return Group(*parts, *_disturbance(case))


def _contenders(case: CaseResult) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("contender", min_width=22)  # a longer name goes on in the next line
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("memory", justify="right", no_wrap=True)
    counted = any(m.passes is not None for m in case.measurements)
    if counted:
        table.add_column("passes", justify="right", no_wrap=True)
    table.add_column("speed", min_width=10)
    targets = any(target.quantity != "ratio" for target in case.targets)
    table.add_column("target" if targets else "", min_width=12 if targets else None)
    roles: tuple[Role, ...] = ("limit", "ours", "peer")
    for role in roles:
        members = case.of_role(role)
        for m in members:
            last = role != roles[-1] and m is members[-1]
            name, time, memory, *rest = _contender_row(case, m)
            passes = ["" if m.passes is None else str(m.passes)] if counted else []
            table.add_row(name, time, memory, *passes, *rest, style=_STYLE[role], end_section=last)
    return table


def _contender_row(case: CaseResult, m: Measurement) -> tuple[RenderableType, ...]:
    if m.status != "measured":
        # where one of ours does not take part by its own decision, nothing is wrong
        style = "red" if m.role != "peer" and m.status == "failed" else "yellow"
        return m.contender, "–", "–", "", Text(f"{m.status}: {m.note}" if m.note else m.status, style=style)
    part = share(case, m)
    speed = "" if m.rate is None else f"{three_digits(m.rate)} {m.unit}"
    if part is not None:
        speed += f", {part:.0%} of {m.limit}"
    verdicts = [judge(case, t) for t in case.targets if t.contender == m.contender and t.quantity != "ratio"]
    target = Text("\n").join(_verdict(v, v.text) for v in verdicts)
    memory = "" if m.role == "limit" else format_bytes(m.extra_bytes)
    return m.contender, format_seconds(m.best), memory, speed, target


def _ratios(case: CaseResult, peers: tuple[Measurement, ...]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("our time / theirs", no_wrap=True, style="bold")
    for peer in peers:
        table.add_column(peer.contender.replace(" ", "\n", 1), justify="right", no_wrap=True)
    targets = {(t.contender, t.peer): t for t in case.targets if t.quantity == "ratio"}
    for m in case.of_role("ours"):
        cells = []
        for peer in peers:
            if (target := targets.get((m.contender, peer.contender))) is not None:
                verdict = judge(case, target)
                cells.append(_verdict(verdict, f"≤ {target.bound:g}", before=f"{format_ratio(verdict.value)}\n"))
            else:
                cells.append(Text(format_ratio(ratio(case, m.contender, peer.contender))))
        table.add_row(m.contender, *cells)
    return table


def _pairs(case: CaseResult) -> list[RenderableType]:
    """Return ours beside each peer that did the same task: one row a pair, as most pairs did different ones."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("ours", no_wrap=True, style="bold")
    table.add_column("peer")
    table.add_column("our time / theirs", justify="right")
    targets = {(t.contender, t.peer): t for t in case.targets if t.quantity == "ratio"}
    for m in case.of_role("ours"):
        for peer in case.of_role("peer"):
            if m.task != peer.task or (value := ratio(case, m.contender, peer.contender)) is None:
                continue
            cell = Text(format_ratio(value))
            if (target := targets.get((m.contender, peer.contender))) is not None:
                cell = _verdict(judge(case, target), f"≤ {target.bound:g}", before=f"{format_ratio(value)}  ")
            table.add_row(m.contender, peer.contender, cell)
    return [Text(""), table] if table.row_count else []


def _disturbance(case: CaseResult) -> list[RenderableType]:
    busy = _busiest(case)
    return [Text(f"The machine was not quiet: {busy}.", style="yellow")] if busy else []


def _verdict(verdict: Verdict, text: str, before: str = "") -> Text:
    mark, style = {True: ("✓", "green"), False: ("✗", "red"), None: ("?", "dim")}[verdict.met]
    return Text.assemble(before, (f"{mark} {text}", style))


def _busiest(case: CaseResult) -> str:
    """Return by how much the limits, which do the same work in every run, were disturbed."""
    spreads = [
        (m.spread, m.contender)
        for m in case.of_role("limit")
        if m.spread is not None and m.best is not None and m.best > _TELLING_SECONDS and len(m.seconds) > 2
    ]
    spread, name = max(spreads, default=(1.0, ""))
    return f"half of the runs of “{name}” took {spread:.1f} times the best or more" if spread > _BUSY else ""


def summary_view(report: Report) -> RenderableType:
    """Return how many targets are met, and which are not."""
    verdicts = [(case, judge(case, target)) for case in report.cases for target in case.targets]
    judged = [(case, v) for case, v in verdicts if v.met is not None]
    if not judged:
        return Text("")
    missed = [(case, v) for case, v in judged if not v.met]
    head = Text(f"\nTargets: {len(judged) - len(missed)} of {len(judged)} met", style="bold")
    if len(judged) < len(verdicts):
        head.append(f", {len(verdicts) - len(judged)} not judged (a peer was not measured)", style="dim")
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in ("missed in", "contender", "target", "measured"):
        table.add_column(column, justify="right" if column == "measured" else "left")
    for case, v in missed:
        table.add_row(case.name, v.target.contender, v.text, format_value(v))
    return Group(head, table) if missed else head


def format_value(verdict: Verdict) -> str:
    """Return what was measured for a target, in the target's own measure."""
    value = verdict.value
    if value is None:
        return "–"
    match verdict.target.quantity:
        case "share":
            return f"{value:.0%}"
        case "memory":
            return format_bytes(value)
        case "seconds":
            return format_seconds(value)
        case "rate":
            return three_digits(value)
        case "ratio":
            return format_ratio(value)


def print_case(console: Console, case: CaseResult) -> None:
    """Print a case, as wide as the console is."""
    console.print(case_view(case, console.width))
