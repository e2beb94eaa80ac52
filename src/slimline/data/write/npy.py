"""`.npy` in C order, from genotypes that come a few variants at a time."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from slimline.data.write.new_files import NewFile

#: Bytes that wait until each row has a long stretch to write.
_PANEL_BYTES = 16 << 20


class NpyWriter:
    """Writes an int8 array with rows one after the other, which comes by groups of columns.

    Each row is written in stretches, as long as a panel of bounded size allows. Where there are so many people that
    one group of variants is more than that, every piece is written as it comes.

    Parameters
    ----------
    file : NewFile
        Where to.
    shape : (int, int)
        People and variants.
    group : int
        Variants that come at a time; only the last group may have fewer.
    """

    def __init__(self, file: NewFile, shape: tuple[int, int], group: int) -> None:
        self._file = file
        self._shape = shape
        head = BytesIO()
        npy_format.write_array_header_1_0(head, {"descr": "|i1", "fortran_order": False, "shape": shape})
        self._offset = len(head.getvalue())
        file.reserve(self._offset + shape[0] * shape[1])
        file.write(head.getvalue())
        width = min(_PANEL_BYTES // shape[0] // group * group, shape[1])
        self._panel = np.empty((shape[0], width), dtype=np.int8)
        self._first = 0  # column of the panel's first

    def add(self, rows: NDArray[np.intp], columns: slice, copies: NDArray[np.int8]) -> None:
        """Take the genotypes of some people, each person once, for the variants that come next.

        Parameters
        ----------
        rows : array of row numbers
            Who.
        columns : slice
            Which variants.
        copies : array of shape (people, variants), int8
            What is written.
        """
        if not self._panel.size:
            self._write(rows.tolist(), columns.start, np.ascontiguousarray(copies))
        else:
            if columns.stop - self._first > self._panel.shape[1]:
                self._flush(columns.start)
            self._panel[rows, columns.start - self._first : columns.stop - self._first] = copies

    def complete(self, columns: slice) -> None:
        """Write what waits, if these were the last variants."""
        if self._panel.size and columns.stop == self._shape[1]:
            self._flush(columns.stop)

    def _flush(self, stop: int) -> None:
        """Write the panel up to a column; the next begins there."""
        self._write(range(self._shape[0]), self._first, self._panel[:, : stop - self._first])
        self._first = stop

    def _write(self, rows: range | list[int], first: int, values: NDArray[np.int8]) -> None:
        for row, stretch in zip(rows, values, strict=True):
            self._file.write_at(stretch.data.cast("B"), self._offset + row * self._shape[1] + first)
