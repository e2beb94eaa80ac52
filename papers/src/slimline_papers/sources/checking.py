"""Checks that files are those of the data set, by their SHA-256 sums."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from pathlib import Path
from typing import Any

from slimline.errors import DataError, FileFormatError
from slimline_papers.sources.source import Source


def require_sums(source: Source, folder: Path) -> None:
    """Raise unless every file with a known sum has it.

    Parameters
    ----------
    source : Source
        The data set.
    folder : Path
        Where its files are.
    """
    for name, expected in source.files.items():
        path = folder / name
        found = content_sum(path)
        if found != expected:
            what = "the SHA-256 sum of what is in it" if path.suffix == ".gz" else "its SHA-256 sum"
            raise DataError(
                f"{path} is damaged, or another version: {what} is {found}, not {expected}. Put the original of "
                f"{source.name} in its place."
            )


def content_sum(path: Path) -> str:
    """Return the SHA-256 sum of a file; of a .gz file, of what is in it.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    digest : str
        Hexadecimal.
    """
    if path.suffix != ".gz":
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    try:
        with gzip.open(path) as unpacked:
            content: Any = unpacked  # it has readinto, whatever its type says
            return hashlib.file_digest(content, "sha256").hexdigest()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path} cannot be unpacked ({error}): it is truncated or no gzip file.") from error
