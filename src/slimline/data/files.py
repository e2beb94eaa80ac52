"""A data file: read by position, watched for changes."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native, thread_count
from slimline.errors import FileChangedError, FileFormatError

#: Pieces of a file that its fingerprint looks at, and their bytes.
_SAMPLES, _SAMPLE_BYTES = 64, 4096
#: Threads that read, at most: more do not make the system copy faster.
_READERS = 4


class DataFile:
    """A file whose content must stay the same as long as it is in use.

    It is read, never mapped: reading a mapped file that was cut short kills the process.

    Parameters
    ----------
    path : str or path
        Where it is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            state = self.path.stat()
        except FileNotFoundError:
            raise FileNotFoundError(f"{self.path}: no such file.") from None
        if not self.path.is_file():
            raise FileFormatError(f"{self.path} is not a file.")
        self.size = state.st_size
        self._state = (state.st_size, state.st_mtime_ns)

    def __str__(self) -> str:
        return str(self.path)

    def require_unchanged(self) -> None:
        """Raise if size or time of change moved since the file was opened, or if it is gone."""
        try:
            state = self.path.stat()
        except FileNotFoundError:
            raise FileChangedError(f"{self} vanished while it was in use: put it back and open it again.") from None
        if (state.st_size, state.st_mtime_ns) != self._state:
            raise FileChangedError(
                f"{self} changed while it was in use (from {self._state[0]:,} to {state.st_size:,} bytes, "
                "or written again): passes would see different data. Open it again when it is complete."
            )

    def open(self) -> OpenFile:
        """Return a handle for one pass; use it in a `with` statement."""
        self.require_unchanged()
        return OpenFile(self)

    def fingerprint(self) -> str:
        """Return a digest of the size and of pieces from all over the file; the name and time do not matter."""
        self.require_unchanged()
        digest = hashlib.sha256(f"{self.size}".encode())
        last = max(self.size - _SAMPLE_BYTES, 0)
        with self.path.open("rb") as file:
            for offset in sorted({last * k // (_SAMPLES - 1) for k in range(_SAMPLES)}):
                file.seek(offset)
                digest.update(file.read(_SAMPLE_BYTES))
        return digest.hexdigest()


class OpenFile:
    """A file open for one pass; changes are looked for when it is opened and when it is closed."""

    def __init__(self, file: DataFile) -> None:
        self._file = file
        try:
            self._descriptor = os.open(file.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except FileNotFoundError:
            raise FileChangedError(f"{file} vanished while it was in use: put it back and open it again.") from None

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        os.close(self._descriptor)
        if kind is None:
            self._file.require_unchanged()

    def read_into(self, out: NDArray[Any], offset: int, *, stride: int | None = None) -> None:
        """Fill `out` with the bytes from `offset` on.

        Parameters
        ----------
        out : C-contiguous array with two dimensions
            What to fill, row by row.
        offset : int
            Byte in the file where its first row begins.
        stride : int, optional
            Bytes from row to row in the file (default: rows follow each other).
        """
        raw = out.view(np.uint8)  # any byte order
        stride = raw.shape[1] if stride is None else stride
        short = _native.read_file(self._descriptor, offset, stride, raw, min(thread_count(), _READERS))
        if short >= 0:
            self._file.require_unchanged()
            raise FileFormatError(f"{self._file} ends at byte {short:,}, in the middle of the data: it is truncated.")
