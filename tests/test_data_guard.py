"""A run that should use the public data sets, and did not, fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("required", [True, False])
def test_tests_in_a_folder_called_data_are_no_tests_of_the_data_sets(required):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLIMLINE_", "PYTEST_"))}
    if required:
        environment["SLIMLINE_REQUIRE_DATA"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts="]
    test = "tests/data/test_arguments.py"
    run = subprocess.run(
        [*command, test], cwd=Path(__file__).parent.parent, env=environment, capture_output=True, text=True
    )
    assert " passed" in run.stdout, run.stdout + run.stderr
    assert ("no test that needs the data sets ran" in run.stdout) == required
    assert run.returncode == int(required)
