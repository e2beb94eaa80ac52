"""Parquet files."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._base.layout import KERNEL_TYPES
from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest
from slimline.data._files import DataFile, digest, require_reader, translated_errors
from slimline.data._matrix import Matrix
from slimline.data._names import Names
from slimline.data._passes import BLOCK_BYTES, Buffers
from slimline.data._storage import StorageTraits, from_number
from slimline.errors import FileFormatError, InvalidParameterError


@dataclass(frozen=True)
class Column:
    """A feature."""

    #: Of the column.
    name: str
    #: Of its column chunks in each row group.
    position: int
    #: Of its values, missing ones apart.
    dtype: np.dtype[Any]


def chosen_columns(
    handle: Any, where: str, label: str | None, id: str | None, wanted: Sequence[str] | None
) -> tuple[list[Column], str | None]:
    """Return the features, and the name of the column that pandas wrote its index to, if there is just one."""
    arrow = require_reader("pyarrow", "parquet", "Parquet files")
    schema = handle.schema_arrow
    names: list[str] = schema.names
    known = set(names)
    if len(known) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1}) if len(names) < 10_000 else ["some"]
        raise FileFormatError(f"{where} has columns of the same name: {', '.join(twice[:5])}.")
    for option, name in (("label", label), ("id", id), *(("columns", name) for name in wanted or ())):
        if name is not None and name not in known:
            raise InvalidParameterError(f"{name!r}: {where} has no column with that name.", option, name)
    if wanted is not None and len(set(wanted)) < len(wanted):
        raise InvalidParameterError(f"name a column of {where} twice.", "columns", wanted)
    index = [name for name in _pandas_index(schema) if name in known]
    left_out = {label, id, *index}
    chosen = [name for name in names if name not in left_out] if wanted is None else list(wanted)
    # a nested column has several chunks in a row group, a plain one has one of its own name
    places = {handle.metadata.schema.column(i).path: i for i in range(handle.metadata.num_columns)}
    types = dict(zip(names, schema.types, strict=True))
    features = []
    for name in chosen:
        dtype = _dtype(arrow, types[name])
        if dtype is None or name not in places:
            raise FileFormatError(
                f"{where}: column {name!r} holds {types[name]}, not numbers.",
                "Name it with label= or id= if it is one of these, or name the features with columns=.",
                "id",
            )
        features.append(Column(name, places[name], dtype))
    return features, index[0] if len(index) == 1 else None


def _pandas_index(schema: Any) -> list[str]:
    try:
        said = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        return [name for name in said.get("index_columns", []) if isinstance(name, str)]
    except (ValueError, AttributeError, TypeError):  # not for us to judge
        return []


def _dtype(arrow: Any, kind: Any) -> np.dtype[Any] | None:
    types = arrow.types
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        dtype: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
        return dtype
    return None


def common_type(columns: Sequence[Column], metadata: Any) -> np.dtype[Any]:
    """Return the type of the matrix: the one that all columns share or fit in, real where a value may be missing."""
    distinct = sorted({column.dtype for column in columns}, key=str)
    if not distinct:
        return np.dtype(np.float64)
    common = np.result_type(*distinct)
    if common.kind != "f" and not _no_nulls(columns, metadata):
        common = np.result_type(common, np.float32 if common in KERNEL_TYPES else np.float64)
    return common if common in KERNEL_TYPES else np.dtype(np.float64)


def _no_nulls(columns: Sequence[Column], metadata: Any) -> bool:
    """Return whether the schema of the file excludes missing values."""
    for group in (metadata.row_group(i) for i in range(metadata.num_row_groups)):
        for column in columns:
            statistics = group.column(column.position).statistics
            if statistics is None or not statistics.has_null_count or statistics.null_count:
                return False
    return True


def vector(chunk: Any) -> NDArray[Any]:
    """Return the values of an array of pyarrow, NaN where one is missing; not copied where they lie ready."""
    if chunk.null_count and str(chunk.type) == "bool":
        chunk = chunk.cast("int8")
    values: NDArray[Any] = chunk.to_numpy(zero_copy_only=False)
    return values


#: Bytes of a full-height panel, at most: three of them are in memory.
_PANEL_BYTES = 2 * BLOCK_BYTES
_KIND = "a Parquet file"


class ParquetMatrix(Matrix):
    """Numeric columns of a Parquet file.

    A block is a range of columns of some row groups: every column chunk is read and decoded once in a pass, also
    where whole columns are wanted, because the chunks of a column can be fetched from all row groups.
    """

    def __init__(self, file: DataFile, metadata: Any, columns: Sequence[Column], names: Names) -> None:
        n = metadata.num_rows
        super().__init__((n, len(columns)), common_type(columns, metadata), file.path.name)
        self._file, self._metadata = file, metadata
        self._columns = [column.name for column in columns]
        self._heights = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        if sum(self._heights) != n or min(self._heights, default=0) < 0:
            raise FileFormatError(f"{file} is damaged: its row groups have {sum(self._heights):,} rows of {n:,}.")
        self.traits = StorageTraits(whole_columns=n * self.dtype.itemsize <= _PANEL_BYTES)
        self.names = names
        names.require_fit(self.shape, str(file))

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield columns of row groups, small groups together; of all of them if whole columns are wanted."""
        return from_number(request.start, self._decoded(request.whole_columns))

    def _decoded(self, whole_columns: bool) -> Generator[Block]:
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
    """Return pyarrow's handle of a file; checksums of pages are compared, if it has any."""
    parquet = require_reader("pyarrow.parquet", "parquet", "Parquet files")
    with translated_errors(file, _KIND):
        return parquet.ParquetFile(file.path, metadata=metadata, page_checksum_verification=True, pre_buffer=False)


def open_parquet(
    path: Any, *, label: str | None = None, id: str | None = None, columns: Sequence[str] | None = None
) -> ParquetMatrix:
    """Return the numeric columns of a Parquet file as a matrix."""
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
