"""Cuts and flipped bits: what a damaged file may do to us is raise a slimline error, or give an answer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_CHILD = """
import random, sys, warnings
from collections import Counter
from pathlib import Path
import numpy as np
from slimline import open_matrix
from slimline.errors import FileFormatError, SlimlineError

warnings.simplefilter("ignore")  # the libraries may warn of what they find
store, seed, flips, *files = sys.argv[1:]
rnd = random.Random(int(seed))
seen = Counter()

def attempt(file, data, cut):
    Path(file).write_bytes(data)
    print("now", file, "cut" if cut else "flip", len(data), flush=True)
    try:
        matrix = open_matrix(store)
        if matrix.shape[0] * matrix.shape[1] < 10**7:
            assert matrix.dot(np.ones(matrix.shape[1])).shape == (matrix.shape[0],)
            assert np.isfinite(matrix.column_stats().mean).all()
        seen["cut answered" if cut else "answered"] += 1
    except SlimlineError as error:
        if isinstance(error, FileFormatError):
            assert Path(store).name in str(error), error
        seen["refused"] += 1

for file in files:
    whole = Path(file).read_bytes()
    cuts = sorted(rnd.sample(range(len(whole)), min(40, len(whole)))) + [len(whole) - 1]
    for cut in cuts:
        attempt(file, whole[:cut], True)
    for _ in range(int(flips)):
        data = bytearray(whole)
        for _ in range(rnd.choice([1, 1, 4])):
            data[rnd.randrange(len(data))] ^= 1 << rnd.randrange(8)
        attempt(file, bytes(data), False)
    Path(file).write_bytes(whole)
print("seen", dict(seen))
print("cut answered", seen["cut answered"])
"""


def attack(store: Path, files: Sequence[Path], *, seed: int, flips: int) -> int:
    """Damage each file in many ways and open the store, in a process of its own: the readers are native code.

    Returns how many files that were cut short were answered from, which a reader that sees the end cannot do.
    """
    run = subprocess.run(
        [sys.executable, "-c", _CHILD, str(store), str(seed), str(flips), *map(str, files)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, f"{run.stdout[-500:]}\n{run.stderr[-3000:]}"
    return int(run.stdout.split()[-1])
