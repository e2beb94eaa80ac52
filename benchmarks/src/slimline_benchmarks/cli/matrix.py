"""`slimline bench matrix`: every pass over data, in memory and in files."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slimline.errors import InvalidParameterError
from slimline_benchmarks.cli.measure import measure, show_cases
from slimline_benchmarks.cli.options import Budget, Cases, Json, List, Quick, Repeats, Threads, chosen

if TYPE_CHECKING:
    from slimline_benchmarks.matrix import Sizes

EXAMPLES = """[bold]Examples[/bold]

slimline bench matrix --quick

slimline bench matrix --only formats --size 4GB --folder /scratch --json formats.json

slimline bench matrix --case 'genotypes-plink-*' --threads 1

slimline bench matrix --only formats --from-disk"""


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
    from_disk: Annotated[
        bool, typer.Option("--from-disk", help="Only files, and drop each from the page cache before every run.")
    ] = False,
    quick: Quick = False,
    json: Json = None,
    list_cases: List = False,
) -> None:
    """Time every pass over data, in memory and in files, against NumPy, SciPy, scikit-learn and bed-reader.

    Time is the best of several runs, all taking turns, files being in the page cache unless told otherwise. Memory is
    the peak above the data and the result. Speed is in bytes as they are stored, beside reading the same data and doing
    nothing with them.
    """
    from tempfile import TemporaryDirectory

    from slimline.cli._output import check_json_path
    from slimline_benchmarks.machine import parse_threads
    from slimline_benchmarks.matrix import PARTS, matrix_cases

    check_json_path(json)
    if folder is not None and not folder.is_dir():
        raise InvalidParameterError(f"--folder {folder}: there is no such folder; make it first.")
    count = parse_threads(threads)
    sizes = chosen_sizes(quick, samples, features, size, text_size)
    parts = [part.strip() for part in only.split(",")] if only else PARTS
    with TemporaryDirectory(prefix="slimline-bench-") as temporary:
        place = folder or Path(temporary)
        cases = matrix_cases(
            place, sizes, threads=count, only=parts, judged=not quick, keep=folder is not None, from_disk=from_disk
        )
        cases = tuple(chosen(cases, case or []))
        if list_cases:
            show_cases(cases)
            return
        settings = {"threads": count, "repeats": repeats, "budget": budget, "quick": quick, "from_disk": from_disk}
        measure("matrix", cases, settings | {"sizes": asdict(sizes)}, json)


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
    from slimline_benchmarks.matrix import QUICK, Sizes, parse_size

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
