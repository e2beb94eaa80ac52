"""HDF5, AnnData and Zarr: a matrix in a hierarchical store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from slimline.data._files import DataFile, DataFolder, digest, require_reader
from slimline.data._matrix import Matrix
from slimline.data._names import Names
from slimline.data._passes import BLOCK_BYTES
from slimline.data.formats._chunked import ChunkedMatrix
from slimline.data.formats._compressed import CompressedMatrix, is_compressed, layout
from slimline.data.formats._npy import NpyMatrix
from slimline.data.formats._stores import (
    Store,
    anndata_names,
    is_10x,
    is_anndata,
    is_group,
    is_matrix,
    names_of_10x,
    plain_vector,
)
from slimline.errors import FileFormatError, InvalidParameterError, MissingReaderError

#: Candidates that a message lists.
_SHOWN = 12


def chosen(store: Store, root: Any, key: str | None, option: str) -> str:
    """Return the name of the matrix in a store: the one asked for, AnnData's X, or the only one there is."""
    if key is not None:
        key = key.strip("/")
        if key in root and (is_matrix(root[key]) or is_compressed(root[key])):
            return key
        what = "is no matrix of real numbers" if key in root else "is not there"
        raise InvalidParameterError(f"{key!r} {what}; in {store} there are {_listed(store, root)}.", option, key)
    if is_anndata(root) and "X" in root and (is_matrix(root["X"]) or is_compressed(root["X"])):
        return "X"
    found = _candidates(store, root)
    if len(found) == 1:
        return next(iter(found))
    if not found:
        raise FileFormatError(f"{store} holds no matrix: no array of real numbers with two dimensions, none sparse.")
    raise InvalidParameterError(
        f"must name one of the {len(found)} matrices in {store}: {_listed(store, root)}.", option
    )


