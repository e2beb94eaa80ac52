"""Cache of a replay: files that are complete or absent, and records that are read only if they are complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from slimline.data._write import NewFiles

#: Number of the records' layout. Raise it when a field changes its meaning or goes away.
LAYOUT = 1


def write_files(contents: dict[Path, bytes]) -> None:
    """Write files, all of them or none.

    Parameters
    ----------
    contents : dict of Path to bytes
        What is to be where; folders are made, files of that name are replaced.
    """
    for path in contents:
        path.parent.mkdir(parents=True, exist_ok=True)
    with NewFiles(list(contents), overwrite=True) as files:
        for path, content in contents.items():
            files.create(path).write(content)


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write a record of plain values.

    Parameters
    ----------
    path : Path
        Where; a file of that name is replaced.
    record : dict
        What.
    """
    write_files({path: json.dumps({"layout": LAYOUT, **record}, indent=1).encode()})


def read_record(path: Path, fields: tuple[str, ...]) -> dict[str, Any] | None:
    """Return what a file says.

    Parameters
    ----------
    path : Path
        The file.
    fields : tuple of str
        What it must have.

    Returns
    -------
    record : dict or None
        None where there is none, or it is damaged.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(record, dict) and record.get("layout") == LAYOUT and all(field in record for field in fields)
    return record if whole else None
