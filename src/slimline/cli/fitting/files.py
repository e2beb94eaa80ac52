"""How large data are on the disk."""

from __future__ import annotations

from pathlib import Path


def stored_bytes(path: Path) -> int | None:
    """Return the size of a file, or of all files of a folder.

    Parameters
    ----------
    path : Path
        The data.

    Returns
    -------
    nbytes : int or None
        None where it is not there.
    """
    if not path.exists():
        return None
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size
