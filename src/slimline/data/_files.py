"""Files and folders whose changes are detected, and optional readers."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import lzma
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native, thread_count
from slimline.errors import FileChangedError, FileFormatError, FileReadError, MissingReaderError, SlimlineError


def digest(*parts: Any) -> str:
    """Return a short digest of texts and bytes."""
    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()[:32]


#: Pieces of a file in its fingerprint, and their bytes.
_SAMPLES, SAMPLE_BYTES = 64, 4096
#: Threads that read, at most: more do not make the system copy faster.
_READERS = 4


def located(path: str | os.PathLike[str], kind: str) -> tuple[Path, os.stat_result]:
    """Return where a file or folder is, and its state, or raise if it is not there."""
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
    """File whose content must stay the same as long as it is in use.

    It is read, never mapped: reading a mapped file that was cut short kills the process.
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
        """Raise if size or time of change differ from when the file was opened, or if it is gone."""
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
    """Read pieces from all over a file."""
    last = max(size - SAMPLE_BYTES, 0)
    with path.open("rb") as file:
        for offset in sorted({last * k // (count - 1) for k in range(count)}):
            file.seek(offset)
            yield file.read(SAMPLE_BYTES)


class OpenFile:
    """File open for one pass; changes are detected when it is opened and when it is closed."""

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
        """Fill `out` with the bytes from `offset` on."""
        raw = out.view(np.uint8)  # any byte order
        stride = raw.shape[1] if stride is None else stride
        with self.naming_errors(offset, stride * max(raw.shape[0] - 1, 0) + raw.shape[1]):
            _native.read_file(self._descriptor, offset, stride, raw, min(thread_count(), _READERS))

    def rows(self, offset: int, count: int, width: int) -> _native.FileRows:
        """Return rows of bytes that follow each other, for a kernel that reads them itself."""
        return _native.FileRows(self._descriptor, offset, count, width)

    @contextmanager
    def naming_errors(self, offset: int, size: int) -> Iterator[None]:
        """Add the file and the bytes to an error of reading them."""
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


#: Pieces in a fingerprint, unless there are more files: each has two at least.
_FOLDER_SAMPLES = 4096
#: Links that may lead to one folder. Links to folders of links to folders of links are as good as endless.
_MOST_WAYS = 64

#: Device and number of a folder, which are the same by whatever way one comes to it.
_Place = tuple[int, int]


class DataFolder:
    """Folder whose files must stay the same as long as it is in use.

    A chunk that is not there stands for zeros in some formats, so one that vanishes has to be noticed here.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._given = os.fspath(path)
        self.path, _ = located(path, "file or folder")
        if not self.path.is_dir():
            raise FileFormatError(f"{self} is not a folder.")
        try:
            self.watch("")
        except OSError as error:
            raise FileFormatError(
                f"{self} holds {str(error.filename)!r}, which cannot be read ({error.strerror}): mend or remove it."
            ) from None

    def __str__(self) -> str:
        return self._given

    def watch(self, part: str) -> None:
        """Restrict the checks to a folder within, and to files directly in the folders above it."""
        self._part = self.path / part
        self._state = self._look()
        self._digest: str | None = None

    def require_unchanged(self) -> None:
        """Raise if a file came, went or was written since the folder was opened."""
        try:
            state = self._look()
        except (OSError, FileFormatError):
            raise FileChangedError(f"{self} vanished while it was in use: put it back and open it again.") from None
        if state != self._state:
            raise FileChangedError(
                f"{self} changed while it was in use (from {self._state[0]:,} files to {state[0]:,}, or files were "
                "written again): passes would see different data. Open it again when it is complete."
            )

    def fingerprint(self) -> str:
        """Return a digest of names and sizes of the files and of pieces of every one; the times do not matter."""
        self.require_unchanged()
        if self._digest is None:
            self._digest = self._digest_of_pieces()
        return self._digest

    def _digest_of_pieces(self) -> str:
        files = sorted((str(Path(file.path).relative_to(self.path)), file.stat().st_size) for file in self.files())
        digest = hashlib.sha256(repr(files).encode())
        share = max(_FOLDER_SAMPLES // max(len(files), 1), 2)
        for name, size in files:
            whole = size // SAMPLE_BYTES + 2  # so many leave no gap
            for piece in pieces(self.path / name, size, min(share, whole)):
                digest.update(piece)
        return digest.hexdigest()

    def files(self) -> Iterator[os.DirEntry[str]]:
        """Yield the files whose changes are detected."""
        above = [folder for folder in (self._part, *self._part.parents) if folder.is_relative_to(self.path)]
        for parent in above[1:]:
            with os.scandir(parent) as entries:
                yield from (entry for entry in entries if entry.is_file())
        ways: Counter[_Place] = Counter()
        waiting: list[tuple[str, frozenset[_Place]]] = [(str(self._part), frozenset([_place(self._part.stat())]))]
        while waiting:
            folder, within = waiting.pop()
            with os.scandir(folder) as entries:
                for entry in entries:
                    if not entry.is_dir():
                        yield entry
                        continue
                    place = _place(entry.stat())
                    ways[place] += 1
                    if place in within or ways[place] > _MOST_WAYS:
                        raise FileFormatError(
                            f"{self}: symbolic links lead to {entry.path!r} again and again. Remove the links, or copy "
                            "what they point to."
                        )
                    waiting.append((entry.path, within | {place}))

    def _look(self) -> tuple[int, int]:
        """Return the number of files, and a digest of their names, sizes and times, whatever their order."""
        count = total = 0
        for file in self.files():
            state = file.stat()
            count += 1
            total ^= hash((file.path, state.st_size, state.st_mtime_ns, state.st_ino))
        return count, total


def _place(state: os.stat_result) -> _Place:
    return state.st_dev, state.st_ino


class Watched(Protocol):
    """A file or folder whose content must stay the same as long as it is in use."""

    def require_unchanged(self) -> None:
        """Raise if it changed or is gone."""


def require_reader(package: str, extra: str, kind: str) -> Any:
    """Return an optional package, or raise with the line that installs it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingReaderError(
            f'reading {kind} needs the package {package}: pip install "slimline[{extra}]" ({error})'
        ) from error


@contextmanager
def translated_errors(source: Watched, kind: str) -> Iterator[None]:
    """Turn whatever a reading library raises on a damaged file into an error that names the file.

    The libraries have no list of what they raise (a flipped bit may show as an `OSError`, a `KeyError`, a
    `MemoryError` of a length that is no length, …), so only what slimline raised itself is let through.
    """
    try:
        yield
    except SlimlineError:
        raise
    except Exception as error:
        source.require_unchanged()
        said = " ".join(str(error).split()) or "no reason given"
        raise FileFormatError(
            f"{source} cannot be read as {kind}: it is truncated, corrupt or of another kind "
            f"({type(error).__name__}: {said[:500]})."
        ) from error


#: Ending: (what it is called, pattern of the first bytes).
_KINDS = {
    ".gz": ("gzip", re.compile(rb"\x1f\x8b")),
    ".bz2": ("bzip2", re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)")),
    ".xz": ("xz", re.compile(rb"\xfd7zXZ\x00")),
}
#: Errors of the three modules if a stream is damaged or truncated.
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError)


def compression(file: DataFile) -> str | None:
    """Return ".gz", ".bz2" or ".xz", or None for a file that is not compressed."""
    with file.path.open("rb") as stream:
        first = stream.read(16)
    found = next((ending for ending, (_, pattern) in _KINDS.items() if pattern.match(first)), None)
    said = file.path.suffix.lower()
    if said in _KINDS and found != said:
        raise FileFormatError(f"{file} does not begin as a {_KINDS[said][0]} file does: it is damaged, or misnamed.")
    return found


@contextmanager
def decompressed(file: DataFile, ending: str) -> Iterator[BinaryIO]:
    """Open the text of a compressed file; damage raises a `FileFormatError`."""
    file.require_unchanged()
    with file.path.open("rb") as raw:
        openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
        with openers[ending](raw, "rb") as stream:
            yield stream
    file.require_unchanged()


def read_some(stream: BinaryIO, out: memoryview, file: DataFile) -> int:
    """Fill as much of `out` as the stream has ready; return how many bytes, 0 at its end."""
    try:
        return int(stream.readinto(out))  # type: ignore[attr-defined]
    except _DAMAGE as error:
        file.require_unchanged()
        raise FileFormatError(f"{file} cannot be decompressed, it is damaged or truncated: {error}") from error
