"""Packed genotypes that are still in their file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native
from slimline.data.ahead import Buffers
from slimline.data.block import PackedGenotypes
from slimline.data.files import OpenFile


class GenotypesInFile(PackedGenotypes):
    """Packed genotypes that are read when they are first asked for, into memory that the blocks of a pass share.

    Kernels of products read them a few at a time, straight into the caches, and need no memory for them.

    Parameters
    ----------
    file : OpenFile
        The `.bed` file.
    offset : int
        Byte where the first variant begins.
    shape : (int, int)
        People and variants.
    memory : Buffers
        What they are read into.
    """

    def __init__(self, file: OpenFile, offset: int, shape: tuple[int, int], memory: Buffers) -> None:
        self._file, self._offset, self._memory = file, offset, memory
        self._packed: NDArray[np.uint8] | None = None
        self.shape = shape

    @property
    def packed(self) -> NDArray[np.uint8]:
        """Return the genotypes in memory; they are read when this is first asked for."""
        if self._packed is None:
            n, variants = self.shape
            packed = self._memory.array((variants, -(-n // 4)), np.uint8)
            self._file.read_into(packed, self._offset)
            self._packed = packed
        return self._packed

    @contextmanager
    def streamed(self) -> Iterator[NDArray[np.uint8] | _native.FileRows]:
        """Give the genotypes to a kernel that goes through them once: from the file, unless they were read before."""
        if self._packed is not None or not _native.reads_genotypes():
            yield self.packed
            return
        with self._file.naming_errors(self._offset, self.nbytes):
            yield self._file.rows(self._offset, self.shape[1], -(-self.shape[0] // 4))
