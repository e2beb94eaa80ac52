"""A data file: read by position, watched for changes."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native, thread_count
from slimline.errors import FileChangedError, FileFormatError, FileReadError

#: Pieces of a file that its fingerprint looks at, and their bytes.
_SAMPLES, SAMPLE_BYTES = 64, 4096
#: Threads that read, at most: more do not make the system copy faster.
_READERS = 4


def located(path: str | os.PathLike[str], kind: str) -> tuple[Path, os.stat_result]:
    """Return where a file or folder is, and its state, or raise if it is not there.

    Parameters
    ----------
    path : str or path
        As it was given.
    kind : str
        What messages call it.

    Returns
    -------
    path : Path
        Absolute: what it is relative to may change later.
    state : os.stat_result
        Of what symbolic links lead to.
    """
    given = os.fspath(path)
    try:
        return (found := Path(path).absolute()), found.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"{given}: no such {kind}.") from None
    except ValueError:  # a byte of 0
        shown = given.replace("\0", "\\0")
        raise FileNotFoundError(f"{shown:.200}: no file can have this name.") from None
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise FileFormatError(f"{given}: its symbolic links lead in a circle; point them to a {kind}.") from None


class DataFile:
    """A file whose content must stay the same as long as it is in use.

    It is read, never mapped: reading a mapped file that was cut short kills the process.

    Parameters
    ----------
    path : str or path
        Where it is; what it is relative to may change later.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._given = os.fspath(path)
        self.path, state = located(path, "file")
        if not self.path.is_file():
            raise FileFormatError(f"{self} is not a file.")
        self.size = state.st_size
        self._state = (state.st_size, state.st_mtime_ns)

    def __str__(self) -> str:
        return self._given

    def require_unchanged(self) -> None:
        """Raise if size or time of change moved since the file was opened, or if it is gone."""
        try:
            state = self.path.stat()
        except OSError as error:
            raise self._gone(error) from None
        if (state.st_size, state.st_mtime_ns) != self._state:
            raise FileChangedError(
                f"{self} changed while it was in use (from {self._state[0]:,} to {state.st_size:,} bytes, "
                "or written again): passes would see different data. Open it again when it is complete."
            )

    def descriptor(self) -> int:
        """Return a new file descriptor, for reading."""
        try:
            return os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError as error:
            raise self._gone(error) from None

    def _gone(self, error: OSError) -> FileChangedError:
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            return FileChangedError(f"{self} vanished while it was in use: put it back and open it again.")
        return FileChangedError(f"{self} can no longer be read ({error.strerror}): make it readable and open it again.")

    def open(self) -> OpenFile:
        """Return a handle for one pass; use it in a `with` statement."""
        self.require_unchanged()
        return OpenFile(self)

    def fingerprint(self) -> str:
        """Return a digest of the size and of pieces from all over the file; the name and time do not matter."""
        self.require_unchanged()
        digest = hashlib.sha256(f"{self.size}".encode())
        for piece in pieces(self.path, self.size, _SAMPLES):
            digest.update(piece)
        return digest.hexdigest()


def pieces(path: Path, size: int, count: int) -> Iterator[bytes]:
    """Read pieces from all over a file.

    Parameters
    ----------
    path : Path
        The file.
    size : int
        Its bytes.
    count : int
        Number of pieces, 2 or more; the first and the last lie at the ends of the file.

    Yields
    ------
    piece : bytes
        Of `SAMPLE_BYTES`, or fewer if the file has fewer.
    """
    last = max(size - SAMPLE_BYTES, 0)
    with path.open("rb") as file:
        for offset in sorted({last * k // (count - 1) for k in range(count)}):
            file.seek(offset)
            yield file.read(SAMPLE_BYTES)


class OpenFile:
    """A file open for one pass; changes are looked for when it is opened and when it is closed."""

    def __init__(self, file: DataFile) -> None:
        self._file = file
        self._descriptor = file.descriptor()

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)
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
        with self.naming_errors(offset, stride * max(raw.shape[0] - 1, 0) + raw.shape[1]):
            _native.read_file(self._descriptor, offset, stride, raw, min(thread_count(), _READERS))

    def rows(self, offset: int, count: int, width: int) -> _native.FileRows:
        """Return rows of bytes that follow each other, for a kernel that reads them itself.

        Parameters
        ----------
        offset : int
            Byte in the file where the first row begins.
        count, width : int
            Number of rows, and bytes of each.

        Returns
        -------
        rows : FileRows
            Good until the file is closed; use it within `naming_errors`.
        """
        return _native.FileRows(self._descriptor, offset, count, width)

    @contextmanager
    def naming_errors(self, offset: int, size: int) -> Iterator[None]:
        """Say which file and bytes it was where some of them cannot be read."""
        try:
            yield
        except _native.ReadError as error:  # of the kernels alone: what a signal raises in them is none of it
            code, end = error.args
            if code:
                where = f"{self._file} could not be read between bytes {offset:,} and {offset + size:,}"
                raise FileReadError(code, f"{where}: {os.strerror(code)}") from None
            self._file.require_unchanged()
            raise FileFormatError(
                f"{self._file} ends at byte {end:,}, in the middle of the data: it is truncated."
            ) from None
