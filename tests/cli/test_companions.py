"""Commands of distributions that are not installed, or broken, say so in one line and break no others."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

#: Runs `slimline` where no other distribution offers a command, or where one offers what cannot be loaded.
RUN = """
import contextlib, importlib.metadata, io, json, sys
wanted, runs = json.loads(sys.argv[1])
broken = importlib.metadata.EntryPoint("bench", "nowhere_to_be_found:add_command", "slimline.commands")
importlib.metadata.entry_points = lambda group, name: [broken] if name == wanted else []
sys.modules["slimline_papers"] = None  # as if it were not installed
from slimline.cli import main
results = []
for arguments in runs:
    sys.argv[1:] = arguments
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            results.append((stop.code or 0, out.getvalue(), err.getvalue()))
print(json.dumps(results))
"""


def _run(broken, *runs):
    """Return the exit code, output and errors of several runs in one process."""
    command = [sys.executable, "-c", RUN, json.dumps([broken, runs])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_an_absent_companion_is_named_with_the_line_that_installs_it():
    cases = [
        (["reproduce"], "papers"),
        (["reproduce", "shi2012.fig1", "--quick", "--out", "x"], "papers"),
        (["reproduce", "--help"], "papers"),
        (["bench", "projections", "--quick"], "benchmarks"),
        (["bench"], "benchmarks"),
        (["demo", "--projections", "--quick"], "benchmarks"),
    ]
    for (arguments, folder), done in zip(cases, _run("none", *(arguments for arguments, _ in cases)), strict=True):
        command = "demo --projections" if "demo" in arguments else arguments[0]
        line = (
            f"slimline: `slimline {command}` needs slimline-{folder}, which is not installed: "
            f"in a clone of slimline, pip install ./{folder}\n"
        )
        assert done == [2, "", line]


def test_a_broken_companion_breaks_only_its_own_commands():
    version, (code, _, err) = _run("bench", ["--version"], ["bench", "projections"])
    assert version[0] == 0 and code == 2
    assert "cannot be loaded (No module named 'nowhere_to_be_found')" in err and err.count("\n") == 1


def test_help_names_what_is_not_installed():
    ((code, said, _),) = _run("none", ["--help"])
    assert code == 0
    assert "pip install ./papers" in said and "pip install ./benchmarks" in said


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
