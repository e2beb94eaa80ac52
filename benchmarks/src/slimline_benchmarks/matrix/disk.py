"""Files that are read from the disk, as those are that memory does not hold, and not from the page cache."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from slimline_benchmarks.case import Case, LeftOut
from slimline_benchmarks.matrix.subject import Subject


def without_page_cache(case: Case) -> Case:
    """Return a case of a file whose every run starts with nothing of it in the page cache.

    Parameters
    ----------
    case : Case
        Of data in a file.

    Returns
    -------
    case : Case
        The same contenders, with the same targets.
    """
    return replace(case, title=f"{case.title}, from disk", reset=_forget)


def _forget(subject: Subject) -> None:
    if not hasattr(os, "posix_fadvise"):
        raise LeftOut("this system cannot be told to drop a file from its page cache")
    source = subject.source
    assert isinstance(source, Path)
    for path in source.rglob("*") if source.is_dir() else (source,):
        if path.is_file():
            drop_from_page_cache(path)


def drop_from_page_cache(path: Path) -> None:
    """Make the system forget what it holds of a file, so that the next to read it waits for the disk.

    Parameters
    ----------
    path : Path
        A file that nobody has mapped to memory: pages that are mapped stay.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)  # pages that are still to be written stay, too
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
