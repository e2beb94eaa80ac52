"""`.npy` files, read in pieces: the header says where each number is."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import islice, product
from math import prod
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from slimline._base.checks import missing_number
from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest, block_type, with_missing
from slimline.data._files import DataFile, digest
from slimline.data._matrix import Matrix
from slimline.data._passes import BLOCK_BYTES, Buffers
from slimline.data._storage import StorageTraits, require_sensible
from slimline.data.formats._dense import panel_width
from slimline.errors import FileFormatError

#: Bytes of a row that are read in one go, at least, where a row is longer than that.
_STRETCH = 64 << 10
#: Bytes in which a head must end; NumPy writes no more than 10,000 for arrays of numbers.
_HEAD_BYTES = 64 << 10
#: Numbers that no file holds.
_MOST_NUMBERS = 1 << 60
#: Bytes of a panel of columns, at most.
_MOST_PANEL_BYTES = 48 << 20


class NpyMatrix(Matrix):
    """Dense array at a known place of a file."""

    traits = StorageTraits(whole_columns=True)

    def __init__(
        self, file: DataFile, shape: tuple[int, int], dtype: Any, fortran: bool, offset: int, missing: int | None = None
    ) -> None:
        self._stored = np.dtype(dtype)
        super().__init__(shape, block_type(self._stored), file.path.name)
        self._file, self._fortran, self._offset = file, fortran, offset
        self._missing = missing_number(missing, self._stored, str(file))
        needed = offset + self.shape[0] * self.shape[1] * self._stored.itemsize
        if file.size < needed:
            raise FileFormatError(
                f"{file} ends at byte {file.size:,}, and {self.shape[0]:,} × {self.shape[1]:,} numbers of type "
                f"{self._stored} need {needed:,}: it is truncated."
            )

    def blocks(self, request: BlockRequest = ALL_BLOCKS) -> Iterator[Block]:
        """Yield columns of a Fortran-ordered file; rows, long ones in stretches, or panels of columns of the other."""
        n, d = self.shape
        item = self._stored.itemsize
        buffers = Buffers()
        columns = max(1, BLOCK_BYTES // max(n * item, 1))
        with self._file.open() as file:
            if self._fortran:
                for start in range(request.start * (step := panel_width(columns, d)), d, step):
                    stop = min(start + step, d)
                    out = buffers.array((stop - start, n), self._stored)
                    file.read_into(out, self._offset + start * n * item)
                    yield self._block(slice(0, n), slice(start, stop), out.T)
                return
            if request.whole_columns:
                # Short stretches of rows are slow to read, so panels of a large file are larger.
                panel = min(max(self._file.size // 64, BLOCK_BYTES), _MOST_PANEL_BYTES)
                width, height = panel_width(panel // max(n * item, 1), d), n
            else:
                width = d if d * item <= _STRETCH else panel_width(_STRETCH // item, d)
                height = max(1, BLOCK_BYTES // max(width * item, 1))
            corners = product(range(0, n, max(height, 1)), range(0, d, max(width, 1)))
            for top, left in islice(corners, request.start, None):
                bottom, right = min(top + height, n), min(left + width, d)
                out = buffers.array((bottom - top, right - left), self._stored)
                file.read_into(out, self._offset + (top * d + left) * item, stride=d * item)
                yield self._block(slice(top, bottom), slice(left, right), out)

    def _block(self, rows: slice, columns: slice, values: Any) -> Block:
        return Block(rows, columns, *with_missing(values, self._missing))

    @property
    def fingerprint(self) -> str:
        """Return a digest of shape, type, order, the number for a missing value, and pieces of the file."""
        return digest("npy", self.shape, self._stored, self._fortran, self._missing, self._file.fingerprint())

    def require_unchanged(self) -> None:
        """Raise if the file changed or is gone."""
        self._file.require_unchanged()


def open_npy(path: Any, *, missing: int | None = None) -> NpyMatrix:
    """Return the matrix of a `.npy` file."""
    file = DataFile(path)
    with file.path.open("rb") as stream:
        shape, fortran, dtype, head = npy_header(stream, str(file))
    if len(shape) != 2:
        raise FileFormatError(f"{file} holds an array of shape {shape}; a matrix has two dimensions.")
    if dtype.kind not in "fiub":
        raise FileFormatError(f"{file} holds elements of type {dtype}; a matrix holds real numbers.")
    return NpyMatrix(file, (shape[0], shape[1]), dtype, fortran, head, missing)


def npy_header(stream: BinaryIO, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Read the head of a `.npy` stream, or raise."""
    head = BytesIO(stream.read(_HEAD_BYTES))  # whatever length it says it has
    try:
        version = npy_format.read_magic(head)
        if version not in ((1, 0), (2, 0), (3, 0)):
            raise ValueError(f"version {version} of the format is not known")
        read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
        shape, fortran, dtype = read(head)
    except Exception as error:  # NumPy parses the header as Python, and what is damaged fails in any way
        raise FileFormatError(f"{name} is not a sound .npy file: {error}") from error
    if any(type(size) is not int or size < 0 for size in shape) or prod(shape) >= _MOST_NUMBERS:
        raise FileFormatError(f"{name} says that it holds an array of shape {shape}: it is damaged.")
    require_sensible((*shape, dtype.itemsize), name)
    return shape, bool(fortran), dtype, head.tell()


def npy_vector(path: Any, n: int) -> NDArray[Any]:
    """Return the vector of a `.npy` file, for instance of labels."""
    file = DataFile(path)
    with file.path.open("rb") as stream:
        shape, _, dtype, head = npy_header(stream, str(file))
    if shape != (n,):
        raise FileFormatError(f"{file} holds an array of shape {shape}: give a vector of {n:,} labels, one a row.")
    if dtype.kind not in "fiubUS":
        raise FileFormatError(f"{file} holds elements of type {dtype}; labels are numbers or texts.")
    if file.size < (needed := head + n * dtype.itemsize):
        raise FileFormatError(
            f"{file} ends at byte {file.size:,}, and {n:,} labels of type {dtype} need {needed:,}: it is truncated."
        )
    return np.asarray(np.load(file.path, allow_pickle=False))
