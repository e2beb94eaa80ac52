"""Commands of distributions that are not installed, or broken, say so in one line and break no others."""

import subprocess
import sys

import pytest

#: Runs `slimline` where no other distribution offers a command, or where one offers what cannot be loaded.
RUN = """
import importlib.metadata, sys
wanted = sys.argv[1]
broken = importlib.metadata.EntryPoint("bench", "nowhere_to_be_found:add_command", "slimline.commands")
importlib.metadata.entry_points = lambda group, name: [broken] if name == wanted else []
sys.argv[1:] = sys.argv[2:]
sys.modules["slimline_papers"] = None  # as if it were not installed
from slimline.cli import main
main()
"""


def _run(broken, *arguments):
    command = [sys.executable, "-c", RUN, broken, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments, folder",
    [
        (["reproduce"], "papers"),
        (["reproduce", "shi2012.fig1", "--quick", "--out", "x"], "papers"),
        (["reproduce", "--help"], "papers"),
        (["bench", "projections", "--quick"], "benchmarks"),
        (["bench"], "benchmarks"),
        (["demo", "--projections", "--quick"], "benchmarks"),
    ],
)
def test_an_absent_companion_is_named_with_the_line_that_installs_it(arguments, folder):
    done = _run("none", *arguments)
    assert done.returncode == 2 and done.stdout == ""
    command = "demo --projections" if "demo" in arguments else arguments[0]
    assert done.stderr == (
        f"slimline: `slimline {command}` needs slimline-{folder}, which is not installed: "
        f"in a clone of slimline, pip install ./{folder}\n"
    )


@pytest.mark.slow
def test_a_broken_companion_breaks_only_its_own_commands():
    assert _run("bench", "--version").returncode == 0
    done = _run("bench", "bench", "projections")
    assert done.returncode == 2
    assert "cannot be loaded (No module named 'nowhere_to_be_found')" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.slow
def test_help_names_what_is_not_installed():
    said = _run("none", "--help")
    assert said.returncode == 0
    assert "pip install ./papers" in said.stdout and "pip install ./benchmarks" in said.stdout


@pytest.mark.slow
def test_the_old_path_of_the_replays_names_the_line_that_installs_them():
    code = """
import sys
sys.modules["slimline_papers"] = None
from slimline.errors import SlimlineError
try:
    import slimline.papers
except ImportError as error:
    print(isinstance(error, SlimlineError), error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("True ") and "pip install ./papers" in done.stdout
