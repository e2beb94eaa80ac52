"""Where the commands write: tables to standard output, progress to standard error, JSON where `--json` says."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from slimline.errors import InvalidParameterError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

#: `--json -` writes to standard output.
STANDARD_OUTPUT = Path("-")


def tables(json: Path | None) -> Console:
    """Return the console for tables: standard output, or standard error if the JSON goes there."""
    from slimline.cli.narrow import WholeConsole

    return WholeConsole(stderr=json == STANDARD_OUTPUT, highlight=False)


def progress() -> Progress:
    """Return a progress display on standard error, gone when the work is done; none where nobody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def check_json_path(json: Path | None) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    if json is None or json == STANDARD_OUTPUT:
        return
    require_file("--json", json)


def require_file(option: str, path: Path) -> None:
    """Refuse a path that no file can have.

    Parameters
    ----------
    option : str
        What it was given as.
    path : Path
        Where a file is to appear, by a rename: a device or a pipe would be gone.
    """
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir():
        raise InvalidParameterError(f"{option} {path}: give a file in a folder that exists.")
    if folder == Path("/dev") or (path.exists() and not path.is_file()):
        raise InvalidParameterError(f"{option} {path}: give a file, not a device or a pipe.")


def require_not_read(outputs: dict[str, Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuse to write over a file that is read, whatever else may be replaced.

    Parameters
    ----------
    outputs : dict of Path or None
        Where results go, by option.
    inputs : iterable of Path or None
        What is read; the files that belong to a .bed file are, too.
    """
    read = [path for path in inputs if path is not None]
    read += [path.with_suffix(ending) for path in read if path.suffix == ".bed" for ending in (".bim", ".fam")]
    for option, path in outputs.items():
        if path is not None and path.exists() and any(other.exists() and path.samefile(other) for other in read):
            raise InvalidParameterError(f"{option} {path}: that file is read, and would be lost. Name another.")


def write_json(json: Path | None, text: str) -> None:
    """Write JSON to the file, or to standard output for "-"; nothing for None."""
    from slimline._base.files import write_text_whole

    if json == STANDARD_OUTPUT:
        sys.stdout.write(text + "\n")
    elif json is not None:
        write_text_whole(json, text)
