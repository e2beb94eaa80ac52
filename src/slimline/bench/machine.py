"""What the figures were measured on."""

from __future__ import annotations

import contextlib
import os
import platform
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

from slimline._kernels import instruction_set, instruction_sets
from slimline._kernels.threads import available_cpus, number_of_threads
from slimline.bench.memory import total_bytes
from slimline.errors import InvalidParameterError

_LIBRARIES = ("slimline", "numpy", "scipy", "scikit-learn", "threadpoolctl")


def describe_machine(threads: int) -> dict[str, Any]:
    """Return CPU, threads, instruction set in force, memory, and the versions of all libraries concerned.

    Parameters
    ----------
    threads : int
        Threads that everyone is allowed.

    Returns
    -------
    machine : dict
        Plain values, ready for JSON.
    """
    blas = [
        {key: pool.get(key) for key in ("internal_api", "version", "architecture", "threading_layer", "prefix")}
        for pool in threadpool_info()
        if pool.get("user_api") == "blas"
    ]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "cpu": _cpu_model(),
        "cpus": available_cpus(),
        "threads": threads,
        "instruction_set": instruction_set(),
        "instruction_sets": instruction_sets(),
        "memory_bytes": total_bytes(),
        "load_average": load,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "blas": blas,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def parse_threads(text: str) -> int:
    """Return the number of threads that "all" or a number stands for.

    Parameters
    ----------
    text : str
        "all", or a whole number from 1 to the number of CPUs of this process.

    Returns
    -------
    threads : int
        The number.
    """
    cpus = available_cpus()
    if text == "all":
        return cpus
    if not text.isdigit() or not 1 <= int(text) <= cpus:
        raise InvalidParameterError(f'threads must be "all" or a whole number from 1 to {cpus}; got {text!r}.')
    return int(text)


@contextlib.contextmanager
def thread_limit(threads: int) -> Iterator[None]:
    """Allow everyone the same number of threads: BLAS and OpenMP of the peers, and slimline's own."""
    with number_of_threads(threads), threadpool_limits(limits=threads):
        yield


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        if found:
            return found.group(1).strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
