"""Stores of named arrays: what HDF5 files and Zarr stores have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data.files import DataFile
from slimline.data.folders import DataFolder
from slimline.data.readers import translated_errors


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
    def fill(self, array: Any, place: tuple[slice, ...], out: NDArray[Any]) -> None:
        """Read a part of an array into memory of the same type (C order)."""

    @abstractmethod
    def arrays(self, root: Any) -> Iterator[tuple[str, Any]]:
        """Yield (name, node) of everything in the store, groups included."""


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


def texts(array: Any) -> list[str]:
    """Return all the strings of an array."""
    return [text(value) for value in np.asarray(array[...]).tolist()]
