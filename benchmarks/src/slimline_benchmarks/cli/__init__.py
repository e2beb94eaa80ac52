"""`slimline bench`: compare with other libraries on this machine; one file a suite."""

from __future__ import annotations

import typer

from slimline_benchmarks.cli import geometry, learn, matrix, projections

app = typer.Typer(
    help="Compare slimline with other libraries, all taking turns in one run on this machine.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.callback()
def bench() -> None:
    """Compare slimline with other libraries, all taking turns in one run on this machine."""


app.command("projections", epilog=projections.EXAMPLES)(projections.projections)
app.command("matrix", epilog=matrix.EXAMPLES)(matrix.matrix)
app.command("learn", epilog=learn.EXAMPLES)(learn.learn)
app.command("geometry", epilog=geometry.EXAMPLES)(geometry.geometry)


def add_command(commands: typer.Typer) -> None:
    """Add `slimline bench` to the commands of slimline."""
    commands.add_typer(app, name="bench")
