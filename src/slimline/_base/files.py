"""Files that are never seen half written."""

from __future__ import annotations

import os
from pathlib import Path


def write_text_whole(path: Path, text: str) -> None:
    """Write a file under a temporary name and rename it, so that it is never seen half written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text + "\n", encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
