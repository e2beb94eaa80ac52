"""Zarr stores, read with zarr-python 3: folders and zip files, format 2 and 3, plain arrays and AnnData."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import prod
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from slimline.data.ahead import BLOCK_BYTES
from slimline.data.files import DataFile
from slimline.data.folders import DataFolder
from slimline.data.formats.named import NamedMatrix
from slimline.data.formats.store_matrix import chosen, matrix_of
from slimline.data.formats.stores import Store, is_group
from slimline.data.readers import require_reader
from slimline.errors import FileFormatError, MissingReaderError


class _LoneArray(dict[str, Any]):
    """A store that is one array and no group: a group whose only member has no name."""

    attrs: dict[str, Any] = {}  # noqa: RUF012 - never written


class ZarrStore(Store):
    """A Zarr store on disk.

    Parameters
    ----------
    source : DataFolder or DataFile
        A folder, or a zip file.
    """

    kind = "a Zarr store"

    def __init__(self, source: DataFile | DataFolder) -> None:
        super().__init__(source)
        self._zarr = require_reader("zarr", "zarr", "Zarr stores")
        if int(self._zarr.__version__.split(".")[0]) < 3:
            raise MissingReaderError(
                f"reading Zarr stores needs zarr 3 or later, and {self._zarr.__version__} is installed: "
                'pip install --upgrade "slimline[zarr]"'
            )
        self._buffer = require_reader("zarr.buffer.cpu", "zarr", "Zarr stores").NDBuffer

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Yield the root group."""
        self.source.require_unchanged()
        storage = require_reader("zarr.storage", "zarr", "Zarr stores")
        with self.errors():
            if isinstance(self.source, DataFile):
                store = storage.ZipStore(self.source.path, mode="r", read_only=True)
            else:
                store = storage.LocalStore(self.source.path, read_only=True)
        try:
            with self.errors():
                root = self._zarr.open(store=store, mode="r")
            yield root if is_group(root) else _LoneArray({"": root})
        finally:
            with suppress(AttributeError):  # a zip file that could not be opened cannot be closed either
                store.close()

    def chunk_of(self, array: Any) -> tuple[int, ...]:
        """Return the shape of a shard, if it is no larger than a block, or else of a chunk."""
        shard = getattr(array, "shards", None)
        if shard is not None and prod(shard) * array.dtype.itemsize <= BLOCK_BYTES:
            return tuple(shard)
        return tuple(array.chunks)

    def stored_bytes(self, array: Any) -> int:
        """Return the bytes of the chunks that are there."""
        return int(array.nbytes_stored())

    def fill(self, array: Any, place: tuple[slice, ...], out: NDArray[Any]) -> None:
        """Read a part of an array into memory of the same type; zarr decodes its chunks in several threads."""
        if out.size:
            array.get_basic_selection(place, out=self._buffer.from_numpy_array(out))

    def arrays(self, root: Any) -> Iterator[tuple[str, Any]]:
        """Yield everything in the store."""
        yield from root.items() if isinstance(root, _LoneArray) else root.members(max_depth=None)


def open_zarr(
    path: Any,
    *,
    array: str | None = None,
    label: str | None = None,
    missing: int | None = None,
    all_chunks: bool = False,
) -> NamedMatrix:
    """Return a matrix of a Zarr store.

    A chunk that is not there stands for the fill value, as Zarr has it: by default it does not write such chunks. So
    one that was lost before is not noticed, unless `all_chunks` asks for it; one that vanishes later is an error.

    Parameters
    ----------
    path : str or path
        A folder, or a zip file of one.
    array : str, optional
        Name of an array with two dimensions or of a group with a CSR or CSC matrix; needed where there are several.
        AnnData's X is taken by itself.
    label : str, optional
        Column of AnnData's `obs` that holds the labels; in other stores, name of an array with one dimension.
    missing : int, optional
        Whole number that stands for a missing value in a dense array; NaN always does.
    all_chunks : bool
        Whether every chunk must be there, as in stores that were written with `write_empty_chunks=True`.

    Returns
    -------
    matrix : Matrix
        Names and labels have been read, the numbers are read when they are used.
    """
    source = DataFile(path) if Path(path).is_file() else DataFolder(path)
    store = ZarrStore(source)
    with store.open() as root, store.errors():
        key = chosen(store, root, array, "array")
        if all_chunks:
            _require_all_chunks(store, key, root[key])
        if isinstance(source, DataFolder):
            source.watch(key)
        return matrix_of(store, root, key, label, missing)


def _require_all_chunks(store: ZarrStore, key: str, node: Any) -> None:
    parts = {f"{key}/{name}": node[name] for name in ("data", "indices", "indptr")} if is_group(node) else {key: node}
    for name, part in parts.items():
        if (absent := part.nchunks - part.nchunks_initialized) > 0:
            raise FileFormatError(
                f"{store}{f', array {name!r}' if name else ''}: {absent:,} of {part.nchunks:,} chunks are not there. "
                "They are lost, or were never written because they hold nothing but the fill value "
                f"({part.fill_value}); without all_chunks=True that is what they are read as."
            )
