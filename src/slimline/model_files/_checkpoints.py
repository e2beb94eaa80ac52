"""Checkpoints: the sums of passes in files, so that a stopped job can resume."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import stat
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from slimline.data._passes import Arrays, CheckpointStore
from slimline.errors import CheckpointWarning, DataError, InvalidParameterError
from slimline.model_files._tensors import array_pieces, read_tensors, tensor_pieces

#: Seconds of a pass between two files.
EVERY = 30.0


class PassFiles(CheckpointStore):
    """Checkpoint of a job: a folder with one file for each pass.

    Passes are numbered. A job that is started again makes the same passes in the same order. Those that were finished
    are read from their files instead, and the job goes on with the same bits. Files are renamed when they are complete,
    so that a kill leaves nothing half-written under its name. They are not forced to the disk: a file that a power
    failure damages does not fit its digest, and its pass is made again.

    If a file cannot be written, for instance because the disk is full, the job goes on without a checkpoint.

    Parameters
    ----------
    folder : str or path
        Where the files are; slimline makes it. A folder that it did not make is refused, and left as it is.
    key : str
        Name of the job, from data and settings. With another key nothing is read from the folder.
    every : float
        Seconds of a pass between two files.
    tell : callable, optional
        Called once with a message if a file cannot be written (default: a `CheckpointWarning`).
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        key: str,
        every: float = EVERY,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.folder, self._every, self._key, self._tell = Path(folder), every, key, tell or _warn
        self._files = CheckpointFolder(folder)
        #: Whether a file could not be written, so that no other will be.
        self.gave_up = False
        self._number = 0
        self._last = time.monotonic()
        self._operation, self._digest = "", ""
        #: Whether the folder held passes of this job; and of another one, which are gone.
        self.goes_on, self.replaced = False, False
        #: Blocks, and whole passes, that were taken from the folder.
        self.blocks_found, self.passes_found = 0, 0
        self._begin(key)

    def begin(self, operation: str, inputs: dict[str, Any], sums: Arrays) -> int | None:
        """Begin the next pass, and take up what an earlier job left of it.

        Parameters
        ----------
        operation : str
            Result of the pass, such as "sketch".
        inputs : dict
            Right-hand sides and settings, which must be the same as before.
        sums : dict of arrays
            Sums of the pass; filled from the file, if there is one that fits.

        Returns
        -------
        blocks : int or None
            Number of blocks that the sums contain already; None: all of them.
        """
        self._number += 1
        self._operation, self._digest = operation, _digest(self._key, operation, inputs, sums)
        self._last = time.monotonic()
        found = self._read(sums)
        if found is None:
            return 0
        blocks, done = found
        if done:
            self.passes_found += 1
            return None
        self.blocks_found += blocks
        return blocks

    def after_block(self, blocks: int, sums: Callable[[], Arrays], at_once: bool = False) -> None:
        """Write the sums of the first blocks, if the last file is old enough.

        Parameters
        ----------
        blocks : int
            Number of blocks that the sums contain.
        sums : callable
            Returns the sums of the pass.
        at_once : bool, default=False
            Write in any case.
        """
        if at_once or time.monotonic() - self._last >= self._every:
            self._write(sums(), blocks, done=False)
            self._last = time.monotonic()

    def end(self, sums: Arrays) -> None:
        """Write the sums of the whole pass.

        Parameters
        ----------
        sums : dict of arrays
            The sums.
        """
        self._write(sums, 0, done=True)

    def note_result(self, file: Path) -> None:
        """Note that the job wrote a file, which may be replaced when the job goes on.

        Parameters
        ----------
        file : Path
            As the job left it.
        """
        self._trying(lambda: self._files.note_result(self._key, file))

    def remove(self) -> None:
        """Remove the checkpoint of a finished job, but no files of others, nor a folder that has some."""
        if self._files.key() == self._key:
            self._files.remove()

    def _begin(self, key: str) -> None:
        try:
            begun, found = self._files.holds_passes(), self._files.key()
            self._files.begin(key)
        except OSError as error:
            raise InvalidParameterError(f"{self.folder}: {error.strerror or error}. Choose another folder.") from None
        self.goes_on, self.replaced = begun and found == key, begun and found != key

    def _name(self) -> str:
        return f"pass-{self._number:04d}"

    def _read(self, sums: Arrays) -> tuple[int, bool] | None:
        """Fill the sums from the file of this pass; return None if it cannot be used."""
        try:
            arrays, plain = read_tensors(self.folder / self._name())
        except (OSError, DataError):
            return None
        fits = plain.get("digest") == self._digest and arrays.keys() == sums.keys()
        if not fits or any(arrays[k].shape != sums[k].shape or arrays[k].dtype != sums[k].dtype for k in sums):
            return None
        for name, array in sums.items():
            array[...] = arrays[name]
        return int(plain["blocks"]), bool(plain["done"])

    def _write(self, sums: Arrays, blocks: int, done: bool) -> None:
        plain = {"operation": self._operation, "digest": self._digest, "blocks": blocks, "done": done}
        self._trying(lambda: self._files.write(self._key, self._name(), tensor_pieces(sums, plain)))

    def _trying(self, write: Callable[[], None]) -> None:
        if self.gave_up:
            return
        try:
            write()
        except OSError as error:
            self.gave_up = True
            self._tell(
                f"{self.folder}: {error.strerror or error}. The job goes on without writing there: if it is stopped, "
                "what it does from now on has to be done again."
            )


