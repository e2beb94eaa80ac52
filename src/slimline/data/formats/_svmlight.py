"""svmlight (libsvm) text: indexed once, then streamed as sparse rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import _native
from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest
from slimline.data._files import digest
from slimline.data._matrix import Matrix
from slimline.data._names import Names
from slimline.data._passes import block_memory
from slimline.data._storage import StorageTraits
from slimline.data._text import GROUP_BYTES, RowGroup, TextFile, TextLines, group_blocks
from slimline.errors import FileFormatError, InvalidParameterError

#: Values and rows of a group, at most, unless one row has more.
_GROUP_VALUES = GROUP_BYTES // 12
_GROUP_ROWS = GROUP_BYTES // 24


class SvmlightMatrix(Matrix):
    """The rows of an svmlight file, as CSR blocks of float64."""

    def __init__(self, text: TextFile, index: SvmlightIndex, n_features: int, base: int) -> None:
        super().__init__((index.labels.size, n_features), np.float64, text.file.path.name)
        self._text, self._index, self._base = text, index, base
        self.names = Names(FeatureNumbers(range(base, base + n_features)), labels=index.labels)
        self._index_type = np.dtype(np.int32 if n_features < 2**31 else np.int64)
        self.traits = StorageTraits(density=self.nonzeros / max(self.shape[0] * n_features, 1))
        self._counter.add()  # finding the rows went through all of the text

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield groups of rows."""
        buffers: dict[int, _RowBuffer] = {}
        rows = max(group.rows for group in self._index.groups)
        values = max(group.values for group in self._index.groups)

        def parse(group: RowGroup, lines: TextLines, slot: int) -> Block:
            if slot not in buffers:
                buffers[slot] = _RowBuffer(rows, values, self._index_type)
            buffer = buffers[slot]
            buffer.clear(group.rows, group.values)
            while buffer.rows < group.rows:
                if not lines.fill() or buffer.parse(lines, self._base).row_too_long:
                    self._text.refuse_changed()
            if buffer.values != group.values:
                self._text.refuse_changed()
            last = group.first_row + group.rows
            return Block(slice(group.first_row, last), slice(0, self.shape[1]), buffer.csr(self.shape[1]))

        return group_blocks(self._text, self._index.groups, parse, request.start)

    @property
    def zero_based(self) -> bool:
        """Return whether the first column has index 0 in the file."""
        return self._base == 0

    def widened(self, n_features: int, zero_based: bool) -> SvmlightMatrix:
        """Return the same rows with the columns of another file, as if they had been opened so."""
        return _matrix(self._text, self._index, n_features, 0 if zero_based else 1)

    @property
    def nonzeros(self) -> int:
        """Return how many values the file holds, zeros that are written out included."""
        return sum(group.values for group in self._index.groups)

    @property
    def fingerprint(self) -> str:
        """Return a digest of shape, first index and pieces of the file."""
        return digest("svmlight", self.shape, self._base, self._text.file.fingerprint())

    def require_unchanged(self) -> None:
        """Raise if the file changed or is gone."""
        self._text.file.require_unchanged()


def open_svmlight(
    path: Any, *, n_features: int | None = None, zero_based: bool | Literal["auto"] = "auto"
) -> SvmlightMatrix:
    """Return the matrix of an svmlight (libsvm) file, plain or compressed with gzip, bzip2 or xz.

    Opening goes through the file once, to find rows, columns and labels and to check every number; that counts as the
    first pass.
    """
    if zero_based not in (True, False, "auto"):
        raise InvalidParameterError(f"must be True, False or 'auto'; got {zero_based!r}.", "zero_based", zero_based)
    if n_features is not None and (not isinstance(n_features, (int, np.integer)) or n_features < 1):
        raise InvalidParameterError(f"must be a whole number, 1 or more; got {n_features!r}.", "n_features", n_features)
    text = TextFile(path)
    index = _index(text, 1 if zero_based is False else 0)
    return _matrix(text, index, n_features, int(index.smallest > 0) if zero_based == "auto" else 1 - int(zero_based))


