"""Columns of a text file whose fields are separated by blanks: read in pieces, each taken apart at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from slimline.data.block_memory import give_back
from slimline.data.files import DataFile
from slimline.data.packed_strings import PackedStrings
from slimline.data.text_lines import start_of_text
from slimline.errors import FileFormatError

_Bytes = NDArray[np.uint8]
_Places = NDArray[np.intp]

#: Bytes that are read at a time: what is computed from them stays in the cache.
_PIECE = 1 << 19
#: A line longer than this is no line.
_LONGEST = 16 << 20


def read_text_columns(
    file: DataFile, fields: int, wanted: Sequence[int], kind: str
) -> tuple[list[PackedStrings], list[int]]:
    """Return some columns of a file in which every line has the same number of fields.

    Parameters
    ----------
    file : DataFile
        Text, fields separated by blanks or tabs; lines without any field do not count.
    fields : int
        Fields of every line.
    wanted : sequence of int
        Numbers of the columns to return, from 0.
    kind : str
        What a line of this file is made of, for messages.

    Returns
    -------
    columns : list of PackedStrings
        The wanted columns.
    skipped : list of int
        Numbers, from 1, of the lines without any field.
    """
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
