"""Hierarchical stores: groups, names and labels, and the layout of AnnData."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data._files import DataFile, DataFolder, translated_errors
from slimline.data._names import Names, require_even, text_labels
from slimline.errors import FileFormatError, InvalidParameterError

#: Bytes that names, labels or line ends may take however small the file is.
_ALWAYS_OPENED = 64 << 20
#: Deflate makes at most so many bytes of one; constant numbers that other methods shrink further are below the limit.
_MOST_INFLATION = 1032


class Store(ABC):
    """A file or folder with arrays in groups; its nodes behave as those of h5py and of zarr both do."""

    #: What messages call it.
    kind = ""

    def __init__(self, source: DataFile | DataFolder) -> None:
        self.source = source

    def __str__(self) -> str:
        return str(self.source)

    def errors(self) -> AbstractContextManager[None]:
        """Return a context in which whatever the library raises becomes a slimline error."""
        return translated_errors(self.source, self.kind)

    @abstractmethod
    def open(self) -> AbstractContextManager[Any]:
        """Return the root group for one pass, in a context that closes it."""

    @abstractmethod
    def chunk_of(self, array: Any) -> tuple[int, ...]:
        """Return the shape of the pieces that are read and decoded as a whole; 1 for each axis where there are none."""

    @abstractmethod
    def stored_bytes(self, array: Any) -> int:
        """Return how many bytes of the store an array takes; chunks that were never written take none."""

    @abstractmethod
    def fill(self, array: Any, place: tuple[slice, ...], out: NDArray[Any]) -> None:
        """Read a part of an array into memory of the same type (C order)."""

    @abstractmethod
    def arrays(self, root: Any) -> Iterator[tuple[str, Any]]:
        """Yield (name, node) of everything in the store, groups included."""

    def whole(self, array: Any, shape: tuple[int | None, ...], what: str) -> NDArray[Any]:
        """Read an array into memory, after its shape and size have been found to be possible.

        A file of a few bytes can declare an array of any size: what was never written has the fill value.
        """
        found = tuple(array.shape or ())
        if len(found) != len(shape) or any(size not in (None, n) for size, n in zip(shape, found, strict=True)):
            held = f"{found[0]:,} {what}" if len(found) == 1 else f"{what} of shape {found}"
            wanted = " × ".join("any number" if size is None else f"{size:,}" for size in shape) or "a single one"
            raise FileFormatError(f"{self} has {held} in {array.name!r}; {wanted} belongs to its matrix.")
        needed = max(prod(found), prod(self.chunk_of(array))) * array.dtype.itemsize
        if needed > _ALWAYS_OPENED and needed > _MOST_INFLATION * self.stored_bytes(array):
            raise FileFormatError(
                f"{self} declares {prod(found):,} {what} in {array.name!r} ({needed:,} bytes in memory), and stores "
                f"only {self.stored_bytes(array):,} bytes of them: it is damaged, or little but the fill value was "
                "written. Write them in full, in chunks no larger than they are."
            )
        return np.asarray(array[...])


def is_group(node: Any) -> bool:
    """Return whether a node of a store is a group."""
    return hasattr(node, "keys")


def is_matrix(node: Any) -> bool:
    """Return whether a node is an array of real numbers with two dimensions."""
    return not is_group(node) and len(node.shape or ()) == 2 and node.dtype.kind in "fiub"


def text(value: Any) -> str:
    """Return a string that the file may hold as bytes, or as an array without dimensions."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    return value.decode() if isinstance(value, bytes) else str(value)


def texts(values: NDArray[Any]) -> list[str]:
    """Return the strings of a vector."""
    return [text(value) for value in values.tolist()]


def is_anndata(root: Any) -> bool:
    """Return whether the root group of a store is an AnnData object."""
    if text(root.attrs.get("encoding-type", "")) == "anndata":
        return True
    return "obs" in root and "var" in root and "X" in root  # versions before 0.7 do not say it


def anndata_names(store: Store, root: Any, key: str, shape: tuple[int, int], label: str | None) -> Names:
    """Return ids, names and labels for a matrix of an AnnData object."""
    part = key.strip("/").split("/")[0]
    if part not in ("X", "layers", "raw", "obsm"):
        raise InvalidParameterError(
            f"{store}: {key!r} is no matrix with a row for each observation; take X, layers/..., raw/X or obsm/..."
        )
    variables = root["raw"]["var"] if part == "raw" else root["var"]
    n, d = shape
    labels = None if label is None else _column(store, root["obs"], label, n)
    features = None if part == "obsm" else _index(store, variables, d, "feature names")
    return Names(features, _index(store, root["obs"], n, "sample ids"), labels)


