"""`slimline reproduce`, as slimline's command line finds it."""

from __future__ import annotations

import typer

from slimline_papers.cli.reproduce import EXAMPLES, reproduce


def add_command(commands: typer.Typer) -> None:
    """Add `slimline reproduce` to the commands of slimline."""
    commands.command("reproduce", epilog=EXAMPLES)(reproduce)