def _matrix(text: TextFile, index: SvmlightIndex, n_features: int | None, base: int) -> SvmlightMatrix:
    found = max(index.largest + 1 - base, 0)
    if n_features is not None and n_features < found:
        raise FileFormatError(
            f"{text}, line {index.largest_line:,}: index {index.largest} belongs to feature {found:,}, and at most "
            f"{n_features:,} are expected."
        )
    if 0 <= index.smallest < base:
        raise FileFormatError(f"{text} has the index 0, and with zero_based=False the first feature has index 1.")
    return SvmlightMatrix(text, index, found if n_features is None else int(n_features), base)


class FeatureNumbers(Sequence[str]):
    """Numbers of features in a file that names them by nothing else."""

    def __init__(self, numbers: range) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> FeatureNumbers: ...
    def __getitem__(self, place: int | slice) -> str | FeatureNumbers:
        found = self._numbers[place]
        return FeatureNumbers(found) if isinstance(found, range) else str(found)


@dataclass(frozen=True, slots=True)
class SvmlightIndex:
    """Result of the first pass: positions and names."""

    #: Rows that are parsed together.
    groups: list[RowGroup]
    #: Label of each row.
    labels: NDArray[np.float64]
    #: Of the indices, as they stand in the file; -1 where there are none.
    smallest: int
    largest: int
    #: Line of the largest index.
    largest_line: int


def _index(text: TextFile, base: int) -> SvmlightIndex:
    groups: list[RowGroup] = []
    labels: list[NDArray[np.float64]] = []
    smallest, largest, largest_line = -1, -1, 0
    buffer = _RowBuffer(_GROUP_ROWS, _GROUP_VALUES, np.dtype(np.int64))
    with text.lines() as lines:
        more = lines.fill()
        while more:
            start, line, first_row = lines.offset, lines.line, groups[-1].first_row + groups[-1].rows if groups else 0
            buffer.clear(_GROUP_ROWS, buffer.most_values)
            full = False
            while more and not full:
                before = lines.line
                parsed = buffer.parse(lines, base)
                if parsed.largest > largest:
                    largest, largest_line = parsed.largest, before + parsed.largest_line
                if parsed.smallest >= 0:
                    smallest = parsed.smallest if smallest < 0 else min(smallest, parsed.smallest)
                full = lines.begin < lines.end or buffer.rows == buffer.most_rows
                more = lines.fill()
            if buffer.rows:
                groups.append(RowGroup(len(groups), start, lines.offset, line, first_row, buffer.rows, buffer.values))
                labels.append(buffer.labels[: buffer.rows].copy())
            elif full:  # one row that is longer than all that the buffer holds
                buffer = _RowBuffer(_GROUP_ROWS, 2 * buffer.most_values, np.dtype(np.int64))
    if not groups:
        raise FileFormatError(f"{text} holds no rows.")
    return SvmlightIndex(groups, np.concatenate(labels), smallest, largest, largest_line)


class _RowBuffer:
    """Arrays for the rows of a group, filled piece by piece of the text."""

    def __init__(self, rows: int, values: int, index_type: np.dtype[Any]) -> None:
        self.labels = np.empty(rows)
        self._pointer = np.empty(rows + 1, dtype=np.int64)
        self._indices = block_memory(values, index_type)
        self._data = block_memory(values, np.float64)
        self.clear(rows, values)

    def clear(self, most_rows: int, most_values: int) -> None:
        """Empty the arrays, and enlarge them for so many rows and values."""
        self.rows = self.values = 0
        self.most_rows, self.most_values = most_rows, most_values

    def parse(self, lines: TextLines, base: int) -> _native.ParsedText:
        """Parse rows of the text, as many as are in memory or fit the arrays."""
        rows, values = slice(self.rows, self.most_rows), slice(self.values, self.most_values)
        pointer = self._pointer[self.rows : self.most_rows + 1]
        parts = (self.labels[rows], pointer, self._indices[values], self._data[values])
        parsed = _native.parse_svmlight(lines.text, lines.begin, lines.end, base, *parts)
        lines.take(parsed)
        pointer[: parsed.rows + 1] += self.values
        self.rows += parsed.rows
        self.values += parsed.values
        return parsed

    def csr(self, n_features: int) -> Any:
        """Return the rows as a CSR array of this memory."""
        block = sp.csr_array((self.rows, n_features), dtype=np.float64)
        # assigned, so that SciPy does not check and copy them again
        block.data, block.indices = self._data[: self.values], self._indices[: self.values]
        block.indptr = self._pointer[: self.rows + 1].astype(self._indices.dtype)
        return block
