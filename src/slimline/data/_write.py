"""New files that appear only when they are complete, and writers of .npy and .bed."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from slimline.errors import FileWriteError, InvalidParameterError

Buffer = bytes | memoryview

#: Errors of `posix_fallocate` if a file system cannot reserve space.
_CANNOT_RESERVE = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class NewFile:
    """File under a temporary name, until it is complete."""

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
        """Set the final size, and reserve the space if the file system can: a full disk is found before any work."""
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
        """Flush everything to the disk, and close."""
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


#: Bytes that are buffered, so that each row has a long stretch to write.
_PANEL_BYTES = 16 << 20


class NpyWriter:
    """Writer of an int8 array by rows, which is given by groups of columns.

    Each row is written in stretches, as long as a panel of bounded size allows. Where there are so many people that
    one group of variants is more than that, every piece is written as it comes.
    """

    def __init__(self, file: NewFile, shape: tuple[int, int], group: int) -> None:
        self._file = file
        self._shape = shape
        head = BytesIO()
        npy_format.write_array_header_1_0(head, {"descr": "|i1", "fortran_order": False, "shape": shape})
        self._offset = len(head.getvalue())
        file.reserve(self._offset + shape[0] * shape[1])
        file.write(head.getvalue())
        width = min(_PANEL_BYTES // shape[0] // group * group, shape[1])
        self._panel = np.empty((shape[0], width), dtype=np.int8)
        self._first = 0  # column of the panel's first

    def add(self, rows: NDArray[np.intp], columns: slice, copies: NDArray[np.int8]) -> None:
        """Add the genotypes of some samples, each sample once, for the next variants."""
        if not self._panel.size:
            self._write(rows.tolist(), columns.start, np.ascontiguousarray(copies))
        else:
            if columns.stop - self._first > self._panel.shape[1]:
                self._flush(columns.start)
            self._panel[rows, columns.start - self._first : columns.stop - self._first] = copies

    def complete(self, columns: slice) -> None:
        """Write what is buffered, if these were the last variants."""
        if self._panel.size and columns.stop == self._shape[1]:
            self._flush(columns.stop)

    def _flush(self, stop: int) -> None:
        """Write the panel up to a column; the next begins there."""
        self._write(range(self._shape[0]), self._first, self._panel[:, : stop - self._first])
        self._first = stop

    def _write(self, rows: range | list[int], first: int, values: NDArray[np.int8]) -> None:
        for row, stretch in zip(rows, values, strict=True):
            self._file.write_at(stretch.data.cast("B"), self._offset + row * self._shape[1] + first)


_HEAD = b"\x6c\x1b\x01"  # the last byte: variant by variant
_MISSING = 1  # the code of a missing call


class BedWriter:
    """Writer of groups of variants one after the other, the samples of a group in any order."""

    def __init__(self, file: NewFile, shape: tuple[int, int]) -> None:
        self._file = file
        self._bytes = -(-shape[0] // 4)
        self._packed: NDArray[np.uint8] = np.zeros((self._bytes, 0), dtype=np.uint8)
        file.reserve(len(_HEAD) + self._bytes * shape[1])
        file.write(_HEAD)

    def add(self, rows: NDArray[np.intp], columns: slice, copies: NDArray[np.int8]) -> None:
        """Add the genotypes of some samples, each sample once, for the next variants."""
        width = columns.stop - columns.start
        if self._packed.shape[1] != width:
            self._packed = np.zeros((self._bytes, width), dtype=np.uint8)
        codes = (3 - copies - (copies >> 1)).view(np.uint8)  # 0, 1, 2 -> 11, 10, 00
        np.putmask(codes, copies < 0, _MISSING)
        for place in range(4):  # rows at one place of their bytes: no byte comes twice
            here = rows % 4 == place
            self._packed[rows[here] // 4] |= codes[here] << np.uint8(2 * place)

    def complete(self, columns: slice) -> None:
        """Write the variants: all samples have been added."""
        self._file.write(np.ascontiguousarray(self._packed.T).data.cast("B"))
        self._packed[...] = 0