def _warn(text: str) -> None:
    warnings.warn(text, CheckpointWarning, stacklevel=2)


def _digest(key: str, operation: str, inputs: dict[str, Any], sums: Arrays) -> str:
    """Return a digest of what a pass computes, and for which job: another one may write into the same folder."""
    digest = hashlib.sha256(f"{key}\n{operation}".encode())
    for name, value in sorted(inputs.items()):
        digest.update(name.encode())
        for piece in [value.encode()] if isinstance(value, str) else array_pieces(value):
            digest.update(piece)
    for name, array in sorted(sums.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
    return digest.hexdigest()


#: Name of the file with the key of the checkpoint.
RECORD = "checkpoint.json"
_KIND = "slimline checkpoint"
_PASS = r"pass-\d{4,}"
_OWN = re.compile(rf"{_PASS}|\.({_PASS}|{re.escape(RECORD)})\.\d+\.tmp")


class CheckpointFolder:
    """Folder that slimline makes for a checkpoint, and removes when the job is done.

    It appears together with its record, so a folder without one belongs to others, as does a symbolic link. Such a
    folder is neither written to nor removed. In its own folders, slimline leaves files that it did not name.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def key(self) -> str | None:
        """Return the key of the checkpoint; None: there is none of slimline's."""
        record = self._record()
        return None if record is None else str(record["key"])

    def begin(self, key: str) -> None:
        """Make the folder, or empty one that slimline made for another key."""
        found = self.key()
        if found == key:
            return
        if found is not None:
            self._clear()
            self._put(RECORD, [_record_of(key)])
        elif os.path.lexists(self.path):
            raise FileExistsError(errno.EEXIST, "slimline did not make it, and leaves it alone")
        else:
            self._appear(_record_of(key))

    def write(self, key: str, name: str, content: Iterable[bytes | memoryview]) -> None:
        """Write a file of the checkpoint; it appears when it is complete."""
        found = self.key()
        if found not in (None, key):
            raise OSError(errno.EBUSY, "another job keeps its checkpoint there now")
        self.begin(key)  # another run of the same job may have removed it
        self._put(name, content)

    def holds_passes(self) -> bool:
        """Return whether a job can resume from it."""
        return self.key() is not None and any(re.fullmatch(_PASS, name) for name in self._own())

    def remove(self) -> None:
        """Remove slimline's files, and the folder if nothing else is in it; no error if that cannot be done."""
        if self.key() is None:
            return
        with contextlib.suppress(OSError):
            self._clear()
            (self.path / RECORD).unlink()
            self.path.rmdir()

    # Results of the job ----------------------------------------------------------------------------

    def note_result(self, key: str, file: Path) -> None:
        """Note that the job wrote a file."""
        record = self._record()
        if record is not None and record["key"] == key:
            self._put(RECORD, [_record_of(key, [*record["results"], self._state(file)])])

    def wrote(self, file: Path, key: str | None = None) -> bool:
        """Return whether a file is one that the job wrote, and nobody since."""
        record = self._record()
        return record is not None and key in (None, record["key"]) and self._state(file) in record["results"]

    def _state(self, file: Path) -> list[Any]:
        state = file.lstat()
        return [os.path.relpath(file, self.path.parent), state.st_size, state.st_mtime_ns]

    def _record(self) -> dict[str, Any] | None:
        file = self.path / RECORD
        try:
            if self.path.is_symlink() or not stat.S_ISREG(file.lstat().st_mode):
                return None
            record = json.loads(file.read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        types = {"kind": str, "key": str, "results": list}
        sound = isinstance(record, dict) and all(type(record.get(name)) is kind for name, kind in types.items())
        return record if sound and record["kind"] == _KIND else None

    def _appear(self, record: bytes) -> None:
        made = CheckpointFolder(self.path.with_name(f".{self.path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"))
        made.path.mkdir()
        try:
            made._put(RECORD, [record])
            made.path.rename(self.path)
        except BaseException:
            made.remove()
            with contextlib.suppress(OSError):
                made.path.rmdir()  # without a record
            raise

    def _put(self, name: str, content: Iterable[bytes | memoryview]) -> None:
        temporary = self.path / f".{name}.{os.getpid()}.tmp"
        try:
            _fill(temporary, content)
            temporary.replace(self.path / name)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _clear(self) -> None:
        for name in self._own():
            (self.path / name).unlink()

    def _own(self) -> list[str]:
        with os.scandir(self.path) as entries:
            return [file.name for file in entries if _OWN.fullmatch(file.name) and file.is_file(follow_symlinks=False)]


def _fill(path: Path, content: Iterable[bytes | memoryview]) -> None:
    with path.open("wb") as file:
        file.writelines(content)


def _record_of(key: str, results: list[Any] | None = None) -> bytes:
    return json.dumps({"kind": _KIND, "key": key, "results": results or []}).encode()
