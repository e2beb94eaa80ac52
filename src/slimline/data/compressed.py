"""Compressed text: recognised by its first bytes or its ending, and read as a stream."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from slimline.data.files import DataFile
from slimline.errors import FileFormatError

#: Ending: (what it is called, pattern of the first bytes).
_KINDS = {
    ".gz": ("gzip", re.compile(rb"\x1f\x8b")),
    ".bz2": ("bzip2", re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)")),
    ".xz": ("xz", re.compile(rb"\xfd7zXZ\x00")),
}
#: What the three modules raise when a stream is damaged or cut short.
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError)


def compression(file: DataFile) -> str | None:
    """Return ".gz", ".bz2" or ".xz", or None for a file that is not compressed.

    Parameters
    ----------
    file : DataFile
        The file. Its first bytes decide; an ending that contradicts them is an error.

    Returns
    -------
    ending : str or None
        What it is compressed with, whatever its name.
    """
    with file.path.open("rb") as stream:
        first = stream.read(16)
    found = next((ending for ending, (_, pattern) in _KINDS.items() if pattern.match(first)), None)
    said = file.path.suffix.lower()
    if said in _KINDS and found != said:
        raise FileFormatError(f"{file} does not begin as a {_KINDS[said][0]} file does: it is damaged, or misnamed.")
    return found


@contextmanager
def decompressed(file: DataFile, ending: str) -> Iterator[BinaryIO]:
    """Open the text of a compressed file; what is wrong with it is a `FileFormatError`.

    Parameters
    ----------
    file : DataFile
        The compressed file; a change while it is read is an error.
    ending : str
        What it is compressed with.

    Yields
    ------
    stream : binary file
        The text, from its beginning.
    """
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
