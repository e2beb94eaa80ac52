"""HDF5 files and AnnData's `.h5ad`, read with h5py chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from slimline.data.digest import digest
from slimline.data.files import DataFile
from slimline.data.formats.named import NamedMatrix, Names
from slimline.data.formats.npy import NpyMatrix
from slimline.data.formats.store_matrix import chosen, matrix_of, names_of
from slimline.data.formats.stores import Store, is_group
from slimline.data.readers import require_reader
from slimline.errors import FileFormatError


class Hdf5Store(Store):
    """An HDF5 file.

    Parameters
    ----------
    source : DataFile
        The file.
    """

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


class ContiguousDataset(NpyMatrix, NamedMatrix):
    """A dataset without chunks: read as a `.npy` file is, at the place that HDF5 names.

    Parameters
    ----------
    file : DataFile
        The HDF5 file.
    dataset : h5py dataset
        To learn shape and type from.
    offset : int
        Byte where it begins.
    names : Names
        What the file says about rows and columns.
    missing : int, optional
        Whole number that stands for a missing value; NaN always does.
    """

    def __init__(self, file: DataFile, dataset: Any, offset: int, names: Names, missing: int | None) -> None:
        super().__init__(file, dataset.shape, dataset.dtype, False, offset, missing)
        self.names = names
        names.require_fit(self.shape, str(file))

    @property
    def fingerprint(self) -> str:
        """Return a digest of shape, type, place, what stands for a missing value, and pieces of the file."""
        return digest("hdf5", self.shape, self.dtype, self._offset, self._missing, self._file.fingerprint())


def open_hdf5(
    path: Any, *, dataset: str | None = None, label: str | None = None, missing: int | None = None
) -> NamedMatrix:
    """Return a matrix of an HDF5 or `.h5ad` file.

    Parameters
    ----------
    path : str or path
        The file.
    dataset : str, optional
        Name of a dataset with two dimensions or of a group with a CSR or CSC matrix; needed where there are several.
        AnnData's X is taken by itself; its "layers/counts", "raw/X" or "obsm/X_pca" have to be named.
    label : str, optional
        Column of AnnData's `obs` that holds the labels; in other files, name of a dataset with one dimension.
    missing : int, optional
        Whole number that stands for a missing value in a dense dataset; NaN always does.

    Returns
    -------
    matrix : Matrix
        Names and labels have been read, the numbers are read when they are used.
    """
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
    """Raise if the numbers are in other files: nobody would notice that those change."""
    parts = [node[name] for name in ("data", "indices", "indptr")] if is_group(node) else [node]
    for part in parts:
        elsewhere = part.file.filename != root.file.filename or part.external is not None or part.is_virtual
        if elsewhere:
            raise FileFormatError(
                f"{store}: {key!r} only refers to data in other files (an external link, external storage or a "
                "virtual dataset): open the file that holds them, or copy the data into one file."
            )