def _index(store: Store, frame: Any, n: int, what: str) -> list[str] | None:
    """Return the index of a data frame: the column that its `_index` attribute names."""
    if not is_group(frame):  # before 0.7 a frame was an array of records
        fields = frame.dtype.names or ()
        name = next((name for name in ("index", "_index") if name in fields), None)
        return None if name is None else texts(store.whole(frame, (n,), what)[name])
    name = text(frame.attrs.get("_index", "_index"))
    return None if name not in frame else [str(value) for value in _decoded(store, frame[name], n, what).tolist()]


def _column(store: Store, frame: Any, name: str, n: int) -> NDArray[Any]:
    """Return a column of `obs`: numbers, or strings with None for one that is missing."""
    where = f"{store}, obs"
    if not is_group(frame):
        fields = frame.dtype.names or ()
        if name not in fields:
            raise _no_column(name, fields, where)
        return plain_vector(store.whole(frame, (n,), "labels")[name], where)
    columns = [key for key in frame if not key.startswith("__")]
    if name not in columns:
        raise _no_column(name, columns, where)
    node = frame[name]
    reference = None if is_group(node) else node.attrs.get("categories")
    if reference is None:
        return _decoded(store, node, n, "labels")
    # 0.7: the codes are an array whose attribute points to the categories (Zarr has no references: a name)
    categories = frame[text(reference)] if isinstance(reference, (str, bytes)) else node.file[reference]
    known = plain_vector(store.whole(categories, (None,), "categories"), where)
    return _categorical(known, store.whole(node, (n,), "labels"), where)


def _no_column(name: str, columns: Any, where: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"{name!r} is no column of {where}, which has {', '.join(columns) or 'none'}.", "label", name
    )


def _decoded(store: Store, node: Any, n: int | None, what: str) -> NDArray[Any]:
    """Return a column of a data frame, of so many entries."""
    where = f"{store}, {node.name}"
    if not is_group(node):
        return plain_vector(store.whole(node, (n,), what), where)
    if "codes" in node and "categories" in node:
        categories = _decoded(store, node["categories"], None, "categories")
        return _categorical(categories, store.whole(node["codes"], (n,), what), where)
    if "values" in node and "mask" in node:  # pandas' nullable numbers and strings
        values = plain_vector(store.whole(node["values"], (n,), what), where)
        mask = store.whole(node["mask"], (n,), what)
        if mask.any():
            values = values.astype(object)
            values[mask] = None
        return values
    kind = text(node.attrs.get("encoding-type", "unknown"))
    raise FileFormatError(f"{where} is a column of a kind that is not known ({kind}).")


def _categorical(categories: NDArray[Any], codes: NDArray[Any], where: str) -> NDArray[Any]:
    if codes.size and (codes.min() < -1 or codes.max() >= len(categories)):
        raise FileFormatError(f"{where} is damaged: a code of a category is not among the {len(categories)}.")
    if (codes >= 0).all():
        if categories.dtype.kind == "U":
            lengths = np.char.str_len(categories)
            require_even(lengths[codes], int(lengths.max(initial=0)), where)
        return np.asarray(categories[codes] if len(categories) else categories)
    return np.asarray(np.append(categories.astype(object), [None])[codes])


def plain_vector(values: NDArray[Any], where: str) -> NDArray[Any]:
    """Return numbers as they are, strings of any kind as NumPy's."""
    return values if values.dtype.kind in "fiub" else text_labels(texts(values), where)


# 10x Genomics ----------------------------------------------------------------------------------------


def is_10x(group: Any) -> bool:
    """Return whether a sparse group is a count matrix of Cell Ranger: genes × cells, column after column."""
    return "barcodes" in group and ("features" in group or "genes" in group)


def names_of_10x(store: Store, group: Any, shape: tuple[int, int]) -> Names:
    """Return barcodes and gene names (those that scanpy takes) of a count matrix of Cell Ranger."""
    if "features" in group:
        genes = group["features"]["name"]
    else:
        genes = group["gene_names"] if "gene_names" in group else group["genes"]
    cells, features = shape
    names = store.whole(genes, (features,), "feature names"), store.whole(group["barcodes"], (cells,), "sample ids")
    return Names(texts(names[0]), texts(names[1]), None)
