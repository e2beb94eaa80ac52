"""Running the cases of a suite, with a progress bar, tables and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slimline_benchmarks import Case, CaseResult


def show_cases(cases: Sequence[Case]) -> None:
    """Print the names and titles of cases.

    Parameters
    ----------
    cases : sequence of Case
        Which.
    """
    from slimline.cli._output import tables

    console = tables(None)
    width = max((len(one.name) for one in cases), default=0)
    for one in cases:
        console.print(f"[bold]{one.name:<{width}}[/bold] {one.title}", soft_wrap=True)


def measure(
    suite: str,
    cases: Sequence[Case],
    settings: dict[str, Any],
    json: Path | None,
    *,
    run: Callable[..., CaseResult] | None = None,
    show: Callable[[Any, CaseResult], None] | None = None,
) -> None:
    """Run the cases of a suite, and show and write what was measured.

    Parameters
    ----------
    suite : str
        Name of the suite.
    cases : sequence of Case
        What to run.
    settings : dict
        Threads, repeats and budget, and what else the record should tell.
    json : Path, optional
        Where the record goes.
    run : callable, optional
        Runs a case; `run_case` unless given.
    show : callable, optional
        Prints a case; `print_case` unless given.
    """
    from slimline._base.system import describe_machine
    from slimline.cli._output import STANDARD_OUTPUT, progress, tables, write_json
    from slimline_benchmarks import Report, Settings, run_suite
    from slimline_benchmarks.table import machine_lines, print_case, summary_view

    console = tables(json)
    report = Report(suite, describe_machine(settings["threads"]), settings, ())
    console.print(machine_lines(report))
    with progress() as bar:
        task = bar.add_task("", total=None)
        results = run_suite(
            cases,
            Settings(settings["threads"], settings["repeats"], settings["budget"]),
            lambda step, done, total: bar.update(task, description=step, completed=done, total=total),
            run,
        )
        for result in results:
            report = Report(report.suite, report.machine, report.settings, (*report.cases, result))
            (show or print_case)(console, result)
            if json != STANDARD_OUTPUT:
                write_json(json, report.to_json())  # what is measured is kept, whatever happens next
    console.print(summary_view(report))
    if json == STANDARD_OUTPUT:
        write_json(json, report.to_json())
    if any(m.status == "failed" for one in report.cases for m in one.of_role("ours")):
        raise typer.Exit(1)


def measure_judged(
    suite: str, cases: Sequence[Case], settings: dict[str, Any], json: Path | None, *, yardstick: str = ""
) -> None:
    """Run the cases of a suite whose answers are judged, and show and write what was measured and found.

    Parameters
    ----------
    suite : str
        Name of the suite.
    cases : sequence of JudgedCase
        What to run.
    settings : dict
        As `measure` has them.
    json : Path, optional
        Where the record goes.
    yardstick : str
        The one of ours that the others are compared with, where there are several.
    """
    from functools import partial

    from slimline_benchmarks.judged import run_judged_case
    from slimline_benchmarks.judged_view import print_judged_case

    show = partial(print_judged_case, yardstick=yardstick)
    measure(suite, cases, settings, json, run=run_judged_case, show=show)
