"""Dense arrays stored in chunks: blocks are made of whole chunks, so that each is read and decoded once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from slimline._base.checks import missing_number
from slimline.data import _passes as ahead
from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest, block_type, with_missing
from slimline.data._files import digest
from slimline.data._matrix import Matrix
from slimline.data._names import Names
from slimline.data._passes import Buffers
from slimline.data._storage import StorageTraits
from slimline.data.formats._stores import Store

#: Rows and columns.
Place = tuple[slice, slice]

#: Bytes of a row that a block spans, where rows are longer than that: short and wide blocks make tdot slow.
_STRETCH = 64 << 10
#: Bytes of a block: the libraries hold as much again while they decode.
BLOCK_BYTES = ahead.BLOCK_BYTES // 2
#: Bytes of a full-height panel, at most: three of them are in memory.
_PANEL_BYTES = ahead.BLOCK_BYTES
#: How often a chunk may be read to make full-height panels: two passes over rectangles would do so too.
_READS = 2


@dataclass(frozen=True)
class ChunkGrid:
    """Cuts of a matrix that is stored in chunks."""

    #: Of the matrix.
    shape: tuple[int, int]
    #: Of a chunk, no larger than the matrix.
    chunk: tuple[int, int]
    #: Bytes of a number in memory.
    itemsize: int

    @property
    def panels(self) -> bool:
        """Return whether full-height panels can be read without reading any chunk twice."""
        return self.shape[0] * self.chunk[1] * self.itemsize <= _READS * _PANEL_BYTES

    def rectangles(self) -> Iterator[tuple[Place, list[Place]]]:
        """Yield what to read, and the blocks to make of it, until the matrix is covered.

        A rectangle is made of whole chunks, as many as a block may have. A single chunk that is larger than a block
        makes several, so that no more than one such chunk is in memory.
        """
        (n, d), (height, width), item = self.shape, self.chunk, self.itemsize
        if n == 0 or d == 0:
            return
        large = height * width * item > BLOCK_BYTES
        if not large:
            most = BLOCK_BYTES // (height * item)
            across = min(-(-_STRETCH // item), most) if height < n else most
            width = min(max(across // width, 1) * width, d)
            height = min(max(BLOCK_BYTES // (width * item) // height, 1) * height, n)
        for rows in _cuts(n, height):
            for columns in _cuts(d, width):
                yield (rows, columns), _parts(rows, columns, item) if large else [(rows, columns)]

    def columns(self) -> Iterator[tuple[Place, list[Place]]]:
        """Yield the same for panels of whole columns; a column of chunks that is larger than a panel may be is cut."""
        n, d = self.shape
        width = self.chunk[1]
        column = max(n * self.itemsize, 1)
        pieces = -(-column * width // _PANEL_BYTES)
        if pieces <= 1:
            step = max(BLOCK_BYTES // column // width, 1) * width
            for columns in _cuts(d, step):
                yield (slice(0, n), columns), [(slice(0, n), columns)]
            return
        for whole in _cuts(d, width):
            for part in _cuts(whole.stop - whole.start, -(-width // pieces)):
                place = slice(0, n), slice(whole.start + part.start, whole.start + part.stop)
                yield place, [place]


def _cuts(size: int, step: int) -> Iterator[slice]:
    for start in range(0, size, max(step, 1)):
        yield slice(start, min(start + step, size))


def _parts(rows: slice, columns: slice, item: int) -> list[Place]:
    height, width = rows.stop - rows.start, columns.stop - columns.start
    across = min(width, max(BLOCK_BYTES // item, 1))
    down = min(height, max(BLOCK_BYTES // (across * item), 1))
    return [
        (slice(rows.start + r.start, rows.start + r.stop), slice(columns.start + c.start, columns.start + c.stop))
        for r in _cuts(height, down)
        for c in _cuts(width, across)
    ]


class ChunkedMatrix(Matrix):
    """Dense array in a store."""

    def __init__(self, store: Store, key: str, array: Any, names: Names, missing: int | None = None) -> None:
        self._stored = np.dtype(array.dtype)
        super().__init__(array.shape, block_type(self._stored), store.source.path.name)
        n, d = self.shape
        chunk = store.chunk_of(array)
        self._grid = ChunkGrid(
            self.shape, (max(min(chunk[0], n), 1), max(min(chunk[1], d), 1)), max(self.dtype.itemsize, 1)
        )
        self.traits = StorageTraits(whole_columns=self._grid.panels)
        self._store, self._key = store, key
        self._missing = missing_number(missing, self._stored, str(store))
        self.names = names
        names.require_fit(self.shape, str(store))

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield rectangles of whole chunks, or panels of whole columns."""
        buffers = Buffers()
        aside = np.empty(0, dtype=self._stored)  # for what has to be converted or cut
        cuts = self._grid.columns() if request.whole_columns else self._grid.rectangles()
        with self._store.open() as root:
            with self._store.errors():
                array = root[self._key]
            skip = request.start
            for place, parts in cuts:
                skip, parts = max(skip - len(parts), 0), parts[skip:]
                if not parts:
                    continue
                rows, columns = place
                shape = (rows.stop - rows.start, columns.stop - columns.start)
                ready = parts == [place] and self.dtype == self._stored
                if ready:
                    read = buffers.array(shape, self.dtype)
                else:
                    if aside.size < shape[0] * shape[1]:
                        aside = np.empty(shape[0] * shape[1], dtype=self._stored)
                    read = aside[: shape[0] * shape[1]].reshape(shape)
                with self._store.errors():
                    self._store.fill(array, place, read)
                for r, c in parts:
                    values = read
                    if not ready:
                        values = buffers.array((r.stop - r.start, c.stop - c.start), self.dtype)
                        values[...] = read[
                            r.start - rows.start : r.stop - rows.start, c.start - columns.start : c.stop - columns.start
                        ]
                    yield Block(r, c, *with_missing(values, self._missing))
        self.require_unchanged()

    @property
    def fingerprint(self) -> str:
        """Return a digest of shape, type, name and pieces of the store."""
        kind = self._stored, self._missing
        return digest(self._store.kind, self.shape, *kind, self._key, self._store.source.fingerprint())

    def require_unchanged(self) -> None:
        """Raise if the store changed or is gone."""
        self._store.source.require_unchanged()
