"""Text in pieces of whole lines, from a plain or a compressed file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from slimline._kernels._native import ParsedText
from slimline.data.block_memory import block_memory
from slimline.data.compressed import compression, decompressed, read_some
from slimline.data.files import DataFile, OpenFile
from slimline.errors import FileChangedError, FileFormatError

#: Bytes of text that are held, unless a line is longer.
PIECE_BYTES = 2 << 20
#: A line longer than this is none.
_LONGEST_LINE = 1 << 30


class TextFile:
    """A text file, plain or compressed, that is gone through in pieces of whole lines.

    Parameters
    ----------
    path : str or path
        Where it is.
    """

    def __init__(self, path: object) -> None:
        self.file = DataFile(path)  # type: ignore[arg-type]
        self.compression = compression(self.file)

    def __str__(self) -> str:
        return str(self.file)

    def refuse_changed(self) -> NoReturn:
        """Raise because the text is not what it was when its rows were found."""
        self.file.require_unchanged()
        raise FileChangedError(f"{self} is not what it was when it was opened: open it again when it is complete.")

    @contextmanager
    def lines(self, start: int = 0, stop: int | None = None, line: int = 1) -> Iterator[TextLines]:
        """Open the text for reading.

        Parameters
        ----------
        start, stop : int
            First byte, and the one behind the last, where lines begin; only in a plain file.
        line : int
            Number of the first line.

        Yields
        ------
        lines : TextLines
            Pieces of whole lines.
        """
        if self.compression is None:
            with self.file.open() as plain:
                yield TextLines(self.file, plain, start, self.file.size if stop is None else stop, line)
        else:
            with decompressed(self.file, self.compression) as stream:
                yield TextLines(self.file, stream, 0, None, line)


class TextLines:
    """The part of a text that is in memory: `text[begin:end]` are whole lines that have not been taken yet.

    Parameters
    ----------
    file : DataFile
        What messages speak of.
    source : OpenFile or binary stream
        Where the bytes come from.
    start, stop : int
        Where the text begins and ends in the file; a stream ends by itself.
    line : int
        Number of its first line.
    """

    def __init__(self, file: DataFile, source: OpenFile | BinaryIO, start: int, stop: int | None, line: int) -> None:
        self._file, self._source, self._stop = file, source, stop
        size = PIECE_BYTES if stop is None else min(PIECE_BYTES, stop - start + 1)
        self.text: NDArray[np.uint8] = block_memory(size, np.uint8)
        self.begin = self.end = 0
        self.line = line
        self._held = 0  # bytes in memory: beyond `end` lies the beginning of a line
        self._base = start  # byte of the text that stands first in memory
        self._at_end = False

    @property
    def offset(self) -> int:
        """Return the byte of the text at `begin`."""
        return self._base + self.begin

    def fill(self) -> bool:
        """Make sure that there is a whole line to be taken; False at the end of the text."""
        while self.begin == self.end:
            if self._at_end:
                return False
            self._make_room()
            self._read()
        return True

    def take(self, parsed: ParsedText) -> None:
        """Go on behind what has been parsed, or raise what was wrong with it."""
        if parsed.problem:
            self.refuse(parsed.problem, parsed.lines, parsed.place)
        self.begin += parsed.consumed
        self.line += parsed.lines

    def refuse(self, problem: str, lines: int, place: int) -> NoReturn:
        """Raise for a line that many lines after the first that is held, and a byte counted from `begin`."""
        where = "of the decompressed text, " if not isinstance(self._source, OpenFile) else ""
        raise FileFormatError(
            f"{self._file}, line {self.line + lines:,} (byte {self.offset + place:,} {where}counted from 0): {problem}."
        )

    def _make_room(self) -> None:
        left = self._held - self.begin
        if left > self.text.size // 2:  # a long line: a larger piece, so that it is not moved again and again
            if self.text.size >= _LONGEST_LINE:
                self.refuse(f"the line is longer than {_LONGEST_LINE:,} bytes; is this text?", 0, 0)
            larger = block_memory(2 * self.text.size, np.uint8)
            larger[:left] = self.text[self.begin : self._held]
            self.text = larger
        elif self.begin:
            self.text[:left] = self.text[self.begin : self._held].copy()
        self._base += self.begin
        self.begin, self.end, self._held = 0, 0, left

    def _read(self) -> None:
        """Read more; `end` moves behind the last whole line."""
        fresh = self._held
        room = self.text[fresh:]
        if isinstance(self._source, OpenFile):
            assert self._stop is not None
            count = min(room.size, self._stop - self._base - fresh)
            if count:
                self._source.read_into(room[None, :count], self._base + fresh)
        else:
            count = read_some(self._source, room.data, self._file)
        if self._base == 0 and fresh == 0:
            self.begin = self.end = start_of_text(room[:count], self._file)
        self._held += count
        if count == 0:
            self._at_end = True
            self.end = self._held
        else:
            self.end = self._behind_last_line(fresh)

    def _behind_last_line(self, fresh: int) -> int:
        stop = self._held
        while stop > fresh:
            start = max(fresh, stop - (64 << 10))
            last = self.text[start:stop].tobytes().rfind(b"\n")
            if last >= 0:
                return start + last + 1
            stop = start
        return self.begin


def start_of_text(first: NDArray[np.uint8], file: object) -> int:
    """Return where the text of a file begins: behind a mark that says "UTF-8", if there is one.

    Parameters
    ----------
    first : array of bytes
        The beginning of the file.
    file : object
        For messages.

    Returns
    -------
    begin : int
        0 or 3. What is no text, or none that is read here, raises.
    """
    head = first[:4096].tobytes()
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileFormatError(f"{file} is UTF-16 text: save it as UTF-8.")
    if b"\0" in head:
        raise FileFormatError(f"{file} is not text: byte {head.index(0):,} is 0.")
    return 3 if head.startswith(b"\xef\xbb\xbf") else 0
