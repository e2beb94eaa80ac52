"""`slimline bench`: compare with other libraries on this machine."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slimline.bench import Case

EXAMPLES = """[bold]Examples[/bold]

slimline bench projections --quick

slimline bench projections --threads 1 --case 'dense*' --json dense.json

slimline bench projections --list"""

app = typer.Typer(
    help="Compare slimline with other libraries, all taking turns in one run on this machine.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.callback()
def bench() -> None:
    """Compare slimline with other libraries, all taking turns in one run on this machine."""


@app.command(epilog=EXAMPLES)
def projections(
    case: Annotated[
        list[str] | None,
        typer.Option("--case", metavar="NAME", help="Only these cases (* and ? allowed); may be repeated."),
    ] = None,
    threads: Annotated[str, typer.Option(metavar="N|all", help="Threads that everyone is allowed.")] = "all",
    repeats: Annotated[int, typer.Option(min=1, help="Timed runs of each contender, at least; the best counts.")] = 5,
    budget: Annotated[float, typer.Option(min=0.001, help="Seconds that one contender may take in one case.")] = 120.0,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, for a quick look; no targets.")] = False,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write machine, settings and all times as JSON; - for stdout.")
    ] = None,
    list_cases: Annotated[bool, typer.Option("--list", help="Show the cases and stop.")] = False,
) -> None:
    """Time every projection family against scikit-learn, SciPy and NumPy.

    Time is fit and transform together, the best of several runs. Memory is the peak above the data and the result.
    Speed stands beside what the machine can do at best, measured in the same run.
    """
    from slimline._kernels import instruction_set
    from slimline.bench import Report, Settings, run_suite
    from slimline.bench.machine import describe_machine, parse_threads
    from slimline.bench.projections import projection_cases
    from slimline.bench.table import machine_lines, print_case, summary_view
    from slimline.cli.output import STANDARD_OUTPUT, check_json_path, progress, tables, write_json

    check_json_path(json)
    console = tables(json)
    count = parse_threads(threads)
    cases = chosen(projection_cases(count, instruction_set(), quick), case or [])
    if list_cases:
        for one in cases:
            console.print(f"[bold]{one.name:<18}[/bold] {one.title}", soft_wrap=True)
        return
    settings = {"threads": count, "repeats": repeats, "budget": budget, "quick": quick}
    report = Report("projections", describe_machine(count), settings, ())
    console.print(machine_lines(report))
    with progress() as bar:
        task = bar.add_task("", total=None)
        results = run_suite(
            cases,
            Settings(count, repeats, budget),
            lambda step, done, total: bar.update(task, description=step, completed=done, total=total),
        )
        for result in results:
            report = Report(report.suite, report.machine, report.settings, (*report.cases, result))
            print_case(console, result)
            if json != STANDARD_OUTPUT:
                write_json(json, report.to_json())  # what is measured is kept, whatever happens next
    console.print(summary_view(report))
    if json == STANDARD_OUTPUT:
        write_json(json, report.to_json())
    if any(m.status == "failed" for one in report.cases for m in one.of_role("ours")):
        raise typer.Exit(1)


def chosen(cases: Sequence[Case], patterns: Sequence[str]) -> list[Case]:
    """Return the cases whose names match one of the patterns; all of them without patterns.

    Parameters
    ----------
    cases : sequence of Case
        All there are.
    patterns : sequence of str
        Names, with * and ? as in a shell.

    Returns
    -------
    cases : list of Case
        Those that match, in their own order.
    """
    for pattern in patterns:
        if not any(fnmatchcase(case.name, pattern) for case in cases):
            raise InvalidParameterError(
                f"--case {pattern}: there is none. Choose from {', '.join(c.name for c in cases)}."
            )
    return [case for case in cases if not patterns or any(fnmatchcase(case.name, pattern) for pattern in patterns)]
