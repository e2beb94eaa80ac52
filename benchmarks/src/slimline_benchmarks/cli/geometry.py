"""`slimline bench geometry`: margins, balls and distortions, against other libraries."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from slimline_benchmarks.cli.measure import measure_judged, show_cases
from slimline_benchmarks.cli.options import Budget, Cases, Json, List, Quick, Repeats, Threads, chosen

if TYPE_CHECKING:
    from slimline_benchmarks.geometry import GeometrySizes

EXAMPLES = """[bold]Examples[/bold]

slimline bench geometry --quick

slimline bench geometry --only ball --samples 1000 --budget 60

SLIMLINE_DATA=/data slimline bench geometry --case 'dorothea-*' --json dorothea.json"""


def geometry(
    only: Annotated[
        str | None,
        typer.Option(metavar="PARTS", help="Only these parts: margin, ball, embedding, distortions; with commas."),
    ] = None,
    case: Cases = None,
    threads: Threads = "all",
    repeats: Repeats = 3,
    budget: Budget = 1800.0,  # LIBSVM needs most of it for the dense data
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

    Peers are LIBSVM, LIBLINEAR, Clarabel, and what one writes with NumPy, SciPy and scikit-learn. Each is timed with
    the loosest settings whose answer is within 1e-5 of the exact number, by the bracket that ours prove, in float64
    and outside the clock. Memory is the peak above the data. Real sets are read from the folder that SLIMLINE_DATA
    names.
    """
    from slimline.cli._output import check_json_path
    from slimline_benchmarks.geometry import PARTS, geometry_cases
    from slimline_benchmarks.machine import parse_threads

    check_json_path(json)
    count = parse_threads(threads)
    sizes = geometry_sizes(quick, samples, features)
    parts = [part.strip() for part in only.split(",")] if only else PARTS
    cases = chosen(geometry_cases(sizes, only=parts, budget=budget, judged=not quick), case or [])
    if list_cases:
        show_cases(cases)
        return
    settings = {"threads": count, "repeats": repeats, "budget": budget, "quick": quick, "sizes": asdict(sizes)}
    measure_judged("geometry", cases, settings, json)


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
    from slimline_benchmarks.geometry import QUICK, GeometrySizes

    sizes = QUICK if quick else GeometrySizes()

    def told(size: tuple[int, int]) -> tuple[int, int]:
        return samples or size[0], features or size[1]

    return replace(sizes, dense=told(sizes.dense), sparse=told(sizes.sparse))
