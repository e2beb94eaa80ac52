"""`slimline demo`: from simulated people to a certified model and its page, in a quarter of a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slimline.cli import _options as options
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
    people: Annotated[int | None, typer.Option(min=20, help="Samples to simulate.", show_default="1000")] = None,
    variants: Annotated[
        int | None, typer.Option(min=100, help="Variants of each sample.", show_default="100000")
    ] = None,
    seed: options.Seed = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Use small sizes: a second or two.")] = False,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for data, model and page.")] = _FOLDER,
    force: options.Force = False,
    projections: Annotated[
        bool, typer.Option("--projections", help="Compare the families of projections instead of fitting a model.")
    ] = False,
    components: Annotated[
        int | None, typer.Option(min=4, help="With --projections: components of the sketch.", show_default="1024")
    ] = None,
    peer: Annotated[
        bool,
        typer.Option(
            "--peer", help="With --projections: add scikit-learn's Gaussian projection; twice the time, 2 GB."
        ),
    ] = False,
    json: options.JsonFile = None,
) -> None:
    """Simulate genotypes of five populations, fit a certified classifier to them, and write a page about it."""
    from slimline.cli._output import check_json_path

    check_json_path(json)
    sizes_given = {"people": people, "variants": variants, "components": components}
    given = {name: value for name, value in sizes_given.items() if value is not None}
    if projections:
        from slimline.cli._companions import companion

        show = companion("demo-projections", "slimline demo --projections")
        show({"seed": seed, "peer": peer} | (_QUICK if quick else {}) | given, json)
        return
    if components is not None or peer:
        raise InvalidParameterError("--components and --peer cannot be used without --projections.")
    there = [name for name in _WRITTEN if (out / name).exists()]
    if there and not (force or out == _FOLDER):
        raise InvalidParameterError(
            f"{out}: {there[0]} exists there. Choose another folder, or replace it with --force.", "--out", out
        )
    sizes = _SIZES | (_QUICK if quick else {}) | given
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
