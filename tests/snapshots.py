"""Approved texts: a page or a view is compared, as a whole, with the file that holds it.

After an intended change, write the files again, read what changed in them, and commit them with the change:

    SLIMLINE_WRITE_SNAPSHOTS=1 python -m pytest tests/cli tests/auditing tests/report/page benchmarks/tests
"""

import os
from pathlib import Path


def check_snapshot(path: Path, text: str) -> None:
    """Compare a text, but for spaces at the ends of its lines, with an approved one."""
    text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    if os.environ.get("SLIMLINE_WRITE_SNAPSHOTS") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path} holds another text; {__name__} says how to write it again"


def titled(texts: dict[str, str]) -> str:
    """Return several texts as one, each below its title."""
    return "\n".join(f"== {title} ==\n{text.rstrip()}\n" for title, text in texts.items())
