"""Location and identity of a data set."""

from __future__ import annotations

import os
from pathlib import Path

from slimline.errors import MissingDataSetError
from slimline_papers.sources.checking import require_sums
from slimline_papers.sources.fetching import fetch
from slimline_papers.sources.source import Source


def locate(source: Source, data: Path | None = None) -> Path:
    """Return the folder of a data set, its files checked.

    Parameters
    ----------
    source : Source
        The data set.
    data : Path, optional
        Folder of the public data sets; else the one that SLIMLINE_DATA names.

    Returns
    -------
    folder : Path
        Where its files are: there, or, fetched from the network, in the user's cache.
    """
    named = data if data is not None else os.environ.get("SLIMLINE_DATA")
    folder = Path(named) / source.folder if named else None
    lacking = source.missing(folder) if folder is not None else []
    if folder is not None and not lacking:
        require_sums(source, folder)
        return folder
    why = f"{folder} lacks {', '.join(lacking)}" if lacking else "SLIMLINE_DATA is not set"
    if folder is not None and not folder.is_dir():
        why = f"there is no folder {folder}"
    remedy = (
        f"Put {source.contents} into a folder called {source.folder}, and name the folder that it is in by --data or "
        "SLIMLINE_DATA."
    )
    if not source.address:
        raise MissingDataSetError(f"{source.name} is not at hand ({why}), and cannot be fetched. {remedy}")
    try:
        return fetch(source)
    except MissingDataSetError as error:
        raise MissingDataSetError(f"{source.name} is not at hand ({why}), and {error} {remedy}") from error
