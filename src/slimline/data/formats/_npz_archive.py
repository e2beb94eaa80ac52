"""An `.npz` file is a zip archive of `.npy` files: its members, read in place or as streams."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from slimline.data._files import DataFile
from slimline.data.formats._npy import npy_header
from slimline.errors import FileFormatError, SlimlineError

#: Bytes that are asked of a stream at once.
_PIECE = 1 << 20
#: Deflate makes at most so many bytes of one.
_MOST_INFLATION = 1032
#: The end of an archive without a comment: a mark, numbers of disks and of members, sizes, length of the comment.
_LAST_RECORD = struct.Struct("<4s4H2LH")
#: The number of members where another record holds it.
_UNKNOWN = 0xFFFF
#: Bytes of a member that is taken into memory whole: positions of rows, labels.
_MOST_HELD = 1 << 31


@dataclass(frozen=True, slots=True)
class Member:
    """An array of the archive."""

    #: Its name, without `.npy`.
    name: str
    #: What the directory of the archive says of it.
    info: zipfile.ZipInfo
    #: Of the array.
    shape: tuple[int, ...]
    #: Of its elements.
    dtype: np.dtype[Any]
    #: Whether columns follow each other, instead of rows.
    fortran: bool
    #: Bytes of the `.npy` header.
    head: int

    @property
    def stored(self) -> bool:
        """Return whether it is not compressed."""
        return self.info.compress_type == zipfile.ZIP_STORED


class Archive:
    """The arrays of an `.npz` file; damage of any kind is a `FileFormatError`."""

    def __init__(self, path: Any) -> None:
        self.file = DataFile(path)
        self.members: dict[str, Member] = {}
        with self._whole(), self.file.path.open("rb") as raw, zipfile.ZipFile(raw) as archive:
            self._require_all(raw, len(archive.infolist()))
            for info in archive.infolist():
                self._require_possible(info)
                with archive.open(info) as stream:  # compares its two names
                    member = _member(info, stream, str(self))
                self.members[member.name] = member

    def __str__(self) -> str:
        return str(self.file)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Turn whatever a damaged archive makes the standard library raise into one kind of error."""
        try:
            yield
        except SlimlineError:
            self.file.require_unchanged()
            raise
        except (MemoryError, KeyboardInterrupt, GeneratorExit):
            raise
        except Exception as error:  # zipfile raises a dozen kinds, by the byte that is wrong
            self.file.require_unchanged()
            raise FileFormatError(f"{self} is not a sound .npz file: {str(error) or type(error).__name__}") from error

    def _require_all(self, raw: BinaryIO, found: int) -> None:
        """Refuse a directory of which a damaged length hides some entries; the last record says how many there are."""
        raw.seek(-_LAST_RECORD.size, os.SEEK_END)
        mark, *_, declared, _, _, comment = _LAST_RECORD.unpack(raw.read(_LAST_RECORD.size))
        if mark != b"PK\5\6" or comment or declared not in (found, _UNKNOWN):
            raise FileFormatError(
                f"{self}: its directory lists {found:,} members, and its end says otherwise: it is damaged."
            )

    def _require_possible(self, info: zipfile.ZipInfo) -> None:
        """Refuse names that `numpy.savez` does not write, and sizes that cannot be true, before anything is read.

        What is no array cannot be passed over: it may be the labels, with a damaged name.
        """
        if not info.filename.endswith(".npy") or info.filename[:-4] in self.members:
            what = "is there twice" if info.filename.endswith(".npy") else "is no array (NAME.npy)"
            raise FileFormatError(
                f"{self}: the member {info.filename!r:.200} {what}: the file is damaged, or not of numpy.savez. Save "
                "the arrays again, and nothing else."
            )
        inflated = info.compress_size * (1 if info.compress_type == zipfile.ZIP_STORED else _MOST_INFLATION)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileFormatError(f"{self}: {info.filename} is compressed in another way than numpy.savez does.")
        if info.header_offset + info.compress_size > self.file.size or info.file_size > inflated + 64:
            raise FileFormatError(f"{self}: the sizes of {info.filename} do not fit the file: it is damaged.")

    @contextmanager
    def streams(self, *members: Member) -> Iterator[list[ArrayStream]]:
        """Open members for one pass, each at its first number."""
        self.file.require_unchanged()
        with self._whole(), self.file.path.open("rb") as raw, zipfile.ZipFile(raw) as archive:
            opened = [archive.open(member.info) for member in members]
            try:
                for member, stream in zip(members, opened, strict=True):
                    stream.read(member.head)
                yield [ArrayStream(self, m, s) for m, s in zip(members, opened, strict=True)]
            finally:
                for stream in opened:
                    stream.close()
        self.file.require_unchanged()

    def array(self, member: Member) -> NDArray[Any]:
        """Return a small member whole: labels, positions of rows."""
        size = prod(member.shape)
        if size * member.dtype.itemsize > _MOST_HELD:
            raise FileFormatError(f"{self}: {member.name} is too large to be held in memory.")
        out = np.empty(size, dtype=member.dtype)
        with self.streams(member) as (stream,):
            stream.fill(out)
            stream.finish()
        return out.reshape(member.shape, order="F" if member.fortran else "C")

    def place(self, member: Member) -> int:
        """Return the byte of the file where the numbers of a stored member begin."""
        with self._whole(), self.file.path.open("rb") as raw:
            raw.seek(member.info.header_offset + 26)
            name, extra = struct.unpack("<HH", raw.read(4))
        return member.info.header_offset + 30 + int(name) + int(extra) + member.head

    def check(self, member: Member) -> None:
        """Read a member once and compare its checksum."""
        with self.streams(member) as (stream,):
            stream.skip_to_end()


class ArrayStream:
    """The numbers of a member, from the first to the last."""

    def __init__(self, archive: Archive, member: Member, stream: Any) -> None:
        self._archive, self._member, self._stream = archive, member, stream

    def fill(self, out: NDArray[Any]) -> None:
        """Fill a contiguous array with the next numbers."""
        raw = out.reshape(-1, order="A").view(np.uint8)
        done = 0
        while done < raw.size:
            piece = self._stream.read(min(_PIECE, raw.size - done))
            if not piece:
                raise FileFormatError(f"{self._archive}: {self._member.name} ends too early: the file is damaged.")
            raw[done : done + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            done += len(piece)

    def finish(self) -> None:
        """Raise unless all numbers have been read; the checksum is compared on the way."""
        if self._stream.read(1):
            raise FileFormatError(f"{self._archive}: {self._member.name} is longer than its shape says.")

    def skip_to_end(self) -> None:
        """Read what is left, for its checksum."""
        while self._stream.read(_PIECE):
            pass


def _member(info: zipfile.ZipInfo, stream: Any, archive: str) -> Member:
    shape, fortran, dtype, head = npy_header(stream, f"{archive}: {info.filename}")
    needed = head + prod(shape) * dtype.itemsize
    if not dtype.hasobject and info.file_size != needed:
        raise FileFormatError(
            f"{archive}: {info.filename} has {info.file_size:,} bytes, and its shape {shape} needs {needed:,}."
        )
    return Member(info.filename[:-4], info, shape, dtype, fortran, head)
