"""Threads and memory of this process, and facts about the machine."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import platform
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

from slimline._kernels import instruction_set, instruction_sets
from slimline._kernels.threads import available_cpus, number_of_threads

_LIBRARIES = ("slimline", "numpy", "scipy", "scikit-learn", "threadpoolctl")
_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
_CGROUP = Path("/sys/fs/cgroup")


class MemoryMeter:
    """Peak of this process's own memory above what it was at the start.

    The kernel's high-water mark is set back (Linux; elsewhere the peak is None). It is exact to a megabyte or two: the
    kernel counts pages in batches, and may hand out 2 MB where 4 kB were asked for. Pages of files that came to be
    mapped, such as code of libraries, are not counted: they can go at any time.
    """

    def __init__(self) -> None:
        self._before = self.set_back()
        self._mapped = _status_bytes("RssFile") or 0

    def set_back(self) -> int | None:
        """Forget the peak so far, but not the start; return the resident memory, or None where it cannot be told."""
        gc.collect()
        _trim()
        return _set_back()

    def peak(self) -> int | None:
        """Return the peak since it was last set back, above the start; None where it cannot be told."""
        highest, mapped = _status_bytes("VmHWM"), _status_bytes("RssFile") or 0
        if self._before is None or highest is None:
            return None
        return max(0, highest - self._before - max(0, mapped - self._mapped))


def run_with_peak(call: Callable[[], Any]) -> tuple[Any, int | None]:
    """Run a call and measure the peak of memory above what was there before and above the result.

    Peak of memory above that before - size of the result (see `MemoryMeter`); None where it cannot be told.
    """
    meter = MemoryMeter()
    result = call()
    peak = meter.peak()
    return result, None if peak is None else max(0, peak - result_bytes(result))


def result_bytes(result: Any) -> int:
    """Return the size of an array, a sparse matrix, or a tuple or record of such; 0 for anything else."""
    if sp.issparse(result):
        parts = (getattr(result, name, None) for name in ("data", "indices", "indptr"))
        return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
    if isinstance(result, tuple):
        return sum(result_bytes(part) for part in result)
    if is_dataclass(result):
        return sum(result_bytes(getattr(result, field.name)) for field in fields(result))
    return result.nbytes if isinstance(result, np.ndarray) else 0


def available_bytes() -> int | None:
    """Return the memory that can be had without swapping, or None if the system does not tell."""
    values = []
    with contextlib.suppress(OSError):
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        if found:
            values.append(int(found.group(1)) * 1024)
    with contextlib.suppress(OSError, ValueError):  # "max": no limit of a container
        values.append(int((_CGROUP / "memory.max").read_text()) - int((_CGROUP / "memory.current").read_text()))
    return min(values, default=None)


def total_bytes() -> int | None:
    """Return the memory of the machine, or None if the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


@contextlib.contextmanager
def thread_limit(threads: int) -> Iterator[None]:
    """Allow everyone the same number of threads: BLAS and OpenMP of the peers, and slimline's own."""
    with number_of_threads(threads), threadpool_limits(limits=threads):
        yield


def describe_machine(threads: int) -> dict[str, Any]:
    """Return CPU, threads, instruction set in force, memory, and the versions of all libraries concerned."""
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


def _set_back() -> int | None:
    try:
        _RESET.write_text("5")
    except OSError:
        return None
    return _status_bytes("VmRSS")


def _status_bytes(field: str) -> int | None:
    try:
        found = re.search(rf"^{field}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found.group(1)) * 1024 if found else None


def _trim() -> None:
    """Give freed memory back, lest the next call find it there and seem to need none."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


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
