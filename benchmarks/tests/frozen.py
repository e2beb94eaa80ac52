"""Surface of the command; `python -m benchmarks.tests.frozen` writes frozen.json anew, by hand."""

from pathlib import Path
from typing import Any

from tests.frozen.surface import command, text, typer_commands, written_by

PATH = Path(__file__).with_name("frozen.json")
WRITERS = {
    "bench": ["bench", "projections", "--quick", "--case", "normals", "--threads", "1", "--repeats", "1"],
    "bench: judged": ["bench", "geometry", "--quick", "--only", "ball", "--samples", "32", "--features", "600",
                      "--threads", "1", "--repeats", "1", "--budget", "1"],
    "demo --projections": ["demo", "--projections", "--quick", "--people", "60"],
}  # fmt: skip


def surface() -> dict[str, Any]:
    """Return options, and keys of the JSON."""
    return {"commands": command(typer_commands()["bench"]), "json": written_by(WRITERS)}


if __name__ == "__main__":
    PATH.write_text(text(surface()), encoding="utf-8")
