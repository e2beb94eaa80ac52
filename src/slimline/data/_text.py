"""Text files in pieces: lines, columns, groups of rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import thread_count
from slimline._kernels._native import ParsedText
from slimline.data._blocks import Block
from slimline.data._files import DataFile, OpenFile, compression, decompressed, read_some
from slimline.data._names import PackedStrings
from slimline.data._passes import block_memory, give_back
from slimline.errors import FileChangedError, FileFormatError

#: Bytes of text that are held, unless a line is longer.
PIECE_BYTES = 2 << 20
#: A line longer than this is none.
_LONGEST_LINE = 1 << 30


class TextFile:
    """Text file, plain or compressed, that is read in pieces of whole lines."""

    def __init__(self, path: object) -> None:
        self.file = DataFile(path)  # type: ignore[arg-type]
        self.compression = compression(self.file)

    def __str__(self) -> str:
        return str(self.file)

    def refuse_changed(self) -> NoReturn:
        """Raise because the text has changed since its rows were found."""
        self.file.require_unchanged()
        raise FileChangedError(f"{self} is not what it was when it was opened: open it again when it is complete.")

    @contextmanager
    def lines(self, start: int = 0, stop: int | None = None, line: int = 1) -> Iterator[TextLines]:
        """Open the text for reading."""
        if self.compression is None:
            with self.file.open() as plain:
                yield TextLines(self.file, plain, start, self.file.size if stop is None else stop, line)
        else:
            with decompressed(self.file, self.compression) as stream:
                yield TextLines(self.file, stream, 0, None, line)


class TextLines:
    """Part of a text in memory: `text[begin:end]` are whole lines that have not been parsed."""

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
        """Read on until there is a whole line; return False at the end of the text."""
        while self.begin == self.end:
            if self._at_end:
                return False
            self._make_room()
            self._read()
        return True

    def take(self, parsed: ParsedText) -> None:
        """Continue after what has been parsed, or raise its error."""
        if parsed.problem:
            self.refuse(parsed.problem, parsed.lines, parsed.place)
        self.begin += parsed.consumed
        self.line += parsed.lines

    def refuse(self, problem: str, lines: int, place: int, remedy: str = "", parameter: str | None = None) -> NoReturn:
        """Raise for a line that many lines after the first that is held, and a byte counted from `begin`."""
        where = "of the decompressed text, " if not isinstance(self._source, OpenFile) else ""
        raise FileFormatError(
            f"{self._file}, line {self.line + lines:,} "
            f"(byte {self.offset + place:,} {where}counted from 0): {problem}.",
            remedy,
            parameter,
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
    """Return where the text of a file begins: behind a mark that says "UTF-8", if there is one."""
    head = first[:4096].tobytes()
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileFormatError(f"{file} is UTF-16 text: save it as UTF-8.")
    if b"\0" in head:
        raise FileFormatError(f"{file} is not text: byte {head.index(0):,} is 0.")
    return 3 if head.startswith(b"\xef\xbb\xbf") else 0


_Bytes = NDArray[np.uint8]
_Places = NDArray[np.intp]

#: Bytes that are read at a time: what is computed from them stays in the cache.
_PIECE = 1 << 19
#: A line longer than this is no line.
_LONGEST = 16 << 20


def read_text_columns(
    file: DataFile, fields: int, wanted: Sequence[int], kind: str
) -> tuple[list[PackedStrings], list[int]]:
    """Return some columns of a file in which every line has the same number of fields."""
    # grown in place: many small arrays would leave the heap full of holes
    texts, sizes = [bytearray() for _ in wanted], [bytearray() for _ in wanted]
    skipped: list[int] = []
    line = 1
    for piece in _whole_lines(file):
        starts, ends, empty, lines = _fields(piece, fields, file, line, kind)
        skipped.extend(line + int(k) for k in empty)
        line += lines
        for column, text, size in zip(wanted, texts, sizes, strict=True):
            length = ends[:, column] - starts[:, column]
            text += _gathered(piece, starts[:, column], length).tobytes()
            size += length.astype(np.uint32).tobytes()
    columns = []
    while texts:  # each is let go when it is packed
        ends_of_all = np.cumsum(np.frombuffer(sizes.pop(0), dtype=np.uint32), dtype=np.uint64)
        columns.append(PackedStrings(bytes(texts.pop(0)), ends_of_all))
    give_back()  # what grew left holes
    return columns, skipped


def line_of(row: int, skipped: Sequence[int]) -> int:
    """Return the number of the line, from 1, of a row, from 0, where lines without fields were skipped."""
    line = row + 1
    for gap in skipped:
        line += gap <= line
    return line


def _whole_lines(file: DataFile) -> Iterator[_Bytes]:
    """Yield the file in pieces that end with a line; the last line may lack its end."""
    with file.open() as handle:
        rest = np.empty(0, dtype=np.uint8)
        offset = 0
        while offset < file.size:
            fresh = np.empty((1, min(_PIECE, file.size - offset)), dtype=np.uint8)
            handle.read_into(fresh, offset)
            begin = 0 if offset else start_of_text(fresh[0], file)
            offset += fresh.size
            fresh = fresh[:, begin:]
            newlines = np.flatnonzero(fresh[0] == ord("\n"))
            if newlines.size == 0:
                rest = np.concatenate([rest, fresh[0]])
                if rest.size > _LONGEST:
                    raise FileFormatError(f"{file} has a line of more than {_LONGEST:,} bytes: it is not a text file.")
                continue
            cut = int(newlines[-1]) + 1
            yield np.concatenate([rest, fresh[0, :cut]])
            rest = fresh[0, cut:]
        if rest.size:
            yield rest


def _fields(
    piece: _Bytes, fields: int, file: DataFile, first_line: int, kind: str
) -> tuple[_Places, _Places, _Places, int]:
    """Return where each field of each line starts and ends, which lines have none, and how many lines there are."""
    blank = np.ones(piece.size + 2, dtype=np.bool_)  # one before, one after
    # blank, tab, line feed, vertical tab, form feed, carriage return; written so that whole numbers wrap round
    np.less_equal(piece - np.uint8(9), 4, out=blank[1:-1])
    blank[1:-1] |= piece == ord(" ")
    edges = np.flatnonzero(blank[1:] != blank[:-1])  # start, end, start, end, …
    starts, ends = edges[0::2], edges[1::2]
    line_ends = np.flatnonzero(piece == ord("\n"))
    if piece[-1] != ord("\n"):
        line_ends = np.append(line_ends, piece.size)
    up_to = np.searchsorted(starts, line_ends)
    counts = np.diff(up_to, prepend=0)
    wrong = (counts != fields) & (counts != 0)
    if wrong.any():
        which = int(np.argmax(wrong))
        raise FileFormatError(
            f"{file}, line {first_line + which:,}: {counts[which]:,} fields instead of {fields} ({kind})."
        )
    return starts.reshape(-1, fields), ends.reshape(-1, fields), np.flatnonzero(counts == 0), line_ends.size


def _gathered(piece: _Bytes, starts: _Places, sizes: _Places) -> _Bytes:
    """Return stretches of bytes one after the other."""
    before = np.cumsum(sizes) - sizes
    return piece[np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))]


#: Bytes of the numbers of a group. Two threads hold four of them: one computed on, one waiting, two in the making.
GROUP_BYTES = 6 << 20
#: More threads than this would only hold more groups.
_MOST_WORKERS = 2


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that follow each other in a text."""

    #: Number of the group.
    number: int
    #: First byte and the one behind the last.
    start: int
    stop: int
    #: Number of the first line, from 1.
    line: int
    #: Number of the first row, from 0.
    first_row: int
    #: How many there are.
    rows: int
    #: How many numbers they hold.
    values: int


#: Makes a block of a group, given its text and the number of the buffer to use.
Parse = Callable[[RowGroup, TextLines, int], Block]


def group_blocks(text: TextFile, groups: Sequence[RowGroup], parse: Parse, start: int = 0) -> Iterator[Block]:
    """Yield the blocks of all groups in order, from group number `start` on."""
    workers = min(thread_count(), _MOST_WORKERS)
    if text.compression is not None or workers < 2 or len(groups) < 2:
        with text.lines(line=1) as lines:
            blocks = (parse(group, lines, group.number % 3) for group in groups)
            yield from islice(blocks, start, None)  # what comes before has to be parsed
        return
    slots = workers + 2

    def parse_alone(group: RowGroup) -> Block:
        with text.lines(group.start, group.stop, group.line) as lines:
            return parse(group, lines, group.number % slots)

    waiting: deque[Future[Block]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="slimline-parse") as pool:
        try:
            for group in groups[start:]:
                waiting.append(pool.submit(parse_alone, group))
                if len(waiting) == workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for task in waiting:
                task.cancel()
