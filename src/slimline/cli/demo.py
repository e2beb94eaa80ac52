"""`slimline demo`: what a random projection does, on simulated people, in a quarter of a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """[bold]Examples[/bold]

slimline demo

slimline demo --quick --json demo.json

slimline demo --peer --people 2000 --components 512 --seed 7"""

#: Sizes of `--quick`, where nothing else is said.
_QUICK = {"people": 300, "variants": 5000, "components": 256}


def demo(
    people: Annotated[int | None, typer.Option(min=20, help="People to simulate.", show_default="1000")] = None,
    variants: Annotated[int | None, typer.Option(min=100, help="Variants of each.", show_default="100000")] = None,
    components: Annotated[int | None, typer.Option(min=4, help="Columns of the sketch.", show_default="1024")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, other people and other projections.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: a second or two.")] = False,
    peer: Annotated[
        bool, typer.Option("--peer", help="Run scikit-learn's Gaussian projection, too: twice the time, 2 GB.")
    ] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all figures as JSON; - for stdout.")] = None,
) -> None:
    """Show random projections on simulated genotypes: time, memory, distances, accuracy, weights."""
    from json import dumps

    from slimline.cli.output import check_json_path, progress, tables, write_json
    from slimline.cli.walkthrough import DemoSettings, run_demo
    from slimline.cli.walkthrough.view import demo_view

    check_json_path(json)
    given = {"people": people, "variants": variants, "components": components}
    sizes = (_QUICK if quick else {}) | {name: value for name, value in given.items() if value is not None}
    settings = DemoSettings(seed=seed, peer=peer, **sizes)
    with progress() as bar:
        task = bar.add_task("", total=None)
        result = run_demo(
            settings, lambda step, done, total: bar.update(task, description=step, completed=done, total=total)
        )
    console = tables(json)
    console.print(demo_view(result))
    console.print(f"[dim]{result.seconds:.0f} s in all.[/dim]")
    write_json(json, dumps(result.to_dict(), indent=1))
