"""`slimline simulate`: genotypes of a made-up cohort, as files of any size."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from slimline.cli import _options as options
from slimline.errors import InvalidParameterError

EXAMPLES = """[bold]Examples[/bold]

slimline simulate cohort

slimline simulate big --samples 2250 --variants 492516 --missing 0.001 --format both

slimline simulate study --samples 2000 --variants 20000 --traits

slimline simulate world --regions 5 --populations 10 --fst 0.01 --seed 7"""

#: Number of the JSON's layout. Raise it when a field changes its meaning or goes away.
_LAYOUT = 1


class Format(StrEnum):
    """File formats to write."""

    plink = "plink"
    npy = "npy"
    both = "both"


def simulate(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Prefix of the files: OUT.bed, OUT.labels.tsv, …")],
    samples: Annotated[int, typer.Option(min=1, help="Samples.")] = 1000,
    variants: Annotated[int, typer.Option(min=1, help="Variants of each sample.")] = 100_000,
    regions: Annotated[int, typer.Option(min=1, help="Regions, far apart.")] = 1,
    populations: Annotated[int, typer.Option(min=1, help="Populations in all, divided among the regions.")] = 5,
    fst: Annotated[float, typer.Option(help="Fst between populations of a region, in (0, 1).")] = 0.02,
    fst_region: Annotated[float, typer.Option(help="Fst between regions, in (0, 1).")] = 0.1,
    missing: Annotated[float, typer.Option(help="Share of calls that are missing, in [0, 1).")] = 0.0,
    seed: options.Seed = 0,
    traits: Annotated[
        bool,
        typer.Option("--traits", help="Write a trait and a disease, OUT.pheno.tsv, and covariates, OUT.covar.tsv."),
    ] = False,
    format: Annotated[Format, typer.Option(help="PLINK files, an int8 .npy file, or both.")] = Format.plink,
    force: options.Force = False,
    json: options.JsonFile = None,
) -> None:
    """Write simulated genotypes of populations that drifted apart (the model of Balding and Nichols)."""
    from json import dumps

    from rich.markup import escape

    from slimline.cli._output import check_json_path, progress, tables, write_json
    from slimline.data._simulate_files import output_paths, write_genotypes

    check_json_path(json)
    formats = ("plink", "npy") if format == Format.both else (format.value,)
    there = [path for path in output_paths(out, formats, traits=traits).values() if path.exists()]
    if there and not force:
        raise InvalidParameterError(f"{there[0]} exists: choose another name, or replace it with --force.")
    with progress() as bar:
        task = bar.add_task(f"{samples:,} people × {variants:,} variants", total=variants)
        try:
            files = write_genotypes(
                out,
                samples,
                variants,
                n_regions=regions,
                n_populations=populations,
                fst=fst,
                fst_region=fst_region,
                missing_rate=missing,
                seed=seed,
                formats=formats,
                traits=traits,
                overwrite=force,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
        except KeyboardInterrupt:
            raise KeyboardInterrupt("stopped. What had been written was removed.") from None
    console = tables(json)
    for path in reversed(files):  # what is opened comes first
        console.print(f"{escape(str(path))}  [dim]{_size(path.stat().st_size)}[/dim]", soft_wrap=True)
    data = files[-1]
    options = "" if data.suffix == ".bed" else ", missing=-127"
    code = f"from slimline import open_matrix; print(open_matrix({str(data)!r}{options}).column_stats().mean)"
    console.print("[dim]Next, for instance (the mean of each variant, in one pass):[/dim]")
    console.print(f"python -c {_quoted(code)}", markup=False, soft_wrap=True)
    record = {
        "layout": _LAYOUT,
        "files": [{"path": str(path), "bytes": path.stat().st_size} for path in reversed(files)],
        "people": samples,
        "variants": variants,
        "populations": populations,
        "regions": regions,
        "seed": seed,
    }
    write_json(json, dumps(record, indent=1))


def _size(size: int) -> str:
    from slimline._base.text import format_bytes

    return f"{size / 1000:.3g} KB" if size < 999_500 else format_bytes(size)


def _quoted(code: str) -> str:
    from shlex import quote

    return f'"{code}"' if not set('"$`\\!') & set(code) else quote(code)
