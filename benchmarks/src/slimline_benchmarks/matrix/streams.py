"""Products by blocks as a careful user of NumPy would write them: each block turned into floats, then multiplied."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline._kernels import thread_count

#: Bytes of a block of floats.
_BLOCK_BYTES = 64 << 20


def rectangles(source: Any, shape: tuple[int, int], columns: bool = False) -> Iterator[tuple[slice, slice, Any]]:
    """Yield (rows, columns, floats) of an array, or of a PLINK file through bed-reader.

    Parameters
    ----------
    source : array or Path
        An array goes by in rows; a PLINK file in columns, as it is stored.
    shape : (int, int)
        People and variants.
    columns : bool
        Ask for whole columns of an array.

    Yields
    ------
    rows, columns : slice
        Where the block is.
    block : array
        float32 of float32 data and of PLINK files (missing calls are 0), else float64.
    """
    n, d = shape
    if isinstance(source, Path):
        step = max(1, _BLOCK_BYTES // (4 * n))
        for start in range(0, d, step):
            part = slice(start, min(start + step, d))
            yield slice(0, n), part, read_bed(source, part)
        return
    dtype = source.dtype if source.dtype.kind == "f" else np.dtype(np.float64)
    if columns:
        step = max(1, _BLOCK_BYTES // (dtype.itemsize * n))
        for start in range(0, d, step):
            part = slice(start, min(start + step, d))
            yield slice(0, n), part, source[:, part].astype(dtype, copy=False)
        return
    step = max(1, _BLOCK_BYTES // (dtype.itemsize * d))
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        yield part, slice(0, d), source[part].astype(dtype, copy=False)


def read_bed(path: Path, columns: slice = slice(None)) -> NDArray[np.float32]:
    """Return variants of a PLINK file as bed-reader gives them, with 0 for missing calls."""
    with import_module("bed_reader").open_bed(path, num_threads=thread_count()) as bed:
        values: NDArray[np.float32] = bed.read(index=np.s_[:, columns], dtype="float32")
    return np.nan_to_num(values, copy=False)


def dot(source: Any, shape: tuple[int, int], W: Any, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return X W."""
    total = np.zeros((shape[0], *W.shape[1:]), dtype=W.dtype) if out is None else out
    for rows, columns, block in rectangles(source, shape):
        part = block @ W[columns]
        total[rows] += part.toarray() if hasattr(part, "toarray") else part
    return total


def tdot(source: Any, shape: tuple[int, int], A: NDArray[Any]) -> NDArray[Any]:
    """Return Xᵀ A."""
    total = np.zeros((shape[1], *A.shape[1:]), dtype=A.dtype)
    for rows, columns, block in rectangles(source, shape):
        total[columns] += block.T @ A[rows]
    return total


def gram(source: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return X Xᵀ."""
    total = np.zeros((shape[0], shape[0]))
    for _, _, block in rectangles(source, shape, columns=True):
        total += block @ block.T
    return total


def statistics(source: Any, shape: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of whole columns."""
    mean, deviation = np.zeros(shape[1]), np.zeros(shape[1])
    for _, columns, block in rectangles(source, shape, columns=True):
        mean[columns], deviation[columns] = block.mean(axis=0), block.std(axis=0)
    return mean, deviation
