"""Run `slimline` as a user does, in this process or in its own."""

import csv
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from slimline import cli


def run_here(monkeypatch, *arguments: str) -> int:
    """Run the entry point with these arguments and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["slimline", *arguments])
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return stop.value.code or 0


def predicted(monkeypatch, capsys, *arguments: str) -> tuple[list[dict[str, str]], str]:
    """Return the lines that `slimline predict` wrote, as dicts, and its messages on standard error."""
    assert run_here(monkeypatch, "predict", *arguments) == 0
    said = capsys.readouterr()
    return list(csv.DictReader(io.StringIO(said.out))), said.err


def enter_copy(folder: Path, copy: Path, monkeypatch) -> None:
    """Enter a folder that has the files of another, so that a test may add some."""
    for path in folder.iterdir():
        os.link(path, copy / path.name)
    monkeypatch.chdir(copy)


def refusals(monkeypatch, capsys, command: str, cases: Iterable[Sequence[str]]) -> str:
    """Return what a command says to arguments that it refuses: each time one line after its progress, and code 2."""
    said = []
    for arguments in cases:
        assert run_here(monkeypatch, command, *arguments) == 2, arguments
        found = capsys.readouterr()
        *progress, line = found.err.splitlines()
        assert line.startswith("slimline: ") and not found.out, found
        assert all(re.fullmatch(r" *[\d.]+ s  [-a-z ]+", step) for step in progress), found
        said.append(f"slimline {command} {shlex.join(arguments)}\n    {line.removeprefix('slimline: ')}\n")
    return "\n".join(said)


def start(*arguments: str, **options) -> subprocess.Popen:
    """Start a process of its own."""
    command = [sys.executable, "-m", "slimline.cli", *arguments]
    environment = os.environ | {"COLUMNS": "100"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options
    )
