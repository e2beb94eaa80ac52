"""Parquet files, read with pyarrow: some columns of some row groups at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.ahead import BLOCK_BYTES, Buffers
from slimline.data.block import Block
from slimline.data.digest import digest
from slimline.data.files import DataFile
from slimline.data.formats.named import NamedMatrix, Names
from slimline.data.formats.parquet_columns import Column, chosen_columns, common_type, vector
from slimline.data.readers import require_reader, translated_errors
from slimline.errors import FileFormatError

#: Bytes of a full-height panel, at most: three of them are in memory.
_PANEL_BYTES = 2 * BLOCK_BYTES
_KIND = "a Parquet file"


class ParquetMatrix(NamedMatrix):
    """Numeric columns of a Parquet file.

    A block is a range of columns of some row groups: every column chunk is read and decoded once in a pass, also
    where whole columns are wanted, because the chunks of a column can be fetched from all row groups.

    Parameters
    ----------
    file : DataFile
        The file.
    metadata : pyarrow file metadata
        Read once; it is long for wide tables.
    columns : sequence of Column
        Which, in their order.
    names : Names
        Ids and labels.
    """

    def __init__(self, file: DataFile, metadata: Any, columns: Sequence[Column], names: Names) -> None:
        n = metadata.num_rows
        super().__init__((n, len(columns)), common_type(columns, metadata), file.path.name)
        self._file, self._metadata = file, metadata
        self._columns = [column.name for column in columns]
        self._heights = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        if sum(self._heights) != n or min(self._heights, default=0) < 0:
            raise FileFormatError(f"{file} is damaged: its row groups have {sum(self._heights):,} rows of {n:,}.")
        self.whole_columns = n * self.dtype.itemsize <= _PANEL_BYTES
        self.names = names
        names.require_fit(self.shape, str(file))

    def blocks(self, whole_columns: bool = False) -> Iterator[Block]:
        """Yield columns of row groups, small groups together; of all of them where whole columns are wanted."""
        d = self.shape[1]
        everything = [(range(len(self._heights)), slice(0, self.shape[0]))]
        buffers = Buffers()
        with self._open() as file:
            for groups, rows in everything if whole_columns else self._runs():
                width = max(self._most // max(rows.stop - rows.start, 1), 1)
                for start in range(0, d, width):
                    columns = slice(start, min(start + width, d))
                    if whole_columns or rows.stop - rows.start <= self._most:
                        yield self._block(file, groups, rows, columns, buffers)
                    else:
                        yield from self._batches(file, groups, rows, columns, buffers)
        self.require_unchanged()

    @property
    def _most(self) -> int:
        """Return the numbers of a block: half as many as elsewhere, since pyarrow holds them once more."""
        return max(BLOCK_BYTES // (2 * int(self.dtype.itemsize)), 1)

    def _runs(self) -> Iterator[tuple[range, slice]]:
        """Yield (row groups, rows): as many groups together as fit a block with all columns, or one."""
        most = self._most // max(self.shape[1], 1)
        first = row = height = 0
        for group, size in enumerate(self._heights):
            if height and height + size > most:
                yield range(first, group), slice(row, row + height)
                first, row, height = group, row + height, 0
            height += size
        if height:
            yield range(first, len(self._heights)), slice(row, row + height)

    def _block(self, file: Any, groups: range, rows: slice, columns: slice, buffers: Buffers) -> Block:
        with translated_errors(self._file, _KIND):
            table = file.read_row_groups(list(groups), columns=self._columns[columns])
            self._require_height(table.num_rows, rows.stop - rows.start)
            return Block(rows, columns, self._filled(table, columns, buffers))

    def _batches(self, file: Any, groups: range, rows: slice, columns: slice, buffers: Buffers) -> Iterator[Block]:
        """Yield parts of a single column that is longer than a block."""
        with translated_errors(self._file, _KIND):
            batches = file.iter_batches(batch_size=self._most, row_groups=list(groups), columns=self._columns[columns])
        row = rows.start
        while row < rows.stop:
            with translated_errors(self._file, _KIND):
                batch = next(batches, None)
                height = 0 if batch is None else batch.num_rows
                self._require_height(min(height, rows.stop - row), max(height, 1))
                values = self._filled(batch, columns, buffers)
            yield Block(slice(row, row + height), columns, values)
            row += height

    def _require_height(self, found: int, wanted: int) -> None:
        if found != wanted:
            self.require_unchanged()
            raise FileFormatError(f"{self._file} is damaged: a row group has {found:,} rows where {wanted:,} are due.")

    def _filled(self, table: Any, columns: slice, buffers: Buffers) -> NDArray[Any]:
        """Return the values of a table or a record batch, in columns."""
        out = buffers.array((table.num_rows, columns.stop - columns.start), self.dtype, "F")
        for j, name in enumerate(self._columns[columns]):
            column = table.column(name)
            row = 0
            for chunk in column.chunks if hasattr(column, "chunks") else [column]:
                if chunk.null_count and out.dtype.kind != "f":
                    raise FileFormatError(f"{self._file}: column {name!r} has missing values, and its statistics none.")
                values = vector(chunk)
                out[row : row + len(values), j] = values
                row += len(values)
            self._require_height(row, len(out))
        return out

    def _open(self) -> Any:
        self._file.require_unchanged()
        return opened(self._file, self._metadata)

    @property
    def fingerprint(self) -> str:
        """Return a digest of shape, type, column names and pieces of the file."""
        return digest("parquet", self.shape, self.dtype, "\n".join(self._columns), self._file.fingerprint())

    def require_unchanged(self) -> None:
        """Raise if the file changed or is gone."""
        self._file.require_unchanged()


def opened(file: DataFile, metadata: Any = None) -> Any:
    """Return pyarrow's handle of a file; checksums of pages are looked at where there are any."""
    parquet = require_reader("pyarrow.parquet", "parquet", "Parquet files")
    with translated_errors(file, _KIND):
        return parquet.ParquetFile(file.path, metadata=metadata, page_checksum_verification=True, pre_buffer=False)


def open_parquet(
    path: Any, *, label: str | None = None, id: str | None = None, columns: Sequence[str] | None = None
) -> ParquetMatrix:
    """Return the numeric columns of a Parquet file as a matrix.

    Parameters
    ----------
    path : str or path
        One file; a folder of them is not taken.
    label, id : str, optional
        Columns that hold the labels and the sample ids; they are no features. An index that pandas wrote gives the
        ids if none are named.
    columns : sequence of str, optional
        Which columns are the features, in this order (default: all the others).

    Returns
    -------
    matrix : ParquetMatrix
        Nulls and NaN are missing values; numbers are read when they are used.
    """
    require_reader("pyarrow.parquet", "parquet", "Parquet files")
    file = DataFile(path)
    with opened(file) as handle, translated_errors(file, _KIND):
        features, index = chosen_columns(handle, str(file), label, id, columns)
        identity = index if id is None else id
        labels = None if label is None else _column(handle, label)
        ids = None if identity is None else [str(value) for value in _column(handle, identity).tolist()]
        names = Names([column.name for column in features], ids, labels)
        return ParquetMatrix(file, handle.metadata, features, names)


def _column(handle: Any, name: str) -> NDArray[Any]:
    column = handle.read(columns=[name]).column(name)
    values: NDArray[Any] = column.to_numpy()
    if values.dtype == object and not column.null_count and all(isinstance(value, str) for value in values):
        return values.astype(np.str_)
    return values
