"""Blocks of a matrix, the transform of their columns, and tiles of dense values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._base.layout import KERNEL_TYPES, lies_in_order, require_sound
from slimline._kernels import _native, thread_count

Vector = NDArray[np.float64]
Floats = NDArray[np.float64]

#: A missing call where genotypes are bytes (bed-reader's choice too).
MISSING_CALL = -127
#: Bytes of a panel of columns that is written out.
_TILE_BYTES = 8 << 20


class PackedGenotypes:
    """Genotypes as a PLINK `.bed` file holds them: two bits each, variant by variant, four samples a byte."""

    def __init__(self, packed: NDArray[np.uint8], n_samples: int) -> None:
        self._packed: NDArray[np.uint8] | None = packed
        self.shape: tuple[int, int] = (n_samples, packed.shape[0])  # samples, variants

    @property
    def packed(self) -> NDArray[np.uint8]:
        """Return the genotypes in memory."""
        assert self._packed is not None
        return self._packed

    @property
    def n_samples(self) -> int:
        """Return the number of samples."""
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Return how many bytes the genotypes occupy."""
        n, variants = self.shape
        return variants * (-(-n // 4))

    @contextmanager
    def streamed(self) -> Iterator[NDArray[np.uint8] | _native.FileRows]:
        """Yield the genotypes for a kernel that uses them once."""
        yield self.packed

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return int8, the type of the unpacked genotypes."""
        return np.dtype(np.int8)

    def select(self, index: NDArray[np.int64]) -> PackedGenotypes:
        """Return some samples, packed again."""
        out = np.empty((self.packed.shape[0], -(-index.size // 4)), dtype=np.uint8)
        _native.pick_genotypes(self.packed, self.n_samples, index, out, thread_count())
        return PackedGenotypes(out, int(index.size))

    def unpack(self, order: str = "C") -> NDArray[np.int8]:
        """Return copies of the first allele, 0, 1 or 2, and `MISSING_CALL` for a missing call."""
        out = np.empty(self.shape, dtype=np.int8, order="C" if order == "C" else "F")
        if out.size:  # a view may see nothing of a block
            _native.unpack_genotypes(self.packed, self.n_samples, out, thread_count())
        return out


@dataclass(frozen=True, slots=True)
class Block:
    """A rectangle of X: some rows, a range of columns.

    It is valid until the next one is requested, since readers use their buffers again. Packed genotypes may still be in
    their file: read them before a block goes to another thread (`read_blocks_ahead`).
    """

    #: Which rows of X; a slice has both ends.
    rows: slice | NDArray[np.intp]
    #: Which columns, with both ends.
    columns: slice
    #: Of one of `KERNEL_TYPES`; an array lies in memory by rows or by columns.
    values: Any
    #: Whole number that means a missing value, in an array of whole numbers. NaN always does.
    missing: int | None = None

    @property
    def nbytes(self) -> int:
        """Return how many bytes the values occupy."""
        values = self.values
        if isinstance(values, np.ndarray | PackedGenotypes):
            return values.nbytes
        return int(values.data.nbytes + values.indices.nbytes + values.indptr.nbytes)


@dataclass(frozen=True, slots=True)
class BlockRequest:
    """Blocks that a pass asks a storage for.

    Parameters
    ----------
    start : int, default=0
        Number of the first block: those before it were used in an earlier run, and are left unread if possible.
    whole_columns : bool, default=False
        Ask for panels, blocks that hold all rows; only if the storage's traits allow it.
    size : {"small", "normal", "large"}, default="normal"
        "small" if each block is copied, "large" if nothing of it is: data in memory have blocks of three sizes. Files
        have one.
    """

    start: int = 0
    whole_columns: bool = False
    size: Literal["small", "normal", "large"] = "normal"


#: All blocks, in the order and the size that the storage likes.
ALL_BLOCKS = BlockRequest()


def block_type(stored: Any) -> np.dtype[Any]:
    """Return the type in which kernels get numbers of a stored type: the same in native order, or float64."""
    native = np.dtype(stored).newbyteorder("=")
    return native if native in KERNEL_TYPES else np.dtype(np.float64)


def as_kernel_array(x: NDArray[Any]) -> NDArray[Any]:
    """Return x, or a copy that the kernels can read: native byte order, a type they know, rows or columns in order."""
    x = x.astype(block_type(x.dtype), copy=False)
    if not x.flags.aligned or not lies_in_order(x):
        x = np.array(x, order="C", copy=True)
    return x


def with_missing(x: NDArray[Any], missing: int | None) -> tuple[NDArray[Any], int | None]:
    """Return `as_kernel_array(x)`, and the whole number that means a missing value in it, if any.

    Among floats only NaN does: a copy has NaN in place of the number.
    """
    values = as_kernel_array(x)
    if missing is None or values.dtype.kind != "f":
        return values, missing
    values = values.copy(order="K")
    values[x == missing] = np.nan  # compared as stored: float64 does not hold every whole number
    return values, None


@dataclass(frozen=True, slots=True)
class ColumnTransform:
    """Transform x -> (x - centre) * factor of each column, where a missing x is imputed with `fill`."""

    #: Subtracted; None: nothing is. Of shape (d,).
    centre: Vector | None = None
    #: Factor; None: 1. Of shape (d,).
    factor: Vector | None = None
    #: Imputed for a missing value; None: a missing value is an error. Of shape (d,).
    fill: Vector | None = None
    #: Columns whose centre is far above their spread (see `shifted`); None: not known. Of shape (d,).
    far: NDArray[np.bool_] | None = None

    @property
    def native(self) -> _native.ColumnTransform:
        """Return what the kernels are given."""
        return _native.ColumnTransform(*self.parts)

    def of(self, columns: slice | NDArray[np.intp]) -> ColumnTransform:
        """Return the part that belongs to some columns."""
        far = None if self.far is None else self.far[columns]
        centre, factor, fill = (None if part is None else part[columns] for part in self.parts)
        return ColumnTransform(centre, factor, fill, far)

    @property
    def parts(self) -> tuple[Vector | None, Vector | None, Vector | None]:
        """Return centre, factor and fill, as the kernels take them."""
        return self.centre, self.factor, self.fill

    @property
    def scaled_centre(self) -> Vector | None:
        """Return what is subtracted from scaled values: centre times factor."""
        return self.centre if self.centre is None or self.factor is None else self.centre * self.factor

    @property
    def trivial(self) -> bool:
        """Return whether values stay as they are."""
        return all(part is None for part in self.parts)


#: Data as they are.
PLAIN = ColumnTransform()


def native_block(block: Block, columns: slice = slice(None)) -> _native.Block:
    """Return some columns of a dense block, or of packed genotypes, as the kernels take them."""
    if isinstance(block.values, PackedGenotypes):
        return _native.Block(block.values.packed[columns], block.values.n_samples)
    return _native.Block(block.values[:, columns], 0, block.missing)


@contextmanager
def streamed_block(block: Block) -> Iterator[_native.Block]:
    """Yield what `native_block` returns, or genotypes that are still in a file, for a kernel that reads them itself."""
    if isinstance(block.values, PackedGenotypes):
        with block.values.streamed() as genotypes:
            yield _native.Block(genotypes, block.values.n_samples)
    else:
        yield native_block(block)


def by_rows(block: Block, all_rows: bool) -> Iterator[tuple[slice, Block]]:
    """Yield (rows within the block, part of it), packed genotypes unpacked row by row, as sketching likes."""
    if not isinstance(block.values, PackedGenotypes):
        yield slice(None), block
        return
    packed, (n, width) = block.values.packed, block.values.shape
    most = max(_TILE_BYTES // max(n if all_rows else width, 1), 1)
    height, step = (n, max(most // 256 * 256, 256)) if all_rows else (max(most // 4 * 4, 4), width)
    for top in range(0, n, max(height, 1)):
        rows = slice(top, min(top + height, n))
        for start in range(0, width, max(step, 1)):
            part = PackedGenotypes(packed[start : start + step, top // 4 : -(-rows.stop // 4)], rows.stop - top)
            columns = slice(block.columns.start + start, block.columns.start + start + part.shape[1])
            yield rows, Block(rows, columns, part.unpack("C"), MISSING_CALL)


def tile_width(block: Block, dtype: Any) -> int:
    """Return how many columns of a block are written out at a time."""
    rows = int(block.values.shape[0])
    step = max(16, _TILE_BYTES // (int(np.dtype(dtype).itemsize) * max(rows, 1)))
    return step // 4096 * 4096 if step >= 4096 else step  # the Walsh-Hadamard transform likes whole powers of two


def tiles(block: Block, transform: ColumnTransform, dtype: Any) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield (columns within the block, standardised values), a few megabytes at a time, in the block's own order."""
    by_row = isinstance(block.values, np.ndarray) and block.values.strides[1] == block.values.itemsize
    order: Any = "C" if by_row or sp.issparse(block.values) else "F"
    rows, width = block.values.shape
    step = min(tile_width(block, dtype), width)
    whole: Any = block.values
    memory = np.empty(rows * step, dtype=dtype)
    for start in range(0, width, max(step, 1)):
        columns = slice(start, min(start + step, width))
        shape = (rows, columns.stop - start)
        values = memory[: shape[0] * shape[1]].reshape(shape, order=order)
        part = transform.of(columns)
        if sp.issparse(block.values):
            values[...] = dense_values(whole[:, columns], part)
        else:
            _native.block_tile(native_block(block, columns), part.native, values, thread_count())
        yield columns, values


def can_stay_int8(block: Block, transform: ColumnTransform) -> bool:
    """Return whether imputing is all that is done to a block of bytes, with a value that a byte can hold."""
    if transform.fill is None or transform.centre is not None or transform.factor is not None:
        return False
    if not isinstance(block.values, np.ndarray) or block.values.dtype not in (np.int8, np.uint8):
        return False
    limits = np.iinfo(block.values.dtype)
    fill = transform.fill
    return bool(((fill == np.rint(fill)) & (fill >= limits.min) & (fill <= limits.max)).all())


def impute_int8(block: Block, transform: ColumnTransform) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield (columns within the block, values with missing ones imputed): bytes, a few megabytes at a time."""
    assert transform.fill is not None
    step = max(tile_width(block, np.int8), 1)
    for start in range(0, block.values.shape[1], step):
        columns = slice(start, min(start + step, block.values.shape[1]))
        values = block.values[:, columns]
        if block.missing is not None:
            fill = transform.fill[columns].astype(values.dtype)
            values = np.where(values == values.dtype.type(block.missing), fill, values)
        yield columns, values


def to_float64(block: Block, transform: ColumnTransform) -> Any:
    """Return the values of a block in float64: sparse rows imputed and scaled, dense rows standardised."""
    if sp.issparse(block.values):
        require_sound(block.values)
        return scaled_values(block.values, transform).tocsr()
    values = np.empty(block.values.shape)
    for columns, part in tiles(block, transform, np.float64):
        values[:, columns] = part
    return values


def scaled_values(x: Any, transform: ColumnTransform) -> Any:
    """Return a float64 copy with missing values imputed and columns scaled, but not centred."""
    x = x.astype(np.float64)
    columns = x.indices if x.format == "csr" else np.repeat(np.arange(x.shape[1]), np.diff(x.indptr))
    if transform.fill is not None:
        x.data = np.where(np.isnan(x.data), transform.fill[columns], x.data)
    if transform.factor is not None:
        x.data = x.data * transform.factor[columns]
    return x


def dense_values(x: Any, transform: ColumnTransform) -> Floats:
    """Return a piece of a sparse block as an array, standardised."""
    values: Floats = x.toarray().astype(np.float64)
    if transform.fill is not None:
        values = np.where(np.isnan(values), transform.fill, values)
    if transform.centre is not None:
        values = values - transform.centre
    return values if transform.factor is None else values * transform.factor
