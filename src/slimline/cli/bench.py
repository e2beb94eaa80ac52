"""`slimline bench`: compare with other libraries on this machine."""

from __future__ import annotations

from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slimline.bench import Case, CaseResult
    from slimline.bench.geometry import GeometrySizes
    from slimline.bench.learn import LearnSizes
    from slimline.bench.matrix import Sizes

EXAMPLES = """[bold]Examples[/bold]

slimline bench projections --quick

slimline bench projections --threads 1 --case 'dense*' --json dense.json

slimline bench projections --list"""

MATRIX_EXAMPLES = """[bold]Examples[/bold]

slimline bench matrix --quick

slimline bench matrix --only formats --size 4GB --folder /scratch --json formats.json

slimline bench matrix --case 'genotypes-plink-*' --threads 1"""

LEARN_EXAMPLES = """[bold]Examples[/bold]

slimline bench learn --quick

slimline bench learn --case 'dense-*' --samples 500 --features 20000

SLIMLINE_DATA=/data slimline bench learn --case 'farm-ads-*' --json farm-ads.json"""

GEOMETRY_EXAMPLES = """[bold]Examples[/bold]

slimline bench geometry --quick

slimline bench geometry --only ball --samples 1000 --budget 60

SLIMLINE_DATA=/data slimline bench geometry --case 'dorothea-*' --json dorothea.json"""

#: `--case NAME`
Cases = Annotated[
    list[str] | None,
    typer.Option("--case", metavar="NAME", help="Only these cases (* and ? allowed); may be repeated."),
]
Threads = Annotated[str, typer.Option(metavar="N|all", help="Threads that everyone is allowed.")]
Repeats = Annotated[int, typer.Option(min=1, help="Timed runs of each contender, at least; the best counts.")]
Budget = Annotated[float, typer.Option(min=0.001, help="Seconds that one contender may take in one case.")]
Quick = Annotated[bool, typer.Option("--quick", help="Small sizes, for a quick look; no targets.")]
Json = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write machine, settings and all times as JSON; - for stdout.")
]
List = Annotated[bool, typer.Option("--list", help="Show the cases and stop.")]

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
    from slimline.bench.machine import parse_threads
    from slimline.bench.projections import projection_cases
    from slimline.cli.output import check_json_path

    check_json_path(json)
    count = parse_threads(threads)
    cases = chosen(projection_cases(count, instruction_set(), quick), case or [])
    if list_cases:
        show_cases(cases)
        return
    measure("projections", cases, {"threads": count, "repeats": repeats, "budget": budget, "quick": quick}, json)


@app.command(epilog=MATRIX_EXAMPLES)
def matrix(
    only: Annotated[
        str | None, typer.Option(metavar="PARTS", help="Only these parts: genotypes, sparse, formats; with commas.")
    ] = None,
    case: Cases = None,
    threads: Threads = "all",
    repeats: Repeats = 5,
    budget: Budget = 120.0,
    samples: Annotated[int | None, typer.Option(min=8, help="People of the genotypes; 2,250 unless told.")] = None,
    features: Annotated[int | None, typer.Option(min=256, help="Variants; 492,516 unless told.")] = None,
    size: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Size of the file of each format, such as 4GB; 500MB unless told."),
    ] = None,
    text_size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Size of the text files; a quarter of --size unless told.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep the data files here, and use those that are; else they are removed."),
    ] = None,
    quick: Quick = False,
    json: Json = None,
    list_cases: List = False,
) -> None:
    """Time every pass over data, in memory and in files, against NumPy, SciPy, scikit-learn and bed-reader.

    Time is the best of several runs, all taking turns, files being in the page cache. Memory is the peak above the data
    and the result. Speed is in bytes as they are stored, beside reading the same data and doing nothing with them.
    """
    from tempfile import TemporaryDirectory

    from slimline.bench.machine import parse_threads
    from slimline.bench.matrix import PARTS, matrix_cases
    from slimline.cli.output import check_json_path

    check_json_path(json)
    if folder is not None and not folder.is_dir():
        raise InvalidParameterError(f"--folder {folder}: there is no such folder; make it first.")
    count = parse_threads(threads)
    sizes = chosen_sizes(quick, samples, features, size, text_size)
    parts = [part.strip() for part in only.split(",")] if only else PARTS
    with TemporaryDirectory(prefix="slimline-bench-") as temporary:
        place = folder or Path(temporary)
        cases = matrix_cases(place, sizes, threads=count, only=parts, judged=not quick, keep=folder is not None)
        cases = tuple(chosen(cases, case or []))
        if list_cases:
            show_cases(cases)
            return
        settings = {"threads": count, "repeats": repeats, "budget": budget, "quick": quick}
        measure("matrix", cases, settings | {"sizes": asdict(sizes)}, json)


@app.command(epilog=LEARN_EXAMPLES)
def learn(
    case: Cases = None,
    threads: Threads = "all",
    repeats: Repeats = 3,
    budget: Budget = 120.0,
    samples: Annotated[
        int | None,
        typer.Option(min=64, help="Rows of the dense data and of the genotypes; 2,000 and 2,250 unless told."),
    ] = None,
    features: Annotated[
        int | None, typer.Option(min=256, help="Their columns; 131,072 and 492,516 unless told.")
    ] = None,
    quick: Quick = False,
    json: Json = None,
    list_cases: List = False,
) -> None:
    """Time training to a certified error of 1e-2 against LinearSVC, LogisticRegression, SGDClassifier and SVC.

    Every peer is tried with several settings, and timed with the loosest one whose weights reach that error. All are
    judged by the same duality gap of the full problem, in float64, outside the clock. Memory is the peak above the
    data. Text is read from the folder that SLIMLINE_DATA names.
    """
    from slimline.bench.learn import learn_cases, print_learn_case, run_learn_case
    from slimline.bench.machine import parse_threads
    from slimline.cli.output import check_json_path

    check_json_path(json)
    count = parse_threads(threads)
    sizes = learn_sizes(quick, samples, features)
    cases = chosen(learn_cases(sizes, budget=budget, judged=not quick), case or [])
    if list_cases:
        show_cases(cases)
        return
    settings = {"threads": count, "repeats": repeats, "budget": budget, "quick": quick, "sizes": asdict(sizes)}
    measure("learn", cases, settings, json, run=run_learn_case, show=print_learn_case)


