"""A rectangle of X on its way through a pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import _native, thread_count
from slimline.projections.blocks import KERNEL_TYPES, lies_in_order

#: What stands for a missing call where genotypes are bytes (bed-reader's choice too).
MISSING_CALL = -127


class PackedGenotypes:
    """Genotypes as a PLINK `.bed` file holds them: two bits each, variant by variant, four people a byte.

    Parameters
    ----------
    packed : array of shape (n_variants, ceil(n_samples / 4)), uint8, C order
        00 stands for two copies of the first allele, 10 for one, 11 for none, 01 for a missing call.
    n_samples : int
        Number of people.
    """

    def __init__(self, packed: NDArray[np.uint8], n_samples: int) -> None:
        self._packed: NDArray[np.uint8] | None = packed
        self.shape: tuple[int, int] = (n_samples, packed.shape[0])  # people, variants

    @property
    def packed(self) -> NDArray[np.uint8]:
        """Return the genotypes in memory."""
        assert self._packed is not None
        return self._packed

    @property
    def n_samples(self) -> int:
        """Return the number of people."""
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Return how many bytes the genotypes occupy."""
        n, variants = self.shape
        return variants * (-(-n // 4))

    @contextmanager
    def streamed(self) -> Iterator[NDArray[np.uint8] | _native.FileRows]:
        """Give the genotypes to a kernel that goes through them once."""
        yield self.packed

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return int8, the type of the unpacked genotypes."""
        return np.dtype(np.int8)

    def people(self, index: NDArray[np.int64]) -> PackedGenotypes:
        """Return some people, packed again.

        Parameters
        ----------
        index : array of int64
            Their numbers, rising.

        Returns
        -------
        genotypes : PackedGenotypes
            A copy.
        """
        out = np.empty((self.packed.shape[0], -(-index.size // 4)), dtype=np.uint8)
        _native.pick_genotypes(self.packed, self.n_samples, index, out, thread_count())
        return PackedGenotypes(out, int(index.size))

    def unpack(self, order: str = "C") -> NDArray[np.int8]:
        """Return copies of the first allele, 0, 1 or 2, and `MISSING_CALL` for a missing call.

        Parameters
        ----------
        order : {"C", "F"}
            Memory order of the result.

        Returns
        -------
        genotypes : array of shape (n_samples, n_variants), int8
            One byte a genotype.
        """
        out = np.empty(self.shape, dtype=np.int8, order="C" if order == "C" else "F")
        if out.size:  # a view may see nothing of a block
            _native.unpack_genotypes(self.packed, self.n_samples, out, thread_count())
        return out


@dataclass(frozen=True, slots=True)
class Block:
    """A rectangle of X: some rows, a range of columns.

    It is valid until the next one is asked for: readers use their buffers again. Packed genotypes may be in their file
    still: who asks for blocks in one thread and uses them in another reads them first (`read_blocks_ahead`).

    Parameters
    ----------
    rows : slice or array of row numbers
        Which rows of X; a slice has both ends.
    columns : slice
        Which columns, with both ends.
    values : array, CSR or CSC array, or PackedGenotypes
        Of one of `KERNEL_TYPES`; an array lies in memory by rows or by columns.
    missing : int, optional
        Whole number that stands for a missing value in an array of whole numbers. NaN always does.
    """

    rows: slice | NDArray[np.intp]
    columns: slice
    values: Any
    missing: int | None = None

    @property
    def nbytes(self) -> int:
        """Return how many bytes the values occupy."""
        values = self.values
        if isinstance(values, np.ndarray | PackedGenotypes):
            return values.nbytes
        return int(values.data.nbytes + values.indices.nbytes + values.indptr.nbytes)


def as_kernel_array(x: NDArray[Any]) -> NDArray[Any]:
    """Return x, or a copy that the kernels can read: native byte order, a type they know, rows or columns in order."""
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    if x.dtype not in KERNEL_TYPES:
        x = x.astype(np.float64)
    if not x.flags.aligned or not lies_in_order(x):
        x = np.array(x, order="C", copy=True)
    return x


def with_missing(x: NDArray[Any], missing: int | None) -> tuple[NDArray[Any], int | None]:
    """Return `as_kernel_array(x)` and the whole number that still stands for a missing value in it, if any does.

    Among floats only NaN does: it is written there, in a copy, for the number.
    """
    values = as_kernel_array(x)
    if missing is None or values.dtype.kind != "f":
        return values, missing
    values = values.copy(order="K")
    values[x == missing] = np.nan  # compared as stored: float64 does not hold every whole number
    return values, None
