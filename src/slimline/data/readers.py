"""Optional packages: imported when a file needs them, and asked for by name where they are absent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol

from slimline.errors import FileFormatError, MissingReaderError, SlimlineError


class Watched(Protocol):
    """A file or folder whose content must stay the same as long as it is in use."""

    def require_unchanged(self) -> None:
        """Raise if it changed or is gone."""


def require_reader(package: str, extra: str, kind: str) -> Any:
    """Return an optional package, or raise with the line that installs it.

    Parameters
    ----------
    package : str
        Name of the module.
    extra : str
        Extra of slimline that brings it.
    kind : str
        What it reads, for the message.

    Returns
    -------
    module : module
        The package.
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingReaderError(
            f'reading {kind} needs the package {package}: pip install "slimline[{extra}]" ({error})'
        ) from error


@contextmanager
def translated_errors(source: Watched, kind: str) -> Iterator[None]:
    """Turn whatever a reading library raises on a damaged file into an error that names the file.

    The libraries have no list of what they raise (a flipped bit may show as an `OSError`, a `KeyError`, a
    `MemoryError` of a length that is no length, …), so only what slimline raised itself is let through.

    Parameters
    ----------
    source : DataFile or DataFolder
        What is being read; a change of it is the first suspect.
    kind : str
        What it should be, for the message.
    """
    try:
        yield
    except SlimlineError:
        raise
    except Exception as error:
        source.require_unchanged()
        said = " ".join(str(error).split()) or "no reason given"
        raise FileFormatError(
            f"{source} cannot be read as {kind}: it is truncated, corrupt or of another kind "
            f"({type(error).__name__}: {said[:500]})."
        ) from error