@app.command(epilog=GEOMETRY_EXAMPLES)
def geometry(
    only: Annotated[
        str | None,
        typer.Option(metavar="PARTS", help="Only these parts: margin, ball, embedding, distortions; with commas."),
    ] = None,
    case: Cases = None,
    threads: Threads = "all",
    repeats: Repeats = 3,
    budget: Budget = 120.0,
    samples: Annotated[
        int | None,
        typer.Option(min=16, help="Rows of the dense and of the sparse data; 2,000 and 10,000 unless told."),
    ] = None,
    features: Annotated[
        int | None, typer.Option(min=512, help="Their columns; 100,000 and 1,000,000 unless told.")
    ] = None,
    quick: Quick = False,
    json: Json = None,
    list_cases: List = False,
) -> None:
    """Time hard margins, smallest balls and distortions beside the Gram matrix alone, and against other solvers.

    Peers are LIBSVM, LIBLINEAR, Clarabel, and what one writes with NumPy, SciPy and scikit-learn. All answers are
    judged in float64, outside the clock: how far each is from the exact number, by the bracket that ours prove. Memory
    is the peak above the data. Real sets are read from the folder that SLIMLINE_DATA names.
    """
    from slimline.bench.geometry import PARTS, geometry_cases, print_geometry_case, run_geometry_case
    from slimline.bench.machine import parse_threads
    from slimline.cli.output import check_json_path

    check_json_path(json)
    count = parse_threads(threads)
    sizes = geometry_sizes(quick, samples, features)
    parts = [part.strip() for part in only.split(",")] if only else PARTS
    cases = chosen(geometry_cases(sizes, only=parts, judged=not quick), case or [])
    if list_cases:
        show_cases(cases)
        return
    settings = {"threads": count, "repeats": repeats, "budget": budget, "quick": quick, "sizes": asdict(sizes)}
    measure("geometry", cases, settings, json, run=run_geometry_case, show=print_geometry_case)


def geometry_sizes(quick: bool, samples: int | None, features: int | None) -> GeometrySizes:
    """Return the sizes of the data whose geometry is measured: the full or the quick ones, less what is told otherwise.

    Parameters
    ----------
    quick : bool
        Whether small sizes are meant.
    samples, features : int, optional
        Rows and columns of the dense and of the sparse data.

    Returns
    -------
    sizes : GeometrySizes
        For `geometry_cases`.
    """
    from slimline.bench.geometry import QUICK, GeometrySizes

    sizes = QUICK if quick else GeometrySizes()

    def told(size: tuple[int, int]) -> tuple[int, int]:
        return samples or size[0], features or size[1]

    return replace(sizes, dense=told(sizes.dense), sparse=told(sizes.sparse))


def learn_sizes(quick: bool, samples: int | None, features: int | None) -> LearnSizes:
    """Return the sizes of the data that are learned from: the full or the quick ones, less what is told otherwise.

    Parameters
    ----------
    quick : bool
        Whether small sizes are meant.
    samples, features : int, optional
        Rows and columns of the dense data and of the genotypes.

    Returns
    -------
    sizes : LearnSizes
        For `learn_cases`.
    """
    from slimline.bench.learn import QUICK, LearnSizes

    sizes = QUICK if quick else LearnSizes()

    def told(size: tuple[int, int]) -> tuple[int, int]:
        return samples or size[0], features or size[1]

    return replace(sizes, dense=told(sizes.dense), genotypes=told(sizes.genotypes))


def chosen_sizes(
    quick: bool, samples: int | None, features: int | None, size: str | None, text_size: str | None
) -> Sizes:
    """Return the sizes of the data: the full or the quick ones, less what is told otherwise.

    Parameters
    ----------
    quick : bool
        Whether small sizes are meant.
    samples, features : int, optional
        People and variants.
    size, text_size : str, optional
        Size of files, with a unit.

    Returns
    -------
    sizes : Sizes
        For `matrix_cases`.
    """
    from slimline.bench.matrix import QUICK, Sizes, parse_size

    told: dict[str, Any] = {}
    if samples is not None:
        told["samples"] = samples
    if features is not None:
        told["features"] = features
    if size is not None:
        told["file_bytes"] = parse_size(size)
        told["text_bytes"] = max(told["file_bytes"] // 4, 1)
    if text_size is not None:
        told["text_bytes"] = parse_size(text_size)
    return replace(QUICK if quick else Sizes(), **told)


def show_cases(cases: Sequence[Case]) -> None:
    """Print the names and titles of cases.

    Parameters
    ----------
    cases : sequence of Case
        Which.
    """
    from slimline.cli.output import tables

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
    from slimline.bench import Report, Settings, run_suite
    from slimline.bench.machine import describe_machine
    from slimline.bench.table import machine_lines, print_case, summary_view
    from slimline.cli.output import STANDARD_OUTPUT, progress, tables, write_json

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
