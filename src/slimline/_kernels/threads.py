"""Number of threads that a call may use."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from slimline.errors import InvalidParameterError

_local = threading.local()


def thread_count() -> int:
    """Return the number of threads: `SLIMLINE_NUM_THREADS`, else `OMP_NUM_THREADS`, else the CPUs of this process."""
    return min(_thread_count(), getattr(_local, "most", 4096))


@contextmanager
def half_of_the_threads() -> Iterator[None]:
    """Leave half of the threads to somebody else, such as a reader.

    A kernel waits for the slowest of its threads, and one that shares its CPU is slow.
    """
    before = getattr(_local, "most", 4096)
    _local.most = max(1, thread_count() // 2)
    try:
        yield
    finally:
        _local.most = before


def _thread_count() -> int:
    for name in ("SLIMLINE_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "").split(",")[0].strip()
        if not text:
            continue
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 4096):
            if name == "OMP_NUM_THREADS":  # not ours to judge
                continue
            raise InvalidParameterError(
                f"{name} is {text!r}: set it to a whole number of threads, 1 to 4096, or unset it."
            )
        return int(text)
    return available_cpus()


@contextmanager
def number_of_threads(count: int) -> Iterator[None]:
    """Set `SLIMLINE_NUM_THREADS` for a while."""
    before = os.environ.get("SLIMLINE_NUM_THREADS")
    os.environ["SLIMLINE_NUM_THREADS"] = str(count)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SLIMLINE_NUM_THREADS"]
        else:
            os.environ["SLIMLINE_NUM_THREADS"] = before


def available_cpus() -> int:
    """Return the number of CPUs that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
