"""Files that are written under temporary names and appear together, complete, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from slimline.errors import FileWriteError, InvalidParameterError

Buffer = bytes | memoryview

#: What `posix_fallocate` says where a file system cannot reserve room.
_CANNOT_RESERVE = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class NewFile:
    """A file on its way: it has a temporary name.

    Parameters
    ----------
    path : Path
        Where it will be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
        self._descriptor = -1
        self._end = 0

    def open(self) -> None:
        """Create the file under its temporary name."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        self._descriptor = os.open(self.temporary, flags, 0o666)

    def reserve(self, size: int) -> None:
        """Set the final size and, where the file system can, take the room now: a full disk is noticed before work."""
        os.truncate(self._descriptor, size)
        if hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(self._descriptor, 0, size)
            except OSError as error:
                if error.errno not in _CANNOT_RESERVE:
                    raise

    def write(self, data: Buffer) -> None:
        """Write after what was written last."""
        self.write_at(data, self._end)
        self._end += len(data)

    def write_at(self, data: Buffer, offset: int) -> None:
        """Write at a position; the system may take a part at a time."""
        done = os.pwrite(self._descriptor, data, offset)
        while done < len(data):
            more = os.pwrite(self._descriptor, data[done:], offset + done)
            if more == 0:
                raise OSError(errno.EIO, "the system wrote nothing", str(self.temporary))
            done += more

    def finish(self) -> None:
        """Have everything on the disk, and close."""
        os.fsync(self._descriptor)  # some file systems only now find that the disk is full
        self.close()

    def close(self) -> None:
        """Close, if it is open."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)


class NewFiles:
    """A set of files that belong together; use it in a `with` statement.

    When the block ends the files get their names, in the order of `paths`. After an error, a full disk or Ctrl-C all
    that was written is removed.

    Parameters
    ----------
    paths : iterable of Path
        What will be written. The last is the one without which the others mean nothing: where files are replaced, the
        old one goes first and the new one comes last.
    overwrite : bool
        Whether files that exist may be replaced.
    """

    def __init__(self, paths: Iterable[Path], *, overwrite: bool = False) -> None:
        self._paths = list(paths)
        self._files: list[NewFile] = []
        self._named: list[Path] = []
        for path in self._paths:
            if not path.absolute().parent.is_dir():
                raise InvalidParameterError(f"{path}: there is no folder {path.parent}.")
            if path.is_dir():
                raise InvalidParameterError(f"{path} is a folder: choose another name.")
            if path.exists() and not overwrite:
                raise InvalidParameterError(f"{path} exists: choose another name, or say that it may be overwritten.")

    def __enter__(self) -> NewFiles:
        return self

    def create(self, path: Path) -> NewFile:
        """Return one of the files, open for writing."""
        file = NewFile(path)
        self._files.append(file)  # before it exists, so that it is removed whenever Ctrl-C comes
        file.open()
        return file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._appear()
        except BaseException as late:
            error = late
            for path in self._named:
                _remove(path)
            raise
        finally:
            for file in self._files:
                with contextlib.suppress(OSError):
                    file.close()
                _remove(file.temporary)
            if isinstance(error, OSError) and not isinstance(error, FileWriteError):
                raise self._explained(error) from error

    def _appear(self) -> None:
        for file in self._files:
            file.finish()
        for path in reversed(self._paths):
            path.unlink(missing_ok=True)
        written = {file.path: file for file in self._files}
        for path in self._paths:
            self._named.append(path)
            written[path].temporary.rename(path)

    def _explained(self, error: OSError) -> FileWriteError:
        folder = self._paths[-1].absolute().parent
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = "the disk is full, or your share of it: make room, or write to another folder"
        else:
            reason = error.strerror or str(error)
        explained = FileWriteError(
            f"could not write {self._paths[-1].name} to {folder}: {reason}. What had been written was removed."
        )
        explained.errno = error.errno
        return explained


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
