"""`slimline bench learn`: training to a certified error, against other libraries."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from slimline_benchmarks.cli.measure import measure_judged, show_cases
from slimline_benchmarks.cli.options import Budget, Cases, Json, List, Quick, Repeats, Threads, chosen

if TYPE_CHECKING:
    from slimline_benchmarks.learn import LearnSizes

EXAMPLES = """[bold]Examples[/bold]

slimline bench learn --quick

slimline bench learn --case 'dense-*' --samples 500 --features 20000

SLIMLINE_DATA=/data slimline bench learn --case 'farm-ads-*' --json farm-ads.json"""


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
    data. Text is read from the folder that SLIMLINE_DATA names. The cases '*-trait-*' are regressions with a free
    intercept, against Ridge, Snap ML where it is installed, kernel ridge, LinearSVR and SVR.
    """
    from slimline.cli._output import check_json_path
    from slimline_benchmarks.learn import AUTO, learn_cases
    from slimline_benchmarks.machine import parse_threads

    check_json_path(json)
    count = parse_threads(threads)
    sizes = learn_sizes(quick, samples, features)
    cases = chosen(learn_cases(sizes, budget=budget, judged=not quick), case or [])
    if list_cases:
        show_cases(cases)
        return
    settings = {"threads": count, "repeats": repeats, "budget": budget, "quick": quick, "sizes": asdict(sizes)}
    measure_judged("learn", cases, settings, json, yardstick=AUTO)


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
    from slimline_benchmarks.learn import QUICK, LearnSizes

    sizes = QUICK if quick else LearnSizes()

    def told(size: tuple[int, int]) -> tuple[int, int]:
        return samples or size[0], features or size[1]

    return replace(sizes, dense=told(sizes.dense), genotypes=told(sizes.genotypes))
