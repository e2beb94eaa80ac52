"""`slimline demo`: from simulated people to a certified model and its page, in a quarter of a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slimline.errors import InvalidParameterError

EXAMPLES = """[bold]Examples[/bold]

slimline demo

slimline demo --quick --out elsewhere --json demo.json

slimline demo --projections --peer --people 2000 --components 512"""

#: People, variants of each, and populations, where nothing else is said.
_SIZES = {"people": 1000, "variants": 100_000}
_POPULATIONS = 5
#: Sizes of `--quick`.
_QUICK = {"people": 300, "variants": 5000, "components": 256}
#: Where results go, unless told otherwise; that they are replaced there is what its name says.
_FOLDER = Path("slimline-demo")
#: What is written there.
_WRITTEN = ("cohort.bed", "cohort.bim", "cohort.fam", "cohort.labels.tsv", "cohort.slim", "cohort.html")
#: Share of the simulated calls that are missing, as in a real study.
_MISSING = 0.002
#: How far populations drifted apart, times variants: so little that the classifier makes some mistakes.
_DRIFT = 40.0


def demo(
    people: Annotated[int | None, typer.Option(min=20, help="People to simulate.", show_default="1000")] = None,
    variants: Annotated[int | None, typer.Option(min=100, help="Variants of each.", show_default="100000")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, other people and other projections.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: a second or two.")] = False,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where data, model and page go.")] = _FOLDER,
    force: Annotated[bool, typer.Option("--force", help="Replace files of --out that exist.")] = False,
    projections: Annotated[
        bool, typer.Option("--projections", help="Show what each family of projections does, instead of a fit.")
    ] = False,
    components: Annotated[
        int | None, typer.Option(min=4, help="With --projections: columns of the sketch.", show_default="1024")
    ] = None,
    peer: Annotated[
        bool,
        typer.Option("--peer", help="With --projections: scikit-learn's Gaussian one, too; twice the time, 2 GB."),
    ] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all figures as JSON; - for stdout.")] = None,
) -> None:
    """Simulate people of five populations, fit a classifier that tells them apart, prove it, and write a page."""
    from slimline.cli._output import check_json_path

    check_json_path(json)
    given = {"people": people, "variants": variants, "components": components}
    told = {name: value for name, value in given.items() if value is not None}
    if projections:
        from slimline.cli._companions import companion

        show = companion("demo-projections", "slimline demo --projections")
        show({"seed": seed, "peer": peer} | (_QUICK if quick else {}) | told, json)
        return
    if components is not None or peer:
        raise InvalidParameterError("--components and --peer mean nothing without --projections.")
    there = [name for name in _WRITTEN if (out / name).exists()]
    if there and not (force or out == _FOLDER):
        raise InvalidParameterError(
            f"{out / there[0]} is there already: name another folder with --out FOLDER, or replace it with --force."
        )
    sizes = _SIZES | (_QUICK if quick else {}) | told
    _show_fit(sizes["people"], sizes["variants"], seed, out, json)


def _show_fit(people: int, variants: int, seed: int, out: Path, json: Path | None) -> None:
    import shlex
    from json import dumps

    from rich.markup import escape

    from slimline.cli._fit import finished_fit
    from slimline.cli._fit_job import FitJob
    from slimline.cli._fit_samples import LabelSource
    from slimline.cli._fit_settings import FitSettings, Outputs, command_line
    from slimline.cli._fit_view import fit_view
    from slimline.cli._options import DataFileOptions
    from slimline.cli._output import tables, write_json

    out.mkdir(exist_ok=True)
    _simulate(people, variants, seed, out)
    data, labels = out / "cohort.bed", out / "cohort.labels.tsv"
    fit = FitSettings(seed=seed)
    outputs = Outputs(out / "cohort.slim", out / "cohort.html", True)
    words = [str(data), "--labels", str(labels), "--target", "population"]
    results = ["--model", str(outputs.model), "--report", str(outputs.report), "--force"]
    task = FitJob(
        source=DataFileOptions(data),
        labels=LabelSource(labels, "population", None),
        settings=fit,
        outputs=outputs,
        command=command_line([*words, *results], fit, None),
    )
    finished = finished_fit(task, None)
    console = tables(json)
    console.print(fit_view(finished.report))
    console.print("\n[dim]The same by hand, and what comes next:[/dim]")
    for command in (
        task.command,
        shlex.join(["slimline", "features", str(outputs.model)]),
        shlex.join(["slimline", "predict", str(outputs.model), str(data), "--out", str(out / "predictions.csv")]),
    ):
        console.print(f"  {command}", markup=False, soft_wrap=True)
    console.print(f"\nOpen the page in a browser: [bold]{escape(str(outputs.report))}[/bold]", soft_wrap=True)
    write_json(json, dumps(finished.report.to_dict(), indent=1))


def _simulate(people: int, variants: int, seed: int, out: Path) -> None:
    from slimline.cli._output import progress
    from slimline.data import write_genotypes

    with progress() as bar:
        task = bar.add_task(f"simulating {people:,} people", total=variants)
        write_genotypes(
            out / "cohort",
            people,
            variants,
            n_populations=_POPULATIONS,
            fst=min(_DRIFT / variants, 0.5),
            missing_rate=_MISSING,
            seed=seed,
            overwrite=True,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
