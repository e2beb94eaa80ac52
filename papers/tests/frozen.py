"""Surface of the command; `python -m papers.tests.frozen` writes frozen.json anew, by hand."""

from pathlib import Path
from typing import Any

from tests.frozen.surface import command, described, documented, text, typer_commands, written_by

PATH = Path(__file__).with_name("frozen.json")
WRITERS = {"reproduce": ["reproduce", "shi2012.fig1", "--quick"]}


def surface() -> dict[str, Any]:
    """Return options, names, and keys of the JSON."""
    import slimline_papers

    listed = documented("docs/api.md")["slimline_papers"]
    return {
        "names": {name: described(getattr(slimline_papers, name)) for name in listed},
        "commands": command(typer_commands()["reproduce"]),
        "json": written_by(WRITERS),
    }


if __name__ == "__main__":
    PATH.write_text(text(surface()), encoding="utf-8")
