"""The folder of a checkpoint: slimline's files in it, and nobody else's."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: Name of the file that says what the others belong to.
RECORD = "checkpoint.json"
_KIND = "slimline checkpoint"
_PASS = r"pass-\d{4,}"
_OWN = re.compile(rf"{_PASS}|\.({_PASS}|{re.escape(RECORD)})\.\d+\.tmp")


class CheckpointFolder:
    """A folder that slimline makes for a checkpoint and removes when the job is done.

    It appears together with its record, so a folder without one is somebody else's; a symbolic link is, too. Such a
    folder is neither written to nor removed. In slimline's own, files with other names than it gives stay.

    Parameters
    ----------
    path : str or path
        Where it is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def key(self) -> str | None:
        """Return what the checkpoint belongs to; None: slimline has none there."""
        record = self._record()
        return None if record is None else str(record["key"])

    def begin(self, key: str) -> None:
        """Make the folder; one of slimline's for another key is emptied.

        Parameters
        ----------
        key : str
            What the checkpoint belongs to.
        """
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
        """Write a file of the checkpoint; it appears when it is complete.

        Parameters
        ----------
        key : str
            What the checkpoint belongs to.
        name : str
            Of the file: pass- and its number.
        content : iterable of bytes
            All of it, piece by piece.
        """
        found = self.key()
        if found not in (None, key):
            raise OSError(errno.EBUSY, "another job keeps its checkpoint there now")
        self.begin(key)  # another run of the same job may have removed it
        self._put(name, content)

    def holds_passes(self) -> bool:
        """Return whether there is anything to go on from."""
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
        """Note that the job wrote a file.

        Parameters
        ----------
        key : str
            What the checkpoint belongs to; nothing is noted in that of another job.
        file : Path
            As the job left it.
        """
        record = self._record()
        if record is not None and record["key"] == key:
            self._put(RECORD, [_record_of(key, [*record["results"], self._state(file)])])

    def wrote(self, file: Path, key: str | None = None) -> bool:
        """Return whether a file is one that the job wrote, and nobody since.

        Parameters
        ----------
        file : Path
            It is there.
        key : str, optional
            Of the job; None: the one that the checkpoint belongs to.

        Returns
        -------
        wrote : bool
            As its size and time of change tell.
        """
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
