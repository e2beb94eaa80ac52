"""The values of a block as kernels and BLAS want them: raw, or written out standardised a few megabytes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from slimline._kernels import _native, thread_count
from slimline.data.affine import Affine
from slimline.data.block import MISSING_CALL, Block, PackedGenotypes
from slimline.projections.blocks import require_sound

Floats = NDArray[np.float64]

#: Bytes of a panel of columns that is written out.
_TILE_BYTES = 8 << 20


def raw_values(block: Block) -> tuple[NDArray[Any], int]:
    """Return the array of a dense block, and the number of people if it holds packed genotypes."""
    if isinstance(block.values, PackedGenotypes):
        return block.values.packed, block.values.n_samples
    return block.values, 0


@contextmanager
def streamed_values(block: Block) -> Iterator[tuple[Any, int]]:
    """Give what `raw_values` returns, or genotypes that are in a file still, for a kernel that reads them itself."""
    if isinstance(block.values, PackedGenotypes):
        with block.values.streamed() as genotypes:
            yield genotypes, block.values.n_samples
    else:
        yield block.values, 0


def by_rows(block: Block, all_rows: bool) -> Iterator[tuple[slice, Block]]:
    """Yield (rows within the block, part of it), packed genotypes unpacked row by row, as sketching likes.

    Parameters
    ----------
    block : Block
        Yielded as it is, unless it holds packed genotypes.
    all_rows : bool
        Whether a part has all rows and some columns, or all columns and some rows.

    Yields
    ------
    rows : slice
        Counted from the first row of the block.
    part : Block
        A few megabytes.
    """
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


def tiles(block: Block, affine: Affine, dtype: Any) -> Iterator[tuple[slice, NDArray[Any]]]:
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
        part = affine.of(columns)
        if sp.issparse(block.values):
            values[...] = dense_values(whole[:, columns], part)
        else:
            x, samples = raw_values(block)
            x = x[columns] if samples else x[:, columns]
            _native.block_tile(x, samples, block.missing, part.centre, part.factor, part.fill, values, thread_count())
        yield columns, values


def stays_bytes(block: Block, affine: Affine) -> bool:
    """Say whether filling is all that is done to a block of bytes, and the fill is among their numbers."""
    if affine.fill is None or affine.centre is not None or affine.factor is not None:
        return False
    if not isinstance(block.values, np.ndarray) or block.values.dtype not in (np.int8, np.uint8):
        return False
    limits = np.iinfo(block.values.dtype)
    whole = (affine.fill == np.rint(affine.fill)) & (affine.fill >= limits.min) & (affine.fill <= limits.max)
    return bool(whole.all())


def filled_bytes(block: Block, affine: Affine) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield (columns within the block, values with missing ones filled): bytes, a few megabytes at a time."""
    assert affine.fill is not None
    step = max(tile_width(block, np.int8), 1)
    for start in range(0, block.values.shape[1], step):
        columns = slice(start, min(start + step, block.values.shape[1]))
        values = block.values[:, columns]
        if block.missing is not None:
            fill = affine.fill[columns].astype(values.dtype)
            values = np.where(values == values.dtype.type(block.missing), fill, values)
        yield columns, values


def exact_values(block: Block, affine: Affine) -> Any:
    """Return the values of a block in float64: sparse rows filled and scaled, dense rows standardised."""
    if sp.issparse(block.values):
        require_sound(block.values)
        return scaled_values(block.values, affine).tocsr()
    values = np.empty(block.values.shape)
    for columns, part in tiles(block, affine, np.float64):
        values[:, columns] = part
    return values


def scaled_values(x: Any, affine: Affine) -> Any:
    """Return a float64 copy with missing values filled and columns scaled; centring is left out."""
    x = x.astype(np.float64)
    columns = x.indices if x.format == "csr" else np.repeat(np.arange(x.shape[1]), np.diff(x.indptr))
    if affine.fill is not None:
        x.data = np.where(np.isnan(x.data), affine.fill[columns], x.data)
    if affine.factor is not None:
        x.data = x.data * affine.factor[columns]
    return x


def dense_values(x: Any, affine: Affine) -> Floats:
    """Return a piece of a sparse block as an array, standardised."""
    values: Floats = x.toarray().astype(np.float64)
    if affine.fill is not None:
        values = np.where(np.isnan(values), affine.fill, values)
    if affine.centre is not None:
        values = values - affine.centre
    return values if affine.factor is None else values * affine.factor
