"""Peak memory of passes over a file, in a process that has done nothing else.

Libraries keep memory for later use, so what a pass needs shows only where none went before. The process opens the
file and makes the passes; all of it counts, but for the right-hand sides and the results.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from slimline._base.system import MemoryMeter, result_bytes, thread_limit
from slimline.data import open_matrix
from slimline_benchmarks.matrix import names
from slimline_benchmarks.matrix.operations import FAMILIES
from slimline_benchmarks.matrix.subject import Subject, right_hand_sides

#: Name of the sketch among the operations.
SKETCH = f"{names.CW} sketch"


def peaks_in_fresh_process(
    path: Path,
    operations: Sequence[str],
    components: int,
    threads: int,
    modules: Sequence[str] = (),
    filled: bool = False,
) -> dict[str, int | None]:
    """Return the peak memory of each operation on a file, measured in a process of its own.

    Parameters
    ----------
    path : Path
        The file.
    operations : sequence of str
        "CW sketch", "dot", "tdot", "normal".
    components : int
        Columns of the sketch.
    threads : int
        Threads that it is allowed.
    modules : sequence of str
        Modules that are imported before the start: they are not what a pass needs.
    filled : bool
        Whether missing values are to be taken for 0.

    Returns
    -------
    peaks : dict
        Bytes above the start, beyond right-hand sides and result; None where the system does not tell.
    """
    request = {"path": str(path), "operations": list(operations), "components": components, "threads": threads}
    request |= {"modules": list(modules), "filled": filled}
    command = [sys.executable, "-m", "slimline_benchmarks.matrix.probe", json.dumps(request)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise RuntimeError(f"the process that measures memory failed: {lines[-1] if lines else done.returncode}")
    peaks: dict[str, int | None] = json.loads(done.stdout)
    return peaks


def peaks_here(
    path: Path, operations: Sequence[str], components: int, modules: Sequence[str] = (), filled: bool = False
) -> dict[str, int | None]:
    """Return the same, measured in this process."""
    for module in modules:
        import_module(module)
    meter = MemoryMeter()
    matrix = Subject(open_matrix(path), path, filled).raw
    peaks: dict[str, int | None] = {}
    for operation in operations:
        meter.set_back()
        if operation == SKETCH:
            given, result = None, matrix.sketch(FAMILIES[names.CW](matrix.shape[1], components))
        else:
            given = right_hand_sides(matrix.shape[1 if operation == "dot" else 0], 1)
            result = getattr(matrix, operation)(given)
        peak = meter.peak()
        peaks[operation] = None if peak is None else max(0, peak - result_bytes(given) - result_bytes(result))
        del given, result
    return peaks


def main() -> None:
    """Measure what the first argument asks for, and print it."""
    request = json.loads(sys.argv[1])
    with thread_limit(request.pop("threads")):
        peaks = peaks_here(Path(request.pop("path")), **request)
    print(json.dumps(peaks))


if __name__ == "__main__":
    main()
