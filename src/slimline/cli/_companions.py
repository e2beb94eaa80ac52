"""Commands of companion distributions, found through the entry-point group `slimline.commands`.

An entry point that is named as a command stands for a function that adds it to the typer application. A companion that
is absent, or cannot be loaded, breaks only its own commands.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import typer

from slimline.errors import MissingCompanionError

#: The folder of the companion in a clone, by entry point.
FOLDERS = {"reproduce": "papers", "bench": "benchmarks", "demo-projections": "benchmarks"}


def companion(name: str, command: str) -> Any:
    """Return what an entry point stands for."""
    found = list(entry_points(group="slimline.commands", name=name))
    folder = FOLDERS[name]
    needs = f"`{command}` needs slimline-{folder}, which "
    install = f"in a clone of slimline, pip install ./{folder}"
    if not found:
        raise MissingCompanionError(f"{needs}is not installed: {install}")
    try:
        return found[0].load()
    except (ImportError, AttributeError) as error:
        raise MissingCompanionError(f"{needs}cannot be loaded ({error}): {install}") from error


def add_command(app: typer.Typer, name: str) -> None:
    """Add a command of a companion, or one that says how to install it."""
    try:
        companion(name, f"slimline {name}")(app)
    except MissingCompanionError as error:
        _add_missing(app, name, error)


def _add_missing(app: typer.Typer, name: str, missing: MissingCompanionError) -> None:
    anything = {"allow_extra_args": True, "ignore_unknown_options": True}
    words = f"Needs slimline-{FOLDERS[name]}: in a clone, pip install ./{FOLDERS[name]}"

    @app.command(name, help=words, context_settings=anything, add_help_option=False)
    def say_what_is_missing(context: typer.Context) -> None:
        raise missing
