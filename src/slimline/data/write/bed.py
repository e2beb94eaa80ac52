"""PLINK's `.bed`: two bits a genotype, variant by variant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slimline.data.write.new_files import NewFile

_HEAD = b"\x6c\x1b\x01"  # the last byte: variant by variant
_MISSING = 1  # the code of a missing call


class BedWriter:
    """Writes groups of variants one after the other, the people of a group in any order.

    Parameters
    ----------
    file : NewFile
        Where to.
    shape : (int, int)
        People and variants.
    """

    def __init__(self, file: NewFile, shape: tuple[int, int]) -> None:
        self._file = file
        self._bytes = -(-shape[0] // 4)
        self._packed: NDArray[np.uint8] = np.zeros((self._bytes, 0), dtype=np.uint8)
        file.reserve(len(_HEAD) + self._bytes * shape[1])
        file.write(_HEAD)

    def add(self, rows: NDArray[np.intp], columns: slice, copies: NDArray[np.int8]) -> None:
        """Take the genotypes of some people, each person once, for the variants that come next.

        Parameters
        ----------
        rows : array of row numbers
            Who.
        columns : slice
            Which variants.
        copies : array of shape (people, variants), int8
            0, 1 or 2; anything below stands for a missing call.
        """
        width = columns.stop - columns.start
        if self._packed.shape[1] != width:
            self._packed = np.zeros((self._bytes, width), dtype=np.uint8)
        codes = (3 - copies - (copies >> 1)).view(np.uint8)  # 0, 1, 2 -> 11, 10, 00
        np.putmask(codes, copies < 0, _MISSING)
        for place in range(4):  # rows at one place of their bytes: no byte comes twice
            here = rows % 4 == place
            self._packed[rows[here] // 4] |= codes[here] << np.uint8(2 * place)

    def complete(self, columns: slice) -> None:
        """Write the variants: everyone has been added."""
        self._file.write(np.ascontiguousarray(self._packed.T).data.cast("B"))
        self._packed[...] = 0
