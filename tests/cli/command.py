"""Run `slimline` as a user does, in this process or in its own."""

import os
import subprocess
import sys

import pytest

from slimline import cli


def run_here(monkeypatch, *arguments: str) -> int:
    """Run the entry point with these arguments and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["slimline", *arguments])
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return stop.value.code or 0


def start(*arguments: str, **options) -> subprocess.Popen:
    """Start a process of its own."""
    command = [sys.executable, "-m", "slimline.cli", *arguments]
    environment = os.environ | {"COLUMNS": "100"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options
    )