def _candidates(store: Store, root: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    sparse: list[str] = []
    for name, node in sorted(store.arrays(root), key=lambda item: item[0]):
        if any(name.startswith(f"{group}/") for group in sparse):
            continue
        if is_compressed(node):
            sparse.append(name)
            found[name] = node
        elif is_matrix(node):
            found[name] = node
    return found


def _listed(store: Store, root: Any) -> str:
    found = _candidates(store, root)
    shown = [f"{name} {'(sparse)' if is_group(node) else node.shape}" for name, node in list(found.items())[:_SHOWN]]
    return ", ".join(shown) + (", ..." if len(found) > _SHOWN else "") or "none"


def matrix_of(store: Store, root: Any, key: str, label: str | None, missing: int | None) -> Matrix:
    """Return the matrix of a name."""
    node = root[key]
    where = f"{store}, group {key!r}"
    if not is_compressed(node):
        return ChunkedMatrix(store, key, node, names_of(store, root, key, node.shape, label), missing)
    if missing is not None:
        raise InvalidParameterError(
            f"must be left out, since {where} is sparse: it is for dense whole numbers, and NaN is missing anyway.",
            "missing",
            missing,
        )
    if is_10x(node):
        genes, cells = (int(size) for size in store.whole(node["shape"], (2,), "sizes"))
        by_row, shape = True, (cells, genes)
    else:
        by_row, shape = layout(store, node, where)
    names = names_of(store, root, key, shape, label)
    return CompressedMatrix(store, key, node, names, by_row=by_row, shape=shape)


def names_of(store: Store, root: Any, key: str, shape: tuple[int, int], label: str | None) -> Names:
    """Return the names and labels that a store has for a matrix."""
    if is_anndata(root):
        return anndata_names(store, root, key, shape, label)
    node = root[key]
    names = names_of_10x(store, node, shape) if is_compressed(node) and is_10x(node) else Names()
    if label is None:
        return names
    if label not in root or is_group(root[label]) or len(root[label].shape) != 1:
        raise InvalidParameterError(f"{label!r} is not the name of a vector in {store}.", "label", label)
    return replace(names, labels=plain_vector(store.whole(root[label], shape[:1], "labels"), str(store)))


class Hdf5Store(Store):
    """An HDF5 file."""

    kind = "an HDF5 file"

    def __init__(self, source: DataFile) -> None:
        super().__init__(source)
        self._h5py = require_reader("h5py", "hdf5", "HDF5 and .h5ad files")

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Yield the file."""
        self.source.require_unchanged()
        with self.errors():
            file = self._h5py.File(self.source.path, "r")
        try:
            yield file
        finally:
            file.close()

    def chunk_of(self, array: Any) -> tuple[int, ...]:
        """Return the shape of a chunk."""
        return tuple(array.chunks or (1,) * len(array.shape))

    def stored_bytes(self, array: Any) -> int:
        """Return the bytes of the chunks that are in the file, or of the numbers that are not chunked."""
        return min(int(array.id.get_storage_size()), self.source.path.stat().st_size)

    def fill(self, array: Any, place: tuple[slice, ...], out: NDArray[Any]) -> None:
        """Read a part of a dataset into memory of the same type."""
        if out.size:
            array.read_direct(out, source_sel=place)

    def arrays(self, root: Any) -> Iterator[tuple[str, Any]]:
        """Yield everything in the file; links to other files are not followed."""
        found: list[tuple[str, Any]] = []
        root.visititems(lambda name, node: found.append((name, node)))
        yield from ((name, node) for name, node in found if is_group(node) or hasattr(node, "shape"))

    def offset_of(self, dataset: Any) -> int | None:
        """Return where the numbers of a dataset begin, if they lie in the file one after the other as NumPy's do."""
        if dataset.chunks is not None or dataset.size == 0:
            return None
        stored = dataset.id.get_type()
        if not self._h5py.h5t.py_create(dataset.dtype).equal(stored):
            return None
        layout = dataset.id.get_create_plist().get_layout()
        whole = dataset.id.get_storage_size() == dataset.size * stored.get_size()  # else the fill value is meant
        if layout != self._h5py.h5d.CONTIGUOUS or not whole:
            return None
        offset = dataset.id.get_offset()
        return None if offset is None else int(offset)


class ContiguousDataset(NpyMatrix):
    """A dataset without chunks: read as a `.npy` file is, at the place that HDF5 names."""

    def __init__(self, file: DataFile, dataset: Any, offset: int, names: Names, missing: int | None) -> None:
        super().__init__(file, dataset.shape, dataset.dtype, False, offset, missing)
        self.names = names
        names.require_fit(self.shape, str(file))

    @property
    def fingerprint(self) -> str:
        """Return a digest of shape, type, place, the number for a missing value, and pieces of the file."""
        return digest("hdf5", self.shape, self.dtype, self._offset, self._missing, self._file.fingerprint())


def open_hdf5(path: Any, *, dataset: str | None = None, label: str | None = None, missing: int | None = None) -> Matrix:
    """Return a matrix of an HDF5 or `.h5ad` file."""
    file = DataFile(path)
    store = Hdf5Store(file)
    with store.open() as root, store.errors():
        key = chosen(store, root, dataset, "dataset")
        node = root[key]
        _require_inside(node, key, root, store)
        offset = None if is_group(node) else store.offset_of(node)
        if offset is None:
            return matrix_of(store, root, key, label, missing)
        names = names_of(store, root, key, node.shape, label)
        return ContiguousDataset(file, node, offset, names, missing)


def _require_inside(node: Any, key: str, root: Any, store: Hdf5Store) -> None:
    """Raise if the numbers are in other files: changes in those would go unnoticed."""
    parts = [node[name] for name in ("data", "indices", "indptr")] if is_group(node) else [node]
    for part in parts:
        elsewhere = part.file.filename != root.file.filename or part.external is not None or part.is_virtual
        if elsewhere:
            raise FileFormatError(
                f"{store}: {key!r} only refers to data in other files (an external link, external storage or a "
                "virtual dataset): open the file that holds them, or copy the data into one file."
            )


class _LoneArray(dict[str, Any]):
    """A store that is one array and no group: a group whose only member has no name."""

    attrs: dict[str, Any] = {}  # noqa: RUF012 - never written


class ZarrStore(Store):
    """A Zarr store on disk."""

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
) -> Matrix:
    """Return a matrix of a Zarr store.

    A chunk that is not there stands for the fill value, as Zarr has it: by default it does not write such chunks. So
    one that was lost before is not noticed, unless `all_chunks` asks for it; one that vanishes later is an error.
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
