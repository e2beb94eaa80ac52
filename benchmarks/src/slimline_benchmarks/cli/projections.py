"""`slimline bench projections`: every family of projections against scikit-learn, SciPy and NumPy."""

from __future__ import annotations

from slimline_benchmarks.cli.measure import measure, show_cases
from slimline_benchmarks.cli.options import Budget, Cases, Json, List, Quick, Repeats, Threads, chosen

EXAMPLES = """[bold]Examples[/bold]

slimline bench projections --quick

slimline bench projections --threads 1 --case 'dense*' --json dense.json

slimline bench projections --list"""


def projections(
    case: Cases = None,
    threads: Threads = "all",
    repeats: Repeats = 5,
    budget: Budget = 120.0,
    quick: Quick = False,
    json: Json = None,
    list_cases: List = False,
) -> None:
    """Time every projection family against scikit-learn, SciPy and NumPy.

    Time is fit and transform together, the best of several runs. Memory is the peak above the data and the result.
    Speed stands beside what the machine can do at best, measured in the same run.
    """
    from slimline._kernels import instruction_set
    from slimline.cli._output import check_json_path
    from slimline_benchmarks.machine import parse_threads
    from slimline_benchmarks.projections import projection_cases

    check_json_path(json)
    count = parse_threads(threads)
    cases = chosen(projection_cases(count, instruction_set(), quick), case or [])
    if list_cases:
        show_cases(cases)
        return
    measure("projections", cases, {"threads": count, "repeats": repeats, "budget": budget, "quick": quick}, json)
