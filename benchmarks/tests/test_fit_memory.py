"""A fit takes the memory that its plan says, and a model that is read takes little more than its file.

Memory is measured in a process of its own that has only imported: the kernel's peak of resident memory, above what was
there before. What the interpreter, BLAS and threads take for themselves is the slack.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from slimline.data import write_genotypes

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        not Path("/proc/self/clear_refs").exists(), reason="the peak of memory can only be reset on Linux"
    ),
]

#: Megabytes that do not grow with the data; and how far measurement and plan may be apart.
SLACK, SHARE = 12, 0.25
SAMPLES, VARIANTS = 300, 400_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wide")
    write_genotypes(folder / "wide", SAMPLES, VARIANTS, n_populations=2, seed=0)
    return folder


@pytest.mark.parametrize("method", ["sketch", "gram"])
def test_a_fit_takes_the_memory_that_its_plan_says(folder, method):
    command = [sys.executable, "-W", "ignore", "-m", "slimline_benchmarks.fit_memory", "--one"]
    command += [str(folder / "wide.bed"), method]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    peaks = {name: size / 1e6 for name, size in json.loads(done.stdout).items()}
    assert peaks["fit"] == pytest.approx(peaks["planned"], rel=SHARE, abs=SHARE * peaks["planned"] + SLACK)
    assert peaks["load"] < (1 + SHARE) * peaks["file"] + SLACK
    assert peaks["save"] < SHARE * peaks["file"] + SLACK
