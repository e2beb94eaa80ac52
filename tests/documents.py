"""Run what documents show: code, commands, and what is printed."""

import importlib
import pkgutil
import re
import shlex
import types
from pathlib import Path

from tests.cli.command import run_here

ROOT = Path(__file__).parents[1]


def code_blocks(document: str, language: str) -> list[str]:
    """Return the code blocks of a document that are in a language."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL)


def require_printed(code: str, said: str) -> None:
    """Compare what was printed with what the comments behind `print` say; … stands for anything."""
    for line in re.findall(r"print\(.+\)  # (.+)", code):
        whole = ".*".join(re.escape(part.strip()) for part in line.split("…"))
        assert re.search(f"^{whole}$", said, flags=re.MULTILINE | re.DOTALL), line


def run_page(document: str, code: int, commands: int, monkeypatch, capsys) -> str:
    """Run at least so many code blocks and commands of a page, one after the other; return what they print."""
    page = (ROOT / document).read_text(encoding="utf-8")
    steps = re.findall(r"```python\n(.*?)```|^    (slimline (?:[^\n]*\\\n)*[^\n]*)$", page, flags=re.DOTALL | re.M)
    assert len([block for block, _ in steps if block]) >= code
    assert len([command for _, command in steps if command]) >= commands
    module = types.ModuleType("document")
    for block, command in steps:
        if block:
            exec(compile(block, f"{document}: {block[:60]}", "exec"), module.__dict__)
        else:
            assert run_here(monkeypatch, *shlex.split(command.replace("\\\n", " "))[1:]) == 0, command
    said = capsys.readouterr().out
    require_printed("".join(block for block, _ in steps), said)
    return said


def modules(package: str) -> list[str]:
    """Return the names of a package and of all modules in it that can be imported for their examples."""
    inside = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
    return [package, *(m.name for m in inside if "_native" not in m.name and not m.name.endswith("__main__"))]


def examples() -> list[Path]:
    """Return the files of examples/."""
    return sorted((ROOT / "examples").glob("*.py"))
