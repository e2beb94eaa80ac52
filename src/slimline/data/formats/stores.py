"""Stores of named arrays: what HDF5 files and Zarr stores have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.files import DataFile
from slimline.data.folders import DataFolder
from slimline.data.readers import translated_errors
from slimline.errors import FileFormatError

#: Bytes that names, labels or line ends may take however small the file is.
_ALWAYS_HELD = 64 << 20
#: Deflate makes at most so many bytes of one; constant numbers that other methods shrink further are below the limit.
_MOST_INFLATION = 1032


class Store(ABC):
    """A file or folder with arrays in groups; its nodes behave as those of h5py and of zarr both do.

    Parameters
    ----------
    source : DataFile or DataFolder
        Where it is.
    """

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

        A file of a few bytes can declare an array of any size: what was never written stands for the fill value.

        Parameters
        ----------
        array : array of the store
            Names, labels, line ends: what is held while the matrix is in use.
        shape : tuple of int or None
            The shape that it must have; None: any length.
        what : str
            What messages call its entries.

        Returns
        -------
        values : array
            As the library returns them; strings may be bytes.
        """
        found = tuple(array.shape or ())
        if len(found) != len(shape) or any(size not in (None, n) for size, n in zip(shape, found, strict=True)):
            held = f"{found[0]:,} {what}" if len(found) == 1 else f"{what} of shape {found}"
            wanted = " × ".join("any number" if size is None else f"{size:,}" for size in shape) or "a single one"
            raise FileFormatError(f"{self} has {held} in {array.name!r}; {wanted} belongs to its matrix.")
        needed = max(prod(found), prod(self.chunk_of(array))) * array.dtype.itemsize
        if needed > _ALWAYS_HELD and needed > _MOST_INFLATION * self.stored_bytes(array):
            raise FileFormatError(
                f"{self} declares {prod(found):,} {what} in {array.name!r} ({needed:,} bytes in memory), and stores "
                f"only {self.stored_bytes(array):,} bytes of them: it is damaged, or little but the fill value was "
                "written. Write them in full, in chunks no larger than they are."
            )
        return np.asarray(array[...])


def is_group(node: Any) -> bool:
    """Say whether a node of a store holds others."""
    return hasattr(node, "keys")


def is_matrix(node: Any) -> bool:
    """Say whether a node is an array of real numbers with two dimensions."""
    return not is_group(node) and len(node.shape or ()) == 2 and node.dtype.kind in "fiub"


def text(value: Any) -> str:
    """Return a string that the file may hold as bytes, or as an array without dimensions."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    return value.decode() if isinstance(value, bytes) else str(value)


def texts(values: NDArray[Any]) -> list[str]:
    """Return the strings of a vector."""
    return [text(value) for value in values.tolist()]
