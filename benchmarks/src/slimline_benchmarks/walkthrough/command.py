"""`slimline demo --projections`."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def show_projections(sizes: dict[str, Any], json: Path | None) -> None:
    """Run the walk-through, print it, and write its JSON.

    Parameters
    ----------
    sizes : dict
        Fields of `DemoSettings`.
    json : Path, optional
        Where its JSON goes.
    """
    from json import dumps

    from slimline.cli._output import progress, tables, write_json
    from slimline_benchmarks.walkthrough import DemoSettings, run_demo
    from slimline_benchmarks.walkthrough.view import demo_view

    settings = DemoSettings(**sizes)
    with progress() as bar:
        task = bar.add_task("", total=None)
        result = run_demo(
            settings, lambda step, done, total: bar.update(task, description=step, completed=done, total=total)
        )
    console = tables(json)
    console.print(demo_view(result))
    console.print(f"[dim]{result.seconds:.0f} s in all.[/dim]")
    write_json(json, dumps(result.to_dict(), indent=1))
